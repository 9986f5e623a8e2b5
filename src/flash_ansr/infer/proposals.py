"""What proposers hand to the pipeline, and the interface that makes something a proposer. Fits nothing, ranks nothing.

A proposer is made for one table and draws formulas for it. Ids are those of ``simplipy.TokenBatch``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from simplipy import Expression, TokenBatch
from simplipy.errors import SimplipyError
from simplipy.operators import CONSTANT, DEFAULT_OPERATORS, OPERATORS
from simplipy.token_batch import SYMBOL_TOKENS

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows that laws are sought for.

    Attributes
    ----------
    X : float64 array (n_rows, n_columns)
        Column k is the variable x_{k+1}.
    y : float64 array (n_rows,)
    sample_weight : float64 array (n_rows,), optional
    """

    X: FloatArray
    y: FloatArray
    sample_weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self.X.shape[1]

    def at(self, rows: npt.NDArray[np.int64]) -> Table:
        """These rows alone."""
        return Table(self.X[rows], self.y[rows], None if self.sample_weight is None else self.sample_weight[rows])

    def thinned(self, n: int) -> Table:
        """At most so many of its rows, evenly spread."""
        return self if self.n_rows <= n else self.at(np.linspace(0, self.n_rows - 1, n).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which formulas a user allows.

    Attributes
    ----------
    operators : frozenset of str
        Tokens of the operators that may occur.
    max_length : int, optional
        Tokens at most.
    max_depth : int, optional
        Nesting at most.
    """

    operators: frozenset[str] = frozenset(DEFAULT_OPERATORS)
    max_length: int | None = None
    max_depth: int | None = None

    def allows(self, expression: Expression) -> bool:
        """Whether the formula keeps to the grammar."""
        if self.max_length is not None and len(expression) > self.max_length:
            return False
        if self.max_depth is not None and expression.depth > self.max_depth:
            return False
        return _forbidden(self.operators).isdisjoint(expression.tokens)


@functools.cache
def _forbidden(operators: frozenset[str]) -> frozenset[str]:
    """The operators that are not among these."""
    return frozenset(OPERATORS) - operators


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


_FREED = {row.id for row in OPERATORS.values() if row.form in ("scale", "quotient")}
_IS_FREED = np.array([i in _FREED for i in range(len(SYMBOL_TOKENS))])
_TIMES = SYMBOL_TOKENS.index("*")
_SYMBOLS = {"pi": math.pi, "e": math.e}
_CONSTANT = SYMBOL_TOKENS.index(CONSTANT)


def free_multipliers(batch: TokenBatch) -> TokenBatch:
    """The batch with every mult_k and div_k as a product with a free constant: 3*x becomes c*x.

    Examples
    --------
    >>> from simplipy import TokenBatch
    >>> free_multipliers(TokenBatch.from_tokens([["mult3", "x1"]]))[0]
    ['*', '<constant>', 'x1']
    """
    freed = np.zeros(len(batch.ids), dtype=bool)
    symbols = (batch.ids >= 0) & (batch.ids < len(SYMBOL_TOKENS))
    freed[symbols] = _IS_FREED[batch.ids[symbols]]
    if not freed.any():
        return batch
    width = 1 + freed.astype(np.int64)
    ids = np.repeat(batch.ids, width)
    places = (np.cumsum(width) - width)[freed]
    ids[places] = _TIMES
    ids[places + 1] = _CONSTANT
    ends = np.concatenate([[0], np.cumsum(width)])
    return TokenBatch(ids, ends[batch.offsets], batch.extras)


def numbers_of(expression: Expression) -> list[float]:
    """The numbers that ``skeleton()`` frees, in prefix order.

    Examples
    --------
    >>> from simplipy import parse
    >>> numbers_of(parse("2.5*x1 + pi"))
    [2.5, 3.141592653589793]
    """
    pairs = zip(expression.tokens, expression.skeleton().tokens, strict=True)
    return [_SYMBOLS[t] if t in _SYMBOLS else float(t) for t, s in pairs if t != s]
