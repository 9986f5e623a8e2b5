"""The models that any law must beat: a constant and a linear function of the columns."""

from __future__ import annotations

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import BASELINE, Candidate
from flash_ansr.infer.candidates.fitter import refit
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.table.table import Table
from simplipy import Expression
from simplipy.fit.score import exact_fvu, score
from simplipy.fit.unexplained import unit_of


def linear_baseline(table: Table, price: float, loss: str = "squared") -> Candidate:
    """Least squares in all columns with an intercept, as a candidate."""
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
