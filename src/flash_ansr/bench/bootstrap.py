"""Confidence intervals by resampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

Statistic = Literal["mean", "median"]

N_RESAMPLES = 1000


class Estimate(NamedTuple):
    """A statistic with its 95 % interval, and the number of values behind it; NaN where there are none."""

    value: float
    low: float
    high: float
    n: int


def bootstrap(values: Sequence[float], statistic: Statistic = "mean", seed: int = 0) -> Estimate:
    """Estimate of a statistic from values of independent problems; NaN among them is left out.

    The interval holds the middle 95 % of the statistic over 1000 samples of the same size, drawn with replacement.

    Examples
    --------
    >>> bootstrap([1.0, 1.0, 1.0])
    Estimate(value=1.0, low=1.0, high=1.0, n=3)
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    of = np.mean if statistic == "mean" else np.median
    picks = np.random.default_rng(seed).integers(0, known.size, (N_RESAMPLES, known.size))
    with np.errstate(invalid="ignore"):  # a median between infinities
        resampled = of(known[picks], axis=1)
        low, high = np.percentile(resampled, [2.5, 97.5], method="closest_observation")
    return Estimate(float(of(known)), float(low), float(high), int(known.size))
