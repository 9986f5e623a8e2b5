"""What proposers share that work out formulas with numbers batch by batch, whatever the seed of a round is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, TokenBatch


class BatchProposer(ABC):
    """Hands out batches of formulas, their numbers as starts.

    Parameters
    ----------
    table : Table
    grammar : Grammar
    seed : int
        Chooses rows where there are many.
    gamma : float
        Price of a token in the order of a batch, in decades.
    """

    def __init__(self, table: Table, grammar: Grammar, seed: int, gamma: float = 0.05) -> None:
        self._table = table
        self._grammar = grammar
        self._seed = seed
        self._gamma = gamma
        self._batches: Iterator[list[Expression]] | None = None
        self._rest: list[Expression] = []

    @abstractmethod
    def _start(self, seconds: float | None) -> Iterator[list[Expression]]:
        """Batches of formulas with their numbers; ``seconds`` are left for the whole search."""

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The next batch, at most n of it."""
        del seed
        if self._batches is None:
            self._batches = self._start(seconds)
        batch = self._rest or next(self._batches, [])
        if not batch:
            return None
        batch, self._rest = batch[:n], batch[n:]
        starts = [np.array(numbers_of(e)) for e in batch]
        return Proposals(TokenBatch.from_expressions(e.skeleton() for e in batch), starts=starts)
