"""How much noise y may have, before any law is known.

Two bounds: noise scatters the smallest values of y to both sides of zero, so that y which keeps its sign, or comes
close to zero often, has less; and it is part of what a polynomial leaves. Residuals of the polynomial that near rows
share, or that a higher degree makes smaller, are no noise.
"""

from __future__ import annotations

import math
from enum import Enum

import numpy as np

from flash_ansr.infer.proposers.closed_form.screening import Polynomial
from flash_ansr.infer.proposers.data import Data, FloatArray

# rows with values below a bound that tell it
_FEW = 8
# noise below this part of the deviation of y leaves small values as good as exact
_LEAST = 2e-3
_SIGNIFICANT = 3.0
# terms of a higher degree that reduce the mean square by less explain nothing
_NO_GAIN = 1.1
# bounds that agree up to this factor speak of the same
_AGREEMENT = 6.0


class NoiseGuess(Enum):
    """The signs of noise in y."""

    NONE = "too little to matter"
    UNCLEAR = "there may be some"
    SEEN = "residuals or signs of small values look like noise"


def noise_level(data: Data) -> tuple[float, NoiseGuess]:
    """An upper bound of the deviation of the noise in y's units, and whether y seems to have noise."""
    spread = float(np.std(data.y))
    by_size = _by_size(data.y)
    model = Polynomial(data)
    if model.degree < 2 or spread == 0:
        return min(by_size, spread), NoiseGuess.UNCLEAR
    residuals = model.residuals(data.y / spread) * spread
    by_model = float(np.sqrt(np.mean(residuals**2)) * math.sqrt(data.n_rows / max(data.n_rows - model.n_terms, 1)))
    bound = min(by_size, by_model)
    if bound < _LEAST * spread:
        return bound, NoiseGuess.NONE
    if _crosses_zero(data.y, bound):
        return bound, NoiseGuess.SEEN
    random = by_model < _AGREEMENT * by_size and model.gain(data.y / spread) < _NO_GAIN and not _shared(residuals, data)
    return bound, NoiseGuess.SEEN if random else NoiseGuess.UNCLEAR


def _by_size(y: FloatArray) -> float:
    """Noise of deviation s leaves at most 0.8*n*t/s values within t of zero, and as many on either side."""
    size = np.sort(np.abs(y))
    n = len(y)
    if n <= 2 * _FEW:
        return float(size.max())
    counts = np.arange(1, n + 1)
    bound = float(np.min(0.8 * n * size[_FEW:] / counts[_FEW:]))
    if (y > 0).all() or (y < 0).all():
        bound = min(bound, float(size[_FEW]))
    return bound


def _crosses_zero(y: FloatArray, noise: float) -> bool:
    """Whether y has one sign but for values that noise makes."""
    low, high = float(y.min()), float(y.max())
    smaller, larger = sorted((abs(min(low, 0.0)), abs(max(high, 0.0))))
    return 0 < smaller < _AGREEMENT * noise and larger > 2 * _AGREEMENT * noise


def _shared(residuals: FloatArray, data: Data) -> bool:
    """Whether residuals resemble those of the nearest rows."""
    columns = data.columns[list(data.active)]
    places = np.argsort(np.argsort(columns, axis=1), axis=1).astype(np.float64)
    distances = np.sum((places[:, :, None] - places[:, None]) ** 2, axis=0)
    np.fill_diagonal(distances, np.inf)
    near = distances.argmin(axis=1)
    ranks = np.argsort(np.argsort(residuals)).astype(np.float64)
    ranks -= ranks.mean()
    correlation = float(ranks @ ranks[near]) / max(float(ranks @ ranks), 1e-300)
    return correlation > _SIGNIFICANT * math.sqrt(1.6 / data.n_rows)
