"""Which formulas a user allows: operators, length and depth."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from simplipy import OPERATORS, Expression
from simplipy.expression.operators import DEFAULT_OPERATORS


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
