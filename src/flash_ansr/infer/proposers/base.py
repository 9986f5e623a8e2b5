"""The interface of proposers. A proposer is made for one table and draws formulas for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from simplipy import TokenBatch
from simplipy.errors import SimplipyError


class ProposerError(SimplipyError):
    """A proposer cannot go on, for a reason outside the program; the others can."""


class Proposer(Protocol):
    """Something that proposes formulas for the table it was made for, ``round_size`` at a time.

    An attribute ``is_ready`` may say whether it can be asked now; where there is none, it always can.
    """

    name: str
    round_size: int

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """At most n formulas, the same for the same seed and the same calls before.

        None when there are no more. ``seconds`` are left for the whole search.
        """
        ...


@runtime_checkable
class Learner(Proposer, Protocol):
    """A proposer that builds on what others found."""

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Formulas in the units of the table that the proposer was made for, best first."""
        ...

    def hear(self, batch: TokenBatch, counts: npt.NDArray[np.int64]) -> None:
        """Formulas that a model of the table drew, and how often each."""
        ...
