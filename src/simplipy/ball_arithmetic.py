"""Real numbers with error bounds: what multiprecision.py evaluates expressions with.

A number is an exact rational while it stays small, an exact rational multiple of pi where that is cheap to know, and
else a ball: a binary float of any exponent and a bound on its error. Every function proves that its argument lies
inside its domain (and bounds the error there), proves that it does not (``UndefinedError``), or says that this
precision cannot tell (``UndecidedError``). Precision is a number of bits, given to each call; there is no global
state. Here are the four operations; ball_functions.py has the rest.
"""

from __future__ import annotations

import math
from fractions import Fraction

from mpmath import libmp

Mpf = tuple[int, int, int, int]  # sign, mantissa, exponent, bits of the mantissa

# beyond this size a rational costs more than it proves
EXACT_BITS = 2048
# largest |log2 value|: bounds are kept as log2 in a double, which must still resolve a fraction of a bit
_LARGEST = 2.0**48
# mpmath rounds its elementary functions to about an ulp; these bits make that safe
GUARD_BITS = 8
_NEVER = -math.inf  # log2 of an error that is zero


class UndefinedError(ArithmeticError):
    """The argument is outside the function's domain: proved."""


class UndecidedError(ArithmeticError):
    """The error bound reaches over a border of the domain, or a number leaves the range that is handled."""


class Ball:
    """A real number, known up to a bound.

    Attributes
    ----------
    mid : Mpf
        Approximation.
    error : float
        log2 of a bound on the distance between the number and ``mid``; -inf where there is none.
    exact : Fraction or None
        The number itself, where it is a known rational.
    turns : Fraction or None
        The number divided by pi, where that is a known rational.
    """

    __slots__ = ("_error", "_mid", "exact", "turns")

    def __init__(
        self, mid: Mpf | None, error: float, exact: Fraction | None = None, turns: Fraction | None = None
    ) -> None:
        self._mid = mid  # None: a rational that nobody has approximated yet; then the error is minus its bits
        self._error = error
        self.exact = exact
        self.turns = turns

    @property
    def mid(self) -> Mpf:
        """Approximation."""
        if self._mid is None:
            self._approximate()
        return self._mid  # type: ignore[return-value]

    @property
    def error(self) -> float:
        """log2 of the bound on its error."""
        if self._mid is None:
            self._approximate()
        return self._error

    def __float__(self) -> float:
        return float(libmp.to_float(self.mid))

    def _approximate(self) -> None:
        value = self.exact or Fraction(0)
        mid: Mpf = libmp.from_rational(value.numerator, value.denominator, int(-self._error), "n")
        self._mid, self._error = mid, log2(mid) + self._error

    @property
    def magnitude(self) -> float:
        """log2 of the approximation's absolute value; -inf for zero."""
        return log2(self.mid)

    def sign(self) -> int:
        """-1, 0 or 1, proved; UndecidedError where the ball holds zero and is no exact number."""
        if self.exact is not None:
            return (self.exact > 0) - (self.exact < 0)
        if self.turns is not None:
            return 1 if self.turns > 0 else -1
        # one bit of distance: bounds that divide by the number may then take |number| >= |mid|/2
        if log2(self.mid) <= self.error + 1:
            raise UndecidedError
        return -1 if self.mid[0] else 1


def rational(value: Fraction, precision: int) -> Ball:
    """Ball of a rational; exact while it is small."""
    result = Ball(None, -precision, value)
    if bits(value) > EXACT_BITS:
        result = Ball(result.mid, result.error)
    return result


def pi_multiple(turns: Fraction, precision: int) -> Ball:
    """Ball of a rational multiple of pi."""
    if turns == 0:
        return rational(turns, precision)
    value = libmp.mpf_mul(
        libmp.mpf_pi(precision + GUARD_BITS),
        libmp.from_rational(turns.numerator, turns.denominator, precision + GUARD_BITS, "n"),
        precision,
        "n",
    )
    return Ball(value, log2(value) - precision + 1, None, turns if bits(turns) <= EXACT_BITS else None)


