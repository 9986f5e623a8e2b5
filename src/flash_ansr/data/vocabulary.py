"""The model's vocabulary: padding, start and end, the operators, the free constant and the variables. Closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from flash_ansr.data.errors import DataError
from simplipy import OPERATORS
from simplipy.operators import CONSTANT

SPECIAL_TOKENS = ("<pad>", "<start>", "<end>")


class Vocabulary:
    """Tokens and their ids.

    Parameters
    ----------
    n_variables : int
        Variables x1 ... x_n.

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
        Operands of each token: 2, 1 or 0 for an operator or leaf, -1 for a special token.

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

    def __init__(self, n_variables: int) -> None:
        if n_variables < 1:
            raise DataError(f"n_variables must be >= 1, got {n_variables}")
        self.n_variables = n_variables
        variables = (f"x{k}" for k in range(1, n_variables + 1))
        self.tokens: tuple[str, ...] = (*SPECIAL_TOKENS, *OPERATORS, CONSTANT, *variables)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens)}

    @cached_property
    def arities(self) -> npt.NDArray[np.int8]:
        """Operands of each token, -1 for a special one."""
        special = [-1] * len(SPECIAL_TOKENS)
        operators = [operator.arity for operator in OPERATORS.values()]
        return np.array([*special, *operators, *([0] * (1 + self.n_variables))], dtype=np.int8)

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
