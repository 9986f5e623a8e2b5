"""Expressions as formulas."""

from __future__ import annotations

import math

from flash_ansr.infer.selection.spelling.terms import Call, Leaf, Product, negated, of, plus, scaled, times, to_the
from simplipy import Expression
from simplipy.expression.operators import EXPONENTS, FACTORS, leaf_kind
from simplipy.expression.prefix import fold

_NUMBERS = {"pi": math.pi, "e": math.e}
# functions of negative numbers too, which powers are not
ODD_ROOTS = {"pow1_3": 1 / 3, "pow1_5": 1 / 5}


def formula_of(expression: Expression) -> Product:
    """The formula of an expression, whose numbers are finite.

    Examples
    --------
    >>> from simplipy import parse
    >>> formula_of(parse("3/x"))
    Product(coefficient=3.0, factors=(Factor(base=Leaf(token='x'), exponent=-1.0),))
    """
    return fold(expression.tokens, _leaf, _applied)


def _leaf(token: str) -> Product:
    if token in _NUMBERS:
        return Product(_NUMBERS[token])
    return Product(float(token)) if leaf_kind(token) == "number" else of(Leaf(token))


def _applied(token: str, operands: list[Product]) -> Product:
    a, b = operands[0], operands[-1]
    match token:
        case "+":
            return plus(a, b)
        case "-":
            return plus(a, negated(b))
        case "neg":
            return negated(a)
        case "*":
            return times(a, b)
        case "/":
            return times(a, to_the(-1.0, b))
        case "inv":
            return to_the(-1.0, a)
        case "pow":
            return power(a, b)
    if token in FACTORS:
        return scaled(float(FACTORS[token]), a)
    if token in ODD_ROOTS and a.is_number:
        return Product(math.copysign(abs(a.coefficient) ** ODD_ROOTS[token], a.coefficient))
    if token in EXPONENTS and token not in ODD_ROOTS:
        return power(a, Product(float(EXPONENTS[token])))
    return of(Call(token, tuple(operands)))


def power(base: Product, exponent: Product) -> Product:
    """A formula to the power of another one."""
    if not exponent.is_number:
        return of(Call("pow", (base, exponent)))
    return to_the(exponent.coefficient, base) if exponent.coefficient else Product(1.0)
