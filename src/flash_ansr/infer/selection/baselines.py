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


def linear_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """Least squares in all columns with an intercept, as a candidate; in some where they are many for the rows."""
    if table.n_columns > table.n_rows // 2:
        return stepwise_baseline(table, price, loss)
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    root = np.sqrt(weights)
    design = np.column_stack([np.ones(table.n_rows), table.X])
    sizes = np.max(np.abs(design), axis=0)
    sizes[sizes == 0] = 1.0
    target = max(float(np.max(np.abs(table.y))), np.finfo(float).tiny)
    values = np.linalg.lstsq(design / sizes * root[:, None], table.y / target * root, rcond=None)[0]
    with np.errstate(over="ignore", invalid="ignore"):
        values = values * target / sizes
    if not np.isfinite(values).all():
        values = np.array([_mean(table), *np.zeros(table.n_columns)])
    return _candidate(linear_expression(values), table, price, loss)


def stepwise_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """Least squares in those columns that are worth a constant, found one by one."""
    values = np.zeros(1 + table.n_columns)
    columns, slopes = _stepwise(table.X, table.y, table.sample_weight)
    values[[0, *(k + 1 for k in columns)]] = slopes
    return _candidate(linear_expression(values), table, price, loss)


def power_law_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """A product of powers of positive columns, found one by one; the mean where y is not positive."""
    positive = np.flatnonzero((table.X > 0).all(axis=0))
    if not (table.y > 0).all() or not len(positive):
        return constant_baseline(table, price, loss)
    columns, slopes = _stepwise(np.log(table.X[:, positive]), np.log(table.y), table.sample_weight)
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
    weights = np.ones(n_rows) if sample_weight is None else sample_weight
    root, unit = np.sqrt(weights / weights.mean()), unit_of(y)
    centre = np.average(X, axis=0, weights=weights)
    size = np.abs(X - centre).max(axis=0)
    design = (X - centre) / np.where(size > 0, size, 1.0) * root[:, None]
    mean = float(np.average(y / unit, weights=weights))
    left = (y / unit - mean) * root
    chosen: list[int] = []
    while len(chosen) < min(X.shape[1], _MOST_STEPS, n_rows // 3):
        lengths = np.maximum((design**2).sum(axis=0), 1e-300)
        gains = np.where(lengths > 1e-10 * n_rows * 1e-3, (left @ design) ** 2 / lengths, 0.0)
        gains[chosen] = 0.0
        k, before = int(np.argmax(gains)), float(left @ left)
        n_tried = math.log(max(X.shape[1] - len(chosen), 1))
        if before <= 0 or n_rows * math.log1p(-min(gains[k] / before, 1 - 1e-15)) + math.log(n_rows) + n_tried > 0:
            break
        direction = design[:, k] / math.sqrt(lengths[k])
        chosen.append(k)
        left = left - direction * (direction @ left)
        design = design - np.outer(direction, direction @ design)
    terms = np.column_stack([np.ones(n_rows), (X[:, chosen] - centre[chosen]) / np.where(size > 0, size, 1.0)[chosen]])
    values = np.linalg.lstsq(terms * root[:, None], y / unit * root, rcond=None)[0] * unit
    values[1:] /= np.where(size > 0, size, 1.0)[chosen]
    values[0] -= values[1:] @ centre[chosen]
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
