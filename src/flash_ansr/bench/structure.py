"""Symbolic metrics: how a predicted formula compares with the law.

Numbers count as free constants here, as in the paper: a *skeleton* is a formula with every number masked, and the law
is always taken as its simplified skeleton.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import simplipy
from simplipy import OPERATORS, Expression
from simplipy.expression.prefix import subterm_ends

CONSTANT = "<constant>"
# the relative difference of fitted numbers that counts as none
_RTOL = 1e-6


def simplified_skeleton(expression: Expression) -> Expression:
    """The shortest form with numbers as free constants; operators such as ``mult2`` keep theirs."""
    # masked first: simplification would take 2.5*x1 to mult5(div2(x1))
    return simplipy.simplify(expression.skeleton(), mask_numbers=True)


def is_recovered_symbolically(
    prediction: Expression, truth: Expression, units: Mapping[str, float], offset: float = 0.0
) -> bool:
    """Whether both are the same function, up to a millionth in their numbers.

    Parameters
    ----------
    prediction, truth : Expression
    units : mapping of variable to float
        The sizes of the variables. The comparison looks at points around 1: in other units than these
        ``m/sqrt(1 - v^2/c^2)`` would pass for ``m``, since no ordinary v comes near 3e8.
    offset : float
        A number added to all of the prediction that counts as nothing: some systems always write one, which where the
        law is small would be a difference.
    """
    wanted = in_units(truth, units)
    forms = {in_units(form, units) for form in (prediction, without_offset(prediction, offset))}
    return any(simplipy.equivalent(form, wanted, rtol=_RTOL).equivalent for form in forms)


def without_offset(expression: Expression, size: float) -> Expression:
    """The formula without the numbers among its outermost terms, where they add up to at most ``size``.

    Examples
    --------
    >>> print(without_offset(simplipy.parse("x1*x2 - 1e-9"), 1e-6))
    x1*x2
    """
    terms = list(_terms(expression.tokens, 1))
    numbers = [sign * float(tokens[0]) for sign, tokens in terms if is_number(tokens[0])]
    rest = [(sign, tokens) for sign, tokens in terms if not is_number(tokens[0])]
    if not numbers or not rest or not abs(sum(numbers)) <= size:
        return expression
    sign, tokens = rest[0]
    total = tokens if sign > 0 else ["neg", *tokens]
    for sign, tokens in rest[1:]:
        total = ["+" if sign > 0 else "-", *total, *tokens]
    return simplipy.parse(total)


def _terms(tokens: Sequence[str], sign: int) -> Iterator[tuple[int, list[str]]]:
    """Operands of the outermost sums and differences, with their signs."""
    if tokens[0] not in ("+", "-"):
        yield sign, list(tokens)
        return
    end = subterm_ends(tokens)[1]
    yield from _terms(tokens[1:end], sign)
    yield from _terms(tokens[end:], sign if tokens[0] == "+" else -sign)


def is_number(token: str) -> bool:
    """Whether a token is a finite number."""
    try:
        return math.isfinite(float(token))
    except ValueError:
        return False


def in_units(expression: Expression, units: Mapping[str, float]) -> Expression:
    """The formula of variables measured in these units; variables without one stay."""
    tokens: list[str] = []
    for token in expression.tokens:
        tokens += ["*", repr(units[token]), token] if token in units else [token]
    return simplipy.parse(tokens)


def token_f1(prediction: Sequence[str], truth: Sequence[str]) -> float:
    """F1 score of the bags of tokens: twice the common tokens over all tokens.

    Examples
    --------
    >>> token_f1(["+", "x1", "x1"], ["*", "x1", "x2"])
    0.3333333333333333
    """
    common = (Counter(prediction) & Counter(truth)).total()
    return 2 * common / (len(prediction) + len(truth))


def variable_recall(prediction: Expression, truth: Expression) -> float:
    """Share of the law's variables that the prediction contains; 1 for a law without variables."""
    wanted = set(truth.variables)
    return len(wanted & set(prediction.variables)) / len(wanted) if wanted else 1.0


def total_nestedness(tokens: Sequence[str]) -> int:
    """Number of unary operators that stand directly inside another unary operator.

    Examples
    --------
    >>> total_nestedness(["sin", "log", "acosh", "x1"])
    2
    >>> total_nestedness(["sin", "log", "+", "x1", "<constant>"])
    1
    """

    def is_unary(token: str) -> bool:
        return token in OPERATORS and OPERATORS[token].arity == 1

    # in prefix order the only operand of a unary operator is the next token
    return sum(is_unary(outer) and is_unary(inner) for outer, inner in itertools.pairwise(tokens))
