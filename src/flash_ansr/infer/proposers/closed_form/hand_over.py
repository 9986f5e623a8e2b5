"""Laws in closed form as a proposer: what linear algebra finds, with its numbers as starts."""

from __future__ import annotations

from collections.abc import Iterator

from flash_ansr.infer.proposers.batch import BatchProposer
from flash_ansr.infer.proposers.closed_form import closed_form, data
from simplipy import Expression

# of a limited time, so much is for closed forms at most
_SHARE = 0.5


class ClosedFormProposer(BatchProposer):
    """Hands on the batches of ``flash_ansr.infer.proposers.closed_form.closed_form``."""

    name = "closed_form"
    round_size = 256
    opens = True
    weight = 0.3

    def _start(self, seconds: float | None) -> Iterator[list[Expression]]:
        return closed_form(
            self._table.X,
            self._table.y,
            sample_weight=self._table.sample_weight,
            operators=self._grammar.operators,
            max_length=self._grammar.max_length,
            max_depth=self._grammar.max_depth,
            gamma=self._gamma,
            deadline=None if seconds is None else data.now() + _SHARE * seconds,
            seed=self._seed,
        )
