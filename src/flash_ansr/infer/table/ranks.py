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
    return ranks_of_columns(values[:, None])[:, 0]


def ranks_of_columns(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """As ``ranks``, of each column of X (n_rows, n_columns)."""
    order = np.argsort(X, axis=0, kind="stable")
    ascending = np.take_along_axis(X, order, axis=0)
    places = np.arange(len(X))[:, None]
    is_first = np.ones(X.shape, dtype=bool)
    is_first[1:] = ascending[1:] != ascending[:-1]
    is_last = np.ones(X.shape, dtype=bool)
    is_last[:-1] = is_first[1:]
    first = np.maximum.accumulate(np.where(is_first, places, 0), axis=0)
    last = np.minimum.accumulate(np.where(is_last, places, len(X))[::-1], axis=0)[::-1]
    found = np.empty(X.shape)
    np.put_along_axis(found, order, (first + last) / 2, axis=0)
    return found


def spread_rows(y: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.int64]:
    """At most n rows at equal steps through the sorted target, its extremes among them."""
    if len(y) <= n:
        return np.arange(len(y))
    order = np.argsort(y, kind="stable")
    return np.sort(order[np.round(np.linspace(0, len(y) - 1, n)).astype(np.int64)])
