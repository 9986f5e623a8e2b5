"""Many token lists as flat arrays: what samplers, the simplifier, fitters and models pass around.

Ids are stable: operators and fixed leaves first (``symbol_tokens()``), then x1, x2, ... from ``FIRST_VARIABLE``;
numbers and other names of this batch from ``FIRST_EXTRA``; -1 is padding.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simplipy import _core
from simplipy.errors import ParseError
from simplipy.expression.expression import Expression, parse

FIRST_VARIABLE: int = _core.FIRST_VARIABLE
FIRST_EXTRA: int = _core.FIRST_EXTRA
SYMBOL_TOKENS: tuple[str, ...] = tuple(_core.symbol_tokens())


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Prefix expressions in one int16 array.

    Attributes
    ----------
    ids : int16 array (n_tokens,)
        Token ids of all expressions, one after the other.
    offsets : int64 array (n_expressions + 1,)
        Expression i is ``ids[offsets[i]:offsets[i + 1]]``.
    extras : tuple of str
        Tokens with the ids ``FIRST_EXTRA``, ``FIRST_EXTRA + 1``, ...

    Examples
    --------
    >>> from simplipy import TokenBatch
    >>> batch = TokenBatch.from_tokens([["+", "x1", "0.5"], ["sin", "x2"]])
    >>> batch.offsets.tolist(), batch[1]
    ([0, 3, 5], ['sin', 'x2'])
    """

    ids: npt.NDArray[np.int16]
    offsets: npt.NDArray[np.int64]
    extras: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ids = np.ascontiguousarray(self.ids, dtype=np.int16)
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        if ids.ndim != 1 or offsets.ndim != 1 or len(offsets) == 0:
            raise ParseError("ids and offsets must be one-dimensional, offsets with at least the entry 0")
        if offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise ParseError(f"offsets must rise from 0 to the number of ids, {len(ids)}")
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def from_expressions(cls, expressions: Iterable[Expression]) -> TokenBatch:
        """Batch of these expressions."""
        ids, offsets, extras = _core.encode([e._tree for e in expressions])
        return cls(ids, offsets, tuple(extras))

    @classmethod
    def from_tokens(cls, token_lists: Iterable[Sequence[str]]) -> TokenBatch:
        """Batch of prefix token lists; each must be a whole expression."""
        return cls.from_expressions(parse(tokens) for tokens in token_lists)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> list[str]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"expression {i} of a batch of {len(self)}")
        i %= len(self)
        return self._decoded(self.ids[self.offsets[i] : self.offsets[i + 1]])

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.to_tokens())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenBatch):
            return NotImplemented
        same_arrays = np.array_equal(self.ids, other.ids) and np.array_equal(self.offsets, other.offsets)
        return bool(same_arrays) and self.extras == other.extras

    __hash__ = None  # type: ignore[assignment]

    def to_tokens(self) -> list[list[str]]:
        """Prefix token lists."""
        n_tokens = np.concatenate([[0], np.cumsum(self.ids >= 0)])  # before each id; padding has none
        ends = n_tokens[self.offsets].tolist()
        tokens = self._decoded(self.ids)
        return [tokens[start:end] for start, end in itertools.pairwise(ends)]

    def _decoded(self, ids: npt.NDArray[np.int16]) -> list[str]:
        own = ids[ids >= 0].tolist()
        extras = list(self.extras)
        table = {k: _core.token_of_id(k, extras) for k in set(own)}
        return [table[k] for k in own]

    def expressions(self) -> list[Expression]:
        """Expressions."""
        return [Expression(tree) for tree in _core.decode(self.ids, self.offsets, list(self.extras))]

    def padded(self, length: int | None = None) -> npt.NDArray[np.int16]:
        """Ids as a matrix (n_expressions, length), padded with -1; ``length`` defaults to the longest."""
        lengths: npt.NDArray[Any] = np.diff(self.offsets)
        width = int(lengths.max(initial=0)) if length is None else length
        if (lengths > width).any():
            raise ParseError(f"an expression has {lengths.max()} tokens, length is {width}")
        matrix = np.full((len(self), width), -1, dtype=np.int16)
        matrix[np.arange(width) < lengths[:, None]] = self.ids
        return matrix
