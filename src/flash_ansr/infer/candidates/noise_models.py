"""Models of noise, of one deviation in all rows or in proportion to y, and a test whether residuals are noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.rank_tests import RankedRows, standard
from flash_ansr.infer.table.ranks import ranks
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression
from simplipy.fit import unexplained
from simplipy.fit.checks import relative_sizes

NoiseKind = Literal["constant", "proportional"]

# deviations from which residuals are no noise
_SIGNIFICANT = 4.0
_MAX_ROWS = 1024
# with fewer rows there is no test
_FEWEST_ROWS = 8
# of a number that may have been rounded
_MOST_DIGITS = 9
# nats by which noise in proportion to y must be the better one: few rows say little about the kind
_MARGIN = 3.0
# noise that is larger beside y is not taken to be in proportion to it
_LARGEST_SHARE = 0.3
# of a row, beside the largest: the square of a smaller one may vanish
_SMALLEST_SIZE = 1e-100


@dataclass(frozen=True, slots=True, eq=False)
class NoiseModel:
    """Normal errors whose deviation is s*size in each row, s unknown.

    Attributes
    ----------
    kind : {"constant", "proportional"}
    loss : str
        Of the fits that maximise the likelihood.
    sizes : array (n_rows,)
    offset : float
        Nats to add to n/2 * log(FVU) under this model, so that those of different models compare.
    """

    kind: NoiseKind
    loss: str
    sizes: FloatArray
    offset: float

    def weights(self, table: Table) -> FloatArray:
        """Weights of squared residuals (n_rows,) under which the mean square is one of normal errors."""
        weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
        sizes = np.maximum(self.sizes / unexplained.unit_of(self.sizes), _SMALLEST_SIZE)
        return np.asarray(weights / sizes**2)

    def noise(self, values: FloatArray, n_constants: int, table: Table) -> float:
        """Deviation of what a law leaves, relative to that of y, or to |y| where it is in proportion."""
        freedom = max(table.n_rows - n_constants, 1)
        if self.kind == "proportional":
            return float(np.sqrt(np.sum(((table.y - values) / self.sizes) ** 2) / freedom))
        return math.sqrt(unexplained.fvu(table.y, values, table.sample_weight) * (table.n_rows - 1) / freedom)

    def may_hold(self, law: Expression, n_constants: int, table: Table) -> bool:
        """Whether errors are small beside their sizes, without which y itself is no measure of them."""
        if self.kind == "constant":
            return True
        return self.noise(np.asarray(law(table.X), dtype=np.float64), n_constants, table) < _LARGEST_SHARE


def noise_models(table: Table, loss: str) -> list[NoiseModel]:
    """Those that go with a loss: squares leave it open which of the two it is."""
    constant = NoiseModel("constant", loss, np.ones(table.n_rows), 0.0)
    proportional = NoiseModel("proportional", "relative", relative_sizes(table.y), 0.0)
    if loss == "relative":
        return [proportional]
    if loss != "squared" or not table.y.all():
        return [constant]
    return [constant, replace(proportional, offset=_offset(proportional, constant, table) + _MARGIN)]


def _offset(model: NoiseModel, other: NoiseModel, table: Table) -> float:
    """Nats that the density of y costs more under a model than under the other, at equal FVU."""
    y = table.y / unexplained.unit_of(table.y)
    costs = []
    for m in (model, other):
        weights = m.weights(table)
        spread = float(np.mean(weights * (y - np.average(y, weights=weights)) ** 2))
        sizes = m.sizes / unexplained.unit_of(m.sizes)
        costs.append(0.5 * len(y) * math.log(max(spread, 1e-300)) + float(np.log(sizes).sum()))
    return costs[0] - costs[1]


def looks_like_noise(residuals: FloatArray, X: FloatArray, n_constants: int = 0) -> bool:
    """Whether neither near rows nor a quadratic polynomial in the ranks of the columns predict the residuals.

    Parameters
    ----------
    residuals : array (n_rows,)
        In units in which their deviation is the same everywhere.
    X : array (n_rows, n_columns)
    n_constants : int
        Fitted numbers of the law.
    """
    rows = np.linspace(0, len(residuals) - 1, min(len(residuals), _MAX_ROWS)).astype(np.int64)
    n = len(rows)
    if n < _FEWEST_ROWS:
        return True
    ranked = RankedRows(X[rows])
    # ranks: a single large residual must not decide
    r = standard(ranks(residuals[rows]))
    if ranked.near_deviations(r) > _SIGNIFICANT:
        return False
    explained, k = ranked.explained(r, n_constants)
    # of noise, k terms explain k/n on average
    return explained * n < k + _SIGNIFICANT * math.sqrt(2 * k)


def is_rounding(residuals: FloatArray, y: FloatArray) -> bool:
    """Whether a law gives every digit of y that there is: rounding is no noise, but all that is left to explain.

    Examples
    --------
    >>> y = np.array([1.23, 4.5, 6.78])
    >>> is_rounding(np.array([0.004, -0.003, 0.001]), y), is_rounding(np.array([0.004, -0.03, 0.001]), y)
    (True, False)
    """
    largest = float(np.abs(y).max())
    for digits in range(1, _MOST_DIGITS + 1):
        unit = 10.0 ** (math.floor(math.log10(largest)) + 1 - digits) if largest > 0 else 1.0
        if unit == 0 or np.allclose(y / unit, np.round(y / unit), rtol=1e-15, atol=1e-6):
            return bool(np.abs(residuals).max() <= 0.5 * unit * (1 + 1e-6))
    return False


def noise_of(candidate: Candidate, table: Table, model: NoiseModel) -> float | None:
    """Deviation of the residuals, None where they can be predicted."""
    values = np.asarray(candidate.expression(table.X), dtype=np.float64)
    residuals = (table.y - values) / model.sizes
    if not np.isfinite(residuals).all() or not residuals.any():
        return None
    if not looks_like_noise(residuals, table.X, candidate.n_constants) and not is_rounding(table.y - values, table.y):
        return None
    return model.noise(values, candidate.n_constants, table)


def leaves_noise(candidate: Candidate, table: Table, loss: str) -> bool:
    """Whether what it leaves is noise of some kind."""
    return any(noise_of(candidate, table, model) is not None for model in noise_models(table, loss))
