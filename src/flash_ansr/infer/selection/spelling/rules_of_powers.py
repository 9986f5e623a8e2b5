"""Rewritings of a base under its exponent: powers of products, divisors."""

from __future__ import annotations

import math

from flash_ansr.infer.selection.spelling.numbers import cleaned, n_digits, n_digits_of_scale
from flash_ansr.infer.selection.spelling.polynomials import completed_square
from flash_ansr.infer.selection.spelling.rule import Rule
from flash_ansr.infer.selection.spelling.terms import (
    Factor,
    Leaf,
    Product,
    Sum,
    leaves_of,
    of,
    plus,
    scaled,
    times,
    to_the,
)

# numbers stay under small exponents that were not fitted, and whole ones: sqrt(2*x), (x/10)^0.143, (x/2.4)^2
_FEW_DIGITS = 4
# products stay together under these: sqrt(2*x1/x2)
_USUAL_ROOTS = (0.5, -0.5, 1 / 3, -1 / 3)


def _number_of_a_power(factor: Factor) -> Product | None:
    base, exponent = factor
    if not isinstance(base, Product) or base.coefficient == 1:
        return None
    number, rest = base.coefficient, Product(1.0, base.factors)
    if number < 0:
        if not exponent.is_integer():
            return None
        return scaled((-1.0) ** exponent, to_the(exponent, scaled(-1.0, base)))
    outside = to_the(exponent, Product(number)).coefficient
    is_power = len(base.factors) == 1 and base.factors[0].exponent != 1
    may_stay = not is_power and n_digits(exponent) <= _FEW_DIGITS and (abs(exponent) < 1 or exponent.is_integer())
    if may_stay and n_digits_of_scale(number) < n_digits(outside):
        return None
    return scaled(outside, to_the(exponent, rest))


def _power_of_a_power(factor: Factor) -> Product | None:
    """(x^2)^0.3 as x^0.6."""
    base, exponent = factor
    if not isinstance(base, Product) or base.coefficient != 1 or len(base.factors) != 1:
        return None
    return to_the(exponent, base, is_nonnegative=True)


def _whole_powers_of_a_root(factor: Factor) -> Product | None:
    """sqrt(x1^2*x2) as x1*sqrt(x2)."""
    base, exponent = factor
    if exponent not in _USUAL_ROOTS or not isinstance(base, Product) or base.coefficient != 1:
        return None
    whole = [inner for inner in base.factors if _has_whole_root(inner, exponent)]
    if not whole:
        return None
    rest = Product(1.0, tuple(inner for inner in base.factors if inner not in whole))
    return times(*(_power(inner, exponent) for inner in whole), to_the(exponent, rest))


def _has_whole_root(factor: Factor, exponent: float) -> bool:
    return cleaned(factor.exponent * exponent).is_integer()


def _power(factor: Factor, exponent: float) -> Product:
    return of(factor.base, cleaned(factor.exponent * exponent))


def _power_of_a_product(factor: Factor) -> Product | None:
    base, exponent = factor
    if exponent.is_integer() or exponent in _USUAL_ROOTS or not isinstance(base, Product) or base.coefficient != 1:
        return None
    if len({abs(inner.exponent) for inner in base.factors}) == 1:  # (x1/x2)^0.4
        return None
    return times(*(_power(inner, exponent) for inner in base.factors))


def _bases(factor: Factor) -> list[Product]:
    base, _ = factor
    return [of(inner.base) for inner in base.factors] if isinstance(base, Product) else []


def _bases_of_whole_powers(factor: Factor) -> list[Product]:
    base, exponent = factor
    factors = base.factors if isinstance(base, Product) else ()
    return [of(inner.base) for inner in factors if _has_whole_root(inner, exponent)]


def _square_in_a_divisor(factor: Factor) -> Product | None:
    base, exponent = factor
    square = completed_square(of(base)) if exponent < 0 and exponent.is_integer() else None
    if square is None or square.leading * square.rest <= 0:
        return None
    sign = math.copysign(1.0, square.leading)
    bracket = plus(scaled(sign, square.term), Product(abs(square.rest)))
    return scaled(sign**exponent, to_the(exponent, bracket))


def _fraction_in_a_divisor(factor: Factor) -> Product | None:
    """1/(a + b/x) as x/(a*x + b), where that makes the divisor simpler."""
    base, exponent = factor
    if exponent != -1 or not isinstance(base, Sum):
        return None
    inner = [f for term in base.terms for f in term.factors if isinstance(f.base, Leaf)]
    divided = {f.base for f in inner if f.exponent < 0}
    if len(divided) != 1:
        return None
    (x,) = divided
    exponents = {f.exponent for f in inner if f.base == x}
    raised = of(x, -min(exponents))
    n_raised = sum(Factor(x, min(exponents)) not in term.factors for term in base.terms)
    if n_raised > 1 and len(leaves_of(base)) > 1:
        return None
    if len(exponents) > 1 and not all(each.is_integer() for each in exponents):
        return None
    return times(raised, to_the(-1.0, plus(*(times(raised, term) for term in base.terms))))


RULES: tuple[Rule[Factor], ...] = (
    Rule("numbers stand before powers", "(51.123*x1)^1.5", "365.5*x1^1.5", _number_of_a_power),
    Rule("powers of powers are powers", "(x1^2)^0.3", "x1^0.6", _power_of_a_power, _bases),
    Rule(
        "whole powers stand before roots",
        "sqrt(x1^2*x2)",
        "x1*sqrt(x2)",
        _whole_powers_of_a_root,
        _bases_of_whole_powers,
    ),
    Rule("powers of products are products", "(x1^2*x2)^0.4", "x1^0.8*x2^0.4", _power_of_a_product, _bases),
    Rule("divisors have completed squares", "1/(x1^2 - 10*x1 + 26)", "1/(1 + (x1 - 5)^2)", _square_in_a_divisor),
    Rule("divisors have no fractions", "1/(1 + 3/x1)", "x1/(3 + x1)", _fraction_in_a_divisor),
)
