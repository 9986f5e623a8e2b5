"""Roots as people write them: u^0.25, u^0.1 and 365.2*u^1.5 for names such as pow1_4 that other libraries lack.

Input: laws that are chosen, and the rows they hold on. Scores stay those of the simplifier's spelling, which has fewer
tokens; the formulas keep their values on the rows, and their domain but for fifth roots.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse
from simplipy.expression.operators import EXPONENTS, FACTORS, leaf_kind
from simplipy.expression.prefix import fold

_EVEN_ROOTS = {token: float(EXPONENTS[token]) for token in ("pow1_2", "pow1_4")}
_POWERS = {token: int(exponent) for token, exponent in EXPONENTS.items() if exponent.denominator == 1}
_MULTIPLES = {token: str(factor) for token, factor in FACTORS.items() if factor.denominator == 1}
_ROOTS = frozenset((*_EVEN_ROOTS, "pow1_5"))
# a number with more digits was fitted: its root is a number, that of 2 is sqrt(2)
_MOST_DIGITS = 3
_MAX_DEPTH = 200

# a token and its operands, which are such nodes
_Node = tuple[Any, ...]


def with_plain_roots(candidates: Sequence[Candidate], table: Table, grammar: Grammar) -> list[Candidate]:
    """Candidates with roots as people write them, where the grammar has room for that."""
    written = []
    for candidate in candidates:
        form = plain_roots(candidate.expression, table.X)
        is_kept = form != candidate.expression and grammar.allows(form)
        written.append(dataclasses.replace(candidate, expression=form) if is_kept else candidate)
    return written


def plain_roots(expression: Expression, X: npt.NDArray[np.float64]) -> Expression:
    """The formula with roots as powers; a fifth root is one where its operand is negative in no row of X.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0]])
    >>> plain_roots(parse("sqrt(pow1_5(x1)) + pow1_4(x1)"), X).infix()
    'x1^0.1 + x1^0.25'
    >>> plain_roots(parse("sqrt(160000*x1^3) + sqrt(x1)"), X).infix()
    '400*x1^1.5 + sqrt(x1)'
    """
    if _ROOTS.isdisjoint(expression.tokens) or expression.depth > _MAX_DEPTH:
        return expression

    def operator(token: str, operands: list[_Node]) -> _Node:
        plain = None
        if token in _EVEN_ROOTS:
            plain = _even_root(token, operands[0])
        elif token == "pow1_5" and (_is_real_power(operands[0]) or _is_positive(operands[0], X)):
            plain = _power(operands[0], 0.2)
        elif token in _POWERS and _is_real_power(operands[0]):
            plain = _power(operands[0], _POWERS[token])
        return plain or (token, *operands)

    tokens = _tokens(fold(expression.tokens, lambda token: (token,), operator))
    return parse(tokens) if tokens != expression.tokens else expression


def _tokens(node: _Node) -> list[str]:
    return [node[0], *(token for operand in node[1:] for token in _tokens(operand))]


def _even_root(token: str, operand: _Node) -> _Node | None:
    """The root of a power or of a number times a power; a square root of something else stays as it is."""
    exponent = _EVEN_ROOTS[token]
    number, rest = _leading_number(operand)
    if number is not None and float(number) > 0 and _needs_positive(rest):
        power = _power(rest, exponent)
        return None if power is None else ("*", _root_of_number(number, token, exponent), power)
    return _power(operand, exponent) if token == "pow1_4" or _needs_positive(operand) else None


def _leading_number(node: _Node) -> tuple[str | None, _Node]:
    if node[0] in _MULTIPLES:
        return _MULTIPLES[node[0]], node[1]
    if node[0] == "*" and leaf_kind(node[1][0]) == "number":
        return node[1][0], node[2]
    return None, node


def _root_of_number(number: str, token: str, exponent: float) -> _Node:
    root = float(number) ** exponent
    n_digits = len(f"{float(number):.16e}".split("e")[0].replace(".", "").strip("0"))
    if root.is_integer() or n_digits > _MOST_DIGITS:
        return (repr(root),)
    return (token, (number,)) if token == "pow1_2" else ("pow", (number,), (str(exponent),))


def _is_real_power(node: _Node) -> bool:
    """Whether it is u^c with a number c that is not whole: defined where u >= 0."""
    return node[0] == "pow" and leaf_kind(node[2][0]) == "number" and not float(node[2][0]).is_integer()


def _needs_positive(node: _Node) -> bool:
    """Whether it is a power that is >= 0 only where its base is."""
    return node[0] in ("pow3", "pow5") or _is_real_power(node)


def _is_positive(node: _Node, X: npt.NDArray[np.float64]) -> bool:
    return bool((np.asarray(parse(_tokens(node))(X)) >= 0).all())


def _power(node: _Node, exponent: float) -> _Node | None:
    """u^(c*exponent) for u^c, u^exponent for another u; None where the product is a whole number."""
    base = node
    if node[0] in ("pow3", "pow5"):
        base, exponent = node[1], exponent * _POWERS[node[0]]
    elif _is_real_power(node):
        base, exponent = node[1], exponent * float(node[2][0])
    exponent = float(f"{exponent:.15g}")
    return None if exponent.is_integer() else ("pow", base, (repr(exponent),))
