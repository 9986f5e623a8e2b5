"""Monomials of the columns, cheapest first, as exponents, values and text; fitted exponents as small rationals.

A cost says how simple an exponent is: 1 before -1 before 2 before roots; a further column costs less than the first,
since laws combine many. The list depends on the number of columns
and on their signs alone.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flash_ansr.infer.proposers.data import Data, FloatArray, IntArray

_STEPS = (1, -1, 2, -2, 1 / 2, -1 / 2, 3, -3, 4, -4, 3 / 2, -3 / 2, 1 / 3, -1 / 3, 2 / 3, -2 / 3, 5, 6)
_STEP_COSTS = (1.0, 1.1, 1.4, 1.5, 1.9, 2.0, 2.1, 2.3, 2.8, 2.9, 2.8, 2.9, 3.3, 3.4, 3.5, 3.6, 3.6, 4.2)
_TOGETHER = 0.45


@dataclass(frozen=True)
class Features:
    """The monomials of sums and arguments.

    Attributes
    ----------
    texts : list of str
        Infix.
    values : array (n, n_rows)
        In the units of the caller; finite.
    exponents : array (n_monomials, n_columns)
        Of the first features, where they are monomials.
    costs : array (n,)
        Of monomials and functions, ascending; otherwise empty.
    """

    texts: list[str]
    values: FloatArray
    exponents: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    costs: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.texts)

    def monomial(self, i: int) -> FloatArray | None:
        """Exponents of feature i, None where it is no monomial."""
        return self.exponents[i] if i < len(self.exponents) else None

    def at(self, index: IntArray) -> Features:
        """Some monomials, in this order."""
        texts = [self.texts[i] for i in index]
        return Features(texts, self.values[index], self.exponents[index], self.costs[index])


def monomials(data: Data, n: int, powers: Sequence[float] = ()) -> Features:
    """The n simplest monomials of the active columns that are finite on all rows.

    Parameters
    ----------
    powers : sequence of float
        Raise ratios and products of two columns to these powers too.
    """
    chosen, costs = _simplest(len(data.active), n)
    if powers:
        # columns, ratios and products of two: exponents of size 1
        basic = chosen[(np.abs(chosen).max(axis=1, initial=0) == 1) & (np.abs(chosen).sum(axis=1) <= 2)]
        raised = np.concatenate([basic * p for p in powers])
        fresh = ~np.isin(_codes(raised), _codes(chosen))
        chosen = np.concatenate([chosen, raised[fresh]])
        costs = np.concatenate([costs, np.full(int(fresh.sum()), costs.max(initial=0.0))])
    exponents = np.zeros((len(chosen), data.n_columns))
    exponents[:, list(data.active)] = chosen
    fractional = (exponents != np.round(exponents)).astype(float)
    fine = (fractional[:, ~data.positive].sum(axis=1) == 0) & ((exponents < 0)[:, ~data.no_zeros].sum(axis=1) == 0)
    exponents, costs = exponents[fine], costs[fine]
    values = monomial_values(data, exponents)
    finite = np.isfinite(values).all(axis=1) & (np.abs(values).max(axis=1, initial=0.0) > 1e-290)
    exponents = exponents[finite]
    return Features([monomial_text(e) for e in exponents.tolist()], values[finite], exponents, costs[finite])


def monomial_values(data: Data, exponents: FloatArray) -> FloatArray:
    """Values of monomials, (n, n_rows), by multiplication: exact to a few units in the last place."""
    values = np.ones((len(exponents), data.n_rows))
    with np.errstate(all="ignore"):
        for k in np.flatnonzero(exponents.any(axis=0)):
            distinct, index = np.unique(exponents[:, k], return_inverse=True)
            # scaled, so that no intermediate product overflows
            column = data.columns[k] / data.scales[k]
            values *= np.stack([_power(column, e) for e in distinct])[index]
        values *= np.exp(exponents @ np.log(data.scales))[:, None]
    return values


def monomial_text(exponents: Sequence[float] | FloatArray) -> str:
    """Infix text of a product of powers, "1" for none: ``x1*x2^2/(x3*sqrt(x4))``."""
    above = [power_text(f"x{k + 1}", e) for k, e in enumerate(exponents) if e > 0]
    below = [power_text(f"x{k + 1}", -e) for k, e in enumerate(exponents) if e < 0]
    text = "*".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def power_text(base: str, exponent: float) -> str:
    """``base^exponent`` for an exponent > 0; the base must be a name or in brackets."""
    if exponent == 1:
        return base
    if exponent == 0.5:
        return f"sqrt({base})"
    for denominator in (3, 6):
        numerator = round(exponent * denominator)
        if numerator % denominator and abs(exponent * denominator - numerator) < 1e-12 and exponent * 2 % 1:
            return f"{base}^({numerator}/{denominator})"
    return f"{base}^{number_text(exponent)}"


def number_text(number: float) -> str:
    """Shortest decimal that reads back as this double; integers without a point."""
    number = float(number)
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def _codes(exponents: FloatArray) -> FloatArray:
    """One number a monomial, equal for equal exponents."""
    return np.asarray((exponents * 12 + 200) @ (401.0 ** np.arange(exponents.shape[1]) % 1000003.0))


def _power(column: FloatArray, exponent: float) -> FloatArray:
    if exponent == int(exponent):
        return np.asarray(column ** int(exponent))
    if exponent == 0.5:
        return np.sqrt(column)
    return np.asarray(np.where(column >= 0, column, np.nan) ** exponent)


@functools.lru_cache(maxsize=64)
def _simplest(n_columns: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Exponents (n, n_columns) and costs of the cheapest monomials."""
    steps = np.array([0.0, *_STEPS])
    step_costs = np.array([0.0, *(cost - _TOGETHER for cost in _STEP_COSTS)])
    exponents, costs = np.zeros((1, 0)), np.zeros(1)
    if n_columns == 0:
        return exponents[:0], costs[:0]
    for cap in itertools.count(1.5, 0.5):
        exponents, costs = np.zeros((1, 0)), np.zeros(1)
        for _ in range(n_columns):
            total = costs[:, None] + step_costs
            row, step = np.nonzero(total <= cap)
            exponents, costs = np.column_stack([exponents[row], steps[step]]), total[row, step]
        if len(costs) > n or cap >= n_columns * step_costs.max():
            break
    order = np.lexsort((*(-exponents.T[::-1]), costs))
    order = order[costs[order] > 0][:n]
    return exponents[order], costs[order] + _TOGETHER


