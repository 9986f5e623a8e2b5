"""Laws in closed form as a proposer: what linear algebra finds, with its numbers as starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.closed_form import closed_form, data
from flash_ansr.infer.proposals import Grammar, Proposals, Table, numbers_of
from simplipy import Expression, TokenBatch

# of a limited time, so much is for closed forms at most
_SHARE = 0.5


class ClosedFormProposer:
    """Hands on the batches of :func:`flash_ansr.infer.closed_form.closed_form`.

    Parameters
    ----------
    table : Table
    grammar : Grammar
    seed : int
    """

    name = "closed_form"
    round_size = 256
    opens = True
    weight = 0.3

    def __init__(self, table: Table, grammar: Grammar, seed: int) -> None:
        self._table = table
        self._grammar = grammar
        self._seed = seed
        self._batches: Iterator[list[Expression]] | None = None
        self._rest: list[Expression] = []

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The next batch, at most n of it."""
        del seed
        if self._batches is None:
            self._batches = closed_form(
                self._table.X,
                self._table.y,
                sample_weight=self._table.sample_weight,
                operators=self._grammar.operators,
                deadline=None if seconds is None else data.now() + _SHARE * seconds,
                seed=self._seed,
            )
        batch = self._rest or next(self._batches, [])
        if not batch:
            return None
        batch, self._rest = batch[:n], batch[n:]
        starts = [np.array(numbers_of(e)) for e in batch]
        return Proposals(TokenBatch.from_expressions(e.skeleton() for e in batch), starts=starts)
