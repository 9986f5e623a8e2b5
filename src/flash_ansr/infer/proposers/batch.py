"""Proposers that work out formulas with their numbers batch by batch, whatever the seed of a round is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers import data
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from simplipy import Expression


class BatchProposer(Proposer):
    """Hands out batches of formulas; fits start from their numbers.

    Attributes
    ----------
    share_of_time : float
        Of a limited time, so much is for its formulas at most.
    """

    share_of_time: float

    def start(self, context: ProposerContext) -> None:
        """Nothing is worked out before the first formulas are asked for."""
        super().start(context)
        self._batches: Iterator[list[Expression]] | None = None
        self._rest: list[Expression] = []

    @abstractmethod
    def batches(self, rows: data.Data) -> Iterator[list[Expression]]:
        """Batches of formulas with their numbers, to the deadline of the rows."""

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The next batch, at most n of it."""
        del seed
        if self._batches is None:
            deadline = None if seconds is None else data.now() + self.share_of_time * seconds
            self._batches = self.batches(data.Data.of(self.context, deadline))
        batch = self._rest or next(self._batches, [])
        self._rest = batch[n:]
        return Proposals.of(batch[:n]) if batch else None
