"""The fraction of variance unexplained, for values of any size."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def fvu(y: Floats, values: Floats, weights: Floats | None = None) -> float:
    """Weighted squared error over the weighted squared deviation of y from its mean.

    Parameters
    ----------
    y : array (n,)
        Finite targets.
    values : array (n,)
        The values of a formula for them.
    weights : array (n,), optional
        Of the squared residuals.

    Returns
    -------
    float
        0 for a perfect fit, 1 for the mean, infinity where a value is not finite. Of a constant y, the squared error
        over the sum of squares of y; where y is zero, over the sum of weights.

    Examples
    --------
    >>> fvu(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    >>> fvu(np.array([1e200, 2e200, 3e200]), np.array([1e200, 2e200, 4e200]))
    0.5
    """
    if not np.isfinite(values).all():
        return math.inf
    unit = unit_of(y)
    with np.errstate(over="ignore", under="ignore"):
        targets = y / unit
        errors = np.square(targets - values / unit)
        deviations = np.square(targets - (0.0 if np.ptp(targets) == 0 else np.average(targets, weights=weights)))
        if weights is not None:
            errors, deviations = weights * errors, weights * deviations
        spread = float(deviations.sum()) or (float(len(y)) if weights is None else float(weights.sum()))
        fraction = float(errors.sum()) / spread
    return fraction if math.isfinite(fraction) else math.inf


def unit_of(y: Floats) -> float:
    """A power of two near the largest magnitude: in units of it squares neither overflow nor vanish, exactly.

    Examples
    --------
    >>> unit_of(np.array([3.0, -5.0]))
    4.0
    """
    largest = float(np.abs(y).max(initial=0.0))
    return math.ldexp(1.0, max(math.frexp(largest)[1] - 1, -1021)) if largest > 0 else 1.0
