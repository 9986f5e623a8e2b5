"""Units: columns and y far from 1 are searched in powers of ten of themselves; laws come back in the user's units.

A column is scaled only where its magnitudes lie far from 1: sin(x1) in radians stays sin(x1), while of a column around
1e-20 nothing but its multiples can stand inside a sine. The way back moves the factors through the formula into the
numbers that are there, so that x1*x2 comes back as x1*x2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse, simplify
from simplipy.expression.operators import EXPONENTS, FACTORS, OPERATORS
from simplipy.expression.prefix import fold

_SMALLEST, _LARGEST = 1e-4, 1e4
# no value is larger in the units of the search, which the network sees as 32-bit numbers
_LARGEST_DECADE = 30
# rounding of a product of powers of ten that should be 1
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True)
class UnitScaling:
    """Sizes that columns and y are divided by.

    Attributes
    ----------
    columns : tuple of float
        One a column; 1 for columns that are left alone.
    y : float
    """

    columns: tuple[float, ...]
    y: float = 1.0

    @classmethod
    def of(cls, table: Table) -> UnitScaling:
        """Powers of ten that bring typical magnitudes near 1, where they are not."""
        near = _are_near_one(table.X).tolist()
        return cls(tuple(1.0 if near[k] else _size(table.X[:, k]) for k in range(table.n_columns)), _size(table.y))

    def inverse(self) -> UnitScaling:
        """From the units of the search back to the user's table."""
        return UnitScaling(tuple(1.0 / size for size in self.columns), 1.0 / self.y)

    @property
    def is_identity(self) -> bool:
        """Whether nothing is scaled."""
        return self.y == 1.0 and self.columns.count(1.0) == len(self.columns)

    def apply(self, table: Table) -> Table:
        """The table in the units of the search."""
        if self.is_identity:
            return table
        return Table(table.X / np.array(self.columns), table.y / self.y, table.sample_weight)

    def restore(self, expression: Expression) -> Expression | None:
        """A formula of the scaled table as one of the user's; None where a number leaves the range of doubles."""
        if self.is_identity:
            return expression
        factors = {f"x{k}": 1.0 / size for k, size in enumerate(self.columns, start=1)}

        def leaf(token: str) -> _Term:
            return _Term(factors[token], [token]) if token in factors else _number_or_symbol(token)

        try:
            tokens = fold(expression.tokens, leaf, _operator).times(self.y).spelled()
        except (OverflowError, ZeroDivisionError):
            return None
        if any(token in ("inf", "-inf", "nan") for token in tokens):
            return None
        return simplify(parse(tokens))


@dataclass(frozen=True, slots=True)
class _Term:
    """factor * tokens + offset; a number alone has no tokens and is its offset."""

    factor: float
    tokens: list[str]
    offset: float = 0.0

    @property
    def is_number(self) -> bool:
        return not self.tokens

    def times(self, factor: float) -> _Term:
        """The same times a number."""
        return _Term(self.factor * factor, self.tokens, self.offset * factor)

    def spelled(self) -> list[str]:
        """Prefix tokens with the numbers written out."""
        if self.is_number:
            return [_number(self.offset)]
        tokens = self.tokens
        if abs(self.factor - 1.0) > _ROUNDING:
            tokens = ["*", _number(self.factor), *tokens]
        return ["+", _number(self.offset), *tokens] if self.offset != 0.0 else tokens

    def pure(self) -> _Term:
        """The same without an offset."""
        return self if self.is_number or self.offset == 0.0 else _Term(1.0, self.spelled())


def _number_or_symbol(token: str) -> _Term:
    try:
        return _Term(0.0, [], float(token))
    except ValueError:
        return _Term(1.0, [token])  # pi, e


def _operator(token: str, operands: list[_Term]) -> _Term:
    """An operator with factors moved outwards as far as they go."""
    return _unary(token, *operands) if OPERATORS[token].arity == 1 else _binary(token, *operands)


