"""The formulas that a proposer hands over, and the formulas that it learns from. Ids are those of ``TokenBatch``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.table import FloatArray
from simplipy import Expression, TokenBatch


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """Formulas that were drawn.

    Attributes
    ----------
    batch : TokenBatch
        Skeletons; numbers in them count as fixed.
    log_prob : float64 array (n,), optional
        Log-probability of each under its proposer, where that is a model of the table.
    counts : int64 array (n,), optional
        How often each was drawn; once where it is not said.
    starts : list of float64 arrays, optional
        Values of the free constants that the proposer suggests, in prefix order.
    n_drawn : int, optional
        Draws that they stand for, where equal ones are listed once; otherwise as many as there are.
    n_unique : int, optional
        Distinct forms among the draws, where the proposer values them itself and hands on the best.
    """

    batch: TokenBatch
    log_prob: FloatArray | None = None
    counts: npt.NDArray[np.int64] | None = None
    starts: Sequence[FloatArray] | None = None
    n_drawn: int | None = None
    n_unique: int | None = None

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def repeats(self) -> npt.NDArray[np.int64]:
        """How often each was drawn."""
        return np.ones(len(self), dtype=np.int64) if self.counts is None else self.counts


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A formula that fits well, and the values of its free constants, in prefix order."""

    skeleton: Expression
    constants: FloatArray
