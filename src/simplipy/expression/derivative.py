"""Symbolic derivatives from the operator table's derivative column.

The result is right but not simplified beyond dropping zeros and ones; its size is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, Inexact, localcontext
from functools import cache
from typing import NamedTuple

from simplipy.errors import ConversionError
from simplipy.expression.expression import parse
from simplipy.expression.operators import OPERATORS, leaf_kind, variable_name
from simplipy.expression.prefix import subterm_ends

_MAX_TOKENS = 200_000


def derivative_tokens(tokens: Sequence[str], variable: str) -> list[str]:
    """Prefix tokens of the derivative with respect to a variable.

    Raises
    ------
    ConversionError
        When the derivative has more than 200,000 tokens.
    """
    ends = subterm_ends(tokens)
    slopes: dict[int, list[str] | None] = {}  # by the start of the subterm; None is zero
    for start in reversed(range(len(tokens))):
        token = tokens[start]
        if token not in OPERATORS:
            hit = leaf_kind(token) == "variable" and variable_name(token) == variable
            slopes[start] = ["1"] if hit else None
            continue
        starts = (start + 1, ends[start + 1])[: OPERATORS[token].arity]
        slope = _chain_rule(tokens, token, [_Part(k, ends[k], slopes.pop(k)) for k in starts])
        if slope is not None and len(slope) > _MAX_TOKENS:
            raise ConversionError(f"the derivative has more than {_MAX_TOKENS} tokens; simplify the expression first")
        slopes[start] = slope
    return slopes[0] or ["0"]


class _Part(NamedTuple):
    """A subterm as a range of the tokens, and its derivative; None is zero."""

    start: int
    end: int
    slope: list[str] | None


def _chain_rule(tokens: Sequence[str], token: str, operands: list[_Part]) -> list[str] | None:
    """Sum of outer derivative times inner derivative over the operands that depend on the variable."""
    templates = _templates(token)
    if token == "pow" and leaf_kind(exponent := tokens[operands[1].start]) == "number":
        lowered = _lowered(exponent)
        if exponent == "0":
            return None  # the table's 0*a^(0 - 1) has no slope at 0
        if lowered is not None:
            templates = (_power_rule(exponent, lowered),)
    total: list[str] | None = None
    for template, (_, _, inner) in zip(templates, operands, strict=False):
        if inner is None:
            continue
        if template == ("-1",):
            total = ["neg", *inner] if total is None else ["-", *total, *inner]
            continue
        part = _product(_substituted(template, tokens, operands), inner)
        total = part if total is None else ["+", *total, *part]
    return total


def _power_rule(exponent: str, lowered: str) -> tuple[str, ...]:
    """Derivative of a power with this number as exponent, in terms of the base ``a``."""
    factor, power = (f"({number})" if number.startswith("-") else number for number in (exponent, lowered))
    slope = {"0": "1", "1": "a"}.get(lowered, f"a^{power}")
    return tuple(parse(slope if exponent == "1" else f"{factor}*{slope}").tokens)


def _lowered(number: str) -> str | None:
    """A number token less one, None where 17 digits do not hold it."""
    with localcontext(prec=17) as context:
        context.clear_flags()
        difference = Decimal(number) - 1
        return None if context.flags[Inexact] else str(difference)


@cache
def _templates(token: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(parse(text).tokens) for text in OPERATORS[token].derivative)


def _substituted(template: tuple[str, ...], tokens: Sequence[str], operands: list[_Part]) -> list[str]:
    spans = {name: slice(part.start, part.end) for name, part in zip("ab", operands, strict=False)}
    return [t for word in template for t in (tokens[spans[word]] if word in spans else (word,))]


def _product(outer: list[str], inner: list[str]) -> list[str]:
    if inner == ["1"]:
        return outer
    return inner if outer == ["1"] else ["*", *outer, *inner]