def to_grid(exponents: FloatArray, denominator: int) -> FloatArray:
    """Nearest multiples of 1/denominator."""
    return np.asarray(np.round(exponents * denominator) / denominator)


def snapped(exponents: FloatArray, tolerance: float) -> FloatArray:
    """Each exponent as the simplest rational within the tolerance: integers, then halves, thirds, ... tenths.

    A value that is near none of them stays as it is.
    """
    result, open_ = exponents.copy(), np.ones(len(exponents), dtype=bool)
    for denominator in (1, 2, 3, 4, 5, 6, 10):
        rounded = to_grid(exponents, denominator)
        # finer grids are nearer to anything, so they must come closer
        hit = open_ & (np.abs(rounded - exponents) <= tolerance / denominator)
        result[hit], open_ = rounded[hit], open_ & ~hit
    return result


def variants(exponents: FloatArray) -> list[FloatArray]:
    """Ways to read fitted exponents, the strictest first, without repetition."""
    ways = [snapped(exponents, 1e-6), snapped(exponents, 0.03), to_grid(exponents, 1), to_grid(exponents, 2)]
    ways.append(snapped(exponents, 0.12))
    distinct: dict[bytes, FloatArray] = {}
    for way in ways:
        distinct.setdefault((np.round(way, 9) + 0.0).tobytes(), way)
    return list(distinct.values())
