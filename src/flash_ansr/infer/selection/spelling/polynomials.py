"""Polynomials: brackets multiplied out, squares completed."""

from __future__ import annotations

from typing import NamedTuple

from flash_ansr.infer.selection.spelling.terms import (
    Call,
    Factor,
    Leaf,
    Product,
    Sum,
    leaves_of,
    of,
    plus,
    sole_base,
    times,
)


class Square(NamedTuple):
    """leading*(x - centre)^2 + rest; ``term`` is the first part."""

    leading: float
    rest: float
    term: Product


def multiplied_out(term: Product) -> Product | None:
    """A monomial times a sum without brackets as a sum, where the two share a variable; None for other terms."""
    brackets = [factor for factor in term.factors if isinstance(factor.base, Sum)]
    monomial = Product(term.coefficient, tuple(f for f in term.factors if not isinstance(f.base, Sum)))
    if len(brackets) != 1 or brackets[0].exponent != 1 or not is_monomial(monomial):
        return None
    inner = brackets[0].base
    if not isinstance(inner, Sum) or not all(map(has_no_brackets, inner.terms)):
        return None
    if not leaves_of(monomial) & leaves_of(inner):
        return None
    return plus(*(times(monomial, each) for each in inner.terms))


def has_no_brackets(term: Product) -> bool:
    """Whether it is a number times whole powers of variables, and functions."""
    return is_monomial(Product(1.0, tuple(f for f in term.factors if not isinstance(f.base, Call))))


def is_monomial(term: Product) -> bool:
    """Whether it is a number times whole powers of variables."""
    return all(isinstance(f.base, Leaf) and f.exponent > 0 and f.exponent.is_integer() for f in term.factors)


def completed_square(formula: Product) -> Square | None:
    """A sum a*x^2 + b*x + c of one variable, with b other than 0; None for other formulas."""
    formula = multiplied_out(formula) or formula
    base = sole_base(formula) if formula.coefficient == 1 else None
    if not isinstance(base, Sum):
        return None
    coefficients = {term.factors: term.coefficient for term in base.terms}
    c = coefficients.pop((), 0.0)
    powers = {factors[0].exponent: factors for factors in coefficients if len(factors) == 1}
    if len(coefficients) != 2 or set(powers) != {1.0, 2.0} or powers[1.0][0].base != powers[2.0][0].base:
        return None
    x = powers[1.0][0].base
    if not isinstance(x, Leaf):
        return None
    a, b = coefficients[powers[2.0]], coefficients[powers[1.0]]
    shifted = plus(of(x), Product(b / (2 * a)))
    (factor,) = shifted.factors
    return Square(a, c - b * b / (4 * a), Product(a, (Factor(factor.base, 2.0),)))
