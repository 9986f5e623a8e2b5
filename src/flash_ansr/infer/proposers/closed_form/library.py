"""The feature library: monomials, functions of them, products of both, grown from a grammar in the order of cost.

monomial := product of powers of columns
inner    := monomial | monomial + monomial | monomial - monomial
function := f(inner), f one of sin, cos, exp, log, sqrt, ...
feature  := monomial | function | function*monomial | function*function
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from flash_ansr.infer.proposers.closed_form.monomials import Features, monomials
from flash_ansr.infer.proposers.data import Data, FloatArray


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the grammar: token, values, text, cost, and the sizes of argument that make it worth a try."""

    token: str
    value: Callable[[FloatArray], FloatArray]
    text: str
    cost: float
    least: float
    most: float


_OF_MONOMIALS = (
    _Function("sin", np.sin, "sin({})", 1.3, 0.2, 100.0),
    _Function("cos", np.cos, "cos({})", 1.3, 0.2, 100.0),
    _Function("exp", np.exp, "exp({})", 1.5, 0.05, 60.0),
    _Function("exp", lambda u: np.exp(-u), "exp(-{})", 1.6, 0.05, 60.0),
    _Function("log", np.log, "log({})", 1.5, 0.0, np.inf),
    _Function("tan", np.tan, "tan({})", 1.9, 0.1, 20.0),
    _Function("sin", lambda u: np.sin(u) ** 2, "sin({})^2", 1.9, 0.1, 50.0),
    _Function("cos", lambda u: np.cos(u) ** 2, "cos({})^2", 1.8, 0.1, 50.0),
    _Function("cos", lambda u: 1 / np.cos(u) ** 2, "(1/cos({})^2)", 2.5, 0.1, 20.0),
    _Function("log", np.log1p, "log(1 + {})", 1.9, 0.01, np.inf),
    _Function("exp", lambda u: 1 / (1 + np.exp(u)), "(1/(1 + exp({})))", 3.0, 0.05, 60.0),
    _Function("tanh", np.tanh, "tanh({})", 2.4, 0.1, 30.0),
    _Function("atan", np.arctan, "atan({})", 2.6, 0.1, 1e3),
    _Function("asin", np.arcsin, "asin({})", 2.6, 0.1, 1.0),
    _Function("sinh", np.sinh, "sinh({})", 2.8, 0.1, 30.0),
    _Function("cosh", np.cosh, "cosh({})", 2.8, 0.1, 30.0),
)
# cost of a product beyond those of its factors
_TOGETHER = 0.3
# of what stands inside of 1 + c*u: (x1/x2)^p
_POWERS = (2.0, 3.0, 4.0, 6.0, 0.5)
_OF_SUMS = (
    _Function("inv", lambda u: 1 / u, "(1/({}))", 1.0, 0.0, np.inf),
    _Function("pow1_2", np.sqrt, "sqrt({})", 1.4, 0.0, np.inf),
    _Function("sin", np.sin, "sin({})", 1.4, 0.2, 100.0),
    _Function("cos", np.cos, "cos({})", 1.4, 0.2, 100.0),
    _Function("exp", np.exp, "exp({})", 1.8, 0.05, 60.0),
    _Function("log", np.log, "log({})", 1.6, 0.0, np.inf),
    _Function("pow2", lambda u: u * u, "({})^2", 1.2, 0.0, np.inf),
    _Function("abs", np.abs, "abs({})", 2.4, 0.0, np.inf),
    _Function("pow2", lambda u: 1 / (u * u), "(1/({})^2)", 2.0, 0.0, np.inf),
)


def ratios(data: Data, n: int) -> Features:
    """The terms u beside 1 in 1 + c*u: monomials and powers of ratios, without inverses: 1 + u = u*(1 + 1/u)."""
    simplest = monomials(data, n, _POWERS)
    leading = simplest.exponents[np.arange(len(simplest)), (simplest.exponents != 0).argmax(axis=1)]
    return simplest.at(np.flatnonzero(leading > 0))


def arguments(data: Data, n: int, n_waves: int = 0) -> Features:
    """The terms inside of factors: monomials, and monomials times sin or cos of a column."""
    simplest = monomials(data, 4 * n)
    size = np.abs(simplest.exponents)
    # an argument has few powers: units cancel in ratios and products of columns
    n_powers = ((size > 0) & (size != 1)).sum(axis=1)
    order = np.argsort(simplest.costs + 0.4 * n_powers, kind="stable")
    simplest = simplest.at(order[(np.isin(size, (0, 0.5, 1, 2)).all(axis=1) & (n_powers <= 2))[order]][:n])
    texts, values = list(simplest.texts), [simplest.values]
    for token, wave in (("sin", np.sin), ("cos", np.cos)):
        for k in data.active if data.allows(token) and n_waves else ():
            column = data.columns[k]
            if not 0.2 < float(np.abs(column).max()) < 100.0:
                continue
            free = np.flatnonzero(simplest.exponents[:, k] == 0)[:n_waves]
            texts += [f"{token}(x{k + 1})", *(f"{token}(x{k + 1})*{simplest.texts[i]}" for i in free)]
            values += [wave(column)[None], simplest.values[free] * wave(column)]
    return Features(texts, np.concatenate(values), simplest.exponents)


