"""Evolution as a proposer: forms that improve the front of a view, their numbers as starts for a fit to all rows."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.proposers.local.evolution import Counts, Evolution, EvolutionSettings
from flash_ansr.infer.proposers.local.population import Ids, Member
from flash_ansr.infer.proposers.local.token_weights import TokenWeights
from flash_ansr.infer.proposers.local.views import View, views_of
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray
from simplipy import TokenBatch, parse
from simplipy.expression.data_binding import thread_count
from simplipy.fit.score import ROUNDING_FVU, score

# of a round, at most so many forms are fitted to all rows
_PROMOTED = 5
_GENERATIONS = 4
# a view that leads by so many decades gets e times as many children
_TEMPERATURE = 1.5
# every view gets at least this share
_FLOOR = 0.04
_FOREVER = -1.0
# spellings to remember, in all views
_MAX_WRITTEN = 2**22


class LocalProposer(Proposer):
    """Varies what is known: simple forms at first, then whatever it learns from other proposers and itself."""

    name = "local"
    most_columns = 9
    round_size = 2048

    def start(self, context: ProposerContext) -> None:
        """Take the views of the table in."""
        super().start(context)
        table, grammar = context.table, context.grammar
        views = views_of(table, grammar)
        settings = EvolutionSettings(
            max_length=min(EvolutionSettings().max_length, grammar.max_length or sys.maxsize),
            max_written=_MAX_WRITTEN // len(views),
            n_threads=thread_count(context.n_threads, sys.maxsize),
        )
        self._evolutions = [Evolution(view, grammar, table.n_columns, settings) for view in views]
        self._weights = TokenWeights(grammar, table.n_columns)
        self._best = [np.inf] * len(self._evolutions)  # score of each view
        self._credit = [0.0] * len(self._evolutions)
        self._lessons: list[tuple[Ids, FloatArray]] = list(_simple_forms(table.n_columns, grammar))

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Make members of the formulas that others found."""
        batch = TokenBatch.from_expressions(lesson.skeleton for lesson in lessons)
        if batch.extras:
            return
        ids = np.split(batch.ids, batch.offsets[1:-1])
        self._lessons += [(part, lesson.constants) for part, lesson in zip(ids, lessons, strict=True) if len(part)]

    def note_model_draws(self, batch: TokenBatch, counts: npt.NDArray[np.int64]) -> None:
        """Let mutations write the tokens more often that a model draws for the table."""
        self._weights.count(batch, counts)
        for evolution in self._evolutions:
            evolution.weigh(self._weights)

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The forms among n children that are now the best up to their length on their view."""
        end = None if seconds is None else time.monotonic() + seconds

        def left() -> float:
            return _FOREVER if end is None else max(end - time.monotonic(), 0.0)

        promoted: list[tuple[View, Member]] = []
        if self._lessons:
            lessons, self._lessons = self._lessons, []
            for i, evolution in enumerate(self._evolutions):
                seeds = [(np.concatenate([evolution.view.inner, ids]), constants) for ids, constants in lessons]
                promoted += self._noted(i, evolution.seed(seeds, left()))
        before = self.counts.new  # lessons are forms that others drew
        for generation in range(_GENERATIONS):
            size = (n + generation) // _GENERATIONS
            if size:
                i = self._next_view()
                promoted += self._noted(i, self._evolutions[i].step(size, seed + generation, left()))
        promoted.sort(key=lambda item: self._score(item[1]) + self.context.gamma * len(item[0].outer))
        formulas = ((np.concatenate([view.outer, member.ids]), member.constants) for view, member in promoted)
        chosen = list(itertools.islice((formula for formula in formulas if self._allows(formula[0])), _PROMOTED))
        batch, starts = _batch([ids for ids, _ in chosen]), [constants for _, constants in chosen]
        return Proposals(batch, starts=starts, n_drawn=n, n_unique=self.counts.new - before)

    @property
    def counts(self) -> Counts:
        """Counts of the children of all views by outcome."""
        totals = zip(*(astuple(evolution.counts) for evolution in self._evolutions), strict=True)
        return Counts(*map(sum, totals))

    def _noted(self, i: int, members: Sequence[Member]) -> list[tuple[View, Member]]:
        self._best[i] = min([self._best[i], *map(self._score, members)])
        return [(self._evolutions[i].view, member) for member in members]

    def _score(self, member: Member) -> float:
        return score(member.cost, member.length, self.context.gamma, ROUNDING_FVU)

    def _allows(self, ids: Ids) -> bool:
        return self.context.grammar.allows(_batch([ids]).expressions()[0])

    def _next_view(self) -> int:
        """Views that fit better get more children, all get some."""
        best = np.array(self._best)
        alive = np.isfinite(best)
        if not alive.any():
            return 0
        weights = np.where(alive, np.exp(-(best - best[alive].min()) / _TEMPERATURE), 0.0)
        weights = np.where(alive, np.maximum(weights / weights.sum(), _FLOOR), 0.0)
        self._credit = (np.array(self._credit) + weights / weights.sum()).tolist()
        i = int(np.argmax(self._credit))
        self._credit[i] -= 1.0
        return i


def _simple_forms(n_columns: int, grammar: Grammar) -> Iterable[tuple[Ids, FloatArray]]:
    """Variables, and products and quotients of two."""
    names = [f"x{k}" for k in range(1, n_columns + 1)]
    forms = [[name] for name in names]
    if "*" in grammar.operators:
        forms += [["*", a, b] for i, a in enumerate(names) for b in names[i + 1 :]]
    if "/" in grammar.operators:
        forms += [["/", a, b] for a in names for b in names if a != b]
    batch = TokenBatch.from_expressions(map(parse, forms))
    return [(ids, np.empty(0)) for ids in np.split(batch.ids, batch.offsets[1:-1])]


def _batch(parts: Sequence[Ids]) -> TokenBatch:
    if not parts:
        return TokenBatch.from_expressions(())
    return TokenBatch(np.concatenate(parts), np.concatenate([[0], np.cumsum([len(p) for p in parts])]))
