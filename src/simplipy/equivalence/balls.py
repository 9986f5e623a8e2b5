"""Real numbers with error bounds, in which multiprecision.py evaluates expressions.

A number is a ball of Arb, a midpoint and a radius; where it is a small rational, or one times pi, that is known too.
Every function proves that its argument lies inside its domain, proves that it does not (``UndefinedError``), or reports
that this precision does not decide it (``UndecidedError``). The precision is that of ``flint.ctx``; another one changes
how tight a ball is, never whether it holds its number.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

# beyond this size a rational costs more than it proves
EXACT_BITS = 2048
# sine and its kin need so many more bits as an exact argument has before its point
_MOST_BITS = 1 << 16
_ZERO, _ONE = Fraction(0), Fraction(1)


class UndefinedError(ArithmeticError):
    """The argument is outside the function's domain: proved."""


class UndecidedError(ArithmeticError):
    """The ball reaches over a border of the domain, or a number leaves the range that is handled."""


class Ball:
    """A real number, known up to a bound.

    Attributes
    ----------
    value : arb
        Ball that holds the number.
    known : Fraction or None
        The number itself, or the number divided by pi, where that is a known rational.
    in_pi : bool
        Whether ``known`` counts multiples of pi.
    """

    __slots__ = ("in_pi", "known", "value")

    def __init__(self, value: arb, known: Fraction | None = None, in_pi: bool = False) -> None:
        if not value.is_finite():
            raise UndecidedError
        if known is None and value.is_exact():
            mantissa, exponent = map(int, value.man_exp())
            if abs(exponent) + mantissa.bit_length() <= EXACT_BITS:
                known = mantissa * Fraction(2) ** exponent
        self.value = value
        self.known = known
        self.in_pi = in_pi

    @property
    def exact(self) -> Fraction | None:
        """The number itself, where it is a known rational."""
        return None if self.in_pi else self.known

    @property
    def turns(self) -> Fraction | None:
        """The number divided by pi, where that is a known rational and not zero."""
        return self.known if self.in_pi else None

    @property
    def error(self) -> float:
        """log2 of a bound on the distance between the number and the midpoint; -inf where there is none."""
        return _log2(self.value.rad())

    @property
    def magnitude(self) -> float:
        """log2 of the midpoint's absolute value; -inf for zero."""
        return _log2(self.value.mid())

    def __float__(self) -> float:
        return float(self.value.mid())

    def sign(self) -> int:
        """-1, 0 or 1, proved; UndecidedError where the ball holds zero and is no known number."""
        number = self.value if self.known is None else self.known
        if self.known is None and self.value.contains(0):
            raise UndecidedError
        return (number > 0) - (number < 0)

    def fine(self) -> arb:
        """The number with a small absolute error too, where it is known; periodic functions and exp need it."""
        n_bits = math.ceil(max(0, self.magnitude)) if self.known else 0
        if self.known is None or not 1 <= n_bits <= _MOST_BITS:
            return self.value
        with ctx.extraprec(n_bits):
            return _arb(self.known, self.in_pi)


def rational(value: Fraction, in_pi: bool = False) -> Ball:
    """Ball of a rational, or of a rational multiple of pi; known while it is small."""
    in_pi = in_pi and value != 0
    return Ball(_arb(value, in_pi), value if bits(value) <= EXACT_BITS else None, in_pi)


def pi_multiple(turns: Fraction) -> Ball:
    """Ball of a rational multiple of pi."""
    return rational(turns, in_pi=True)


