"""Real numbers with error bounds: what multiprecision.py evaluates expressions with.

A number is an exact rational while it stays small, an exact rational multiple of pi where that is cheap to know, and
else a ball of Arb: a midpoint and a radius. Every function proves that its argument lies inside its domain, proves that
it does not (``UndefinedError``), or says that this precision cannot tell (``UndecidedError``). The precision is that of
``flint.ctx``; another one changes how tight a ball is, never whether it holds its number.
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
    exact : Fraction or None
        The number itself, where it is a known rational.
    turns : Fraction or None
        The number divided by pi, where that is a known rational.
    """

    __slots__ = ("exact", "turns", "value")

    def __init__(self, value: arb, exact: Fraction | None = None, turns: Fraction | None = None) -> None:
        if not value.is_finite():
            raise UndecidedError
        self.value = value
        self.exact = exact
        self.turns = turns

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
        """-1, 0 or 1, proved; UndecidedError where the ball holds zero and is no exact number."""
        known = self.turns if self.exact is None else self.exact
        if known is not None:
            return (known > 0) - (known < 0)
        if self.value.contains(0) and not self.value.is_zero():
            raise UndecidedError
        return (self.value > 0) - (self.value < 0)

    def fine(self) -> arb:
        """The number with a small absolute error too, where it is exact; periodic functions and exp need it."""
        known = self.turns if self.exact is None else self.exact
        n_bits = max(0, self.magnitude) if known else 0
        if not 1 <= n_bits <= _MOST_BITS:
            return self.value
        with ctx.extraprec(math.ceil(n_bits)):
            return _arb(known or _ZERO) * (arb.pi() if self.exact is None else 1)


def rational(value: Fraction) -> Ball:
    """Ball of a rational; exact while it is small."""
    return Ball(_arb(value), value if bits(value) <= EXACT_BITS else None)


def pi_multiple(turns: Fraction) -> Ball:
    """Ball of a rational multiple of pi."""
    if turns == 0:
        return rational(turns)
    return Ball(_arb(turns) * arb.pi(), None, turns if bits(turns) <= EXACT_BITS else None)


