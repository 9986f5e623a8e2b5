"""Functions that may be inserted into a formula: of columns, of pairs of columns, of its own subterms.

A feature is a prefix of tokens with values for its free constants, and its values on the rows. Fits move the constants
later, so a few starts for each shape are enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import simplipy
from flash_ansr.infer.table.table import FloatArray
from simplipy.expression.operators import CONSTANT

# pairs of columns
_MOST_PAIRS = 400
# subterms of a formula, and their tokens
_MOST_SUBTERMS = 12
_LONGEST_SUBTERM = 12
# sizes beyond this, and their inverses, have no products
_LARGEST = 1e100
# distinct values from which a column has waves and bumps
_MANY_VALUES = 7

Tokens = tuple[str, ...]
Starts = list[tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A function that may be inserted.

    Attributes
    ----------
    tokens : tuple of str
        Prefix tokens; none for the constant 1.
    constants : tuple of float
        Of its free constants, in prefix order.
    values : array (n_rows,)
    """

    tokens: Tokens
    constants: tuple[float, ...]
    values: FloatArray


@dataclass(frozen=True, slots=True)
class _Spread:
    """Where the values of an argument lie."""

    low: float
    high: float
    deviation: float
    quantiles: FloatArray  # of 5, 10, ... 95 %

    def at(self, *shares: int) -> list[float]:
        """Quantiles inside the range, each once."""
        values = {float(self.quantiles[share // 5 - 1]) for share in shares}
        return sorted(v for v in values if self.low < v < self.high)

    @property
    def width(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class _Shape:
    """A function of one argument, `x1`, and starts for its constants."""

    tokens: Tokens
    starts: Callable[[_Spread], Starts] | None  # None for a shape without constants
    is_for_many: bool = False  # whether it takes an argument with many values


def _shape(tokens: str, starts: Callable[[_Spread], Starts] | None = None, many: bool = False) -> _Shape:
    return _Shape(tuple(tokens.split()), starts, many)


def _steps(s: _Spread) -> Starts:
    return [(2 / s.deviation, -q) for q in s.at(20, 50, 80)]


def _bumps(s: _Spread) -> Starts:
    return [(1.2 / s.deviation, -q) for q in s.at(10, 30, 50, 70, 90)]


def _waves(s: _Spread) -> Starts:
    return [(turns * math.pi / s.width,) for turns in (1, 2, 4)]


_IDENTITY = _shape("x1")
_SHAPES = (
    _IDENTITY,
    _shape("pow2 x1"),
    _shape("pow3 x1"),
    _shape("log x1"),
    _shape("pow1_2 x1"),
    _shape("inv x1"),
    _shape(f"abs + x1 {CONSTANT}", lambda s: [(-q,) for q in s.at(10, 25, 40, 50, 60, 75, 90)]),
    _shape(f"tanh * {CONSTANT} + x1 {CONSTANT}", _steps, many=True),
    _shape(f"exp neg pow2 * {CONSTANT} + x1 {CONSTANT}", _bumps, many=True),
    _shape(f"sin * {CONSTANT} x1", _waves, many=True),
    _shape(f"cos * {CONSTANT} x1", _waves, many=True),
    _shape(f"exp * {CONSTANT} x1", lambda s: [(1 / s.deviation,), (-1 / s.deviation,)], many=True),
)
_SHARES = np.arange(5, 100, 5) / 100


def constant_feature(n_rows: int) -> Feature:
    """The function 1."""
    return Feature((), (), np.ones(n_rows))


def column_features(X: FloatArray, operators: frozenset[str]) -> Iterator[Feature]:
    """Functions of each column that are defined on all rows."""
    for k, column in enumerate(X.T):
        yield from _functions_of((f"x{k + 1}",), (), column, operators)


def pair_features(X: FloatArray, columns: Sequence[int], operators: frozenset[str]) -> Iterator[Feature]:
    """Products and quotients of two of these columns, and waves of products that are 0 at their least values."""
    pairs: list[Tokens] = []
    if "*" in operators:
        pairs += [("*", f"x{i + 1}", f"x{j + 1}") for i, j in itertools.combinations(columns, 2)]
    if "/" in operators:
        pairs += [("/", f"x{i + 1}", f"x{j + 1}") for i, j in itertools.permutations(columns, 2)]
    pairs = pairs[:_MOST_PAIRS]
    yield from _defined(pairs, [()] * len(pairs), X)
    if {"sin", "+", "*"} <= operators:
        usable = [k for k in columns if 1 / _LARGEST < np.ptp(X[:, k]) < _LARGEST]
        waves = [wave for i, j in itertools.combinations(usable, 2) for wave in _waves_of_product(X, i, j)]
        yield from _defined([tokens for tokens, _ in waves], [constants for _, constants in waves], X)


def _waves_of_product(X: FloatArray, i: int, j: int) -> list[tuple[Tokens, tuple[float, ...]]]:
    """A half and a whole wave of (x_i - a)*(x_j - b)."""
    lows = X[:, [i, j]].min(axis=0)
    largest = float(np.prod(X[:, [i, j]] - lows, axis=1).max()) or 1.0
    tokens = ("sin", "*", CONSTANT, "*", "+", f"x{i + 1}", CONSTANT, "+", f"x{j + 1}", CONSTANT)
    return [(tokens, (turns * math.pi / largest, -lows[0], -lows[1])) for turns in (1, 2)]


def subterm_features(
    subterms: Sequence[tuple[Tokens, tuple[float, ...]]], X: FloatArray, operators: frozenset[str]
) -> Iterator[Feature]:
    """Functions of subterms of a formula, and the subterms themselves: these make products."""
    chosen = [pair for pair in dict.fromkeys(subterms) if 1 < len(pair[0]) <= _LONGEST_SUBTERM][:_MOST_SUBTERMS]
    terms = [tokens for tokens, _ in chosen]
    for feature in _defined(terms, [constants for _, constants in chosen], X):
        yield from _functions_of(feature.tokens, feature.constants, feature.values, operators)


def _functions_of(
    tokens: Tokens, constants: tuple[float, ...], values: FloatArray, operators: frozenset[str]
) -> Iterator[Feature]:
    """Functions of a term with these values."""
    if not np.abs(values).max() < _LARGEST:
        return
    distinct = np.unique(values)
    deviation = float(values.std())
    if len(distinct) < 2 or deviation < 1 / _LARGEST:
        return
    spread = _Spread(float(distinct[0]), float(distinct[-1]), deviation, np.quantile(values, _SHARES))
    shapes = [s for s in _SHAPES if len(distinct) >= _MANY_VALUES or not s.is_for_many]
    if len(distinct) == 2:
        shapes = [_IDENTITY]
    allowed = [s for s in shapes if operators.issuperset(t for t in s.tokens if t not in ("x1", CONSTANT))]
    forms = [(shape.tokens, start) for shape in allowed for start in (shape.starts(spread) if shape.starts else [()])]
    for inner in _defined([shape for shape, _ in forms], [start for _, start in forms], values[:, None]):
        yield _with_argument(inner, tokens, constants)


def _with_argument(shape: Feature, tokens: Tokens, constants: tuple[float, ...]) -> Feature:
    """A function of x1 as one of a term, which comes once."""
    at = shape.tokens.index("x1")
    before = shape.tokens[:at].count(CONSTANT)
    numbers = (*shape.constants[:before], *constants, *shape.constants[before:])
    return Feature((*shape.tokens[:at], *tokens, *shape.tokens[at + 1 :]), numbers, shape.values)


def _defined(forms: Sequence[Tokens], constants: Sequence[tuple[float, ...]], X: FloatArray) -> Iterator[Feature]:
    """Those that have a value in all rows."""
    if not forms:
        return
    expressions = [simplipy.parse(list(tokens)) for tokens in forms]
    values, defined = simplipy.evaluate_many(
        expressions, X, constants=[np.array(own) for own in constants], n_threads=1
    )
    with np.errstate(over="ignore"):
        usable = defined.all(axis=1) & np.isfinite((values * values).sum(axis=1))
    for i in np.flatnonzero(usable).tolist():
        yield Feature(tuple(forms[i]), constants[i], values[i])
