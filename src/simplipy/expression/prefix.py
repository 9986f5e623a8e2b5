"""Walks over prefix tokens. Input: tokens of one valid expression. Loops, not recursion: depth costs memory alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from simplipy.expression.operators import OPERATORS

T = TypeVar("T")


def fold(tokens: Sequence[str], leaf: Callable[[str], T], operator: Callable[[str, list[T]], T]) -> T:
    """Value of an expression from the values of its leaves.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    leaf : callable
        ``leaf(token)``, the value of a token that is no operator. Called from the last token to the first.
    operator : callable
        ``operator(token, operands)``, the value of an operator on the values of its operands, in their order.

    Examples
    --------
    >>> fold(["+", "x1", "sin", "x2"], lambda token: token, lambda token, operands: f"{token}({', '.join(operands)})")
    '+(x1, sin(x2))'
    """
    stack: list[T] = []
    for token in reversed(tokens):
        row = OPERATORS.get(token)
        stack.append(leaf(token) if row is None else operator(token, [stack.pop() for _ in range(row.arity)]))
    return stack[-1]


def subterm_ends(tokens: Sequence[str]) -> list[int]:
    """Where each subterm ends: the one that token i begins is ``tokens[i:ends[i]]``.

    The first operand of an operator i begins at ``i + 1``, the second one at ``ends[i + 1]``.

    Examples
    --------
    >>> subterm_ends(["+", "sin", "x1", "x2"])
    [4, 3, 3, 4]
    """
    ends = [0] * len(tokens)
    for i in reversed(range(len(tokens))):
        end = i + 1
        for _ in range(OPERATORS[tokens[i]].arity if tokens[i] in OPERATORS else 0):
            end = ends[end]
        ends[i] = end
    return ends


def inherit(tokens: Sequence[str], root: T, passed: Callable[[int, int, T], T]) -> list[T]:
    """One value for each token, handed down from the root.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    root : object
        Value of the first token.
    passed : callable
        ``passed(i, k, value)``, what the operator at token i, which has this value, gives its operand k (0 or 1).

    Examples
    --------
    >>> inherit(["+", "sin", "x1", "x2"], 1, lambda i, k, depth: depth + 1)
    [1, 2, 3, 2]
    """
    values: list[T] = []
    pending = [root]
    for i, token in enumerate(tokens):
        value = pending.pop()
        values.append(value)
        if token in OPERATORS:
            pending += [passed(i, k, value) for k in reversed(range(OPERATORS[token].arity))]
    return values
