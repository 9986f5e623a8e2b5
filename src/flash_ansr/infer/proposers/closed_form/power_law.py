"""Power laws: log|y| is linear in log|x|; exponents are snapped, signs follow from the values.

Also with an offset: y = a + b*monomial, where a starts from a grid beyond and between the values of y.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.linear_algebra import solve
from flash_ansr.infer.proposers.closed_form.monomials import (
    monomial_text,
    monomial_values,
    number_text,
    snapped,
    variants,
)
from flash_ansr.infer.proposers.closed_form.targets import TransformedTarget
from flash_ansr.infer.proposers.data import Data, FloatArray, relative_weight
from flash_ansr.infer.proposers.drafts import Draft


def power_laws(data: Data) -> Iterator[Draft]:
    """``c*monomial`` with exponents read in several ways, by relative and by absolute errors."""
    columns, logs = data.log_columns
    rows = data.loud
    if not columns or rows.sum() < len(columns) + 2:
        return
    base = np.vstack([np.ones(data.n_rows), logs])[:, rows]
    size = np.abs(data.y[rows])
    for weight in (np.ones(len(size)), size / size.max()):
        coefficients, _ = solve(base, np.log(size), weight * data.root_weight[rows])
        for exponents in variants(coefficients[1:]):
            yield from scaled_monomial(data, full_exponents(data, columns, exponents))
        if data.noise and all(data.positive[k] for k in columns):
            # all free: what noise allows to be simple is found when they are tidied
            powers = "".join(f"*x{k + 1}^<constant>" for k in columns)
            scale = np.exp(coefficients[0] - coefficients[1:] @ np.log(data.scales[list(columns)]))
            yield Draft(f"<constant>{powers}", (float(scale), *map(float, coefficients[1:])))


def power_laws_of(data: Data, target: TransformedTarget) -> Iterator[Draft]:
    """``T^-1(c*monomial)`` for a target T(y) that is no power of y."""
    inner = data.replaced(target.values * target.unit, data.active)
    for draft in power_laws(inner):
        yield Draft(target.inverse.format(draft.text))


def power_laws_with_offset(data: Data) -> Iterator[Draft]:
    """``a + b*monomial`` with all exponents fitted, then snapped."""
    columns, logs = data.log_columns
    columns, logs = tuple(k for k in columns if data.positive[k]), logs[[data.positive[k] for k in columns]]
    if not columns or data.n_rows < len(columns) + 4:
        return
    base = np.vstack([np.ones(data.n_rows), logs])
    starts: list[tuple[float, FloatArray]] = []
    spread, low, high = np.ptp(data.y), data.y.min(), data.y.max()
    for factor in (1e-3, 1e-2, 0.05, 0.2, 0.6, 2.0):
        for offset in (low - factor * spread, high + factor * spread):
            size = np.abs(data.y - offset)
            exponents = solve(base, np.log(size), size * data.root_weight)[0][1:]
            terms = _constant_and(data, full_exponents(data, columns, exponents))
            _, unexplained = solve(terms, data.y - data.y.mean(), data.root_weight)
            starts.append((unexplained, exponents))
    starts.sort(key=lambda start: start[0])
    for _, exponents in starts[:2]:
        powers = "*".join(f"x{k + 1}^<constant>" for k in columns)
        linear, _ = solve(_constant_and(data, full_exponents(data, columns, exponents)), data.y, data.root_weight)
        yield Draft(f"<constant> + <constant>*{powers}", (*map(float, linear), *map(float, exponents)))
        for tolerance in (0.1, 0.3):
            full = full_exponents(data, columns, snapped(exponents, tolerance))
            terms = _constant_and(data, full)
            if full.any() and np.isfinite(terms).all():
                (a, b), _ = solve(terms, data.y, data.root_weight)
                if b != 0 and np.isfinite(a + b):
                    yield Draft(f"{number_text(a)} + {number_text(b)}*{monomial_text(full)}")


def scaled_monomial(data: Data, exponents: FloatArray) -> Iterator[Draft]:
    """``c*monomial`` with c by least squares of relative and of absolute errors."""
    values = monomial_values(data, exponents[None])
    if exponents.any() and np.isfinite(values).all() and values.any():
        for weight in (relative_weight(data.y), np.ones(data.n_rows)):
            (c,), _ = solve(values, data.y, weight * data.root_weight)
            if c != 0 and np.isfinite(c):
                yield Draft(f"{number_text(c)}*{monomial_text(exponents)}")


def full_exponents(data: Data, columns: tuple[int, ...], exponents: FloatArray) -> FloatArray:
    """Exponents of some columns as exponents of all, (n_columns,)."""
    full = np.zeros(data.n_columns)
    full[list(columns)] = exponents
    return full


def _constant_and(data: Data, exponents: FloatArray) -> FloatArray:
    """The terms of a + b*monomial, (2, n_rows)."""
    return np.vstack([np.ones(data.n_rows), monomial_values(data, exponents[None])])
