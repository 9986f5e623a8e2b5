"""Ranks of values, which a single large one does not move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks from 0; equal values share the mean of theirs.

    Examples
    --------
    >>> ranks(np.array([30.0, 10.0, 10.0, 99.0])).tolist()
    [2.0, 0.5, 0.5, 3.0]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts + 1) / 2)[inverse])


def spread_rows(y: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.int64]:
    """At most n rows at equal steps through the sorted target, its extremes among them."""
    if len(y) <= n:
        return np.arange(len(y))
    order = np.argsort(y, kind="stable")
    return np.sort(order[np.round(np.linspace(0, len(y) - 1, n)).astype(np.int64)])
