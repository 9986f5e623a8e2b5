"""A proposer that works on a few columns of a wide table: those that say most about what the best law leaves.

The columns are chosen by y at first. When others found a better law, they are chosen again by its residuals, beside the
columns of the law; where that brings a new one, the proposer starts anew on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import TokenBatch
from simplipy.expression.token_batch import FIRST_VARIABLE
from simplipy.fit.unexplained import fvu

# a law that is chosen by must leave so much less than the last one
_BETTER = 0.9
# rounds between two choices
_LEAST_ROUNDS = 4

Columns = npt.NDArray[np.int64]


class SomeColumnsProposer(Proposer):
    """Asks another proposer for formulas of some columns.

    Parameters
    ----------
    context : ProposerContext
        With all columns.
    make : callable
        The other proposer, on a table of some columns.
    n_columns : int
        How many it gets.
    """

    def __init__(self, context: ProposerContext, make: Callable[[ProposerContext], Proposer], n_columns: int) -> None:
        super().__init__(context)
        self._make, self._n_columns = make, n_columns
        self._left, self._rounds = 1.0, 0
        self._law: Lesson | None = None
        self._work_on(context.relevance.best(n_columns))
        own = self._proposer
        self.name, self.round_size, self.weight, self.opens = own.name, own.round_size, own.weight, own.opens

    @property
    def is_ready(self) -> bool:
        """Whether the other one is."""
        return self._proposer.is_ready

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """Formulas of the other one, in the columns of the whole table."""
        self._rounds += 1
        if self._law is not None and self._rounds > _LEAST_ROUNDS:
            self._choose_again(self._law)
        proposals = self._proposer.propose(n, seed, seconds)
        if proposals is None and self._law is not None and self._choose_again(self._law):
            proposals = self._proposer.propose(n, seed, seconds)
        return None if proposals is None else replace(proposals, batch=_in_columns(proposals.batch, self._columns))

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Hand on formulas of its columns; note the best one for the next choice of columns."""
        self._hand_on(lessons)
        table = self.context.table
        for lesson in lessons[:1]:
            left = fvu(table.y, self._values(lesson), table.sample_weight)
            if left < _BETTER * self._left:
                self._left, self._law = left, lesson

    def _choose_again(self, law: Lesson) -> bool:
        """Whether the residuals of a law speak for other columns; then the proposer starts anew on these."""
        self._law, self._rounds = None, 0
        table = self.context.table
        of_law = np.array([int(name[1:]) - 1 for name in law.skeleton.variables], dtype=np.int64)
        n_others = self._n_columns - len(of_law)
        if n_others <= 0:
            return False
        residuals = table.y - self._values(law)
        columns = np.union1d(of_law, self.context.relevance.best(n_others, residuals))
        if set(columns) <= set(self._columns):
            return False
        self._work_on(columns)
        self._hand_on([law])
        return True

    def _hand_on(self, lessons: Sequence[Lesson]) -> None:
        """Let the other one learn the formulas that have none but its columns."""
        places = {f"x{k + 1}": f"x{i + 1}" for i, k in enumerate(self._columns)}
        known = []
        for lesson in lessons:
            names = lesson.skeleton.variables
            if set(names) <= places.keys():
                renamed = lesson.skeleton.rename({name: places[name] for name in names})
                known.append(replace(lesson, skeleton=renamed))
        if known:
            self._proposer.learn(known)

    def _values(self, lesson: Lesson) -> FloatArray:
        return np.asarray(lesson.skeleton(self.context.table.X, lesson.constants), dtype=np.float64)

    def _work_on(self, columns: Columns) -> None:
        table = self.context.table
        self._columns = np.sort(columns)
        part = Table(np.ascontiguousarray(table.X[:, self._columns]), table.y, table.sample_weight)
        self._proposer = self._make(replace(self.context, table=part))


def _in_columns(batch: TokenBatch, columns: Columns) -> TokenBatch:
    """The batch with x_i as the i-th of these columns."""
    ids = batch.ids.astype(np.int64)
    is_variable = (ids >= FIRST_VARIABLE) & (ids < FIRST_VARIABLE + len(columns))
    ids[is_variable] = FIRST_VARIABLE + columns[ids[is_variable] - FIRST_VARIABLE]
    return TokenBatch(ids.astype(np.int16), batch.offsets, batch.extras)
