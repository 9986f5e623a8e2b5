"""Rewritings of functions: exponentials, logarithms, waves."""

from __future__ import annotations

import math

from flash_ansr.infer.selection.spelling.numbers import FITTED, cleaned, n_digits
from flash_ansr.infer.selection.spelling.order import begins_turned, term_key
from flash_ansr.infer.selection.spelling.polynomials import completed_square
from flash_ansr.infer.selection.spelling.reading import ODD_ROOTS
from flash_ansr.infer.selection.spelling.rule import Rule
from flash_ansr.infer.selection.spelling.terms import (
    Call,
    Factor,
    Leaf,
    Product,
    Sum,
    constant_and_rest,
    exponential_of,
    negated,
    of,
    plus,
    scaled,
    sole_base,
    terms_of,
    times,
    to_the,
    turned,
)
from simplipy.expression.operators import OPERATORS

# people write powers of these
_USUAL_BASES = (0.5, 2.0, 10.0)
# an exponent with so few digits was not fitted
_FEW_DIGITS = 4
# time constants that are read more easily than rates
_USUAL_SCALES = (0.1, 1e4)
# an angle that is rounding alone
_NO_ANGLE = 1e-14


def _natural_base(call: Call) -> Product | None:
    if call.token != "pow" or not call.operands[0].is_number:
        return None
    base, exponent = call.operands[0].coefficient, call.operands[1]
    if base in _USUAL_BASES or base <= 0:
        return None
    if 1 / base in _USUAL_BASES:
        return of(Call("pow", (Product(1 / base), negated(exponent))))
    rate = cleaned(math.log(base)) * exponent.coefficient
    return of(Call("exp", (plus(*(scaled(rate, t) for t in terms_of(Product(1.0, exponent.factors)))),)))


def _number_in_exponent(call: Call) -> Product | None:
    if call.token != "exp":
        return None
    if call.operands[0].is_number:
        return Product(exponential_of(call.operands[0].coefficient))
    constant, rest = constant_and_rest(call.operands[0])
    if not constant or n_digits(constant) <= _FEW_DIGITS:
        return None
    return scaled(exponential_of(constant), of(Call("exp", (rest,))))


def _bell(call: Call) -> Product | None:
    square = completed_square(call.operands[0]) if call.token == "exp" else None
    if square is None or square.leading > 0:
        return None
    return scaled(exponential_of(square.rest), of(Call("exp", (square.term,))))


def _decay_of_a_difference(call: Call) -> Product | None:
    """exp(x*(z - y)) as exp(-x*(y - z))."""
    if call.token != "exp" or call.operands[0].coefficient < 0 or sole_base(call.operands[0]):
        return None
    for factor in call.operands[0].factors:
        if isinstance(factor.base, Sum) and factor.exponent == 1 and begins_turned(factor.base):
            rest = Product(-call.operands[0].coefficient, tuple(f for f in call.operands[0].factors if f != factor))
            return of(Call("exp", (times(rest, turned(factor.base)),)))
    return None


def _stretched(call: Call) -> Product | None:
    """exp(-rate*x^p) with a time constant, for a broken p."""
    if call.token != "exp" or len(call.operands[0].factors) != 1:
        return None
    rate, ((base, exponent),) = call.operands[0]
    if rate >= 0 or rate == -1 or exponent <= 0 or (2 * exponent).is_integer() or not isinstance(base, Leaf):
        return None
    inverse = to_the(1 / exponent, Product(-rate)).coefficient
    if not _USUAL_SCALES[0] <= 1 / inverse <= _USUAL_SCALES[1]:
        return None
    return of(Call("exp", (negated(of(scaled(inverse, of(base)), exponent)),)))


def _sign_of_operand(call: Call) -> Product | None:
    parity = OPERATORS[call.token].parity
    if parity not in ("odd", "even") or call.token in ODD_ROOTS:
        return None
    operand = call.operands[0]
    base = sole_base(operand)
    if isinstance(base, Sum) and operand.coefficient == 1:
        opposite = turned(base)
        can_begin = any(term.coefficient > 0 for term in base.terms)
        has_free_sign = parity == "even" or call.token == "sin"
        is_turned = min(base.terms, key=term_key).coefficient < 0 and (has_free_sign or not can_begin)
    else:
        opposite, is_turned = negated(operand), operand.coefficient < 0
    if not is_turned:
        return None
    result = of(Call(call.token, (opposite,)))
    return negated(result) if parity == "odd" else result