def bits(value: Fraction) -> int:
    """Size of a rational."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def binary(mantissa: int, exponent: int) -> Ball:
    """Ball of mantissa * 2^exponent."""
    if abs(exponent) + mantissa.bit_length() <= EXACT_BITS:
        return rational(mantissa * Fraction(2) ** exponent)
    return Ball(arb((fmpz(mantissa), fmpz(exponent))))


def add(a: Ball, b: Ball) -> Ball:
    """Sum."""
    if a.exact is not None and b.exact is not None:
        return rational(a.exact + b.exact)
    if a.turns is not None and b.turns is not None:
        return pi_multiple(a.turns + b.turns)
    if a.exact == 0 or b.exact == 0:
        return b if a.exact == 0 else a
    return Ball(a.value + b.value)


def scale(a: Ball, p: int, q: int) -> Ball:
    """p/q times a number."""
    return multiply(rational(Fraction(p, q)), a)


def subtract(a: Ball, b: Ball) -> Ball:
    """Difference."""
    return add(a, scale(b, -1, 1))


def absolute(a: Ball) -> Ball:
    """Absolute value."""
    known = a.turns if a.exact is None else a.exact
    if known is None:
        return Ball(abs(a.value))
    return a if known >= 0 else scale(a, -1, 1)


def multiply(a: Ball, b: Ball) -> Ball:
    """Product; zero times anything that is defined is zero."""
    if a.exact is not None and b.exact is not None:
        return rational(a.exact * b.exact)
    if a.exact == 0 or b.exact == 0:
        return rational(_ZERO)
    for exact, turns in ((a.exact, b.turns), (b.exact, a.turns)):
        if exact is not None and turns is not None:
            return pi_multiple(exact * turns)
    return Ball(a.value * b.value)


def divide(a: Ball, b: Ball) -> Ball:
    """Quotient."""
    if b.sign() == 0:
        raise UndefinedError
    if a.exact is not None and (b.exact is not None or a.exact == 0):
        return rational(a.exact / (b.exact or 1))
    if a.turns is not None and b.turns is not None:
        return rational(a.turns / b.turns)
    if a.turns is not None and b.exact is not None:
        return pi_multiple(a.turns / b.exact)
    return Ball(a.value / b.value)


def integer_power(a: Ball, n: int) -> Ball:
    """a^n; 0^0 = 1."""
    if n == 0:
        return rational(_ONE)
    if a.exact is not None and (abs(a.exact) <= 1 == a.exact.denominator or bits(a.exact) * abs(n) <= EXACT_BITS):
        if a.exact == 0 and n < 0:
            raise UndefinedError
        return rational(a.exact ** (n if a.exact else 1))
    if n < 0 or abs(n) > 64:
        sign = a.sign()
        if sign == 0:
            raise UndefinedError  # n < 0: zero to a positive power is exact
        size = abs(a.value) ** fmpz(n)
        return Ball(-size if sign < 0 and n % 2 else size)
    return Ball(a.value ** fmpz(n))


def power(a: Ball, b: Ball) -> Ball:
    """a^b: any base where b is an integer, a base >= 0 elsewhere; 0^0 = 1."""
    if b.exact is not None and b.exact.denominator == 1:
        return integer_power(a, b.exact.numerator)
    base = a.sign()
    if base == 0:
        if b.sign() < 0:
            raise UndefinedError
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
    if sign < 0 and n % 2 == 0:
        raise UndefinedError
    if a.exact is not None:
        roots = [_integer_root(abs(k), n) for k in (a.exact.numerator, a.exact.denominator)]
        if roots[0] is not None and roots[1] is not None:
            return rational(sign * Fraction(roots[0], roots[1]))
    return Ball(_root(a.value, n))


def exp(a: Ball) -> Ball:
    """Function ``exp``."""
    return rational(_ONE) if a.exact == 0 else Ball(a.fine().exp())


def log(a: Ball) -> Ball:
    """Natural logarithm."""
    if a.sign() <= 0:
        raise UndefinedError
    return rational(_ZERO) if a.exact == 1 else Ball(a.value.log())


def sin(a: Ball) -> Ball:
    """Function ``sin``."""
    known = _sine_of_turns(a.turns if a.exact != 0 else _ZERO)
    return rational(known) if known is not None else Ball(a.fine().sin())


def cos(a: Ball) -> Ball:
    """Function ``cos``."""
    turns = a.turns if a.exact != 0 else _ZERO
    known = None if turns is None else _sine_of_turns(turns + Fraction(1, 2))
    return rational(known) if known is not None else Ball(a.fine().cos())


def tan(a: Ball) -> Ball:
    """Function ``tan``; undefined at its poles."""
    turns = a.turns if a.exact != 0 else _ZERO
    if turns is not None and turns.denominator == 2:
        raise UndefinedError
    return rational(_ZERO) if turns is not None and turns.denominator == 1 else Ball(a.fine().tan())


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


def odd(a: Ball, name: str) -> Ball:
    """A function of Arb by its name that is defined everywhere, and 0 at 0 alone."""
    return a if a.exact == 0 else Ball(getattr(a.fine(), name)())


def cosh(a: Ball) -> Ball:
    """Function ``cosh``."""
    return rational(_ONE) if a.exact == 0 else Ball(a.fine().cosh())


def acosh(a: Ball) -> Ball:
    """Function ``acosh``."""
    gap = subtract(a, rational(_ONE))
    _need(gap.sign() >= 0)
    return gap if gap.exact == 0 else Ball(a.value.acosh())


def atanh(a: Ball) -> Ball:
    """Function ``atanh``."""
    _need(subtract(rational(_ONE), absolute(a)).sign() > 0)
    return a if a.exact == 0 else Ball(a.value.atanh())


def _need(condition: bool) -> None:
    if not condition:
        raise UndefinedError


def _arb(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _log2(value: arb) -> float:
    """log2 of the absolute value of an exact number, rounded up."""
    mantissa, exponent = value.man_exp()
    return math.log2(abs(int(mantissa))) + int(exponent) if mantissa != 0 else -math.inf


def _sine_of_turns(turns: Fraction | None) -> Fraction | None:
    """sin(pi*turns) where that is rational."""
    sixths = None if turns is None else turns % 2 * 6
    by_sixths = {0: 0, 1: 1, 3: 2, 5: 1, 6: 0, 7: -1, 9: -2, 11: -1}
    return Fraction(by_sixths[int(sixths)], 2) if sixths is not None and sixths in by_sixths else None


def _root(value: arb, n: int) -> arb:
    """Real root of a ball with its sign."""
    return -(-value).root(n) if value < 0 else value.root(n)


def _integer_root(k: int, n: int) -> int | None:
    """Integer n-th root of k, where there is one."""
    found = int(fmpz(k).root(n))
    return found if found**n == k else None