def _unary(token: str, a: _Term) -> _Term:
    if token == "neg" or token in FACTORS:
        return a.times(-1.0 if token == "neg" else float(FACTORS[token]))
    a = a.pure()
    if a.is_number:
        return _Term(1.0, [token, *a.spelled()])
    if token in ("inv", "abs"):
        return _Term(1.0 / a.factor if token == "inv" else abs(a.factor), [token, *a.tokens])
    if token in EXPONENTS:
        exponent = EXPONENTS[token]
        if a.factor > 0 or (exponent.denominator > 1 and exponent.denominator % 2):
            return _Term(math.copysign(abs(a.factor) ** exponent, a.factor), [token, *a.tokens])
        if exponent.denominator == 1:
            return _Term(a.factor**exponent, [token, *a.tokens])
    if token == "log" and a.factor > 0:
        return _Term(1.0, [token, *a.tokens], math.log(a.factor))
    return _Term(1.0, [token, *a.spelled()])


def _binary(token: str, a: _Term, b: _Term) -> _Term:
    if token in ("+", "-"):
        return _sum(a, b if token == "+" else b.times(-1.0))
    if token == "*" and (a.is_number or b.is_number):
        return b.times(a.offset) if a.is_number else a.times(b.offset)
    if token == "/" and b.is_number:
        return _Term(a.factor / b.offset, a.tokens, a.offset / b.offset)
    a, b = a.pure(), b.pure()
    if token == "/" and a.is_number:
        return _Term(a.offset / b.factor, ["inv", *b.tokens])
    if token in ("*", "/"):
        return _Term(a.factor * b.factor if token == "*" else a.factor / b.factor, [token, *a.tokens, *b.tokens])
    if token == "pow" and b.is_number and not a.is_number and a.factor > 0:
        return _Term(a.factor**b.offset, [token, *a.tokens, *b.spelled()])
    return _Term(1.0, [token, *a.spelled(), *b.spelled()])


def _sum(a: _Term, b: _Term) -> _Term:
    if a.is_number or b.is_number:
        term = b if a.is_number else a
        return _Term(term.factor, term.tokens, a.offset + b.offset)
    offset = a.offset + b.offset
    # one factor for both where they share it, as in c*(x1 + x2)
    for token, factor in (("+", b.factor), ("-", -b.factor)):
        if abs(a.factor - factor) <= _ROUNDING * abs(a.factor):
            return _Term(a.factor, [token, *a.tokens, *b.tokens], offset)
    first, second = _Term(a.factor, a.tokens), _Term(b.factor, b.tokens)
    return _Term(1.0, ["+", *first.spelled(), *second.spelled()], offset)


def _number(value: float) -> str:
    """A token for the number; rounding of powers of ten is taken back."""
    return repr(float(f"{value:.15g}"))


def _are_near_one(X: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Columns whose size is 1, told without their medians (n_columns,): of very many columns, those take long."""
    magnitudes = np.abs(X)
    half = np.count_nonzero(magnitudes, axis=0) / 2
    is_large = np.count_nonzero(magnitudes >= _SMALLEST, axis=0) > half
    is_small = np.count_nonzero((magnitudes > 0) & (magnitudes <= _LARGEST), axis=0) > half
    return np.asarray(is_large & is_small & (magnitudes.max(axis=0) <= 10.0**_LARGEST_DECADE))


def _size(values: npt.NDArray[np.float64]) -> float:
    """The power of ten next to the median magnitude, 1 where that is near 1; more where a value would be too large."""
    magnitudes = np.abs(values[values != 0])
    if len(magnitudes) == 0:
        return 1.0
    largest = float(magnitudes.max())
    with np.errstate(over="ignore"):
        middle = min(float(np.median(magnitudes)), largest)
    least = math.ceil(math.log10(largest)) - _LARGEST_DECADE
    if _SMALLEST <= middle <= _LARGEST:
        return 10.0 ** max(0, least)
    # beyond 1e-300 the factor itself would leave the range
    return 10.0 ** max(-300, min(300, round(math.log10(middle))), least)