def _phase(call: Call) -> Product | None:
    """A phase within half a turn; cos for sin or the reverse where that leaves a phase with fewer digits."""
    phase, rest = constant_and_rest(call.operands[0])
    if call.token not in ("sin", "cos") or not phase or rest.is_number:
        return None
    if abs(phase) > math.pi and n_digits(phase) == FITTED:
        phase = math.remainder(phase, 2 * math.pi)
    other, quarter = ("sin", math.pi / 2) if call.token == "cos" else ("cos", -math.pi / 2)
    ways = [(call.token, phase, 1), (call.token, phase + math.pi, -1), (call.token, phase - math.pi, -1)]
    ways += [(other, phase + quarter, 1), (other, phase - quarter, -1)]
    token, phase, sign = min(ways, key=lambda way: n_digits(way[1]) if abs(way[1]) > _NO_ANGLE else 0)
    angle = plus(rest, Product(phase if abs(phase) > _NO_ANGLE else 0.0))
    result = scaled(sign, of(Call(token, (angle,))))
    return None if result == of(call) else result


def _wave_of_arctangent(call: Call) -> Product | None:
    inner = sole_base(call.operands[0])
    if call.token not in ("sin", "cos") or call.operands[0].coefficient != 1:
        return None
    if not isinstance(inner, Call) or inner.token != "atan":
        return None
    (slope,) = inner.operands
    hypotenuse = plus(Product(1.0), to_the(2.0, slope))
    return times(slope if call.token == "sin" else Product(1.0), to_the(-0.5, hypotenuse))


def _power_in_logarithm(call: Call) -> Product | None:
    if call.token != "log" or call.operands[0].coefficient != 1 or len(call.operands[0].factors) != 1:
        return None
    ((base, exponent),) = call.operands[0].factors
    return None if exponent == 1 else scaled(exponent, of(Call("log", (of(base),))))


def _exponentials_in_logarithm(call: Call) -> Product | None:
    """log(c*exp(u)*v) as u + log(c*v)."""
    if call.token != "log":
        return None
    coefficient, factors = call.operands[0]
    rest = tuple(factor for factor in factors if not _is_exponential(factor))
    if len(rest) == len(factors) or coefficient <= 0:
        return None
    exponents = [scaled(f.exponent, f.base.operands[0]) for f in factors if isinstance(f.base, Call) and f not in rest]
    logarithm = of(Call("log", (Product(coefficient, rest),))) if rest else Product(math.log(coefficient))
    return plus(*exponents, logarithm)


def _is_exponential(factor: Factor) -> bool:
    return isinstance(factor.base, Call) and factor.base.token == "exp"


def _base_in_logarithm(call: Call) -> tuple[Product]:
    return (of(call.operands[0].factors[0].base),)


def _odd_root(call: Call) -> Product | None:
    return to_the(ODD_ROOTS[call.token], call.operands[0]) if call.token in ODD_ROOTS else None


def _operand(call: Call) -> tuple[Product, ...]:
    return call.operands


RULES: tuple[Rule[Call], ...] = (
    Rule("roots of positive numbers are powers", "cbrt(x1)^2", "x1^(2/3)", _odd_root, _operand),
    Rule("powers of numbers are exponentials", "0.93^x1", "exp(-x1/13.78)", _natural_base),
    Rule("numbers stand before exponentials", "exp(0.30001 - x1)", "1.35*exp(-x1)", _number_in_exponent),
    Rule("bell curves have a centre", "exp(6.2*x1 - x1^2)", "14913*exp(-(x1 - 3.1)^2)", _bell),
    Rule("differences decay", "exp(x1*(x3 - x2))", "exp(-x1*(x2 - x3))", _decay_of_a_difference),
    Rule("stretched decays have a time constant", "exp(-0.3*x1^0.6)", "exp(-(x1/7.438)^0.6)", _stretched),
    Rule("even and odd functions begin without a minus", "cos(1 - x1)", "cos(x1 - 1)", _sign_of_operand),
    Rule("waves have short phases", "sin(x1 + 1.5707963267948966)", "cos(x1)", _phase),
    Rule("waves of arctangents are quotients", "cos(atan(x1))^2", "1/(1 + x1^2)", _wave_of_arctangent),
    Rule("exponentials leave logarithms", "log(3*exp(x1)*x2)", "x1 + log(3*x2)", _exponentials_in_logarithm),
    Rule("logarithms of powers are multiples", "log(x1^2)", "2*log(x1)", _power_in_logarithm, _base_in_logarithm),
)
