"""The ranges that a law was fitted on, and the warning for rows outside them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.result.law import Law

# of the width of a range: beyond it by so little is rounding
_ROUNDING = 1e-9


class ExtrapolationWarning(UserWarning):
    """Predictions for rows outside the ranges of the fit: nothing tells whether the law holds there."""


class FittedRanges:
    """Ranges of the columns that laws are written in; warns once.

    Parameters
    ----------
    bounds : sequence of (low, high)
        One pair a column.
    """

    def __init__(self, bounds: Sequence[tuple[float, float]]) -> None:
        self.bounds = [(float(low), float(high)) for low, high in bounds]
        self._has_warned = False

    def warn_outside(self, law: Law, X: npt.NDArray[np.float64]) -> None:
        """Warn, the first time, where rows of X lie outside the ranges of columns that the law uses."""
        if self._has_warned:
            return
        used = [int(name.removeprefix("x")) - 1 for name in law.expression.variables]
        low, high = np.array([self.bounds[k] for k in used]).reshape(-1, 2).T
        slack = _ROUNDING * (high - low)
        outside = (X[:, used] < low - slack) | (X[:, used] > high + slack)
        if not outside.any():
            return
        self._has_warned = True
        first = int(np.argmax(outside.any(axis=0)))
        n = np.count_nonzero(outside.any(axis=1))
        warnings.warn(
            f"{n} of {len(X)} rows {'lies' if n == 1 else 'lie'} outside the ranges of the fit, where nothing tells "
            f"whether the law holds: {law.names[used[first]]!r} went from {low[first]:g} to {high[first]:g}",
            ExtrapolationWarning,
            stacklevel=3,  # the caller of predict
        )
