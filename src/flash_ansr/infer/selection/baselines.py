"""The models that any law must beat: a constant, linear functions of all columns and of some, and a power law."""

from __future__ import annotations

import math

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import BASELINE, Candidate
from flash_ansr.infer.candidates.fitter import refit
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression
from simplipy.fit.score import exact_fvu, score
from simplipy.fit.unexplained import unit_of

# columns of a stepwise model
_MOST_STEPS = 12
# a column of which those before leave no more than that is a sum of these
_COLLINEAR = 1e-8
# of the sum of squares, what rounding leaves of it
_ROUNDING = 1e-24
# of the factor of a power law
_LARGEST_LOG = 700.0
# singular values of standardised columns below this share of the largest one count as 0
_LEAST_SINGULAR = 1e-7


def linear_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """Least squares in all columns with an intercept, as a candidate; in some where they are many for the rows."""
    if table.n_columns > table.n_rows // 2:
        return stepwise_baseline(table, price, loss)
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    root = np.sqrt(weights)[:, None]
    sizes = np.maximum(np.max(np.abs(table.X), axis=0), np.finfo(float).tiny)
    scaled = table.X / sizes
    centre = np.average(scaled, axis=0, weights=weights)
    spread = np.std(scaled, axis=0)
    spread[spread == 0] = 1.0
    design = np.column_stack([np.ones(table.n_rows), (scaled - centre) / spread])
    target = max(float(np.max(np.abs(table.y))), np.finfo(float).tiny)
    # of columns that are almost multiples of each other, each gets a share: no huge numbers that cancel
    values = np.linalg.lstsq(design * root, table.y / target * root[:, 0], rcond=_LEAST_SINGULAR)[0]
    values[1:] /= spread
    values[0] -= values[1:] @ centre
    with np.errstate(over="ignore", invalid="ignore"):
        values = values * target / np.r_[1.0, sizes]
    if not np.isfinite(values).all():
        values = np.array([_mean(table), *np.zeros(table.n_columns)])
    return _candidate(linear_expression(values), table, price, loss)


def stepwise_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """Least squares in those columns that are worth a constant, found one by one."""
    columns, slopes = _stepwise(table.X, table.y, table.sample_weight)
    if not columns:
        return constant_baseline(table, price, loss)
    values = np.zeros(1 + table.n_columns)
    values[[0, *(k + 1 for k in columns)]] = slopes
    return _candidate(linear_expression(values), table, price, loss)


def power_law_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """A product of powers of positive columns, found one by one; the mean where y is not positive."""
    positive = np.flatnonzero((table.X > 0).all(axis=0))
    if not (table.y > 0).all() or not len(positive):
        return constant_baseline(table, price, loss)
    columns, slopes = _stepwise(np.log(table.X[:, positive]), np.log(table.y), table.sample_weight)
    if not columns or abs(slopes[0]) > _LARGEST_LOG:
        return constant_baseline(table, price, loss)
    tokens = [repr(math.exp(slopes[0]))]
    for k, slope in zip(columns, slopes[1:], strict=True):
        tokens = ["*", *tokens, "pow", f"x{positive[k] + 1}", repr(float(slope))]
    return _candidate(simplipy.parse(tokens), table, price, loss)


def _stepwise(X: FloatArray, y: FloatArray, sample_weight: FloatArray | None) -> tuple[list[int], FloatArray]:
    """Columns that lower the information criterion most, one after the other, and least squares in them.

    Returns
    -------
    columns : list of int
    values : array (1 + n_chosen,)
        The intercept first.
    """
    n_rows = len(y)
    weights = np.ones(n_rows) if sample_weight is None else sample_weight / sample_weight.max()
    root, unit = np.sqrt(weights), unit_of(y)
    sizes = np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    terms = X / sizes
    design = (terms - np.average(terms, axis=0, weights=weights)) * root[:, None]
    left = (y / unit - np.average(y / unit, weights=weights)) * root
    least = _COLLINEAR * (design**2).sum(axis=0)
    chosen: list[int] = []
    rounding = _ROUNDING * float(left @ left)
    while len(chosen) < min(X.shape[1], _MOST_STEPS, n_rows // 3) and left @ left > rounding:
        lengths = (design**2).sum(axis=0)
        gains = np.where(lengths > least, (left @ design) ** 2 / np.maximum(lengths, 1e-300), 0.0) / (left @ left)
        gains[chosen] = 0.0
        k = int(np.argmax(gains))
        price = math.log(n_rows) + 2 * math.log(
            X.shape[1] - len(chosen)
        )  # of a constant, and of the choice of a column
        if n_rows * math.log1p(-min(gains[k], 1 - 1e-15)) + price > 0:
            break
        chosen.append(k)
        direction = design[:, k] / math.sqrt(lengths[k])
        left = left - direction * (direction @ left)
        design = design - np.outer(direction, direction @ design)
    used = np.column_stack([np.ones(n_rows), terms[:, chosen]]) * root[:, None]
    values = np.linalg.lstsq(used, y / unit * root, rcond=None)[0] * unit
    values[1:] /= sizes[chosen]
    return chosen, np.asarray(values)


def constant_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """The mean of y, as a candidate."""
    return _candidate(linear_expression(np.array([_mean(table)])), table, price, loss)


def linear_expression(values: np.typing.NDArray[np.float64]) -> Expression:
    """values[0] + values[1]*x1 + ...; terms with the coefficient 0 are left out."""
    tokens = [repr(float(values[0]))]
    for k, value in enumerate(values[1:], start=1):
        if value != 0:
            tokens = ["+", *tokens, "*", repr(float(value)), f"x{k}"]
    return simplipy.parse(tokens)


def _mean(table: Table) -> float:
    unit = unit_of(table.y)
    return unit * float(np.average(table.y / unit, weights=table.sample_weight))


def _candidate(expression: Expression, table: Table, price: float, loss: str) -> Candidate:
    """Least squares as it is; under another loss, the best numbers from there."""
    fit = refit(expression, [], table, loss)
    if loss != "squared":
        best = refit(expression.skeleton(), numbers_of(expression), table, loss)
        fit = best if best.ok else fit
    fvu = max(fit.fvu, exact_fvu(table.y))
    n_numbers = expression.skeleton().n_constants
    value = score(fvu, len(expression), price)
    return Candidate(fit.expression, b"", fvu, value, n_numbers, float("nan"), BASELINE, 0)
