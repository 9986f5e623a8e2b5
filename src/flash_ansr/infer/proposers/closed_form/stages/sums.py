"""Sparse sums: a target as c0 + c1*f1 + c2*f2 + ... over a feature library.

Singles and all pairs are exhaustive, triples grow from the features of the best pairs, longer sums by orthogonal
matching pursuit with a beam. Every survivor is solved anew by least squares on its own columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from flash_ansr.infer.proposers.closed_form.candidates import Draft
from flash_ansr.infer.proposers.closed_form.data import Data, FloatArray, relative_weight
from flash_ansr.infer.proposers.closed_form.features.library import Features
from flash_ansr.infer.proposers.closed_form.features.monomials import number_text
from flash_ansr.infer.proposers.closed_form.features.targets import Target
from flash_ansr.infer.proposers.closed_form.least_squares.gram import best_pairs, best_triples, worth_drafting
from flash_ansr.infer.proposers.closed_form.least_squares.pursuit import pursue
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out, solve, solve_pruned

_LEAST_NEW = 1e-7
_CHEAP = 120


class Sums:
    """One target and one library, weighted, beyond a constant, normalised.

    Attributes
    ----------
    rows : array (n_features, n_rows)
    """

    def __init__(self, data: Data, target: Target, features: Features) -> None:
        self.data, self.target = data, target
        weight = data.root_weight * (relative_weight(target.values) if target.weight is None else target.weight)
        basis = orthonormal(weight[None])
        left = project_out((target.values * weight)[None], basis)[0]
        norm = float(np.linalg.norm(left))
        self._weight = weight
        self._rest = left / norm if norm > 0 else left
        with np.errstate(all="ignore"):
            weighted = features.values * weight
            sizes = np.sqrt(np.einsum("ij,ij->i", weighted, weighted))
            rows = project_out(weighted, basis)
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        new = np.isfinite(norms) & (norms > _LEAST_NEW * sizes) & (sizes > 0)
        self.index = np.flatnonzero(new)
        self.features = features
        self.rows = rows[new] / norms[new, None]
        self._pool: list[int] = []

    def singles(self, n_best: int = 6) -> Iterator[Draft]:
        """One feature."""
        r2 = (self.rows @ self._rest) ** 2
        best = np.argsort(-r2)[:n_best]
        for i in best[: worth_drafting([float(r2[i]) for i in best], self.data.noise > 0)]:
            yield from self._drafts([int(i)])

    def of(self, supports: Iterable[Sequence[int]]) -> Iterator[Draft]:
        """Given features of the library, by their numbers; without what is a constant under the weights."""
        places = {int(feature): i for i, feature in enumerate(self.index)}
        for support in supports:
            if all(feature in places for feature in support):
                yield from self._drafts([places[feature] for feature in support])

    def pairs(self, n_best: int = 12) -> Iterator[Draft]:
        """Two features."""
        found = best_pairs(self.rows, self._rest, max(n_best, 64), self.data.clock)
        self._pool = list(dict.fromkeys(i for pair in found for i in pair[:2]))
        for i, j, _ in found[: min(n_best, worth_drafting([r2 for *_, r2 in found], self.data.noise > 0))]:
            yield from self._drafts([i, j])

    def triples(self, n_best: int = 8) -> Iterator[Draft]:
        """Three features, of the best pairs and of the cheapest."""
        pool = list(dict.fromkeys([*self._pool[:60], *range(min(_CHEAP, len(self.rows)))]))
        found = best_triples(self.rows, self._rest, pool, n_best, self.data.clock)
        for i, j, k, _ in found[: worth_drafting([r2 for *_, r2 in found], self.data.noise > 0)]:
            yield from self._drafts([i, j, k])

    def longer(self, n_terms: int, beam: int = 6) -> Iterator[Draft]:
        """Up to ``n_terms`` features by matching pursuit."""
        for support in pursue(self.rows, self._rest, n_terms, beam, self.data.clock):
            yield from self._drafts(support)

    def _drafts(self, support: Sequence[int]) -> Iterator[Draft]:
        chosen = self.index[list(support)]
        terms = np.vstack([np.ones(self.data.n_rows), self.features.values[chosen]])
        texts = ["", *(self.features.texts[i] for i in chosen)]
        kept, coefficients, unexplained = solve_pruned(terms, self.target.values, self._weight)
        yield self._draft([texts[i] for i in kept], coefficients)
        if kept[0] == 0 and len(kept) > 1:
            without, rest = solve(terms[kept[1:]], self.target.values, self._weight)
            # a constant that explains little is one number too many
            if rest < 1.3 * unexplained:
                yield self._draft([texts[i] for i in kept[1:]], without)

    def _draft(self, texts: list[str], coefficients: FloatArray) -> Draft:
        return Draft(self.target.inverse.format(sum_text(texts, coefficients * self.target.unit)))


def sum_text(texts: Sequence[str], coefficients: FloatArray) -> str:
    """``c0 + c1*f1 + ...``; the text "" stands for the constant."""
    parts = [number_text(c) + (f"*{t}" if t else "") for t, c in zip(texts, coefficients, strict=True)]
    return " + ".join(parts)