def sum_arguments(data: Data, n: int, n_factors: int) -> Features:
    """Sums and differences of two simple monomials, and their squares, times monomials: ``(x1 - x2)^2/x3``."""
    simplest = monomials(data, 8 * max(n, n_factors))
    whole = ((simplest.exponents == 1) | (simplest.exponents == 0)).all(axis=1)
    single = (simplest.exponents != 0).sum(axis=1) == 1
    single &= np.isin(simplest.exponents.sum(axis=1), (1, -1, 2, -2))
    terms = np.flatnonzero(whole)[:n]
    simplest = simplest.at(np.concatenate([terms, np.flatnonzero(single)[:n_factors]]))
    first, second = np.triu_indices(len(terms), 1)
    used = (simplest.exponents[first] != 0) | (simplest.exponents[second] != 0)
    # a factor in a column of the sum would only rename it
    factors = {
        simplest.texts[m]: (simplest.values[m], np.flatnonzero(~(used & (simplest.exponents[m] != 0)).any(axis=1)))
        for m in range(len(terms), len(simplest))
    }
    texts: list[str] = []
    values: list[FloatArray] = []
    for sign, symbol in ((-1, "-"), (1, "+")):
        sums = simplest.values[first] + sign * simplest.values[second]
        names = [f"({simplest.texts[i]} {symbol} {simplest.texts[j]})" for i, j in zip(first, second, strict=True)]
        parts = [(names, sums), ([f"{name}^2" for name in names], sums**2)]
        for own, part in parts:
            texts += own
            values.append(part)
        for factor, (factor_values, free) in factors.items():
            for own, part in parts:
                texts += [f"{own[i]}*{factor}" for i in free]
                values.append(part[free] * factor_values)
    return _checked(texts, np.concatenate(values)) if texts else Features([], np.zeros((0, data.n_rows)))


def library(data: Data, n: int) -> Features:
    """About n features, the cheapest of the grammar."""
    simplest = monomials(data, max(n // 2, 20))
    if not len(simplest):
        return Features([], np.zeros((0, data.n_rows)))
    functions = _functions(data, simplest, max(n // 4, 12))
    # every feature is a product of two, the last of which is 1
    own, of_function = np.arange(len(simplest)), len(simplest) + np.arange(len(functions))
    one, few = len(simplest) + len(functions), own[: max(n // 8, 10)]
    texts = [*simplest.texts, *functions.texts]
    values = np.concatenate([simplest.values, functions.values, np.ones((1, data.n_rows))])
    costs = np.concatenate([simplest.costs, functions.costs])
    first, second = (of_function[k] for k in np.triu_indices(len(functions)))
    left = np.concatenate([own, of_function, np.repeat(of_function, len(few)), first])
    right = np.concatenate([np.full(one, one), np.tile(few, len(functions)), second])
    together = costs[left[one:]] + costs[right[one:]] + _TOGETHER
    chosen = np.argsort(np.concatenate([costs, together]), kind="stable")[:n]
    left, right = left[chosen], right[chosen]
    names = [texts[i] if j == one else f"{texts[i]}*{texts[j]}" for i, j in zip(left, right, strict=True)]
    data.clock.check()
    return _checked(names, values[left] * values[right])


def _functions(data: Data, simplest: Features, n: int) -> Features:
    """The n cheapest functions of monomials and of sums of two."""
    few = simplest.costs[: max(n // 2, 12)].tolist()
    # functions of an inverse alone are rare; log of a product is a sum of logarithms: only of one column
    inverse = np.where((simplest.exponents <= 0).all(axis=1), 0.8, 0.0).tolist()
    is_column = (simplest.exponents != 0).sum(axis=1) == 1
    plan = [
        (f.cost + c + inverse[i], f, i, -1, 0)
        for f in _OF_MONOMIALS
        for i, c in enumerate(few)
        if data.allows(f.token) and (f.token != "log" or (is_column[i] and c == few[0]))
    ]
    pairs = list(itertools.combinations(range(min(len(few), 16)), 2))
    plan += [
        (f.cost + few[i] + few[j] + 0.4, f, i, j, sign)
        for f in _OF_SUMS
        for sign in (1, -1)
        for i, j in pairs
        if data.allows(f.token)
    ]
    texts: list[str] = []
    values: list[FloatArray] = []
    costs: list[float] = []
    with np.errstate(all="ignore"):
        for cost, f, i, j, sign in sorted(plan, key=itemgetter(0)):
            if len(texts) >= n:
                break
            if len(texts) % 64 == 0:
                data.clock.check()
            u = simplest.values[i] if j < 0 else simplest.values[i] + sign * simplest.values[j]
            if not f.least <= float(np.abs(u).max()) <= f.most:
                continue
            value = f.value(u)
            if np.isfinite(value).all() and np.ptp(value) > 1e-9 * np.abs(value).max():
                inner = simplest.texts[i] if j < 0 else f"{simplest.texts[i]} {'-+'[sign > 0]} {simplest.texts[j]}"
                texts.append(f.text.format(inner))
                values.append(value)
                costs.append(cost)
    return Features(texts, np.array(values).reshape(len(texts), data.n_rows), costs=np.array(costs))


def _checked(texts: list[str], values: FloatArray) -> Features:
    """Without what is not finite, or constant."""
    with np.errstate(all="ignore"):
        largest, smallest = values.max(axis=1), values.min(axis=1)
        size = np.maximum(np.abs(largest), np.abs(smallest))
        fine = np.isfinite(size) & (largest - smallest > 1e-9 * size) & (size < 1e290) & (size > 1e-290)
    return Features([t for t, keep in zip(texts, fine, strict=True) if keep], values[fine])
