"""Rewritings of the sign of a formula that stands by itself: the minus goes into a factor that can take it."""

from __future__ import annotations

import math

from flash_ansr.infer.selection.spelling.numbers import FITTED, n_digits
from flash_ansr.infer.selection.spelling.order import begins_turned
from flash_ansr.infer.selection.spelling.reading import ODD_ROOTS
from flash_ansr.infer.selection.spelling.rule import Rule
from flash_ansr.infer.selection.spelling.terms import (
    Base,
    Call,
    Product,
    Sum,
    negated,
    of,
    plus,
    sole_base,
    terms_of,
    times,
    to_the,
    turned,
)
from simplipy.expression.operators import OPERATORS


def turned_sign(product: Product) -> Product | None:
    """A product with a negative number as one with a positive number; None where no factor can take the sign.

    Examples
    --------
    >>> from flash_ansr.infer.selection.spelling.reading import formula_of
    >>> from flash_ansr.infer.selection.spelling.writing import text_of
    >>> from simplipy import parse
    >>> text_of(turned_sign(formula_of(parse("-3*(x - y)"))))
    '3*(y - x)'
    """
    if product.coefficient >= 0:
        return None
    for i, (base, exponent) in enumerate(product.factors):
        opposite = _opposite(base) if exponent % 2 == 1 else None
        if opposite is not None:
            others = product.factors[:i] + product.factors[i + 1 :]
            return times(Product(-product.coefficient, others), to_the(exponent, opposite))
    return None


def _opposite(base: Base) -> Product | None:
    """Minus a base, as one that is written as easily."""
    if isinstance(base, Sum):
        signs = {term.coefficient > 0 for term in base.terms}
        return turned(base) if len(signs) == 2 else None
    if isinstance(base, Product):
        return turned_sign(negated(base))
    return _opposite_call(base) if isinstance(base, Call) else None


def _opposite_call(call: Call) -> Product | None:
    """log(y/x) for log(x/y), a wave half a turn later, tanh(u - c) for tanh(c - u)."""
    operand, inner = call.operands[0], sole_base(call.operands[0])
    if call.token == "log":
        is_quotient = len(operand.factors) == 2 and len({factor.exponent > 0 for factor in operand.factors}) == 2
        return of(Call("log", (to_the(-1.0, operand),))) if is_quotient and operand.coefficient == 1 else None
    if not isinstance(inner, Sum) or operand.coefficient != 1 or call.token in ODD_ROOTS:
        return None
    phase = sum(term.coefficient for term in inner.terms if term.is_number)
    if call.token in ("sin", "cos") and n_digits(phase) == FITTED:
        return of(Call(call.token, (plus(operand, Product(math.copysign(math.pi, -phase))),)))
    is_turned = OPERATORS[call.token].parity == "odd" and begins_turned(inner)
    return of(Call(call.token, (turned(inner),))) if is_turned else None


def _pairs_of_signs(product: Product) -> Product | None:
    """Two differences that begin with a minus, both turned."""
    brackets = [f for f in product.factors if isinstance(f.base, Sum) and f.exponent % 2 == 1 and begins_turned(f.base)]
    if len(brackets) != 2 or all(any(t.is_number for t in terms_of(of(f.base))) for f in brackets):
        return None
    opposites = [to_the(f.exponent, turned(f.base)) for f in brackets if isinstance(f.base, Sum)]
    return times(Product(product.coefficient, tuple(f for f in product.factors if f not in brackets)), *opposites)


RULES: tuple[Rule[Product], ...] = (
    Rule(
        "differences begin with the first variable",
        "(1 - x1)*(x2 - x3)/(x2*x3)",
        "(x1 - 1)*(1/x2 - 1/x3)",
        _pairs_of_signs,
    ),
    Rule("products have no minus", "-3*(x1 - x2)/x3", "3*(x2 - x1)/x3", turned_sign),
)
