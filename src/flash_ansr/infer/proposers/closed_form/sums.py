"""Sums: sparse ones over a feature library, rational forms made linear, and sums with one constant inside a term.

Singles and all pairs are exhaustive, triples grow from the features of the best pairs, longer sums by orthogonal
matching pursuit with a beam. Every survivor is solved anew by least squares on its own columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from flash_ansr.infer.proposers.closed_form import linear_algebra
from flash_ansr.infer.proposers.closed_form.families import TERMS
from flash_ansr.infer.proposers.closed_form.library import arguments
from flash_ansr.infer.proposers.closed_form.monomials import Features, number_text
from flash_ansr.infer.proposers.closed_form.scan import Unexplained, scan
from flash_ansr.infer.proposers.closed_form.targets import TransformedTarget
from flash_ansr.infer.proposers.data import Data, FloatArray
from flash_ansr.infer.proposers.drafts import Draft

_CHEAP = 120
# of sums with a constant inside
_N_ARGUMENTS = 30
_N_FACTORS = 8
_N_HITS = 4
_ROUNDING = 1e-10


def pairs_of(data: Data, target: TransformedTarget, features: Features) -> Iterator[Draft]:
    """Sums of one and of two features."""
    sums = Sums(data, target, features)
    yield from sums.singles()
    yield from sums.pairs()


def sums_of(data: Data, target: TransformedTarget, features: Features) -> Iterator[Draft]:
    """Sums of two and of more features."""
    sums = Sums(data, target, features)
    yield from sums.pairs()
    yield from sums.triples()
    if target.name in ("y", "log y"):
        yield from sums.longer(4)


def rationals_of(data: Data, features: Features) -> Iterator[Draft]:
    """Rational forms of two and of three features."""
    rationals = Rationals(data, features)
    yield from rationals.pairs()
    yield from rationals.triples()


class Sums:
    """One target and one library, weighted, beyond a constant, normalised.

    Attributes
    ----------
    rows : array (n_features, n_rows)
    """

    def __init__(self, data: Data, target: TransformedTarget, features: Features) -> None:
        self.data, self.target, self.features = data, target, features
        self._weight = target.row_weight(data)
        unexplained = Unexplained.beyond(np.ones((1, data.n_rows)), target.values, self._weight)
        self._rest = unexplained.target
        self.index, self.rows = unexplained.rows_of(features.values)
        self._pool: list[int] = []

    def singles(self, n_best: int = 6) -> Iterator[Draft]:
        """One feature."""
        r2 = (self.rows @ self._rest) ** 2
        yield from self._best([(int(i), float(r2[i])) for i in np.argsort(-r2)[:n_best]])

    def of(self, supports: Iterable[Sequence[int]]) -> Iterator[Draft]:
        """Given features of the library, by their numbers; without what is a constant under the weights."""
        places = {int(feature): i for i, feature in enumerate(self.index)}
        for support in supports:
            if all(feature in places for feature in support):
                yield from self._drafts([places[feature] for feature in support])

    def pairs(self, n_best: int = 12) -> Iterator[Draft]:
        """Two features."""
        found = self._pairs(max(n_best, 64))
        self._pool = list(dict.fromkeys(i for pair in found for i in pair[:2]))
        yield from self._best(found, n_best)

    def _pairs(self, n_best: int) -> list[tuple[int, int, float]]:
        return linear_algebra.best_pairs(self.rows, self._rest, n_best, self.data.clock)

    def triples(self, n_best: int = 8) -> Iterator[Draft]:
        """Three features, of the best pairs and of the cheapest."""
        pool = list(dict.fromkeys([*self._pool[:60], *range(min(_CHEAP, len(self.rows)))]))
        yield from self._best(linear_algebra.best_triples(self.rows, self._rest, pool, n_best, self.data.clock))

    def longer(self, n_terms: int, beam: int = 6) -> Iterator[Draft]:
        """Up to ``n_terms`` features by matching pursuit."""
        for support in linear_algebra.pursue(self.rows, self._rest, n_terms, beam, self.data.clock):
            yield from self._drafts(support)

    def _best(self, found: Sequence[tuple[int | float, ...]], most: int | None = None) -> Iterator[Draft]:
        """Those of supports with their R2, the best first, that are worth more work."""
        n = linear_algebra.worth_drafting([support[-1] for support in found], self.data.noise > 0)
        for support in found[:most][:n]:
            yield from self._drafts([int(i) for i in support[:-1]])

    def _solved(self, support: Sequence[int]) -> tuple[list[str], FloatArray, list[int], FloatArray, float]:
        """Texts and values of a constant and of features, those that are kept, their coefficients, what is left."""
        chosen = self.index[list(support)]
        texts = ["", *(self.features.texts[i] for i in chosen)]
        terms = np.vstack([np.ones(self.data.n_rows), self.features.values[chosen]])
        return texts, terms, *linear_algebra.solve_pruned(terms, self.target.values, self._weight)

    def _drafts(self, support: Sequence[int]) -> Iterator[Draft]:
        texts, terms, kept, coefficients, unexplained = self._solved(support)
        yield self._draft([texts[i] for i in kept], coefficients)
        if kept[0] == 0 and len(kept) > 1:
            without, rest = linear_algebra.solve(terms[kept[1:]], self.target.values, self._weight)
            # a constant that explains little is one number too many
            if rest < 1.3 * unexplained:
                yield self._draft([texts[i] for i in kept[1:]], without)

    def _draft(self, texts: list[str], coefficients: FloatArray) -> Draft:
        return Draft(self.target.inverse.format(sum_text(texts, coefficients * self.target.unit)))


class Rationals(Sums):
    """Rational forms: y = (c0 + c1*a + ...)/(1 + c2*b + ...) is y = c0 + c1*a + ... - c2*(b*y) - ...

    Sums over the features and over the features times y; the latter make up the denominator.
    """

    def __init__(self, data: Data, features: Features) -> None:
        self._n_above = len(features)
        size = float(np.sqrt(np.mean(data.y**2))) or 1.0
        z = data.y / size
        both = Features(features.texts * 2, np.concatenate([features.values, features.values * z]))
        weight = np.ones(data.n_rows) if data.noise else None
        super().__init__(data, TransformedTarget("y", z, size, "{}", weight), both)
        self._is_above = self.index < self._n_above

    def _pairs(self, n_best: int) -> list[tuple[int, int, float]]:
        """One term above, one below."""
        first, second = np.flatnonzero(self._is_above), np.flatnonzero(~self._is_above)
        found = linear_algebra.best_pairs(self.rows[first], self._rest, n_best, self.data.clock, self.rows[second])
        return [(int(first[i]), int(second[j]), r2) for i, j, r2 in found]

    def triples(self, n_best: int = 8) -> Iterator[Draft]:
        """Three terms, at least one of them below."""
        cheap = [*np.flatnonzero(self._is_above)[:60], *np.flatnonzero(~self._is_above)[:40]]
        pool = list(dict.fromkeys([*self._pool[:60], *map(int, cheap)]))
        found = linear_algebra.best_triples(self.rows, self._rest, pool, 4 * n_best, self.data.clock)
        below = [triple for *triple, _ in found if not self._is_above[triple].all()]
        for triple in below[:n_best]:
            yield from self._drafts(triple)

    def _drafts(self, support: Sequence[int]) -> Iterator[Draft]:
        texts, _, kept, coefficients, _ = self._solved(support)
        is_above = [True, *self._is_above[list(support)]]
        above = [(texts[i], c) for i, c in zip(kept, coefficients, strict=True) if is_above[i]]
        below = [(texts[i], c) for i, c in zip(kept, coefficients, strict=True) if not is_above[i]]
        if above and below:
            numerator = sum_text([t for t, _ in above], np.array([c for _, c in above]) * self.target.unit)
            denominator = sum_text([t for t, _ in below], -np.array([c for _, c in below]))
            yield Draft(f"({numerator})/(1 + {denominator})")


def sum_text(texts: Sequence[str], coefficients: FloatArray) -> str:
    """``c0 + c1*f1 + ...``; the text "" stands for the constant."""
    parts = [number_text(c) + (f"*{t}" if t else "") for t, c in zip(texts, coefficients, strict=True)]
    return " + ".join(parts)


def sums_with_inner_constants(data: Data, features: Features | None = None) -> Iterator[Draft]:
    """Drafts whose constants are all free, from the linear solution at the best inner constant.

    Parameters
    ----------
    features : Features, optional
        The first of them are arguments u and factors m.
    """
    features = features or arguments(data, _N_ARGUMENTS)
    linear = list(data.active)
    if data.n_rows < len(linear) + 6:
        return
    base = np.vstack([np.ones(data.n_rows), data.columns[linear]])
    texts = ["<constant>", *(f"<constant>*x{k + 1}" for k in linear)]
    unexplained = Unexplained.beyond(base, data.y, data.weight)
    if unexplained.share < _ROUNDING:
        coefficients, _ = linear_algebra.solve(base, data.y, data.weight)
        yield Draft(" + ".join(texts), tuple(map(float, coefficients)))
        return
    u = features.values[:_N_ARGUMENTS]
    factors = [(np.ones(data.n_rows), ""), *zip(features.values[:_N_FACTORS], features.texts, strict=False)]
    for factor, name in factors:
        multiplied = replace(unexplained, factor=factor)
        for hit in scan(multiplied, u, TERMS, data.clock, _N_HITS)[:_N_HITS]:
            term = multiplied.term(hit.family, hit.c * u[hit.argument])
            if np.isfinite(term).all():
                inner = hit.family.text.format(f"<constant>*{features.texts[hit.argument]}")
                every = [*texts, f"<constant>*{name}*{inner}" if name else f"<constant>*{inner}"]
                kept, coefficients, _ = linear_algebra.solve_pruned(np.vstack([base, term]), data.y, data.weight)
                own = (hit.c,) if len(base) in kept else ()
                yield Draft(" + ".join(every[i] for i in kept), (*map(float, coefficients), *own))
