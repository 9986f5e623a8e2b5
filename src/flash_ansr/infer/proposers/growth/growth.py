"""Formulas that grow: features are inserted where they explain most of the residuals.

A step takes a formula, values every insertion into it (``insertions.py``), fits the most promising ones with a few
steps of Levenberg-Marquardt, and keeps those that predict left-out rows well for their length (``members.py``). It
also tries the formula without each of its operands. A kept formula has a value everywhere around the rows, unless it
is nearly exact: a law may have a pole, an approximation may not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

import simplipy
from flash_ansr.infer.candidates.safety import safety_of
from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.closed_form.noise import NoiseGuess, noise_level
from flash_ansr.infer.proposers.data import Data
from flash_ansr.infer.proposers.growth.features import (
    column_features,
    constant_feature,
    pair_features,
    subterm_features,
)
from flash_ansr.infer.proposers.growth.insertions import Gains, Library, Skeleton, gains
from flash_ansr.infer.proposers.growth.members import Member, Members, left_out_error
from flash_ansr.infer.table.columns import ColumnRelevance
from flash_ansr.infer.table.table import FloatArray
from simplipy import Expression
from simplipy.expression.operators import CONSTANT
from simplipy.fit.shorter_forms import reductions

_MOST_ROWS = 1000
# tokens; without noise there is a law, and long approximations only come close to it
_LONGEST, _LONGEST_WITHOUT_NOISE = 60, 30
# columns that are paired
_PAIRED = 12
# insertions of a step that are fitted, and the best ones by gain that these are taken from
_N_FITTED = 48
_N_RANKED = 4000
# of the insertions of the same columns at the same node
_N_ALIKE = 3
_DESCENT_STEPS = 6
# nats that an insertion must gain to first order
_LEAST_NATS = 1.0
# nats that a token costs: the next formula to grow is the best one at a price between these
_PRICES = (0.2, 12.0)
_INSERTION_PRICES = (0.5, 2.0, 5.0)
# of the variance, what a nearly exact formula leaves
_LITTLE = 1e-3


class Growth:
    """Grows formulas on some rows of a table.

    Parameters
    ----------
    context : ProposerContext

    Attributes
    ----------
    members : Members
        The formulas that are known.
    of_mean : float
        Mean square of the errors of the mean.
    """

    def __init__(self, context: ProposerContext) -> None:
        self._grammar, self._n_threads = context.grammar, context.n_threads
        _, noise = noise_level(Data.of(context))
        self._longest = _LONGEST_WITHOUT_NOISE if noise is NoiseGuess.NONE else _LONGEST
        self._random = np.random.default_rng(context.seed)
        rows = np.sort(self._random.permutation(context.table.n_rows)[:_MOST_ROWS])
        self._table = context.table.at(rows)
        X, y, weights, operators = self._table.X, self._table.y, self._table.sample_weight, self._grammar.operators
        self._root_weights = np.ones(len(rows)) if weights is None else np.sqrt(weights / weights.mean())
        paired = ColumnRelevance(self._table, context.seed).best(_PAIRED).tolist()
        features = [constant_feature(len(rows)), *column_features(X, operators), *pair_features(X, paired, operators)]
        self._library = Library(features)
        self._most_constants = max(1, len(rows) // 4)
        self._seen: set[str] = set()
        self.members = Members()
        mean = float(np.average(y, weights=weights))
        self.of_mean = float(np.average((y - mean) ** 2, weights=weights))
        self.take([Skeleton((CONSTANT,), (mean,))], is_known=True)

    def grow(self, n: int) -> int | None:
        """At most n insertions into one formula, and it without its parts: how many were fitted; None without any."""
        low, high = map(math.log, _PRICES)
        price = math.exp(self._random.uniform(low, high))
        member = self.members.next_to_grow(price, self._table.n_rows)
        if member is None:
            return None
        member.is_grown = True
        shorter = [
            Skeleton(tuple(r.skeleton.tokens), tuple(r.start.tolist()))
            for r in reductions(member.expression, member.constants)
        ]
        return self.take([*self._insertions(member.skeleton), *shorter][:n])

    def take(self, skeletons: Sequence[Skeleton], is_known: bool = False) -> int:
        """Fit those that are new and allowed, and keep the best; how many were fitted."""
        new = list(self._new(skeletons))
        if not new:
            return 0
        table, members = self._table, self.members
        fits = simplipy.fit_constants(
            [expression for expression, _ in new],
            table.X,
            table.y,
            sample_weight=table.sample_weight,
            x0=[start for _, start in new],
            n_restarts=0,
            max_steps=_DESCENT_STEPS,
            n_threads=self._n_threads,
        )
        made = []
        for fit in fits:
            # errors in rows that are left out are larger
            if fit.ok and np.isfinite(fit.constants).all() and members.wants(len(fit.skeleton), fit.fvu * self.of_mean):
                error = left_out_error(fit.skeleton, fit.constants, table.X, table.y, self._root_weights)
                if members.wants(len(fit.skeleton), error):
                    made.append(Member(fit.skeleton, fit.constants, error, is_known=is_known))
        laws = [member.expression.with_constants(member.constants) for member in made]
        for member, safety in zip(made, safety_of(laws, table, self._n_threads), strict=True):
            if safety.holds_around or (member.error < _LITTLE * self.of_mean and not safety.breaks_between_rows):
                members.add(member)
        return len(new)

    def _new(self, skeletons: Sequence[Skeleton]) -> Iterator[tuple[Expression, FloatArray]]:
        """Those that were not fitted before and that the grammar allows, with starts."""
        for skeleton in skeletons:
            spelling = " ".join(skeleton.tokens)
            if spelling in self._seen or len(skeleton.tokens) > self._longest:
                continue
            self._seen.add(spelling)
            expression = simplipy.parse(list(skeleton.tokens))
            if len(skeleton.constants) <= self._most_constants and self._grammar.allows(expression):
                yield expression, np.array(skeleton.constants)

    def _insertions(self, skeleton: Skeleton) -> Iterator[Skeleton]:
        """The formula with one of the most promising features each."""
        table = self._table
        more = list(subterm_features(skeleton.subterms(), table.X, self._grammar.operators))
        library = self._library.with_more(more)
        found = gains(skeleton, library, table.X, table.y, self._root_weights)
        if found is not None:
            for i, k in self._chosen(found, library):
                yield skeleton.extended(found.nodes[k], library.features[i], float(found.coefficients[i, k]))

    def _chosen(self, found: Gains, library: Library) -> list[tuple[int, int]]:
        """The best insertions as features and nodes, not too many alike."""
        nats = -0.5 * self._table.n_rows * np.log1p(-np.minimum(found.share, 1 - 1e-15))
        lengths = np.array([len(feature.tokens) + 3 if feature.tokens else 2 for feature in library.features])
        worth = nats - self._random.choice(_INSERTION_PRICES) * lengths[:, None]
        worth[~(nats >= _LEAST_NATS)] = -np.inf
        flat = worth.ravel()
        n = min(_N_RANKED, len(flat))
        best = np.argpartition(-flat, n - 1)[:n]
        chosen: list[tuple[int, int]] = []
        alike: dict[tuple[int, frozenset[str]], int] = {}
        for at in best[np.lexsort((best, -flat[best]))].tolist():
            i, k = divmod(at, worth.shape[1])
            if not np.isfinite(flat[at]) or len(chosen) == _N_FITTED:
                break
            kind = k, frozenset(token for token in library.features[i].tokens if token.startswith("x"))
            alike[kind] = alike.get(kind, 0) + 1
            if alike[kind] <= _N_ALIKE:
                chosen.append((i, k))
        return chosen
