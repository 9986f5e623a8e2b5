"""Growth as a proposer: it hands on formulas that predict left-out rows better than all shorter ones."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.proposers.growth.growth import Growth
from flash_ansr.infer.proposers.growth.insertions import Skeleton
from simplipy import TokenBatch

# part of the time while the best formula leaves more than this of the variance, and when it leaves less: without
# noise there is a law to be found, and approximations only come close to it
_MUCH = 0.02
_WEIGHTS = (4.0, 0.2)
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
        """Nothing is computed before the first formulas are asked for."""
        super().start(context)
        self._growth: Growth | None = None
        self._lessons: list[Skeleton] = []

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Let the best formulas of others grow."""
        self._lessons += [Skeleton(tuple(s.skeleton.tokens), tuple(s.constants.tolist())) for s in lessons[:_LESSONS]]

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The new records among about n formulas; None where sums of products are not allowed, or nothing grows."""
        del seed
        end = math.inf if seconds is None else time.monotonic() + seconds
        if not {"+", "*"} <= self.context.grammar.operators:
            return None
        if self._growth is None:
            self._growth = Growth(self.context)
        growth, lessons, self._lessons = self._growth, self._lessons, []
        n_fitted, is_over = growth.take(lessons[:n], is_known=True), False
        while n_fitted < n and not is_over and time.monotonic() < end:
            grown = growth.grow(n - n_fitted)
            n_fitted, is_over = n_fitted + (grown or 0), grown is None
        fresh = sorted((m for m in growth.members.records() if not m.is_known), key=lambda m: m.error)[:_PROMOTED]
        if not fresh and is_over and not n_fitted:
            return None
        for member in fresh:
            member.is_known = True
        if fresh:
            self.weight = _WEIGHTS[fresh[0].error < _MUCH * growth.of_mean]
        batch = TokenBatch.from_expressions(m.expression for m in fresh)
        return Proposals(batch, starts=[m.constants for m in fresh], n_drawn=n_fitted, n_unique=n_fitted)
