"""The model's vocabulary: padding, start and end, the operators, the free constant and the variables. Closed.

A token keeps its id when operators are added: those beyond the paper's stand behind the variables. The vocabulary of a
checkpoint is read from its tokens, whatever their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from flash_ansr.data.errors import DataError
from simplipy.expression.operators import CONSTANT, DEFAULT_OPERATORS, OPERATORS

SPECIAL_TOKENS = ("<pad>", "<start>", "<end>")


class Vocabulary:
    """Tokens and their ids.

    Parameters
    ----------
    n_variables : int
        Variables x1 ... x_n.
    operators : collection of str
        Tokens of operators; those beyond the paper's 38 stand at the end.

    Attributes
    ----------
    tokens : tuple of str
        ``tokens[id]`` is the token of an id.
    pad, start, end : int
        Ids of the special tokens.
    constant : int
        Id of ``<constant>``.
    first_variable : int
        Id of x1; x_k is ``first_variable + k - 1``.
    arities : int8 array (len(vocabulary),)
        Operands of each token: 2, 1 or 0 for an operator or leaf, -1 for one that never stands in a formula.

    Examples
    --------
    >>> from flash_ansr.data import Vocabulary
    >>> vocabulary = Vocabulary(n_variables=3)
    >>> len(vocabulary), vocabulary.encode(["sin", "x2"])
    (45, [19, 43])
    """

    pad: int = _core.PAD_ID
    start: int = _core.START_ID
    end: int = _core.END_ID
    constant: int = _core.CONSTANT_ID
    first_variable: int = _core.FIRST_VARIABLE_ID

    def __init__(self, n_variables: int, operators: Collection[str] = ()) -> None:
        if n_variables < 1:
            raise DataError(f"n_variables must be >= 1, got {n_variables}")
        self.n_variables = n_variables
        variables = (f"x{k}" for k in range(1, n_variables + 1))
        more = (token for token in OPERATORS if token in operators and token not in DEFAULT_OPERATORS)
        self.tokens: tuple[str, ...] = (*SPECIAL_TOKENS, *DEFAULT_OPERATORS, CONSTANT, *variables, *more)

    @classmethod
    def of_tokens(cls, tokens: Sequence[str]) -> Vocabulary:
        """Vocabulary with exactly these tokens; those that this version does not know never stand in a formula.

        Raises
        ------
        DataError
            When a special token, the free constant or x1 is missing, or a token occurs twice.
        """
        missing = [token for token in (*SPECIAL_TOKENS, CONSTANT, "x1") if token not in tokens]
        if missing or len(set(tokens)) < len(tokens):
            raise DataError(f"no vocabulary: {missing[0]!r} is missing" if missing else "a token occurs twice")
        self = cls(next(k for k in itertools.count(1) if f"x{k + 1}" not in tokens))
        self.tokens = tuple(tokens)
        self.pad, self.start, self.end = self.encode(SPECIAL_TOKENS)
        self.constant, self.first_variable = self.id(CONSTANT), self.id("x1")
        return self

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens)}

    @cached_property
    def arities(self) -> npt.NDArray[np.int8]:
        """Operands of each token, -1 for one that never stands in a formula."""
        leaves = {CONSTANT, *(f"x{k}" for k in range(1, self.n_variables + 1))}
        known = dict.fromkeys(leaves, 0) | {token: row.arity for token, row in OPERATORS.items()}
        return np.array([known.get(token, -1) for token in self.tokens], dtype=np.int8)

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)

    def __repr__(self) -> str:
        return f"Vocabulary(n_variables={self.n_variables})"

    def id(self, token: str) -> int:
        """Id of a token."""
        try:
            return self._ids[token]
        except KeyError:
            raise DataError(
                f"token {token!r} is not in the vocabulary of operators, {CONSTANT} and x1 to x{self.n_variables}; "
                "numbers are spelled as free constants: use Expression.skeleton()"
            ) from None

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids of tokens, nothing added."""
        return [self.id(token) for token in tokens]

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer]) -> list[str]:
        """Tokens of ids, from after ``<start>`` to before ``<end>``; padding, also as -1, is left out."""
        tokens = []
        for i in ids:
            if i == self.end:
                break
            if i >= 0 and i not in (self.pad, self.start):
                tokens.append(self.tokens[i])
        return tokens
