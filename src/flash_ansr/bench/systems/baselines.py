"""Baselines that take no time: linear models in all columns and in some, and a product of powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import simplipy
from flash_ansr.bench.systems.base import Answer, FloatArray, Request, System
from flash_ansr.infer.selection.baselines import stepwise_baseline
from flash_ansr.infer.table.table import Table

_ROUND_EXPONENTS_TO = 0.5


class LinearBaseline(System, name="linear"):
    """Least squares: a constant and a coefficient for each column."""

    def fit(self, request: Request) -> Answer:
        """The linear model."""
        scale = np.abs(request.X).max(axis=0)
        scale[scale == 0] = 1.0
        unit = float(np.abs(request.y).max()) or 1.0
        design = np.column_stack([np.ones(len(request.y)), request.X / scale])
        solution = np.linalg.lstsq(design, request.y / unit, rcond=None)[0] * unit
        terms = [_number(solution[0])]
        terms += [f"{_number(c)}*x{k}" for k, c in enumerate(solution[1:] / scale, start=1)]
        return Answer(simplipy.parse(" + ".join(terms)))


class StepwiseBaseline(System, name="stepwise"):
    """Least squares in the columns that are worth a constant, found one by one."""

    def fit(self, request: Request) -> Answer:
        """The linear model."""
        # a price ranks candidates, and there is one
        return Answer(stepwise_baseline(Table(request.X, request.y), price=0.0).expression)


class PowerLawBaseline(System, name="power_law"):
    """A product of powers: least squares in logarithms, exponents rounded to halves, then the factor."""

    def fit(self, request: Request) -> Answer:
        """The power law."""
        X, y = request.X, request.y
        usable = (y != 0) & (X != 0).all(axis=1)
        if not usable.any():
            return Answer(simplipy.parse(_number(float(y.mean()))))
        logs = np.log(np.abs(X[usable]))
        design = np.column_stack([np.ones(usable.sum()), logs])
        slopes = np.linalg.lstsq(design, np.log(np.abs(y[usable])), rcond=None)[0][1:]
        exponents = np.round(slopes / _ROUND_EXPONENTS_TO) * _ROUND_EXPONENTS_TO
        factors = [text for k, a in enumerate(exponents, start=1) if (text := _power(f"x{k}", float(a), X[:, k - 1]))]
        return Answer(simplipy.parse("*".join([_number(_factor(factors, X, y)), *factors])))


def _power(name: str, exponent: float, column: FloatArray) -> str:
    """A factor as text; a root of a column with negative values is one of their magnitudes."""
    if exponent == 0:
        return ""
    base = name if exponent.is_integer() or (column >= 0).all() else f"abs({name})"
    return base if exponent == 1 else f"{base}^({exponent:g})"


def _factor(factors: Sequence[str], X: FloatArray, y: FloatArray) -> float:
    """The number in front, by least squares, without squares that vanish or overflow."""
    if not factors:
        return float(y.mean())
    product = np.broadcast_to(simplipy.parse("*".join(factors))(X), len(X))
    known = np.isfinite(product)
    top = float(np.abs(product[known]).max(initial=0.0)) or 1.0
    unit = float(np.abs(y).max()) or 1.0
    p, t = product[known] / top, y[known] / unit
    return float(p @ t / max(float(p @ p), np.finfo(float).tiny)) * (unit / top)


def _number(value: float) -> str:
    """A number that can stand in front of a product."""
    return f"({float(value)!r})"