def from_mpf(value: Mpf, precision: int) -> Ball:
    """Ball of a binary float, taken as exact."""
    _, _, exponent, size = value
    if abs(exponent) + size <= EXACT_BITS:
        return rational(Fraction(*libmp.to_rational(value)), precision)
    return _checked(value, _NEVER)


def distance(a: Ball, b: Ball, precision: int) -> tuple[float, float]:
    """log2 of the distance between two approximations, and of the bound on its error."""
    return log2(libmp.mpf_sub(a.mid, b.mid, precision, "n")), sum_of_bounds(a.error, b.error)


def add(a: Ball, b: Ball, precision: int) -> Ball:
    """Sum."""
    if a.exact is not None and b.exact is not None:
        return rational(a.exact + b.exact, precision)
    if a.turns is not None and b.turns is not None:
        return pi_multiple(a.turns + b.turns, precision)
    if a.exact == 0:
        return b
    if b.exact == 0:
        return a
    return rounded(libmp.mpf_add(a.mid, b.mid, precision, "n"), sum_of_bounds(a.error, b.error), precision)


def negative(a: Ball, precision: int) -> Ball:  # noqa: ARG001 - every function takes the precision
    """Number with the other sign."""
    return Ball(
        libmp.mpf_neg(a.mid), a.error, None if a.exact is None else -a.exact, None if a.turns is None else -a.turns
    )


def subtract(a: Ball, b: Ball, precision: int) -> Ball:
    """Difference."""
    return add(a, negative(b, precision), precision)


def absolute(a: Ball, precision: int) -> Ball:
    """Absolute value."""
    return negative(a, precision) if a.mid[0] else a


def multiply(a: Ball, b: Ball, precision: int) -> Ball:
    """Product; zero times anything that is defined is zero."""
    if a.exact is not None and b.exact is not None:
        return rational(a.exact * b.exact, precision)
    if a.exact == 0 or b.exact == 0:
        return rational(Fraction(0), precision)
    for exact, turns in ((a.exact, b.turns), (b.exact, a.turns)):
        if exact is not None and turns is not None:
            return pi_multiple(exact * turns, precision)
    error = sum_of_bounds(log2(a.mid) + b.error, sum_of_bounds(log2(b.mid) + a.error, a.error + b.error))
    return rounded(libmp.mpf_mul(a.mid, b.mid, precision, "n"), error, precision)


def divide(a: Ball, b: Ball, precision: int) -> Ball:
    """Quotient."""
    if b.sign() == 0:
        raise UndefinedError
    if a.exact is not None and (b.exact is not None or a.exact == 0):
        return rational(a.exact / (b.exact or 1), precision)
    if a.turns is not None and b.turns is not None:
        return rational(a.turns / b.turns, precision)
    if a.turns is not None and b.exact is not None:
        return pi_multiple(a.turns / b.exact, precision)
    value = libmp.mpf_div(a.mid, b.mid, precision, "n")
    error = sum_of_bounds(a.error, log2(value) + b.error) - log2(b.mid) + 1
    return rounded(value, error, precision)


def bits(value: Fraction) -> int:
    """Size of a rational."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def log2(value: Mpf) -> float:
    """log2 of the absolute value, -inf for zero."""
    mantissa, exponent = value[1], value[2]
    if not mantissa:
        return _NEVER
    if abs(exponent) > 1 << 60:
        raise UndecidedError
    return math.log2(mantissa) + exponent


def sum_of_bounds(a: float, b: float) -> float:
    """log2(2^a + 2^b)."""
    if a < b:
        a, b = b, a
    if b == _NEVER:
        return a
    return a + math.log2(1 + 2 ** max(b - a, -100.0))


def rounded(value: Mpf, error: float, precision: int) -> Ball:
    """Ball with the bound of an exact computation and one rounding."""
    return _checked(value, sum_of_bounds(error, log2(value) - precision + 1))


def _checked(value: Mpf, error: float) -> Ball:
    size = log2(value)
    if error > _LARGEST or (value[1] and abs(size) > _LARGEST):
        raise UndecidedError
    return Ball(value, error)
