"""Expressions in exact real arithmetic: what a formula means at a point, decided with as many digits as it takes.

The meaning is the project's: an expression is undefined as soon as a subterm is undefined or infinite, zero has no
sign, 0^0 = 1, ``pow1_3`` and ``pow1_5`` are real odd roots, ``pow`` with an exponent that is no integer needs a base
>= 0. Doubles only approximate that; here every value carries a bound on its error, so that "defined", "undefined" and
"different" are proofs, up to the correctness of Arb. Equality of two values is never proved, only shown to many
digits. Evaluation is iterative, and numbers beyond about exp(exp(30)) are refused, so that nothing hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeAlias

from flint import arb, ctx
from mpmath import libmp, mp

from simplipy.equivalence import balls
from simplipy.equivalence.balls import Ball, UndecidedError, UndefinedError
from simplipy.errors import EvaluationError
from simplipy.expression.operator_forms import FORMS
from simplipy.expression.operators import CONSTANT, leaf_kind, variable_name
from simplipy.expression.prefix import fold

# digits to decide with: most points need the first, cancellation and saturation the second
DIGITS = (50, 120)
_BITS_PER_DIGIT = 3.3219280948873626
# a literal with a larger exponent is rounded: spelling it as a rational would take its size in memory
_LARGEST_EXPONENT = 600


class Outcome(Enum):
    """Result of an evaluation that gives no number."""

    UNDEFINED = "undefined"
    """Some subterm is undefined or infinite there: proved."""
    UNDECIDED = "undecided"
    """These digits do not decide on which side of a border an argument lies, or a number is too large to handle."""


UNDEFINED = Outcome.UNDEFINED
UNDECIDED = Outcome.UNDECIDED

Value: TypeAlias = Any  # mpmath.mpf or Outcome; mpmath has no types
Number: TypeAlias = Any  # int, float, Fraction, mpmath.mpf or Ball


def evaluate_at(
    tokens: Sequence[str], point: Mapping[str, Number], constants: Sequence[Number] = (), digits: int = 50
) -> Value:
    """Value of an expression at one point, in exact real arithmetic.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens.
    point : mapping of str to number
        Value of each variable by its plain name. Floats and mpmath numbers are taken as the exact binary numbers they
        are.
    constants : sequence of numbers, (n_constants,)
        Values of the free constants, in prefix order.
    digits : int
        Decimal digits to work with.

    Returns
    -------
    mpmath.mpf, UNDEFINED or UNDECIDED
        A number is right to ``digits/2`` digits, relative to the larger of itself and 1.

    Examples
    --------
    >>> from simplipy.equivalence.multiprecision import evaluate_at
    >>> evaluate_at(["log", "exp", "x1"], {"x1": -1e10})
    mpf('-10000000000.0')
    >>> evaluate_at(["inv", "-", "x1", "x1"], {"x1": 0.1})
    <Outcome.UNDEFINED: 'undefined'>
    """
    result = enclose(tokens, point, constants, digits)
    if isinstance(result, Outcome):
        return result
    if result.error > max(result.magnitude, 0.0) - digits / 2 * _BITS_PER_DIGIT:
        return UNDECIDED
    mantissa, exponent = result.value.mid().man_exp()
    return mp.make_mpf(libmp.from_man_exp(int(mantissa), int(exponent)))


def enclose(
    tokens: Sequence[str], point: Mapping[str, Number], constants: Sequence[Number] = (), digits: int = 50
) -> Ball | Outcome:
    """Value of an expression at one point with a bound on its error; see ``evaluate_at``.

    A Ball says that the expression is defined there: proved.
    """
    n_constants = tokens.count(CONSTANT)
    if len(constants) < n_constants:
        raise EvaluationError(f"the expression has {n_constants} free constants, got {len(constants)} values")
    subterms = _Subterms(point, constants[:n_constants])
    with ctx.workprec(_precision(digits)):
        try:
            result = subterms.values[fold(tokens, subterms.leaf, subterms.operator)]
        except UndefinedError:
            return UNDEFINED
    return UNDECIDED if result is None else result


class _Subterms:
    """Values of subterms by number; equal subterms have equal numbers, and are evaluated once."""

    def __init__(self, point: Mapping[str, Number], constants: Sequence[Number]) -> None:
        self.values: list[Ball | None] = []  # None is undecided
        self._numbers: dict[tuple[str | int, ...], int] = {}
        self._point = point
        self._constants = list(constants)

    def leaf(self, token: str) -> int:
        """Number of a leaf; each free constant is one of its own, and the last one is met first."""
        if token == CONSTANT:
            value = self._constants.pop()
            return self._number((token, len(self._constants)), lambda: as_ball(value))
        return self._number((token,), lambda: _leaf(token, self._point))

    def operator(self, token: str, operands: list[int]) -> int:
        """Number of an operator over subterms."""
        return self._number((token, *operands), lambda: _apply(token, operands, self.values))

    def _number(self, subterm: tuple[str | int, ...], value: Callable[[], Ball]) -> int:
        number = self._numbers.setdefault(subterm, len(self.values))
        if number == len(self.values):
            try:
                self.values.append(value())
            except UndecidedError:
                self.values.append(None)  # go on: another subterm may be provably undefined
        return number


def compare(a: Ball, b: Ball, tolerance: float = 0.0, digits: int = 50) -> Literal["equal", "different", "undecided"]:
    """How two values of the same precision compare.

    "different" is proved: no two numbers inside the bounds are within the absolute ``tolerance``. "equal" with a
    tolerance is proved too; without one it means that the bounds overlap and are tight: half of the digits agree,
    relative to the largest of the values and 1.
    """
    if a.exact is not None and b.exact is not None:
        return "equal" if abs(a.exact - b.exact) <= Fraction(tolerance) else "different"
    with ctx.workprec(_precision(digits)):
        distance = abs(a.value - b.value)
        if tolerance > 0:
            return "different" if distance > tolerance else "equal" if distance <= tolerance else "undecided"
        if distance > 0:
            return "different"
        error = Ball(distance).error
    return "equal" if error <= max(a.magnitude, b.magnitude, 0.0) - digits / 2 * _BITS_PER_DIGIT else "undecided"


def difference(a: Ball, b: Ball) -> float:
    """Difference of two values, rounded to a double only after subtraction."""
    return float((a.value.mid() - b.value.mid()).mid())


def sharp(ball: Ball, digits: int = 50) -> bool:
    """Whether half of the digits are right relative to the number itself; never so for an inexact zero."""
    return ball.error <= ball.magnitude - digits / 2 * _BITS_PER_DIGIT or ball.exact is not None


def _leaf(token: str, point: Mapping[str, Number]) -> Ball:
    """Value of a leaf that is no free constant."""
    kind = leaf_kind(token)
    if kind == "variable":
        name = variable_name(token)
        if name not in point:
            raise EvaluationError(f"no value for the variable {name!r}; given: {', '.join(point) or 'none'}")
        return as_ball(point[name])
    if kind == "number":
        return _literal(token)
    if token == "pi":
        return balls.pi_multiple(Fraction(1))
    if token == "e":
        return balls.exp(balls.rational(Fraction(1)))
    raise UndefinedError  # inf, -inf and nan are no real numbers


def as_ball(value: Number) -> Ball:
    """Number as a ball: floats and mpmath numbers are exact, a Ball of a multiple of pi is made anew."""
    if isinstance(value, Ball):
        return value if value.turns is None else balls.pi_multiple(value.turns)
    if isinstance(value, int | Fraction):
        return balls.rational(Fraction(value))
    number = arb(value if hasattr(value, "_mpf_") else float(value))
    if not number.is_finite():
        raise UndefinedError
    return Ball(number)


def _precision(digits: int) -> int:
    return int(digits * _BITS_PER_DIGIT) + 16


def _literal(token: str) -> Ball:
    """Number token as the exact decimal that it is."""
    try:
        _, digits, exponent = Decimal(token).as_tuple()
    except InvalidOperation:
        raise EvaluationError(f"{token!r} is no number") from None
    if not any(digits) or abs(int(exponent)) <= _LARGEST_EXPONENT:
        return balls.rational(Fraction(token) if any(digits) else Fraction(0))
    mantissa = int("".join(map(str, digits)))
    return Ball((-mantissa if token[0] == "-" else mantissa) * arb(10) ** int(exponent))


def _apply(token: str, operand_numbers: list[int], values: list[Ball | None]) -> Ball:
    """Value of an operator over operands that have been evaluated."""
    operands = [values[number] for number in operand_numbers]
    if None in operands:
        raise UndecidedError
    if token == "-" and operand_numbers[0] == operand_numbers[1]:
        return balls.rational(Fraction(0))  # equal subterms: zero, whatever their last digits say
    name, *more = FORMS[token].exact
    function: Callable[..., Ball] = getattr(balls, name, None) or partial(balls.entire, name)
    return function(*operands, *more)
