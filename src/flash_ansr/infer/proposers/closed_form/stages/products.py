"""Products: y = c * monomial * h(c1*u)^e, and with two factors, by linear least squares on log|y|.

The monomial's exponents are part of the linear problem, so that a sum of two monomials a + b is found as
a*(1 + b/a), whatever they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.candidates import Draft
from flash_ansr.infer.proposers.closed_form.data import Data, FloatArray
from flash_ansr.infer.proposers.closed_form.features.families import FACTORS, ONE_PLUS, Family
from flash_ansr.infer.proposers.closed_form.features.library import Features
from flash_ansr.infer.proposers.closed_form.features.monomials import (
    monomial_text,
    monomial_values,
    power_text,
    variants,
)
from flash_ansr.infer.proposers.closed_form.least_squares.scan import Hit, Unexplained, scan
from flash_ansr.infer.proposers.closed_form.least_squares.selection import best_pairs, worth_drafting
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out, solve
from flash_ansr.infer.proposers.closed_form.stages.power_law import full_exponents
from simplipy.fit.score import EXACT_FVU

# larger ones come from a factor near 1 that stands for an exponential
_LARGEST_EXPONENT = 12


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
        # an exact zero of y carries no logarithm; its weight is none
        self._weight = data.log_weight
        self._base = np.vstack([np.ones(data.n_rows), logs])
        self._target = data.log_y
        weighted = self._target * self._weight
        self._basis = orthonormal(self._base * self._weight)
        left = project_out(weighted[None], self._basis)[0]
        self._norm = float(np.linalg.norm(left))
        self.usable = data.n_rows > len(self._base) + 3 and self._norm > 1e-9 * max(
            float(np.linalg.norm(weighted)), 1e-300
        )
        self._hits: dict[int, list[Hit]] = {}
        self.problem = Unexplained(self._basis, left / max(self._norm, 1e-300), self._weight, logarithm=True)

    def single(self, arguments: Features, families: tuple[Family, ...] = FACTORS, n_best: int = 16) -> Iterator[Draft]:
        """One factor h(c*u)^e, or exp(c*u), for every argument."""
        for i in self._exponentials(arguments)[:2]:
            yield from self._drafts([_exponential(i)], arguments)
        if not len(arguments):
            return
        hits = scan(self.problem, arguments.values, families, self.data.clock, n_best)
        self._hits[id(arguments)] = hits
        for hit in self._worth_drafting(hits):
            yield from self._drafts([hit], arguments)

    def second(self, arguments: Features, families: tuple[Family, ...] = FACTORS, n_best: int = 8) -> Iterator[Draft]:
        """A further factor beside each of the best that ``single`` found among the same arguments."""
        firsts = [*self._hits[id(arguments)][:3], *(_exponential(i) for i in self._exponentials(arguments)[:1])]
        for first in firsts:
            u = arguments.values[first.argument]
            with np.errstate(all="ignore"):
                term = u if first.family is _EXPONENTIAL else self.problem.term(first.family, first.c * u)
            if not np.isfinite(term).all():
                continue
            basis = orthonormal(np.vstack([self._base, term]) * self._weight)
            left = project_out((self._target * self._weight)[None], basis)[0]
            norm = float(np.linalg.norm(left))
            if norm > 0:
                problem = Unexplained(basis, left / norm, self._weight, logarithm=True)
                for hit in self._worth_drafting(scan(problem, arguments.values, families, self.data.clock, n_best)):
                    yield from self._drafts([first, hit], arguments)

    def double(self, arguments: Features, families: tuple[Family, ...] = FACTORS, n_best: int = 12) -> Iterator[Draft]:
        """Two factors at once, over all pairs of simple ones."""
        hits, rows = self._simple_factors(arguments, families)
        if len(hits) < 2:
            return
        found = best_pairs(rows, self.problem.target, n_best, self.data.clock)
        for i, j, _ in found[: worth_drafting([r2 for *_, r2 in found], self.data.noise > 0)]:
            yield from self._drafts([hits[i], hits[j]], arguments)

    def _worth_drafting(self, hits: list[Hit]) -> list[Hit]:
        return hits[: worth_drafting([h.r2 for h in hits], self.data.noise > 0)]

    def _exponentials(self, arguments: Features) -> list[int]:
        rows = project_out(arguments.values * self._weight, self._basis)
        sizes = np.linalg.norm(rows, axis=1)
        new = sizes > 1e-7 * np.linalg.norm(arguments.values * self._weight, axis=1)
        r2 = np.where(new, (rows @ self.problem.target / np.where(new, sizes, 1.0)) ** 2, 0.0)
        return [int(i) for i in np.argsort(-r2)[:4]]

    def _simple_factors(self, arguments: Features, families: tuple[Family, ...]) -> tuple[list[Hit], FloatArray]:
        """Factors with c = 1 or so and their projected, normalised logarithms; exp(u) among them."""
        hits: list[Hit] = []
        rows: list[FloatArray] = []
        largest = np.abs(arguments.values).max(axis=1)
        with np.errstate(all="ignore"):
            for c, family in [(1.0, None), *((c, f) for f in families for c in f.fixed)]:
                self.data.clock.check()
                fine = np.flatnonzero(
                    (abs(c) * largest < (family.largest if family else 300)) & (abs(c) * largest > 0.01)
                )
                u = c * arguments.values[fine]
                terms = (self.problem.term(family, u) if family else u) * self._weight
                sizes = np.linalg.norm(terms, axis=1)
                terms, fine = terms[np.isfinite(sizes)], fine[np.isfinite(sizes)]
                left = project_out(terms, self._basis)
                norms = np.linalg.norm(left, axis=1)
                new = norms > 1e-6 * np.linalg.norm(terms, axis=1)
                rows.append(left[new] / norms[new, None])
                hits += [Hit(int(i), family, c, 0.0) if family else _exponential(int(i)) for i in fine[new]]
        return hits, np.concatenate(rows) if rows else np.zeros((0, self.data.n_rows))

    def _drafts(self, hits: list[Hit], arguments: Features) -> Iterator[Draft]:
        """Ways to read the exponents of the linear solution, each with constants to be refined."""
        with np.errstate(all="ignore"):
            terms = [
                arguments.values[h.argument]
                if h.family is _EXPONENTIAL
                else self.problem.term(h.family, h.c * arguments.values[h.argument])
                for h in hits
            ]
        coefficients, unexplained = solve(np.vstack([self._base, *terms]), self._target, self._weight)
        if not np.isfinite(coefficients).all():
            return
        n = len(self.columns)
        ways = variants(coefficients[1:])
        for way in ways[: 1 if unexplained < EXACT_FVU else 3]:
            if np.abs(way).max() > _LARGEST_EXPONENT:
                continue
            powers, exponents = way[:n], way[n:]
            full = full_exponents(self.data, self.columns, powers)
            factors: list[tuple[str, float]] = []
            starts: list[float] = []
            values = monomial_values(self.data, full[None])[0]
            spelled = full.copy()
            with np.errstate(all="ignore"):
                for hit, e, raw in zip(hits, exponents, coefficients[1 + n :], strict=True):
                    text, start, value = _factor(hit, float(e), float(raw), arguments)
                    monomial = arguments.monomial(hit.argument)
                    if hit.family is ONE_PLUS and monomial is not None and e != 0:
                        # (1 + c*a/b)^e = (b + c*a)^e/b^e, mostly shorter
                        text = _binomial(monomial, float(e))
                        spelled += e * np.minimum(monomial, 0)
                    if text:
                        factors.append((text, float(e)))
                        starts.append(start)
                        values = values * value
            c = _scale(values, self.data)
            if factors and np.isfinite(c) and c != 0:
                yield Draft(_text(monomial_text(np.round(spelled, 12)), [f for f, _ in factors]), (c, *starts))


_EXPONENTIAL = Family("exp", np.exp, "exp({})", (), (), 300.0)


def _exponential(argument: int) -> Hit:
    return Hit(argument, _EXPONENTIAL, 1.0, 0.0)


def _factor(hit: Hit, e: float, raw: float, arguments: Features) -> tuple[str, float, FloatArray | float]:
    """Text with one free constant, its start, and values; no text for an exponent of zero."""
    u, text = arguments.values[hit.argument], arguments.texts[hit.argument]
    inner = "<constant>" if text == "1" else f"<constant>*{text}"
    if hit.family is _EXPONENTIAL:
        return f"*exp({inner})", raw, np.exp(raw * u)
    if e == 0:
        return "", 0.0, 1.0
    base = hit.family.text.format(inner)
    power = power_text(base, abs(e))
    values = hit.family.value(hit.c * u)
    value = values ** (int(e) if e == int(e) else e)
    return ("*" if e > 0 else "/") + power, hit.c, value


def _binomial(monomial: FloatArray, e: float) -> str:
    """The factor (b + c*a)^e for a monomial a/b."""
    above, below = monomial_text(np.maximum(monomial, 0)), monomial_text(np.maximum(-monomial, 0))
    inner = "<constant>" if above == "1" else f"<constant>*{above}"
    return ("*" if e > 0 else "/") + power_text(f"({below} + {inner})", abs(e))


def _scale(values: FloatArray, data: Data) -> float:
    if not np.isfinite(values).all():
        return np.nan
    (c,), _ = solve(values[None], data.y, data.weight)
    return float(c)


def _text(monomial: str, factors: list[str]) -> str:
    return "<constant>" + ("" if monomial == "1" else f"*{monomial}") + "".join(factors)
