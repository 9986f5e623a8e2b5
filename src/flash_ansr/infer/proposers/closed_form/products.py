"""Power laws and products, by linear least squares on log|y|, which is linear in log|x|.

y = c * monomial, y = a + b*monomial where a starts from a grid beyond and between the values of y, and
y = c * monomial * h(c1*u)^e with one or two factors. The monomial's exponents are part of the linear problem, so that a
sum of two monomials a + b is found as a*(1 + b/a), whatever they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.families import EXPONENTIAL, FACTORS, ONE_PLUS, Family
from flash_ansr.infer.proposers.closed_form.linear_algebra import best_pairs, solve, worth_drafting
from flash_ansr.infer.proposers.closed_form.monomials import (
    Features,
    monomial_text,
    monomial_values,
    number_text,
    power_text,
    snapped,
    variants,
)
from flash_ansr.infer.proposers.closed_form.scan import Hit, Unexplained, scan
from flash_ansr.infer.proposers.closed_form.targets import TransformedTarget
from flash_ansr.infer.proposers.data import Data, FloatArray, relative_weight
from flash_ansr.infer.proposers.drafts import Draft

# larger ones come from a factor near 1 that stands for an exponential
_LARGEST_EXPONENT = 12
_ROUNDING = 1e-9


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


class Products:
    """The logarithm of one target, ready to be explained.

    Attributes
    ----------
    usable : bool
        False where there are too few rows or columns.
    """

    def __init__(self, data: Data) -> None:
        self.data = data
        self.columns, logs = data.log_columns
        self._base = np.vstack([np.ones(data.n_rows), logs])
        # an exact zero of y carries no logarithm; its weight is none
        self.unexplained = self._beyond(self._base)
        self.usable = data.n_rows > len(self._base) + 3 and self.unexplained.share > _ROUNDING
        self._hits: dict[int, list[Hit]] = {}

    def _beyond(self, base: FloatArray) -> Unexplained:
        return Unexplained.beyond(base, self.data.log_y, self.data.log_weight, logarithm=True)

    def single(self, arguments: Features, families: tuple[Family, ...] = FACTORS) -> Iterator[Draft]:
        """One factor h(c*u)^e, or exp(c*u), for every argument."""
        for hit in self._exponentials(arguments)[:2]:
            yield from self._drafts([hit], arguments)
        if len(arguments):
            self._hits[id(arguments)] = scan(self.unexplained, arguments.values, families, self.data.clock, 16)
            for hit in self._worth_drafting(self._hits[id(arguments)]):
                yield from self._drafts([hit], arguments)

    def second(self, arguments: Features) -> Iterator[Draft]:
        """A further factor beside each of the best that ``single`` found among the same arguments."""
        for first in [*self._hits[id(arguments)][:3], *self._exponentials(arguments)[:1]]:
            term = self._term(first, arguments)
            if np.isfinite(term).all():
                unexplained = self._beyond(np.vstack([self._base, term]))
                hits = scan(unexplained, arguments.values, FACTORS, self.data.clock, 8) if unexplained.share else []
                for hit in self._worth_drafting(hits):
                    yield from self._drafts([first, hit], arguments)

    def double(self, arguments: Features) -> Iterator[Draft]:
        """Two factors at once, over all pairs of simple ones."""
        hits, rows = self._simple_factors(arguments)
        if len(hits) < 2:
            return
        found = best_pairs(rows, self.unexplained.target, 12, self.data.clock)
        for i, j, _ in found[: worth_drafting([r2 for *_, r2 in found], self.data.noise > 0)]:
            yield from self._drafts([hits[i], hits[j]], arguments)

    def _worth_drafting(self, hits: list[Hit]) -> list[Hit]:
        return hits[: worth_drafting([h.r2 for h in hits], self.data.noise > 0)]

    def _term(self, hit: Hit, arguments: Features) -> FloatArray:
        with np.errstate(all="ignore"):
            return self.unexplained.term(hit.family, hit.c * arguments.values[hit.argument])

    def _exponentials(self, arguments: Features) -> list[Hit]:
        """The best factors exp(c*u)."""
        index, rows = self.unexplained.rows_of(arguments.values)
        r2 = (rows @ self.unexplained.target) ** 2
        return [Hit(int(index[i]), EXPONENTIAL, 1.0, float(r2[i])) for i in np.argsort(-r2)[:2]]

    def _simple_factors(self, arguments: Features) -> tuple[list[Hit], FloatArray]:
        """Factors with c = 1 or so and their projected, normalised logarithms; exp(u) among them."""
        hits: list[Hit] = []
        rows = [np.zeros((0, self.data.n_rows))]
        largest = np.abs(arguments.values).max(axis=1)
        with np.errstate(all="ignore"):
            for family, c in ((f, c) for f in (EXPONENTIAL, *FACTORS) for c in f.fixed):
                self.data.clock.check()
                fine = np.flatnonzero((abs(c) * largest < family.largest) & (abs(c) * largest > 0.01))
                new, own = self.unexplained.rows_of(self.unexplained.term(family, c * arguments.values[fine]), 1e-6)
                rows.append(own)
                hits += [Hit(int(i), family, c, 0.0) for i in fine[new]]
        return hits, np.concatenate(rows)

    def _drafts(self, hits: list[Hit], arguments: Features) -> Iterator[Draft]:
        """Ways to read the exponents of the linear solution, each with constants to be refined."""
        terms = [self._term(hit, arguments) for hit in hits]
        base = np.vstack([self._base, *terms])
        coefficients, unexplained = solve(base, self.data.log_y, self.data.log_weight)
        if not np.isfinite(coefficients).all():
            return
        n, ways = len(self.columns), variants(coefficients[1:])
        for way in ways[: 1 if unexplained < 1e-20 else 3]:
            if np.abs(way).max() > _LARGEST_EXPONENT:
                continue
            powers = full_exponents(self.data, self.columns, way[:n])
            values = monomial_values(self.data, powers[None])[0]
            texts: list[str] = []
            starts: list[float] = []
            for hit, e, raw in zip(hits, way[n:].tolist(), coefficients[1 + n :].tolist(), strict=True):
                if e != 0 or hit.family is EXPONENTIAL:
                    with np.errstate(all="ignore"):
                        text, start, value, added = _factor(hit, e, raw, arguments)
                        values = values * value
                    texts.append(text)
                    starts.append(start)
                    powers = powers + added
            if texts and np.isfinite(values).all():
                (c,), _ = solve(values[None], self.data.y, self.data.weight)
                if c != 0 and np.isfinite(c):
                    monomial = monomial_text(np.round(powers, 12))
                    yield Draft(_times_constant(monomial) + "".join(texts), (float(c), *starts))


def _factor(hit: Hit, e: float, raw: float, arguments: Features) -> tuple[str, float, FloatArray, FloatArray | float]:
    """Text with one free constant, its start, values, and exponents that go to the monomial."""
    u, inner = arguments.values[hit.argument], _times_constant(arguments.texts[hit.argument])
    if hit.family is EXPONENTIAL:
        return f"*exp({inner})", raw, np.exp(raw * u), 0.0
    text, added = hit.family.text.format(inner), np.zeros(1)
    monomial = arguments.monomial(hit.argument)
    if hit.family is ONE_PLUS and monomial is not None:
        # (1 + c*a/b)^e = (b + c*a)^e/b^e, mostly shorter
        above, below = monomial_text(np.maximum(monomial, 0)), monomial_text(np.maximum(-monomial, 0))
        text, added = f"({below} + {_times_constant(above)})", e * np.minimum(monomial, 0)
    value = hit.family.value(hit.c * u) ** (int(e) if e == int(e) else e)
    return ("*" if e > 0 else "/") + power_text(text, abs(e)), hit.c, value, added


def _times_constant(text: str) -> str:
    return "<constant>" if text == "1" else f"<constant>*{text}"
