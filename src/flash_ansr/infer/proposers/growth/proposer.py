"""Growth as a proposer: from a constant on, features are inserted where they explain most of the residuals.

A step takes a formula, values every insertion into it (``insertions.py``), fits the most promising ones with a few
steps of Levenberg-Marquardt, and keeps those that predict left-out rows well for their length (``members.py``). Then
it tries the formula without each of its operands. Formulas of other proposers grow too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.candidates.safety import safety_of
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
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
from flash_ansr.infer.table.columns import select_columns
from simplipy import Expression, TokenBatch
from simplipy.expression.operators import CONSTANT
from simplipy.fit.shorter_forms import reductions

_MOST_ROWS = 1000
_LONGEST = 60
# without noise there is a law, and long approximations only come close to it
_LONGEST_LAW = 30
# part of the time while the best formula leaves more than this, and when it leaves less
_MUCH = 0.02
_LITTLE = 1e-3
_WEIGHTS = (4.0, 0.2)
# columns that are paired
_PAIRED = 12
# insertions of a step that are fitted, and that are looked at for these
_N_FITTED = 48
_N_RANKED = 4000
# of the insertions of the same columns at the same node
_N_ALIKE = 3
_DESCENT_STEPS = 6
# an insertion must gain so many nats to first order
_LEAST_NATS = 1.0
# nats that a token costs: the next formula to grow is the best one at a price between these
_PRICES = (0.2, 12.0)
_INSERTION_PRICES = (0.5, 2.0, 5.0)
# formulas that are handed on in a round, and that are taken from others
_PROMOTED = 6
_LESSONS = 8


class GrowthProposer(Proposer):
    """Grows formulas that approximate."""

    name = "growth"
    round_size = 128
    most_columns = 100
    weight = _WEIGHTS[0]

    def start(self, context: ProposerContext) -> None:
        """Nothing but the noise is looked at before the first formulas are asked for."""
        super().start(context)
        _, noise = noise_level(Data.of(context))
        self._longest = _LONGEST_LAW if noise is NoiseGuess.NONE else _LONGEST
        self._random = np.random.default_rng(context.seed)
        self._members, self._seen = Members(), set[str]()
        self._library: Library | None = None
        self._lessons: list[Skeleton] = []

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Let the best formulas of others grow."""
        self._lessons += [Skeleton(tuple(s.skeleton.tokens), tuple(s.constants.tolist())) for s in lessons[:_LESSONS]]

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The new records among about n formulas; None where sums of products are not allowed, or nothing grows."""
        del seed, seconds
        if not {"+", "*"} <= self.context.grammar.operators:
            return None
        if self._library is None:
            self._set_up()
        lessons, self._lessons = self._lessons, []
        n_fitted, is_over = self._take(lessons, is_known=True), False
        while n_fitted < n and not is_over:
            grown = self._grow()
            n_fitted, is_over = n_fitted + (grown or 0), grown is None
        fresh = [m for m in self._members.records() if not m.is_known]
        if not fresh and is_over and not n_fitted:
            return None
        fresh = sorted(fresh, key=lambda m: m.error)[:_PROMOTED]
        for member in fresh:
            member.is_known = True
        if fresh:
            self.weight = _WEIGHTS[fresh[0].error < _MUCH * self._of_mean]
        batch = TokenBatch.from_expressions(m.expression for m in fresh)
        return Proposals(batch, starts=[m.constants for m in fresh], n_drawn=n_fitted, n_unique=n_fitted)

    def _set_up(self) -> None:
        """The rows, and the features of their columns."""
        table, operators = self.context.table, self.context.grammar.operators
        rows = np.sort(self._random.permutation(table.n_rows)[:_MOST_ROWS])
        self._table = table.at(rows)
        weights = self._table.sample_weight
        self._root_weights = np.ones(len(rows)) if weights is None else np.sqrt(weights / weights.mean())
        X = self._table.X
        paired = select_columns(self._table, _PAIRED, self.context.seed).tolist()
        features = [constant_feature(len(rows)), *column_features(X, operators), *pair_features(X, paired, operators)]
        self._library = Library(features)
        self._most_constants = max(1, len(rows) // 4)
        mean = float(np.average(self._table.y, weights=weights))
        self._of_mean = float(np.average((self._table.y - mean) ** 2, weights=weights))
        self._take([Skeleton((CONSTANT,), (mean,))], is_known=True)

    def _grow(self) -> int | None:
        """Insertions into one formula, and the formula without its parts: how many were fitted; None without any."""
        low, high = map(math.log, _PRICES)
        price = math.exp(self._random.uniform(low, high))
        member = self._members.next_to_grow(price, self._table.n_rows)
        if member is None:
            return None
        member.is_grown = True
        shorter = [
            Skeleton(tuple(r.skeleton.tokens), tuple(r.start.tolist()))
            for r in reductions(member.expression, member.constants)
        ]
        return self._take([*self._insertions(member), *shorter])

    def _insertions(self, member: Member) -> Iterator[Skeleton]:
        """The formula with one of the most promising features each."""
        table, skeleton, operators = self._table, member.skeleton, self.context.grammar.operators
        assert self._library is not None
        more = list(subterm_features(skeleton.subterms(), table.X, operators))
        library = self._library.with_more(more)
        found = gains(skeleton, library, table.X, table.y, self._root_weights)
        for i, k in [] if found is None else self._chosen(found, library):
            assert found is not None
            yield skeleton.extended(found.nodes[k], library.features[i], float(found.coefficients[i, k]))

    def _chosen(self, found: Gains, library: Library) -> list[tuple[int, int]]:
        """The best insertions as features and nodes, not too many alike."""
        nats = -0.5 * self._table.n_rows * np.log1p(-np.minimum(found.share, 1 - 1e-15))
        lengths = np.array([len(feature.tokens) + 3 if feature.tokens else 2 for feature in library.features])
        worth = nats - self._random.choice(_INSERTION_PRICES) * lengths[:, None]
        worth[nats < _LEAST_NATS] = -np.inf
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

    def _take(self, skeletons: Sequence[Skeleton], is_known: bool = False) -> int:
        """Fit what is new and allowed, and keep the best; how many were fitted."""
        table, members = self._table, self._members
        new: list[tuple[Expression, npt.NDArray[np.float64]]] = []
        for skeleton in skeletons:
            spelling = " ".join(skeleton.tokens)
            if spelling in self._seen or len(skeleton.tokens) > self._longest:
                continue
            self._seen.add(spelling)
            expression = simplipy.parse(list(skeleton.tokens))
            if len(skeleton.constants) <= self._most_constants and self.context.grammar.allows(expression):
                new.append((expression, np.array(skeleton.constants)))
        if not new:
            return 0
        fits = simplipy.fit_constants(
            [expression for expression, _ in new],
            table.X,
            table.y,
            sample_weight=table.sample_weight,
            x0=[start for _, start in new],
            n_restarts=0,
            max_steps=_DESCENT_STEPS,
            n_threads=self.context.n_threads,
        )
        made = []
        for fit in fits:
            # errors in rows that are left out are larger
            if fit.ok and np.isfinite(fit.constants).all() and members.wants(len(fit.skeleton), self._error(fit.fvu)):
                error = left_out_error(fit.skeleton, fit.constants, table.X, table.y, self._root_weights)
                if members.wants(len(fit.skeleton), error):
                    made.append(Member(fit.skeleton, fit.constants, error, is_known=is_known))
        laws = [member.expression.with_constants(member.constants) for member in made]
        for member, safety in zip(made, safety_of(laws, table, self.context.n_threads), strict=True):
            # a law may have a pole; an approximation may not
            if safety.holds_around or (member.error < _LITTLE * self._of_mean and not safety.breaks_between_rows):
                members.add(member)
        return len(new)

    def _error(self, fvu: float) -> float:
        return fvu * self._of_mean
