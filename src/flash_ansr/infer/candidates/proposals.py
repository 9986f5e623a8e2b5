"""The formulas that a proposer hands over, and the formulas that it learns from. Ids are those of ``TokenBatch``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.table.table import FloatArray
from simplipy import OPERATORS, Expression, TokenBatch, parse
from simplipy.expression.operators import CONSTANT, leaf_kind
from simplipy.expression.token_batch import FIRST_EXTRA, FIRST_VARIABLE, SYMBOL_TOKENS

_ARITIES = np.array([OPERATORS[token].arity if token in OPERATORS else 0 for token in SYMBOL_TOKENS])
_CONSTANT_ID = SYMBOL_TOKENS.index(CONSTANT)


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

    @classmethod
    def of(cls, formulas: Iterable[str | Expression]) -> Proposals:
        """Formulas, as text or expressions.

        Fits start from their numbers; where one has a ``<constant>``, which has no number, all are fitted blindly.

        Examples
        --------
        >>> proposals = Proposals.of(["2.5*sin(x1)", "x1 + x2"])
        >>> list(proposals.batch), [start.tolist() for start in proposals.starts]
        ([['*', '<constant>', 'sin', 'x1'], ['+', 'x1', 'x2']], [[2.5], []])
        """
        expressions = [parse(f) if isinstance(f, str) else f for f in formulas]
        is_blind = any(e.n_constants for e in expressions)
        starts = None if is_blind else [np.array(numbers_of(e)) for e in expressions]
        return cls(TokenBatch.from_expressions(e.skeleton() for e in expressions), starts=starts)

    def check(self, n_columns: int) -> None:
        """Refuse what is no formula of x1, x2, ... of a table with so many columns.

        Raises
        ------
        ValueError
            The message names the formula.
        """
        ids, offsets = self.batch.ids.astype(np.int64), self.batch.offsets
        is_symbol = (ids >= 0) & (ids < len(SYMBOL_TOKENS))
        known = is_symbol | ((ids >= FIRST_VARIABLE) & (ids < FIRST_VARIABLE + n_columns))
        numbers = [FIRST_EXTRA + i for i, token in enumerate(self.batch.extras) if leaf_kind(token) == "number"]
        known |= np.isin(ids, numbers)
        # operands that are still wanted after each token: a whole formula wants none, and no sooner than at its end
        wanted = np.cumsum(np.where(is_symbol, _ARITIES[np.where(is_symbol, ids, 0)], 0) - 1)
        before = np.concatenate([[0], wanted])[offsets]
        rows = np.repeat(np.arange(len(self)), np.diff(offsets))
        ends_early = (wanted - before[rows] < 0) & (np.arange(len(ids)) < offsets[1:][rows] - 1)
        bad = np.concatenate([rows[~known], rows[ends_early], np.flatnonzero(np.diff(before) != -1)])
        if len(bad):
            tokens = self.batch[int(bad.min())]
            raise ValueError(f"it proposed {' '.join(tokens)!r}, which is no formula of x1 to x{n_columns}")
        if self.starts is not None:
            n_free = np.bincount(rows[ids == _CONSTANT_ID], minlength=len(self))
            if len(self.starts) != len(self) or any(n != len(s) for n, s in zip(n_free, self.starts, strict=True)):
                raise ValueError("it must propose one start for each formula, one value for each <constant>")

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
