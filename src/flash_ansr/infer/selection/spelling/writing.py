"""Formulas in textbook order, as infix text.

Numbers come first, then variables and their powers, brackets, exponentials and other functions, with one quotient in a
product. Sums begin with a positive term, polynomials with the highest power, divisors with the constant.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from flash_ansr.infer.selection.spelling.numbers import (
    FITTED,
    WrittenNumber,
    n_digits,
    written,
    written_alone,
    written_as_scale,
)
from flash_ansr.infer.selection.spelling.order import degree, factor_key, is_polynomial, term_key
from flash_ansr.infer.selection.spelling.terms import Base, Call, Leaf, Product, Sum, sole_base
from simplipy.expression.operators import OPERATORS

# of a sum: an operand, in brackets, or behind a fraction bar
_Place: TypeAlias = Literal["operand", "brackets", "divisor"]
_ROOTS = {0.5: "sqrt", 1 / 3: "cbrt"}
# functions whose operand is written as a bracket is: log(1 + x)
_LIKE_BRACKETS = ("log", "abs")
_DIGITS_OF_EXPONENTS = 4


def text_of(formula: Product, place: _Place = "operand") -> str:
    """Infix text of a formula.

    Examples
    --------
    >>> from flash_ansr.infer.selection.spelling.terms import of, plus, scaled, times, to_the
    >>> x = of(Leaf("x"))
    >>> text_of(times(scaled(212, x), to_the(-1, plus(x, Product(0.064)))))
    '212*x/(0.064 + x)'
    """
    base = sole_base(formula)
    if formula.coefficient == 1 and isinstance(base, Sum):
        return _sum(base, place)
    if formula.is_number:
        return ("-" if formula.coefficient < 0 else "") + written_alone(abs(formula.coefficient))
    return _signed(formula, written(formula.coefficient))


def _signed(formula: Product, number: WrittenNumber) -> str:
    """Text of a product, with its number written in this way."""
    factors = sorted(formula.factors, key=factor_key)
    above = [number.above] if number.above else []
    above += [_power(base, exponent, "brackets") for base, exponent in factors if exponent > 0]
    below = [number.below] if number.below else []
    below += [_power(base, -exponent, "divisor") for base, exponent in factors if exponent < 0]
    text = "*".join(above) or "1"
    if below:
        divisor = "*".join(below)
        text += f"/({divisor})" if len(below) > 1 or "*" in number.below else f"/{divisor}"
    return f"-{text}" if formula.coefficient < 0 else text


def _power(base: Base, exponent: float, place: _Place) -> str:
    if exponent in _ROOTS:
        return f"{_ROOTS[exponent]}({_bare(base, 'brackets')})"
    is_power = isinstance(base, Call) and base.token == "pow" and exponent != 1
    in_brackets = isinstance(base, Sum | Product) or is_power
    text = f"({_bare(base, place)})" if in_brackets else _bare(base, place)
    return text if exponent == 1 else f"{text}^{_exponent(exponent)}"


def _exponent(exponent: float) -> str:
    decimal = f"{exponent:.{_DIGITS_OF_EXPONENTS}g}"
    if float(decimal) == exponent:
        return decimal
    text = written_alone(exponent) if n_digits(exponent) < FITTED else repr(exponent)
    return f"({text})" if "/" in text or "*" in text else text


def _bare(base: Base, place: _Place) -> str:
    """Text of a base without brackets around it."""
    if isinstance(base, Leaf):
        return base.token
    if isinstance(base, Sum):
        return _sum(base, place)
    if isinstance(base, Product):
        return _scaled(base, is_divisor=abs(base.coefficient) < 1)  # (x/7.4)^0.6
    return _call(base)


def _call(call: Call) -> str:
    if call.token == "pow":
        return "^".join(map(_atom, call.operands))
    if call.token == "exp":
        return f"exp({_exponent_of_e(call.operands[0])})"
    place: _Place = "brackets" if call.token in _LIKE_BRACKETS else "operand"
    return f"{OPERATORS[call.token].call}({', '.join(_scaled(operand, place) for operand in call.operands)})"


def _atom(formula: Product) -> str:
    """Text that can stand beside a power sign."""
    text = text_of(formula, "brackets")
    if formula.is_number:
        is_atom = formula.coefficient >= 0 and text.replace(".", "").isalnum()
    else:
        base, exponent = formula.factors[0]
        is_call = isinstance(base, Call) and base.token != "pow"
        is_atom = formula.coefficient == 1 and len(formula.factors) == 1
        is_atom = is_atom and (exponent in _ROOTS or (exponent == 1 and (isinstance(base, Leaf) or is_call)))
    return text if is_atom else f"({text})"


def _exponent_of_e(formula: Product) -> str:
    """Text of an exponent; of decays with their time constant: exp(-x/13.7), exp(-x^2/1.8), exp(-(x - 9)/1.8)."""
    is_decay = formula.coefficient < 0 and len(formula.factors) == 1
    return _scaled(
        formula,
        is_divisor=is_decay and formula.factors[0].exponent > 0 and not isinstance(formula.factors[0].base, Call),
    )


def _scaled(formula: Product, place: _Place = "operand", is_divisor: bool = False) -> str:
    """Text of an operand, in which a number may be a divisor."""
    if formula.is_number or (formula.coefficient == 1 and len(formula.factors) == 1):
        return text_of(formula, place)
    return _signed(formula, written_as_scale(formula.coefficient, is_divisor))


def _sum(base: Sum, place: _Place) -> str:
    first, *others = _in_order(base.terms, place)
    texts = [text_of(first)]
    for term in others:
        text = text_of(term)
        texts += [" - ", text[1:]] if text.startswith("-") else [" + ", text]
    return "".join(texts)


def _in_order(terms: tuple[Product, ...], place: _Place) -> list[Product]:
    ordered = sorted(terms, key=term_key)
    constant = ordered[-1]
    may_begin = place == "divisor" or (place == "brackets" and constant.coefficient == 1)
    if may_begin and constant.is_number and constant.coefficient > 0:
        return _ascending(ordered)
    if place == "divisor":
        ordered.sort(key=degree)
    if ordered[0].coefficient > 0:
        return ordered
    if constant.coefficient > 0 and is_polynomial(ordered):
        return _ascending(ordered)
    positive = next((i for i, term in enumerate(ordered) if term.coefficient > 0), 0)
    return [ordered.pop(positive), *ordered]


def _ascending(ordered: list[Product]) -> list[Product]:
    """The constant first; a polynomial backwards."""
    return ordered[::-1] if is_polynomial(ordered) else [ordered[-1], *ordered[:-1]]
