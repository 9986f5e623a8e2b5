"""Rewritings of products: where their number stands, and brackets that go."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

from flash_ansr.infer.selection.spelling.logarithms import without_number
from flash_ansr.infer.selection.spelling.numbers import cleaned, n_digits, n_digits_of_scale, written
from flash_ansr.infer.selection.spelling.order import is_polynomial, term_key
from flash_ansr.infer.selection.spelling.rule import Rule
from flash_ansr.infer.selection.spelling.terms import (
    Call,
    Factor,
    Leaf,
    OutOfRangeError,
    Product,
    Sum,
    constant_and_rest,
    exponential_of,
    leaves_of,
    of,
    plus,
    scaled,
    sole_base,
    terms_of,
    times,
    to_the,
    turned,
)

_SQUARE_ROOTS = (0.5, -0.5)


def _without(product: Product, factor: Factor) -> Product:
    return Product(product.coefficient, tuple(f for f in product.factors if f != factor))


def _number_of_a_bracket(product: Product) -> Product | None:
    """The number of a product, moved into or out of a bracket so that its numbers have the fewest digits."""
    for factor in product.factors:
        if isinstance(factor.base, Sum):
            rest = _without(product, factor)
            coefficient, terms = _fewest_digits(product.coefficient, factor, rest)
            if coefficient != product.coefficient:
                return times(Product(coefficient, rest.factors), to_the(factor.exponent, plus(*terms)))
    return None


def _negative_bracket(product: Product) -> Product | None:
    """(-x - y)*z as -(x + y)*z."""
    for i, (base, exponent) in enumerate(product.factors):
        others = product.factors[:i] + product.factors[i + 1 :]
        is_whole = isinstance(base, Sum) and exponent.is_integer() and (others or exponent != 1)
        if isinstance(base, Sum) and is_whole and all(term.coefficient < 0 for term in base.terms):
            sign = (-1.0) ** exponent
            return times(Product(sign * product.coefficient, others), to_the(exponent, turned(base)))
    return None


def _fewest_digits(coefficient: float, factor: Factor, rest: Product) -> tuple[float, list[Product]]:
    """A number before a bracket, and the terms in it, with the fewest digits; the usual way where several have."""
    base, exponent = factor
    options: list[tuple[float, list[Product]]] = []
    for size in _sizes(coefficient, factor, rest):
        with contextlib.suppress(OutOfRangeError):
            outside = scaled(coefficient, to_the(exponent, Product(size))).coefficient
            options.append((outside, [scaled(1 / size, term) for term in terms_of(of(base))]))
    return min(options, key=lambda option: _cost(option[0], option[1], exponent), default=(coefficient, []))


def _sizes(coefficient: float, factor: Factor, rest: Product) -> list[float]:
    """Numbers that may be taken out of a bracket, the usual one first."""
    terms = sorted(terms_of(of(factor.base)), key=term_key)
    if factor.exponent == 1 and rest.is_number:  # 2.5*(x + 3.1) is 2.5*x + 7.75
        is_opened = coefficient > 0 or any(term.coefficient < 0 for term in terms)
        return [1 / coefficient, 1.0] if is_opened else [1.0]
    sizes = [abs(term.coefficient) for term in terms]
    if factor.exponent > 0 and factor.exponent.is_integer():
        return [1.0, *sizes]
    if len(terms) == 2 and terms[1].is_number and set(terms[0].factors) <= set(rest.factors):  # c*x/(k + x)
        return sizes[:1]
    if len(terms) == 2 and terms[1].is_number and _is_exponential(terms[0]):  # 1 + 12*exp(-x)
        return sizes[1:]
    return [*sizes, 1.0]


def _cost(coefficient: float, terms: Sequence[Product], exponent: float) -> int:
    """Digits of all numbers of a product with a bracket; in divisors and roots, signs of multiplication too."""
    factors = [n_digits(term.coefficient) for term in terms if not term.is_number]
    constants = [written(term.coefficient) for term in terms if term.is_number]
    total = n_digits(coefficient) + sum(factors) + sum(number.n_digits for number in constants)
    if exponent > 0 and exponent.is_integer():
        return total
    return total + sum(map(bool, factors)) + sum(number.n_digits == 0 or bool(number.below) for number in constants)


def _number_under_a_root(product: Product) -> Product | None:
    square = to_the(2.0, Product(product.coefficient)).coefficient
    for factor in product.factors:
        if factor.exponent in _SQUARE_ROOTS and n_digits(product.coefficient) > n_digits(square):
            inside = scaled(square if factor.exponent > 0 else 1 / square, of(factor.base))
            rest = Product(math.copysign(1.0, product.coefficient), _without(product, factor).factors)
            return times(rest, of(inside, factor.exponent)) if not isinstance(factor.base, Sum) else None
    return None


def _number_before_exponential(product: Product) -> Product | None:
    if product.coefficient == 1:
        return None
    for factor in product.factors:
        base = sole_base(of(*factor))
        if isinstance(base, Call) and base.token == "exp":
            constant, rest = constant_and_rest(base.operands[0])
            if constant and not rest.is_number:
                return times(scaled(exponential_of(constant), _without(product, factor)), of(Call("exp", (rest,))))
    return None


def _number_of_a_logarithm(product: Product) -> Product | None:
    """c*log(k*x^p) as a sum."""
    call = sole_base(product)
    if not isinstance(call, Call) or call.token != "log" or len(call.operands[0].factors) != 1:
        return None
    number, ((base, exponent),) = call.operands[0]
    if number <= 0 or number == 1:
        return None
    slope, constant = product.coefficient * exponent, product.coefficient * math.log(number)
    n_before = n_digits(product.coefficient) + n_digits_of_scale(number)
    if exponent == 1 and n_digits(slope) + n_digits(constant) > n_before:  # log(x/0.03)
        return None
    return plus(scaled(slope, of(Call("log", (of(base),)))), Product(constant))


def _fitted_number_of_a_logarithm(product: Product) -> Product | None:
    """log(c*u) as log(u) + log(c), for any u and a c that is not short."""
    split = without_number(product)
    if split is None or n_digits(split.shift) > n_digits_of_scale(split.number):
        return None
    return plus(split.rest, Product(split.shift))


def _base_in_logarithm(product: Product) -> list[Product]:
    call = sole_base(product)
    return [of(factor.base) for factor in call.operands[0].factors] if isinstance(call, Call) else []


def _exponential_of_a_sum(product: Product) -> Product | None:
    """exp(u)*(a*exp(v) + b) as two exponentials."""
    if len(product.factors) != 2:
        return None
    outer, bracket = sorted(product.factors, key=lambda factor: isinstance(factor.base, Sum))
    if not isinstance(bracket.base, Sum) or bracket.exponent != 1 or not _is_exponential(of(*outer)):
        return None
    if not all(_is_exponential(term) for term in bracket.base.terms if not term.is_number):
        return None
    return plus(*(scaled(product.coefficient, _merged(of(*outer), term)) for term in bracket.base.terms))


def _is_exponential(term: Product) -> bool:
    """Whether it is a number times one exponential."""
    base = sole_base(term)
    return isinstance(base, Call) and base.token == "exp"


def _merged(exponential: Product, term: Product) -> Product:
    calls = [base for base in (sole_base(exponential), sole_base(term)) if isinstance(base, Call)]
    return scaled(term.coefficient, of(Call("exp", (plus(*(call.operands[0] for call in calls)),))))


def _exponentials_of_one(product: Product) -> Product | None:
    """exp(a*x)*exp(b*x^2) as one exponential."""
    seen: dict[frozenset[str], Factor] = {}
    for factor in product.factors:
        names = leaves_of(factor.base)
        if len(names) == 1 and _is_exponential(of(*factor)):
            if names in seen:
                merged = _merged(of(*seen[names]), of(*factor))
                return times(_without(_without(product, factor), seen[names]), merged)
            seen[names] = factor
    return None


def _powers_of_one_variable(product: Product) -> Product | None:
    """(a + b*x)/x^2 as a/x^2 + b/x."""
    if len(product.factors) != 2:
        return None
    divisor, bracket = sorted(product.factors, key=lambda factor: factor.exponent)
    if not isinstance(bracket.base, Sum) or bracket.exponent != 1:
        return None
    if divisor.exponent >= 0 or not divisor.exponent.is_integer():
        return None
    if not is_polynomial([*bracket.base.terms, of(*divisor)]):
        return None
    return plus(*(times(Product(product.coefficient), term, of(*divisor)) for term in bracket.base.terms))


def _difference_of_reciprocals(product: Product) -> Product | None:
    """(x - y)/(x*y) as 1/y - 1/x."""
    divisors = {factor.base for factor in product.factors if factor.exponent == -1}
    for factor in product.factors:
        if isinstance(factor.base, Sum) and factor.exponent == 1 and len(factor.base.terms) == 2:
            bases = {sole_base(term) for term in factor.base.terms}
            if len(bases) == 2 and bases <= divisors:
                inverse = times(*(of(base, -1.0) for base in bases if base is not None))
                rest = tuple(f for f in product.factors if f != factor and f.base not in bases)
                return times(Product(product.coefficient, rest), plus(*(times(t, inverse) for t in factor.base.terms)))
    return None


def _logistic(product: Product) -> Product | None:
    for factor in product.factors:
        if factor.exponent == -1 and isinstance(factor.base, Sum) and len(factor.base.terms) == 2:
            one, wave = sorted(factor.base.terms, key=lambda term: not term.is_number)
            moved = _with_midpoint(wave) if one == Product(1.0) else None
            if moved is not None and moved != wave:
                return times(_without(product, factor), to_the(-1.0, plus(one, moved)))
    return None


def _with_midpoint(wave: Product) -> Product | None:
    """exp(rate*(x - midpoint)) for an exponential times a positive number, where the midpoint is as short as that."""
    exponential = sole_base(wave)
    if wave.coefficient <= 0 or not isinstance(exponential, Call) or exponential.token != "exp":
        return None
    inner, slope = constant_and_rest(exponential.operands[0])
    constant = math.log(wave.coefficient) + inner
    if not constant or not isinstance(sole_base(slope), Leaf):
        return None
    midpoint = cleaned(-constant / slope.coefficient)
    if not inner and n_digits(wave.coefficient) < n_digits(midpoint):
        return None
    shifted = plus(Product(1.0, slope.factors), Product(-midpoint))
    return of(Call("exp", (scaled(slope.coefficient, shifted),)))


RULES: tuple[Rule[Product], ...] = (
    Rule("brackets begin without a minus", "x3*(-x1 - x2)", "-x3*(x1 + x2)", _negative_bracket),
    Rule("numbers stand before exponentials", "5*exp(2 - x1)", "36.95*exp(-x1)", _number_before_exponential),
    Rule("short numbers stay under roots", "3.132091952673165*sqrt(x1)", "sqrt(9.81*x1)", _number_under_a_root),
    Rule(
        "logarithms have no factor",
        "2.5*log(54.32101234*x1)",
        "2.5*log(x1) + 9.987",
        _number_of_a_logarithm,
        _base_in_logarithm,
    ),
    Rule(
        "fitted numbers stand behind logarithms",
        "log(54.32101234*x1/x2)",
        "log(x1/x2) + 3.995",
        _fitted_number_of_a_logarithm,
    ),
    Rule("exponentials are added", "exp(-x1)*(2 + exp(x1/2))", "2*exp(-x1) + exp(-x1/2)", _exponential_of_a_sum),
    Rule(
        "exponentials of a variable are one",
        "exp(2*x1)*exp(-x1^2)",
        "e*exp(-(x1 - 1)^2)",
        _exponentials_of_one,
    ),
    Rule("quotients by a variable are added", "(x1 + 37)/x1^2", "1/x1 + 37/x1^2", _powers_of_one_variable),
    Rule("differences of reciprocals", "(x2 - x1)/(x1*x2)", "1/x1 - 1/x2", _difference_of_reciprocals),
    Rule("one number of a bracket is 1", "1/(2.5 + 0.5*x1)", "2/(5 + x1)", _number_of_a_bracket),
    Rule("logistic curves have a midpoint", "1/(1 + exp(4.95 - 0.55*x1))", "1/(1 + exp(-0.55*(x1 - 9)))", _logistic),
)
