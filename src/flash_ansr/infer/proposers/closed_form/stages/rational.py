"""Rational forms made linear: y = (c0 + c1*a + ...)/(1 + c2*b + ...) is y = c0 + c1*a + ... - c2*(b*y) - ..."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from flash_ansr.infer.proposers.closed_form.candidates import Draft
from flash_ansr.infer.proposers.closed_form.data import Data
from flash_ansr.infer.proposers.closed_form.features.library import Features
from flash_ansr.infer.proposers.closed_form.features.targets import Target
from flash_ansr.infer.proposers.closed_form.least_squares.gram import best_cross_pairs, best_triples, worth_drafting
from flash_ansr.infer.proposers.closed_form.least_squares.solve import solve_pruned
from flash_ansr.infer.proposers.closed_form.stages.sums import Sums, sum_text


class Rationals(Sums):
    """Sums over the features and over the features times y; the latter make up the denominator."""

    def __init__(self, data: Data, features: Features) -> None:
        self._n_above = len(features)
        size = float(np.sqrt(np.mean(data.y**2))) or 1.0
        z = data.y / size
        both = Features(features.texts * 2, np.concatenate([features.values, features.values * z]))
        super().__init__(data, Target("y", z, size, "{}", np.ones(data.n_rows) if data.noise else None), both)

    def pairs(self, n_best: int = 12) -> Iterator[Draft]:
        """One term above, one below."""
        above = self.index < self._n_above
        first, second = np.flatnonzero(above), np.flatnonzero(~above)
        found = best_cross_pairs(self.rows[first], self.rows[second], self._rest, max(n_best, 64), self.data.clock)
        pairs = [(int(first[i]), int(second[j])) for i, j, _ in found]
        self._pool = list(dict.fromkeys(i for pair in pairs for i in pair))
        for pair in pairs[: min(n_best, worth_drafting([r2 for *_, r2 in found], self.data.noise > 0))]:
            yield from self._drafts(pair)

    def triples(self, n_best: int = 8) -> Iterator[Draft]:
        """Three terms, at least one of them below."""
        above = self.index < self._n_above
        cheap = [*np.flatnonzero(above)[:60], *np.flatnonzero(~above)[:40]]
        pool = list(dict.fromkeys([*self._pool[:60], *map(int, cheap)]))
        found = best_triples(self.rows, self._rest, pool, 4 * n_best, self.data.clock)
        below = [t[:3] for t in found if (self.index[list(t[:3])] >= self._n_above).any()]
        for triple in below[:n_best]:
            yield from self._drafts(triple)

    def _drafts(self, support: Sequence[int]) -> Iterator[Draft]:
        chosen = self.index[list(support)]
        terms = np.vstack([np.ones(self.data.n_rows), self.features.values[chosen]])
        kept, coefficients, _ = solve_pruned(terms, self.target.values, self._weight)
        texts = ["", *(self.features.texts[i] for i in chosen)]
        is_above = [True, *(chosen < self._n_above)]
        above = [(texts[i], c) for i, c in zip(kept, coefficients, strict=True) if is_above[i]]
        below = [(texts[i], c) for i, c in zip(kept, coefficients, strict=True) if not is_above[i]]
        if not above or not below:
            return
        numerator = sum_text([t for t, _ in above], np.array([c for _, c in above]) * self.target.unit)
        denominator = sum_text([t for t, _ in below], -np.array([c for _, c in below]))
        yield Draft(f"({numerator})/(1 + {denominator})")
