"""Laws in closed form as a proposer: what linear algebra finds, with its numbers as starts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.closed_form import closed_form
from flash_ansr.infer.proposals import Grammar, Proposals, Table
from simplipy import Expression, TokenBatch

_LONGEST_SECONDS = 5.0


class ClosedFormProposer:
    """Hands on the batches of :func:`flash_ansr.infer.closed_form.closed_form`.

    Parameters
    ----------
    table : Table
    grammar : Grammar
    seed : int
    """

    name = "closed_form"

    def __init__(self, table: Table, grammar: Grammar, seed: int) -> None:
        self._batches: Iterator[list[Expression]] = closed_form(
            table.X,
            table.y,
            sample_weight=table.sample_weight,
            operators=grammar.operators,
            deadline=time.monotonic() + _LONGEST_SECONDS,
            seed=seed,
        )

    def propose(self, n: int, seed: int) -> Proposals | None:
        """The next batch, whatever n is."""
        del n, seed
        batch = next(self._batches, None)
        if batch is None:
            return None
        starts = [np.array(numbers_of(e)) for e in batch]
        return Proposals(TokenBatch.from_expressions(e.skeleton() for e in batch), starts=starts)


def numbers_of(expression: Expression) -> list[float]:
    """The numbers that ``skeleton()`` frees, in prefix order."""
    return [float(t) for t, s in zip(expression.tokens, expression.skeleton().tokens, strict=True) if t != s]
