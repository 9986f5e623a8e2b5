"""Symbolic derivatives from the operator table's derivative column.

The result is right but not simplified beyond dropping zeros and ones; its size is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from simplipy.errors import ConversionError
from simplipy.expression import parse
from simplipy.operators import OPERATORS, leaf_kind, variable_name

_MAX_TOKENS = 200_000


def derivative_tokens(tokens: Sequence[str], variable: str) -> list[str]:
    """Prefix tokens of the derivative with respect to a variable.

    Raises
    ------
    ConversionError
        When the derivative has more than 200,000 tokens.
    """
    stack: list[tuple[list[str], list[str] | None]] = []  # subterm, its derivative; None is zero
    for token in reversed(tokens):
        if token not in OPERATORS:
            hit = leaf_kind(token) == "variable" and variable_name(token) == variable
            stack.append(([token], ["1"] if hit else None))
            continue
        operands = [stack.pop() for _ in range(OPERATORS[token].arity)]
        term = [token, *(t for operand, _ in operands for t in operand)]
        slope = _chain_rule(token, operands)
        if slope is not None and len(slope) > _MAX_TOKENS:
            raise ConversionError(f"the derivative has more than {_MAX_TOKENS} tokens; simplify the expression first")
        stack.append((term, slope))
    return stack[0][1] or ["0"]


def _chain_rule(token: str, operands: list[tuple[list[str], list[str] | None]]) -> list[str] | None:
    """Sum of outer derivative times inner derivative over the operands that depend on the variable."""
    total: list[str] | None = None
    for template, (_, inner) in zip(_templates(token), operands, strict=True):
        if inner is None:
            continue
        if template == ("-1",):
            total = ["neg", *inner] if total is None else ["-", *total, *inner]
            continue
        part = _product(_substituted(template, [operand for operand, _ in operands]), inner)
        total = part if total is None else ["+", *total, *part]
    return total


@cache
def _templates(token: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(parse(text).tokens) for text in OPERATORS[token].derivative)


def _substituted(template: tuple[str, ...], operands: list[list[str]]) -> list[str]:
    binding = dict(zip("ab", operands, strict=False))
    return [t for token in template for t in binding.get(token, [token])]


def _product(outer: list[str], inner: list[str]) -> list[str]:
    if inner == ["1"]:
        return outer
    return inner if outer == ["1"] else ["*", *outer, *inner]
