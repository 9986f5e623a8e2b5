"""Numeric metrics: how well predictions agree with targets. Non-finite is always the worst value, never the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from simplipy.fit import unexplained

# 32-bit machine precision: the threshold of numeric recovery
EPSILON_32 = float(np.finfo(np.float32).eps)


def fvu(y: ArrayLike, prediction: ArrayLike) -> float:
    """Fraction of variance unexplained: squared error over the squared deviation from the mean.

    Parameters
    ----------
    y, prediction : array_like, shape (n,)
        Targets, finite; predictions.

    Returns
    -------
    float
        0 for a perfect fit, 1 for the mean, infinity where a prediction is not finite. With constant targets: 0 or
        infinity.

    Examples
    --------
    >>> fvu([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    >>> fvu([1e-200, 2e-200], [1e-200, 2e-200])
    0.0
    """
    targets = np.asarray(y, dtype=np.float64)
    predicted = np.asarray(prediction, dtype=np.float64)
    if targets.shape != predicted.shape or targets.ndim != 1 or targets.size == 0:
        raise ValueError(
            f"y and prediction must be two rows of equal length, got {targets.shape} and {predicted.shape}"
        )
    if not np.isfinite(targets).all():
        raise ValueError(f"y must be finite, got {targets[~np.isfinite(targets)][0]}")
    if np.ptp(targets) == 0:
        return 0.0 if np.array_equal(targets, predicted) else float("inf")
    return unexplained.fvu(targets, predicted)


def is_perfect(value: float) -> bool:
    """Whether an FVU counts as numeric recovery."""
    return value <= EPSILON_32


def log10_imperfect(value: float) -> float:
    """log10 of an FVU that is not perfect, else NaN: perfect fits are left out before aggregation."""
    return float("nan") if is_perfect(value) else float(np.log10(value))
