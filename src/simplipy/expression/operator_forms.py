"""One row an operator: how LaTeX, NumPy, torch, SymPy and balls write it.

The core's table (`simplipy.OPERATORS`) says what an operator means; this one says how other languages spell it. Nothing
is imported here: array functions get their library, ``values(numpy, a)`` and ``values(torch, a)`` compute the same, and
SymPy and balls, which compute exactly, are modules with functions of equal names, ``export.sympy_bridge`` and
``equivalence.balls``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

LatexForm = Literal["sum", "difference", "product", "fraction", "minus", "power", "root", "function", "abs"]
Form = Callable[..., Any]


class Latex(NamedTuple):
    """LaTeX of an operator: its form, its text, and the literal operand that the token itself holds."""

    form: LatexForm
    text: str = ""
    before: str | None = None
    after: str | None = None


class Interval(NamedTuple):
    """The numbers between two ends, which belong to it unless it is open."""

    low: float
    high: float
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class OperatorForms:
    """The forms of one operator.

    Attributes
    ----------
    latex : Latex
    values : callable
        ``values(m, a)`` or ``values(m, a, b)`` on arrays, with m numpy or torch; right inside the domain.
    exact : tuple of str and int
        Function in exact arithmetic: its name and what follows the operands. ``scale(a, 1, 2)`` is half of a.
    domain : Interval or callable, optional
        Where it is defined: an interval of the operand, or ``domain(m, a, b)``; everywhere without it.
    harmless : float
        An operand inside the domain.
    steep : callable, optional
        ``steep(m, a)``: where a slope is infinite or missing, for all operands or a tuple with one mask for each.
    """

    latex: Latex
    values: Form
    exact: tuple[Any, ...]
    domain: Interval | Form | None = None
    harmless: float = 1.0
    steep: Form | None = None

    def where_defined(self, m: Any, *operands: Any) -> Any:
        """Where arrays lie inside the domain, with m numpy or torch; None is everywhere."""
        if not isinstance(self.domain, Interval):
            return None if self.domain is None else self.domain(m, *operands)
        low, high, is_open = self.domain
        (a,) = operands
        above = a > low if is_open else a >= low
        if math.isinf(high):
            return above  # an operand that has overflown is inside
        return above & (a < high if is_open else a <= high)


def _odd_root(m: Any, a: Any, n: int) -> Any:
    """Real root of odd order on both sides of zero."""
    size = m.abs(a)
    guess = size ** (1 / n)
    # 1 / n is rounded; one Newton step brings the last digits
    step = (guess - size / guess ** (n - 1)) / n
    return m.sign(a) * m.where(m.isfinite(step), guess - step, guess)


def _erf(m: Any, a: Any) -> Any:
    """Error function; NumPy has none, so there `math.erf` computes it number by number."""
    return m.erf(a) if hasattr(m, "erf") else m.vectorize(math.erf, otypes=[float])(a)


def _power_domain(m: Any, a: Any, b: Any) -> Any:
    """Where a power is defined and known."""
    in_domain = (a > 0) | ((a == 0) & (b >= 0)) | ((a < 0) & (m.floor(b) == b))
    # of an operand that has overflown only the size is known: not the parity of an exponent, nor the base beside 1
    known = (m.isfinite(a) & m.isfinite(b)) | (a == 0) | (b == 0) | ((a > 0) & (a != 1))
    return in_domain & known


def _power_steep(m: Any, a: Any, b: Any) -> Any:
    """Where a power has no slope; beside a negative base only integers are in the domain."""
    at_zero = (a == 0) & (b > 0) & (b < 1)
    return at_zero, at_zero | (a <= 0)


_NON_NEGATIVE = Interval(0.0, math.inf)
_POSITIVE = Interval(0.0, math.inf, is_open=True)
_UNIT = Interval(-1.0, 1.0)
_INSIDE_UNIT = Interval(-1.0, 1.0, is_open=True)
_FROM_ONE = Interval(1.0, math.inf)


def _function(token: str, latex: str = "", **more: Any) -> OperatorForms:
    """A function that every library knows by this name."""
    return OperatorForms(Latex("function", latex or f"\\{token}"), lambda m, a: getattr(m, token)(a), (token,), **more)


def _power(k: int) -> OperatorForms:
    """The power k, by as few products as it takes."""

    def values(m: Any, a: Any) -> Any:
        square = a * a
        return {2: square, 3: square * a, 4: square * square, 5: square * square * a}[k]

    return OperatorForms(Latex("power", after=str(k)), values, ("integer_power", k))


def _root(k: int) -> OperatorForms:
    """The real root of order k."""

    def values(m: Any, a: Any) -> Any:
        if k % 2:
            return _odd_root(m, a, k)
        return m.sqrt(a) if k == 2 else m.sqrt(m.sqrt(a))

    written = Latex("root", "" if k == 2 else f"[{k}]")
    return OperatorForms(
        written, values, ("root", k), domain=None if k % 2 else _NON_NEGATIVE, steep=lambda m, a: a == 0
    )


def _at_one(m: Any, a: Any) -> Any:
    return m.abs(a) == 1


def _extremum(token: str, name: str) -> OperatorForms:
    """The smaller or larger operand; array libraries call it by this name."""

    def values(m: Any, a: Any, b: Any) -> Any:
        return getattr(m, name)(a, b)

    return OperatorForms(Latex("function", f"\\{token}"), values, (name,))


def _multiple(k: int) -> OperatorForms:
    """An integer multiple of the operand."""
    return OperatorForms(Latex("product", before=str(k)), lambda m, a: k * a, ("scale", k, 1))


def _part(k: int) -> OperatorForms:
    """The k-th part of the operand."""
    return OperatorForms(Latex("fraction", after=str(k)), lambda m, a: a / k, ("scale", 1, k))


FORMS: dict[str, OperatorForms] = {
    "+": OperatorForms(Latex("sum"), lambda m, a, b: a + b, ("add",)),
    "-": OperatorForms(Latex("difference"), lambda m, a, b: a - b, ("subtract",)),
    "*": OperatorForms(Latex("product"), lambda m, a, b: a * b, ("multiply",)),
    "/": OperatorForms(Latex("fraction"), lambda m, a, b: a / b, ("divide",), domain=lambda m, a, b: b != 0),
    "pow": OperatorForms(Latex("power"), lambda m, a, b: a**b, ("power",), domain=_power_domain, steep=_power_steep),
    "abs": OperatorForms(Latex("abs"), lambda m, a: m.abs(a), ("absolute",)),
    "inv": OperatorForms(
        Latex("fraction", before="1"), lambda m, a: 1.0 / a, ("integer_power", -1), domain=lambda m, a: a != 0
    ),
    "neg": OperatorForms(Latex("minus"), lambda m, a: -a, ("scale", -1, 1)),
    **{f"pow{k}": _power(k) for k in (2, 3, 4, 5)},
    **{f"pow1_{k}": _root(k) for k in (2, 3, 4, 5)},
    "sin": _function("sin"),
    "cos": _function("cos"),
    "tan": _function("tan"),
    "asin": _function("asin", r"\arcsin", domain=_UNIT, steep=_at_one),
    "acos": _function("acos", r"\arccos", domain=_UNIT, steep=_at_one),
    "atan": _function("atan", r"\arctan"),
    "sinh": _function("sinh"),
    "cosh": _function("cosh"),
    "tanh": _function("tanh"),
    "asinh": _function("asinh", r"\operatorname{arsinh}"),
    "acosh": _function("acosh", r"\operatorname{arcosh}", domain=_FROM_ONE, steep=_at_one),
    "atanh": _function("atanh", r"\operatorname{artanh}", domain=_INSIDE_UNIT, harmless=0.0),
    "exp": OperatorForms(Latex("power", before="e"), lambda m, a: m.exp(a), ("exp",)),
    "log": _function("log", domain=_POSITIVE),
    **{f"mult{k}": _multiple(k) for k in (2, 3, 4, 5)},
    **{f"div{k}": _part(k) for k in (2, 3, 4, 5)},
    "erf": OperatorForms(Latex("function", r"\operatorname{erf}"), _erf, ("erf",)),
    "min": _extremum("min", "minimum"),
    "max": _extremum("max", "maximum"),
}
