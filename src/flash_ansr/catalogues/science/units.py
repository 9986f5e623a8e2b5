"""Whether the units of a law agree, by pint: in sums, in arguments of functions, in exponents, and of both sides."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import pint

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.science.laws import Law, Quantity
from simplipy.expression.operators import OPERATORS
from simplipy.expression.prefix import fold

_TOLERANCE = 1e-6  # of exponents such as 2/3
_TRIALS = 2


class _Term(NamedTuple):
    """Exponents of the base dimensions, and the number where the term is one without dimension."""

    dimension: dict[str, float]
    number: float | None = None


def check_units(law: Law) -> None:
    """Refuse a law whose units do not agree. Exponents that are quantities get arbitrary values, twice.

    Raises
    ------
    CatalogueError
        The message names the law and the dimensions that differ.
    """
    rng = np.random.default_rng(0)
    for _ in range(_TRIALS):
        table = {q.name: _of_quantity(q, rng) for q in law.quantities}
        try:
            found = fold(law.expression.tokens, functools.partial(_leaf, table), _operator).dimension
        except CatalogueError as error:
            raise CatalogueError(f"{law.field}: {law.key}: {error}") from None
        wanted = _dimension(law.target.unit)
        if not _agree(found, wanted):
            raise CatalogueError(f"{law.field}: {law.key}: the formula has {_text(found)}, the target {_text(wanted)}")


@functools.cache
def _registry() -> Any:
    registry: Any = pint.UnitRegistry()
    registry.define("USD = [currency]")
    return registry


def _dimension(unit: str) -> dict[str, float]:
    text = "" if unit == "1" else unit.replace("degC", "delta_degC")
    try:
        return _clean(dict(_registry().parse_units(text).dimensionality))
    except (pint.UndefinedUnitError, ValueError) as error:
        raise CatalogueError(f"unknown unit {unit!r}: {error}") from None


def _of_quantity(quantity: Quantity, rng: np.random.Generator) -> _Term:
    dimension = _dimension(quantity.unit)
    if dimension:
        return _Term(dimension)
    return _Term(dimension, 1.3 + rng.random() if quantity.value is None else quantity.value)


def _leaf(table: dict[str, _Term], token: str) -> _Term:
    if token in table:
        return table[token]
    return _Term({}, {"pi": math.pi, "e": math.e}.get(token) or float(token))


def _operator(token: str, operands: list[_Term]) -> _Term:
    row, a = OPERATORS[token], operands[0]
    number = _value(token, [operand.number for operand in operands])
    if token in ("+", "-", "min", "max"):
        b = operands[1]
        if not _agree(a.dimension, b.dimension):
            kind = "a sum" if token in ("+", "-") else f"the {token}"
            raise CatalogueError(f"{kind} of {_text(a.dimension)} and {_text(b.dimension)}")
        return _Term(a.dimension, number)
    if token in ("*", "/"):
        sign = 1 if token == "*" else -1
        b = operands[1]
        names = {*a.dimension, *b.dimension}
        return _Term(_clean({n: a.dimension.get(n, 0) + sign * b.dimension.get(n, 0) for n in names}), number)
    if token == "pow":
        exponent = operands[1]
        if exponent.dimension:
            raise CatalogueError(f"an exponent has {_text(exponent.dimension)}")
        if a.dimension and exponent.number is None:
            raise CatalogueError("an exponent of something with a dimension is not known")
        return _Term(_power(a.dimension, exponent.number or 0.0), number)
    if row.form in ("power", "reciprocal") or token.startswith("pow1_"):
        exponent_of = {"power": row.literal, "reciprocal": -1}.get(row.form) or 1 / row.literal
        return _Term(_power(a.dimension, exponent_of), number)
    if row.form in ("scale", "quotient", "minus") or token == "abs":
        return _Term(a.dimension, number)
    if a.dimension:
        raise CatalogueError(f"the argument of {token} has {_text(a.dimension)}")
    return _Term({}, number)


def _value(token: str, numbers: list[float | None]) -> float | None:
    """The number that arithmetic gives; functions of numbers are not needed in exponents."""
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    row = OPERATORS[token]
    a, b = known[0], known[-1]
    if token == "/":
        return a / b if b else None
    if row.form == "quotient":
        return a / row.literal
    if row.form == "scale":
        return a * row.literal
    return {"+": a + b, "-": a - b, "*": a * b, "neg": -a}.get(token)


def _power(dimension: dict[str, float], exponent: float) -> dict[str, float]:
    return _clean({name: power * exponent for name, power in dimension.items()})


def _clean(dimension: dict[str, float]) -> dict[str, float]:
    return {name: float(power) for name, power in dimension.items() if abs(power) > _TOLERANCE}


def _agree(a: dict[str, float], b: dict[str, float]) -> bool:
    return all(abs(a.get(name, 0.0) - b.get(name, 0.0)) < _TOLERANCE for name in {*a, *b})


def _text(dimension: dict[str, float]) -> str:
    return " ".join(f"{name}^{power:g}" for name, power in sorted(dimension.items())) or "no dimension"