def bits(value: Fraction) -> int:
    """Size of a rational."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def add(a: Ball, b: Ball) -> Ball:
    """Sum."""
    if a.known == 0 or b.known == 0:
        return b if a.known == 0 else a
    if a.known is not None and b.known is not None and a.in_pi == b.in_pi:
        return rational(a.known + b.known, a.in_pi)
    return Ball(a.value + b.value)


def scale(a: Ball, p: int, q: int) -> Ball:
    """p/q times a number."""
    return multiply(rational(Fraction(p, q)), a)


def subtract(a: Ball, b: Ball) -> Ball:
    """Difference."""
    return add(a, scale(b, -1, 1))


def absolute(a: Ball) -> Ball:
    """Absolute value."""
    return Ball(abs(a.value)) if a.known is None else rational(abs(a.known), a.in_pi)


def minimum(a: Ball, b: Ball) -> Ball:
    """Smaller number."""
    if a.known is not None and b.known is not None and a.in_pi == b.in_pi:
        return a if a.known <= b.known else b
    return a if a.value < b.value else b if b.value < a.value else Ball(a.value.min(b.value))


def maximum(a: Ball, b: Ball) -> Ball:
    """Larger number."""
    return scale(minimum(scale(a, -1, 1), scale(b, -1, 1)), -1, 1)


def multiply(a: Ball, b: Ball) -> Ball:
    """Product; zero times anything that is defined is zero."""
    if a.known == 0 or b.known == 0:
        return rational(_ZERO)
    if a.known is not None and b.known is not None and not (a.in_pi and b.in_pi):
        return rational(a.known * b.known, a.in_pi or b.in_pi)
    return Ball(a.value * b.value)


def divide(a: Ball, b: Ball) -> Ball:
    """Quotient."""
    _need(b.sign() != 0)
    if a.known == 0:
        return a
    if a.known is not None and b.known is not None and (a.in_pi or not b.in_pi):
        return rational(a.known / b.known, a.in_pi != b.in_pi)
    return Ball(a.value / b.value)


def integer_power(a: Ball, n: int) -> Ball:
    """a^n; 0^0 = 1."""
    if n == 0:
        return rational(_ONE)
    if a.exact is not None and (abs(a.exact) <= 1 == a.exact.denominator or bits(a.exact) * abs(n) <= EXACT_BITS):
        _need(n >= 0 or a.exact != 0)
        return rational(a.exact ** (n if a.exact else 1))
    if n < 0 or abs(n) > 64:
        sign = a.sign()
        _need(sign != 0)  # n < 0: zero to a positive power is exact
        size = abs(a.value) ** fmpz(n)
        return Ball(-size if sign < 0 and n % 2 else size)
    return Ball(a.value ** fmpz(n))


def power(a: Ball, b: Ball) -> Ball:
    """a^b: any base where b is an integer, a base >= 0 elsewhere; 0^0 = 1."""
    if b.exact is not None and b.exact.denominator == 1:
        return integer_power(a, b.exact.numerator)
    base = a.sign()
    if base == 0:
        _need(b.sign() >= 0)
        return a
    if base < 0:
        # an exponent that may be an integer cannot be told from one; the others have no real power
        if b.exact is None and b.turns is None and b.value.contains_integer():
            raise UndecidedError
        raise UndefinedError
    return a if a.exact == 1 else exp(multiply(b, log(a)))


def root(a: Ball, n: int) -> Ball:
    """Real n-th root: of any number where n is odd, of numbers >= 0 where it is even."""
    if a.exact is None and n % 2 and a.value.contains(0):
        return Ball(_root(a.value.lower(), n).union(_root(a.value.upper(), n)))
    sign = a.sign()
    _need(sign >= 0 or n % 2 == 1)
    if a.exact is not None:
        roots = [_integer_root(abs(k), n) for k in (a.exact.numerator, a.exact.denominator)]
        if roots[0] is not None and roots[1] is not None:
            return rational(sign * Fraction(roots[0], roots[1]))
    return Ball(_root(a.value, n))


def entire(name: str, a: Ball) -> Ball:
    """A function of Arb by its name that is defined everywhere."""
    return Ball(getattr(a.fine(), name)())


def exp(a: Ball) -> Ball:
    """Function ``exp``."""
    return entire("exp", a)


def log(a: Ball) -> Ball:
    """Natural logarithm."""
    _need(a.sign() > 0)
    return Ball(a.value.log())


def sin(a: Ball) -> Ball:
    """Function ``sin``."""
    return entire("sin", a) if a.turns is None else Ball(arb.sin_pi_fmpq(_fmpq(a.turns)))


def cos(a: Ball) -> Ball:
    """Function ``cos``."""
    return entire("cos", a) if a.turns is None else Ball(arb.cos_pi_fmpq(_fmpq(a.turns)))


def tan(a: Ball) -> Ball:
    """Function ``tan``; undefined at its poles."""
    return entire("tan", a) if a.turns is None else divide(sin(a), cos(a))


def asin(a: Ball) -> Ball:
    """Function ``asin``."""
    _need(subtract(rational(_ONE), absolute(a)).sign() >= 0)
    return pi_multiple(a.exact / 2) if a.exact in (-1, 0, 1) else Ball(a.value.asin())


def acos(a: Ball) -> Ball:
    """Function ``acos``."""
    rest = asin(a)
    return subtract(pi_multiple(Fraction(1, 2)), rest) if a.exact in (-1, 0, 1) else Ball(a.value.acos())


def atan(a: Ball) -> Ball:
    """Function ``atan``."""
    return pi_multiple(a.exact / 4) if a.exact in (-1, 0, 1) else Ball(a.value.atan())


def acosh(a: Ball) -> Ball:
    """Function ``acosh``."""
    _need(subtract(a, rational(_ONE)).sign() >= 0)
    return Ball(a.value.acosh())


def atanh(a: Ball) -> Ball:
    """Function ``atanh``."""
    _need(subtract(rational(_ONE), absolute(a)).sign() > 0)
    return Ball(a.value.atanh())


def _need(condition: bool) -> None:
    if not condition:
        raise UndefinedError


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _arb(value: Fraction, in_pi: bool) -> arb:
    return arb(_fmpq(value)) * (arb.pi() if in_pi else 1)


def _log2(value: arb) -> float:
    """log2 of the absolute value of an exact number, rounded up."""
    mantissa, exponent = value.man_exp()
    return math.log2(abs(int(mantissa))) + int(exponent) if mantissa != 0 else -math.inf


def _root(value: arb, n: int) -> arb:
    """Real root of a ball with its sign."""
    return -(-value).root(n) if value < 0 else value.root(n)


def _integer_root(k: int, n: int) -> int | None:
    """Integer n-th root of k, where there is one."""
    found = int(fmpz(k).root(n))
    return found if found**n == k else None
