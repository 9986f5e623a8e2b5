"""Formulas as people see them: products of a number and powers, and sums of such products.

Every formula is a ``Product``; a variable is one with the coefficient 1 and one factor. Quotients are negative powers,
roots are broken ones, differences have negative coefficients: rules need one pattern for all spellings of a formula.
The operations here make formulas that are equal to those that they are given, and defined wherever those are. They
raise ``OutOfRangeError`` where a number is no finite double.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from flash_ansr.infer.selection.spelling.numbers import cleaned

# of a number that is a double, and its inverse too
_LARGEST_LOGARITHM = 700.0


class OutOfRangeError(ArithmeticError):
    """A number of a formula is not finite."""


class Leaf(NamedTuple):
    """A variable, or a symbol that is no finite number."""

    token: str


class Call(NamedTuple):
    """A function of its operands; ``pow`` is a power whose exponent is no number."""

    token: str
    operands: tuple[Product, ...]


class Sum(NamedTuple):
    """Two or more terms; at most one of them is a number."""

    terms: tuple[Product, ...]


class Factor(NamedTuple):
    """A base to a power that is not 0; a base that is a product stands in brackets under one power."""

    base: Base
    exponent: float


class Product(NamedTuple):
    """A number times factors of different bases."""

    coefficient: float
    factors: tuple[Factor, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether it has no factors."""
        return not self.factors


Base: TypeAlias = Leaf | Call | Sum | Product


def of(base: Base, exponent: float = 1.0) -> Product:
    """A base as a formula; a product stays as it is."""
    if isinstance(base, Product) and exponent == 1:
        return base
    return Product(1.0, (Factor(base, exponent),))


def leaves_of(base: Base) -> frozenset[str]:
    """Variables of a base."""
    if isinstance(base, Leaf):
        return frozenset((base.token,))
    if isinstance(base, Product):
        return frozenset().union(*(leaves_of(factor.base) for factor in base.factors))
    parts = base.operands if isinstance(base, Call) else base.terms
    return frozenset().union(*map(leaves_of, parts))


def times(*formulas: Product) -> Product:
    """The product of formulas."""
    coefficient = 1.0
    exponents: dict[Base, float] = {}
    for formula in formulas:
        coefficient *= formula.coefficient
        for base, exponent in formula.factors:
            exponents[base] = exponents.get(base, 0.0) + exponent
    factors = tuple(sorted((Factor(base, cleaned(e)) for base, e in exponents.items() if e), key=_place))
    return Product(_finite(coefficient), factors) if coefficient else Product(0.0)


def _place(factor: Factor) -> tuple[str, float]:
    """Its place among the factors of a product, so that equal products are found to be equal."""
    return getattr(factor.base, "token", ""), factor.exponent


def scaled(number: float, formula: Product) -> Product:
    """A number times a formula."""
    return Product(_finite(number * formula.coefficient), formula.factors)


def negated(formula: Product) -> Product:
    """Minus the formula."""
    return Product(-formula.coefficient, formula.factors)


def turned(base: Sum) -> Product:
    """Minus a sum, term by term: y - x for x - y."""
    return of(Sum(tuple(map(negated, base.terms))))


def plus(*formulas: Product) -> Product:
    """The sum of formulas, without brackets around sums among them and with equal terms put together."""
    coefficients: dict[tuple[Factor, ...], float] = {}
    for term in _terms(formulas):
        coefficients[term.factors] = coefficients.get(term.factors, 0.0) + term.coefficient
    terms = [Product(c, factors) for factors, c in coefficients.items() if c]
    if len(terms) > 1:
        return of(Sum(tuple(sorted(terms, key=lambda term: tuple(map(_place, term.factors))))))
    return terms[0] if terms else Product(0.0)


def _terms(formulas: Iterable[Product]) -> Iterable[Product]:
    for formula in formulas:
        inner = terms_of(formula) if abs(formula.coefficient) == 1 else (formula,)
        yield from inner if formula.coefficient > 0 or len(inner) == 1 else map(negated, inner)


def terms_of(formula: Product) -> tuple[Product, ...]:
    """The terms of a sum, whatever stands before it; of other formulas, the formula."""
    base = sole_base(formula)
    return base.terms if isinstance(base, Sum) else (formula,)


def constant_and_rest(formula: Product) -> tuple[float, Product]:
    """The number among the terms of a sum, 0 where there is none, and the sum of the other terms."""
    terms = terms_of(formula) if formula.coefficient == 1 else (formula,)
    return sum(t.coefficient for t in terms if t.is_number), plus(*(t for t in terms if not t.is_number))


def sole_base(formula: Product) -> Base | None:
    """The base of a number times one base to the first power."""
    if len(formula.factors) == 1 and formula.factors[0].exponent == 1:
        return formula.factors[0].base
    return None


def to_the(exponent: float, formula: Product, is_nonnegative: bool = False) -> Product:
    """A formula to a power that is a number.

    Parameters
    ----------
    exponent : float
    formula : Product
    is_nonnegative : bool
        Whether all bases of the formula are known to be 0 or more where it is looked at.
    """
    if exponent == 1:
        return formula
    if formula.is_number:
        return Product(_number_to_the(formula.coefficient, exponent))
    if exponent == -1:
        inverse = tuple(_inverted(factor) for factor in formula.factors)
        return Product(_number_to_the(formula.coefficient, -1.0), inverse)
    if len(formula.factors) == 1 and formula.coefficient == 1:
        (factor,) = formula.factors
        if isinstance(factor.base, Call) and factor.base.token == "exp" and factor.exponent == 1:
            return of(Call("exp", (scaled(exponent, factor.base.operands[0]),)))
        if is_nonnegative or exponent.is_integer() or abs(factor.exponent) % 2:
            return of(factor.base, cleaned(factor.exponent * exponent))
    n_divisors = sum(factor.exponent < 0 for factor in formula.factors)
    if n_divisors == len(formula.factors) or (exponent < 0 and n_divisors):
        return of(to_the(-1.0, formula), -exponent)
    return of(formula, exponent)


def _inverted(factor: Factor) -> Factor:
    base, exponent = factor
    if isinstance(base, Call) and base.token == "exp" and exponent == 1:
        return Factor(Call("exp", (negated(base.operands[0]),)), 1.0)
    if isinstance(base, Product) and any(factor.exponent < 0 for factor in base.factors):
        return Factor(to_the(-1.0, base), exponent)
    return Factor(base, -exponent)


def exponential_of(number: float) -> float:
    """E to the power of a number."""
    if abs(number) > _LARGEST_LOGARITHM:
        raise OutOfRangeError(number)
    return math.exp(number)


def _number_to_the(number: float, exponent: float) -> float:
    try:
        value = number**exponent
    except ArithmeticError:
        value = math.nan
    return _finite(value if isinstance(value, float) else math.nan)  # a root of a negative number is complex


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise OutOfRangeError(number)
    return number
