"""Powers, roots and elementary functions of balls: each with its domain, its borders and a bound on its slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from mpmath import libmp

from simplipy.ball_arithmetic import (
    EXACT_BITS,
    GUARD_BITS,
    Ball,
    Mpf,
    UndecidedError,
    UndefinedError,
    absolute,
    bits,
    divide,
    log2,
    multiply,
    negative,
    pi_multiple,
    rational,
    rounded,
    subtract,
)

# log2 of the largest argument of exp: exp(exp(30)) is still below
_EXPONENT_BITS = 44.0
# sine or cosine of a number that is not known to within 1: reducing it would take as many digits as it has, for nothing
_ANYWHERE = Ball(libmp.fzero, 0.0)
_ONES = (libmp.fone, libmp.fnone)  # by sign bit


def integer_power(a: Ball, n: int, precision: int) -> Ball:
    """a^n; 0^0 = 1."""
    if n == 0:
        return rational(Fraction(1), precision)
    if a.exact is not None:
        if a.exact == 0 and n < 0:
            raise UndefinedError
        if abs(a.exact) <= 1 == a.exact.denominator or bits(a.exact) * abs(n) <= EXACT_BITS:
            return rational(a.exact ** (n if a.exact else 1), precision)
    if -64 <= n < 0:
        return divide(rational(Fraction(1), precision), integer_power(a, -n, precision), precision)
    if abs(n) > 64:
        if a.sign() == 0:
            raise UndefinedError  # n < 0: zero to a positive power is exact
        size = logarithm(absolute(a, precision), precision)
        value = exponential(multiply(rational(Fraction(n), precision), size, precision), precision)
        return negative(value, precision) if a.mid[0] and n % 2 else value
    result = a
    for bit in bin(n)[3:]:
        result = multiply(result, result, precision)
        if bit == "1":
            result = multiply(result, a, precision)
    return result


def power(a: Ball, b: Ball, precision: int) -> Ball:
    """a^b: any base where b is an integer, a base >= 0 elsewhere; 0^0 = 1."""
    if b.exact is not None and b.exact.denominator == 1:
        return integer_power(a, b.exact.numerator, precision)
    base = a.sign()
    if base == 0:
        if b.sign() < 0:
            raise UndefinedError
        return a
    if base < 0:
        # an exponent that may be an integer cannot be told from one; the others have no real power
        if b.exact is None and _may_be_integer(b):
            raise UndecidedError
        raise UndefinedError
    if a.exact == 1:
        return a
    return exponential(multiply(b, logarithm(a, precision), precision), precision)


def root(a: Ball, n: int, precision: int) -> Ball:
    """Real n-th root: of any number where n is odd, of numbers >= 0 where it is even."""
    if n % 2:
        try:
            sign = a.sign()
        except UndecidedError:
            # |root(x) - root(y)| <= 2 |x - y|^(1/n), also across zero
            mid = _odd_root(a.mid, n, precision)
            return rounded(mid, a.error / n + 1, precision)
    else:
        sign = a.sign()
        if sign < 0:
            raise UndefinedError
    if sign == 0:
        return a
    if a.exact is not None:
        roots = [_integer_root(abs(k), n) for k in (a.exact.numerator, a.exact.denominator)]
        if roots[0] is not None and roots[1] is not None:
            return rational(sign * Fraction(roots[0], roots[1]), precision)
    error = a.error - log2(a.mid) * (1 - 1 / n) + 1
    return rounded(_odd_root(a.mid, n, precision), error, precision)


def exponential(a: Ball, precision: int) -> Ball:
    """Function ``exp``."""
    if a.exact == 0:
        return rational(Fraction(1), precision)
    mid, error = _small_absolute_error(a, precision)
    value = libmp.mpf_exp(mid, precision + GUARD_BITS)
    return rounded(value, log2(value) + error + 1, precision)


def logarithm(a: Ball, precision: int) -> Ball:
    """Natural logarithm."""
    if a.sign() <= 0:
        raise UndefinedError
    if a.exact == 1:
        return rational(Fraction(0), precision)
    return rounded(libmp.mpf_log(a.mid, precision + GUARD_BITS), a.error - log2(a.mid) + 1, precision)


def sine(a: Ball, precision: int) -> Ball:
    """Function ``sin``."""
    known = None if a.turns is None else _sine_of_turns(a.turns)
    if a.exact == 0 or known is not None:
        return rational(known or Fraction(0), precision)
    mid, error = _reduced(a, precision)
    if error > 0:
        return _ANYWHERE
    return rounded(libmp.mpf_sin(mid, precision + GUARD_BITS), error, precision)


def cosine(a: Ball, precision: int) -> Ball:
    """Function ``cos``."""
    known = None if a.turns is None else _sine_of_turns(a.turns + Fraction(1, 2))
    if a.exact == 0 or known is not None:
        return rational(Fraction(1) if known is None else known, precision)
    mid, error = _reduced(a, precision)
    if error > 0:
        return _ANYWHERE
    return rounded(libmp.mpf_cos(mid, precision + GUARD_BITS), error, precision)


def tangent(a: Ball, precision: int) -> Ball:
    """Function ``tan``; undefined at its poles."""
    if a.exact == 0 or (a.turns is not None and a.turns.denominator <= 2):
        if a.turns is not None and a.turns.denominator == 2:
            raise UndefinedError
        return rational(Fraction(0), precision)
    mid, error = _reduced(a, precision)
    if error > 0:
        raise UndecidedError
    cos, sin = libmp.mpf_cos_sin(mid, precision + GUARD_BITS)
    if log2(cos) <= error + 1:
        raise UndecidedError
    return rounded(libmp.mpf_div(sin, cos, precision + GUARD_BITS, "n"), error - 2 * log2(cos) + 2, precision)


def arcsine(a: Ball, precision: int) -> Ball:
    """Function ``asin``."""
    return _arc(a, libmp.mpf_asin, {-1: (-1, 2), 0: (0, 1), 1: (1, 2)}, precision)


def arccosine(a: Ball, precision: int) -> Ball:
    """Function ``acos``."""
    return _arc(a, libmp.mpf_acos, {-1: (1, 1), 0: (1, 2), 1: (0, 1)}, precision)


def arctangent(a: Ball, precision: int) -> Ball:
    """Function ``atan``."""
    if a.exact in (-1, 0, 1):
        return pi_multiple(Fraction(a.exact or 0) / 4, precision)
    slope = 0.0 if log2(a.mid) <= a.error + 1 else -2 * max(0.0, log2(a.mid) - 1)
    return rounded(libmp.mpf_atan(a.mid, precision + GUARD_BITS), a.error + slope, precision)


def hyperbolic_sine(a: Ball, precision: int) -> Ball:
    """Function ``sinh``."""
    if a.exact == 0:
        return a
    mid, error = _small_absolute_error(a, precision)
    value = libmp.mpf_sinh(mid, precision + GUARD_BITS)
    return rounded(value, error + max(0.0, log2(value)) + 2, precision)


def hyperbolic_cosine(a: Ball, precision: int) -> Ball:
    """Function ``cosh``."""
    if a.exact == 0:
        return rational(Fraction(1), precision)
    mid, error = _small_absolute_error(a, precision)
    value = libmp.mpf_cosh(mid, precision + GUARD_BITS)
    return rounded(value, error + log2(value) + 2, precision)


def hyperbolic_tangent(a: Ball, precision: int) -> Ball:
    """Function ``tanh``."""
    if a.exact == 0:
        return a
    if log2(a.mid) > _EXPONENT_BITS:  # mpmath would write the argument out
        return _ANYWHERE if log2(a.mid) <= a.error + 1 else rounded(_ONES[a.mid[0]], -2.0 * precision, precision)
    flat = 0.0
    if log2(a.mid) > a.error + 1:  # the slope at x is below 4 exp(-2|x|), here at |x| >= |mid|/2
        flat = min(0.0, 2 - 2 ** min(log2(a.mid), 40.0) / math.log(2))
    return rounded(libmp.mpf_tanh(a.mid, precision + GUARD_BITS), a.error + flat, precision)


def area_sine(a: Ball, precision: int) -> Ball:
    """Function ``asinh``."""
    if a.exact == 0:
        return a
    slope = 0.0 if log2(a.mid) <= a.error + 1 else -max(0.0, log2(a.mid) - 1)
    return rounded(libmp.mpf_asinh(a.mid, precision + GUARD_BITS), a.error + slope, precision)


def area_cosine(a: Ball, precision: int) -> Ball:
    """Function ``acosh``."""
    gap = subtract(a, rational(Fraction(1), precision), precision)
    if gap.sign() < 0:
        raise UndefinedError
    if gap.exact == 0:
        return gap
    slope = -(log2(gap.mid) + max(1.0, log2(a.mid))) / 2 + 1
    return rounded(libmp.mpf_acosh(a.mid, precision + GUARD_BITS), a.error + slope, precision)


def area_tangent(a: Ball, precision: int) -> Ball:
    """Function ``atanh``."""
    gap = subtract(rational(Fraction(1), precision), absolute(a, precision), precision)
    if gap.sign() <= 0:
        raise UndefinedError
    if a.exact == 0:
        return a
    return rounded(libmp.mpf_atanh(a.mid, precision + GUARD_BITS), a.error - log2(gap.mid) + 1, precision)


def _small_absolute_error(a: Ball, precision: int) -> tuple[Mpf, float]:
    """Argument of exp and its kin: large ones need more bits of an exact number, or are too large."""
    if log2(a.mid) > _EXPONENT_BITS:
        raise UndecidedError
    mid, error = _reduced(a, precision)
    if error > -1:
        raise UndecidedError
    return mid, error


def _reduced(a: Ball, precision: int) -> tuple[Mpf, float]:
    """Approximation whose absolute error is small too, where the number is exact; periodic functions need it."""
    whole = max(0, math.ceil(log2(a.mid))) if a.mid[1] else 0
    if not whole or (a.exact is None and a.turns is None):
        return a.mid, a.error
    exact = rational(a.exact, precision + whole) if a.exact is not None else None
    fine = exact or pi_multiple(a.turns or Fraction(0), precision + whole)
    return fine.mid, fine.error


def _may_be_integer(b: Ball) -> bool:
    """Whether the ball of an inexact number holds an integer."""
    if b.turns is not None:
        return False  # pi is irrational
    if b.error > -2:
        return True
    nearest = libmp.mpf_nint(b.mid)
    return log2(libmp.mpf_sub(b.mid, nearest, 53, "n")) <= b.error + 1


def _arc(a: Ball, function: Callable[[Mpf, int], Mpf], known: dict[int, tuple[int, int]], precision: int) -> Ball:
    """Both ``asin`` and ``acos``: closed borders at -1 and 1, where the slope is infinite."""
    gap = subtract(rational(Fraction(1), precision), absolute(a, precision), precision)
    if gap.sign() < 0:
        raise UndefinedError
    if a.exact in (-1, 0, 1):
        return pi_multiple(Fraction(*known[int(a.exact or 0)]), precision)
    return rounded(function(a.mid, precision + GUARD_BITS), a.error - log2(gap.mid) / 2 + 1, precision)


def _sine_of_turns(turns: Fraction) -> Fraction | None:
    """sin(pi*turns) where that is rational."""
    folded = turns % 2
    by_twelfths = {0: 0, 2: 1, 6: 2, 10: 1, 12: 0, 14: -1, 18: -2, 22: -1}
    twelfths = folded * 12
    if twelfths.denominator != 1 or int(twelfths) not in by_twelfths:
        return None
    return Fraction(by_twelfths[int(twelfths)], 2)


def _odd_root(value: Mpf, n: int, precision: int) -> Mpf:
    """Real root of the approximation with its sign."""
    if not value[1]:
        return value
    size: Mpf = libmp.mpf_nthroot(libmp.mpf_abs(value), n, precision + GUARD_BITS)
    return libmp.mpf_neg(size) if value[0] else size


def _integer_root(k: int, n: int) -> int | None:
    """Integer n-th root of k > 0, where there is one."""
    guess = 1 << -(-k.bit_length() // n)
    while True:
        better = ((n - 1) * guess + k // guess ** (n - 1)) // n
        if better >= guess:
            return guess if guess**n == k else None
        guess = better
