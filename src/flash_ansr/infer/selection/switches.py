"""Functions of a column of zeros and ones: 3.57*sin(s) is 3*s there, as every function of it is a + b*s."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.fitter import fvu_on
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse
from simplipy.expression.operators import leaf_kind
from simplipy.expression.prefix import fold
from simplipy.fit.description_length import is_number
from simplipy.fit.score import exact_fvu

# of numbers that two roundings have gone through
_DIGITS = 14
# the tokens of a subterm, and its variables
_Part = tuple[list[str], frozenset[str]]


def with_plain_switches(
    candidates: Sequence[Candidate], table: Table, grammar: Grammar, price: float
) -> list[Candidate]:
    """Candidates without functions of columns of zeros and ones, where that is no longer and fits as well.

    Parameters
    ----------
    price : float
        The gain in score for a token less.
    """
    is_switch = ((table.X == 0) | (table.X == 1)).all(axis=0)
    switches = {f"x{k + 1}" for k in np.flatnonzero(is_switch)}
    floor = exact_fvu(table.y)
    written = list(candidates)
    for i, candidate in enumerate(candidates):
        if switches.isdisjoint(candidate.expression.variables):
            continue
        form = plain_switches(candidate.expression, switches)
        fvu = max(fvu_on(form, table), floor)
        if form != candidate.expression and grammar.allows(form) and fvu <= candidate.fvu * (1 + 1e-9):
            score = candidate.score + price * (len(form) - candidate.length)
            written[i] = dataclasses.replace(candidate, expression=form, fvu=fvu, score=round(score, 6))
    return written


def plain_switches(expression: Expression, switches: Set[str]) -> Expression:
    """The formula with a + b*s for functions of one switch s, in no more tokens; equal where switches are 0 or 1.

    Examples
    --------
    >>> plain_switches(parse("2*x1 + 3.565185317334364*sin(x2)^2/sin(1)"), {"x2"}).infix()
    '2*x1 + 3*x2'
    >>> plain_switches(parse("x1*2^x2"), {"x2"}).infix()
    'x1*(x2 + 1)'
    """

    def leaf(token: str) -> _Part:
        return [token], frozenset([token] if leaf_kind(token) == "variable" else [])

    def operator(token: str, operands: list[_Part]) -> _Part:
        below = frozenset[str]().union(*(names for _, names in operands))
        if not _is_of_one(below, switches):
            operands = [_straight(part, switches) for part in operands]
        return [token, *(t for part, _ in operands for t in part)], below

    tokens, _ = _straight(fold(expression.tokens, leaf, operator), switches)
    if tokens == expression.tokens:
        return expression
    has_symbols = not {"pi", "e"}.isdisjoint(tokens)  # they are to stay
    form = simplipy.simplify(parse(tokens), fold_numbers=not has_symbols)
    rounded = [f"{float(t):.{_DIGITS}g}" if is_number(t) else t for t in form.tokens]
    form = simplipy.simplify(parse(rounded))
    return form if len(form) <= len(expression) else expression


def _is_of_one(names: Set[str], switches: Set[str]) -> bool:
    return len(names) == 1 and names <= switches


def _straight(part: _Part, switches: Set[str]) -> _Part:
    """A function of one switch s as b*s where it is 0 at 0, as a + b*s where that is no longer; others as they are."""
    tokens, names = part
    if len(tokens) == 1 or not _is_of_one(names, switches):
        return part
    (name,) = names
    off, on = parse(tokens)({name: [0.0, 1.0]}).tolist()
    if not np.isfinite(on - off):
        return part
    slope = [name] if on - off == 1 else ["*", repr(on - off), name]
    straight = slope if off == 0 else ["+", repr(off), *slope]
    return (straight, names) if off == 0 or len(straight) <= len(tokens) else part
