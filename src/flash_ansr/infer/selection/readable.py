"""Formulas as people write them, in as many tokens as the simplifier's spelling.

The simplifier takes, among equals, the spelling with the fewest literals: 1.5*u is 3*(u/2), 3/u is 3*(1/u), u^6 is
(u^3)^2, u^1.5 is sqrt(u)^3. A law is read more often than it is tokenised, so here numbers are one literal, products
and sums stand without brackets, and a negative coefficient is a minus sign.
"""

from __future__ import annotations

import math
from collections.abc import Container
from fractions import Fraction
from typing import Any

from simplipy import Expression, parse
from simplipy.expression.operators import EXPONENTS, FACTORS, leaf_kind
from simplipy.expression.prefix import fold

_POWERS = {token: int(exponent) for token, exponent in EXPONENTS.items() if exponent.denominator == 1}
_ROOTS = ("pow1_2", "pow1_4")
_DIGITS = 4  # of a decimal that replaces whole numbers
_MAX_DEPTH = 200

# a token and its operands, which are nodes themselves
_Node = tuple[Any, ...]


def readable(expression: Expression) -> Expression:
    """The same formula, as long or shorter, with the same domain.

    Examples
    --------
    >>> from simplipy import parse
    >>> readable(parse("3*(cos(5*(t/2))/2)")).infix()
    '1.5*cos(2.5*t)'
    >>> readable(parse("2*(5*(a*(b/c))) + -0.3*u")).infix()
    '10*a*b/c - 0.3*u'
    >>> readable(parse("3*(1/x) + (x^3)^2")).infix()
    '3/x + x^6'
    >>> readable(parse("365.2*sqrt(a)^3")).infix()
    '365.2*a^1.5'
    >>> readable(parse("2*(t/3)")).infix()
    '2*(t/3)'
    """
    if expression.depth > _MAX_DEPTH:
        return expression
    tokens = expression.tokens
    tree: _Node = fold(tokens, lambda token: (token,), lambda token, operands: (token, *operands))
    written = _tokens(_written(tree))
    return parse(written) if written != tokens else expression


def _tokens(node: _Node) -> list[str]:
    return [node[0], *(token for operand in node[1:] for token in _tokens(operand))]


def _written(node: _Node) -> _Node:
    token, *operands = node
    if token in FACTORS:
        return _scaled(node)
    if token in _POWERS:
        return _power(node)
    written = [_written(operand) for operand in operands]
    if token == "*":
        return _product(*written)
    if token in ("+", "-"):
        return _sum(token, *written)
    return (token, *written)


def _scaled(node: _Node) -> _Node:
    """A chain of whole multiples and quotients as one number, where that is a short one."""
    outer, node = _chain(node, FACTORS)
    inner, body = _chain(_written(node), FACTORS)  # a product with a literal may have become a multiple
    chain = outer + inner
    ratio = math.prod((FACTORS[token] for token in chain), start=Fraction(1))
    if body[0] == "inv" and ratio.denominator == 1:  # 3*(1/u)
        return ("/", (str(ratio),), body[1])
    literal = f"{float(ratio):.{_DIGITS}g}"
    if len(chain) > 1 and Fraction(literal) == ratio:
        return _product((literal,), body)
    if len(chain) > 1 and ratio.numerator == 1:
        return ("/", body, (str(ratio.denominator),))
    for token in reversed(chain):
        body = (token, body)
    return body


def _power(node: _Node) -> _Node:
    """A power of a power as one, and of a root where that is a decimal: sqrt(u)^3 is u^1.5."""
    powers, node = _chain(node, _POWERS)
    exponent = math.prod(_POWERS[token] for token in powers)
    if node[0] in _ROOTS and (exponent * EXPONENTS[node[0]]).denominator > 1:
        return ("pow", _written(node[1]), (f"{float(exponent * EXPONENTS[node[0]]):g}",))
    body = _written(node)
    token = f"pow{exponent}"
    return (token, body) if token in _POWERS else ("pow", body, (str(exponent),))


def _chain(node: _Node, tokens: Container[str]) -> tuple[list[str], _Node]:
    """The unary operators among these tokens that a node begins with, and what they are applied to."""
    chain = []
    while node[0] in tokens:
        chain.append(node[0])
        node = node[1]
    return chain, node


def _product(a: _Node, b: _Node) -> _Node:
    """Product without brackets: a*(u*v) is a*u*v, a*(u/v) is a*u/v."""
    if b[0] in ("*", "/"):
        return (b[0], _product(a, b[1]), b[2])
    scale = f"mult{a[0]}"
    return (scale, b) if scale in FACTORS else ("*", a, b)


def _sum(sign: str, a: _Node, b: _Node) -> _Node:
    """Sum or difference without brackets and without signs of numbers."""
    if b[0] in ("+", "-"):
        inner = "-" if (b[0] == "-") != (sign == "-") else "+"
        return _sum(inner, _sum(sign, a, b[1]), b[2])
    turned = _turned(b)
    if turned is not None:
        return ("+" if sign == "-" else "-", a, turned)
    return (sign, a, b)


def _turned(node: _Node) -> _Node | None:
    """Minus a term that begins with a negative number, without its sign; None for others."""
    token, *operands = node
    if token in ("*", "/"):
        first = _turned(operands[0])
        if first is None:
            return None
        return _product(first, operands[1]) if token == "*" else (token, first, operands[1])
    is_negative = leaf_kind(token) == "number" and token.startswith("-")
    return (token[1:],) if is_negative else None
