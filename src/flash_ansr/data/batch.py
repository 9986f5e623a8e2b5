"""A batch of problems as arrays. Never draws anything; see generator.py."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.data.vocabulary import Vocabulary
from simplipy import Expression, parse


@dataclass(frozen=True, slots=True, eq=False)
class Details:
    """Facts about the problems that a model does not see.

    Attributes
    ----------
    constants : list of float64 arrays (n_constants,)
        Values of the free constants, in prefix order.
    drawn : list of list of str
        Skeletons before simplification, as prefix tokens.
    """

    constants: list[npt.NDArray[np.float64]]
    drawn: list[list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B problems, padded to R rows and L tokens.

    Attributes
    ----------
    X : float32 array (B, R, D)
        Inputs, 0 in padded rows and in columns without data. D is ``vocabulary.n_variables``.
    y : float32 array (B, R)
        Targets, with noise where there is any; 0 in padded rows.
    row_mask : bool array (B, R)
        True for rows that hold data.
    token_ids : int16 array (B, L)
        ``<start>``, prefix tokens, ``<end>``, then padding: decoder input is ``token_ids[:, :-1]``, its target
        ``token_ids[:, 1:]``.
    lengths : int32 array (B,)
        Tokens of the skeletons, start and end not counted.
    n_rows, n_columns : int32 arrays (B,)
        Rows and columns with data.
    noise : float32 array (B,)
        Standard deviation of the noise by that of the clean target.
    indices : int64 array (B,)
        Index of each problem in its stream.
    outcomes : int32 array (B, n_outcomes)
        Attempts of each problem by outcome, in the order of ``flash_ansr.data.OUTCOMES``; one of them is accepted.
    vocabulary : Vocabulary
        The meaning of the ids.
    details : Details, optional
        On request.
    """

    X: npt.NDArray[np.float32]
    y: npt.NDArray[np.float32]
    row_mask: npt.NDArray[np.bool_]
    token_ids: npt.NDArray[np.int16]
    lengths: npt.NDArray[np.int32]
    n_rows: npt.NDArray[np.int32]
    n_columns: npt.NDArray[np.int32]
    noise: npt.NDArray[np.float32]
    indices: npt.NDArray[np.int64]
    outcomes: npt.NDArray[np.int32]
    vocabulary: Vocabulary
    details: Details | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    def tokens(self, i: int) -> list[str]:
        """Prefix tokens of the i-th skeleton."""
        return self.vocabulary.decode(self.token_ids[i])

    def expression(self, i: int) -> Expression:
        """The i-th skeleton, with its constants filled in where details are there."""
        skeleton = parse(self.tokens(i))
        return skeleton if self.details is None else skeleton.with_constants(self.details.constants[i])

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Batch:
        """These problems as a batch, padded to what they need."""
        n_rows, n_ids = int(self.n_rows[rows].max(initial=1)), int(self.lengths[rows].max(initial=1)) + 2
        details = self.details
        if details is not None:
            details = Details([details.constants[i] for i in rows], [details.drawn[i] for i in rows])
        return dataclasses.replace(
            self,
            X=self.X[rows, :n_rows],
            y=self.y[rows, :n_rows],
            row_mask=self.row_mask[rows, :n_rows],
            token_ids=self.token_ids[rows, :n_ids],
            details=details,
            **{name: getattr(self, name)[rows] for name in _PER_PROBLEM},
        )

    def buckets(self, n: int) -> list[Batch]:
        """The batch in n parts of like length, shortest first, each padded to its own longest.

        A step over a mixed batch costs less in parts, and its gradient is the same when the loss is normalised by the
        tokens of the whole batch.
        """
        if not 1 <= n <= len(self):
            raise ValueError(f"n must be between 1 and the {len(self)} problems of the batch, got {n}")
        order = np.argsort(self.lengths, kind="stable")
        return [self.take(part) for part in np.array_split(order, n)]


_PER_PROBLEM = ("lengths", "n_rows", "n_columns", "noise", "indices", "outcomes")
