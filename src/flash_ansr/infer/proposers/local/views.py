"""Views of a table: y itself, or what an outer function leaves of it. A law sqrt(u) is the law u of y^2.

A view has a few rows with the target T(y), in units in which a residual is one of y, or one relative to y where a few
rows hold nearly all of the variance. What is found for it is wrapped into the inverse of T.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from flash_ansr import _core
from flash_ansr.infer.proposers.local.population import Ids
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.ranks import spread_rows
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy.expression.token_batch import SYMBOL_TOKENS

SCREEN_ROWS = 64
# share of the sum of squares in a twentieth of the rows from which residuals are taken relative to y
_HEAVY = 0.5
# sizes of residuals are kept within this factor of their median
_LARGEST_RATIO = 1e3
_LARGEST_EXPONENT = 30.0


def ids_of(*tokens: str) -> Ids:
    """Ids of operators."""
    return np.array([SYMBOL_TOKENS.index(token) for token in tokens], dtype=np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The target that formulas are valued on.

    Attributes
    ----------
    name : str
    screen : _core.Screen
        The rows.
    inner : int16 array
        Prefix of T: a formula f of y is T(f) here.
    outer : int16 array
        Prefix of the inverse of T: a formula u found here is outer(u) of y.
    """

    name: str
    screen: _core.Screen
    inner: Ids = field(default_factory=ids_of)
    outer: Ids = field(default_factory=ids_of)


@dataclass(frozen=True, slots=True)
class _Transform:
    name: str
    inner: str
    outer: str
    applies: Callable[[FloatArray], bool]
    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


_TRANSFORMS = (
    _Transform("1/y", "inv", "inv", lambda y: bool((y != 0).all()), lambda y: 1 / y, lambda y: 1 / y**2),
    _Transform("log y", "log", "exp", lambda y: bool((y > 0).all()), np.log, lambda y: 1 / y),
    _Transform("y^2", "pow2", "pow1_2", lambda y: bool((y >= 0).all()), np.square, lambda y: 2 * y),
    _Transform("exp y", "exp", "log", lambda y: bool((abs(y) < _LARGEST_EXPONENT).all()), np.exp, np.exp),
)


def views_of(table: Table, grammar: Grammar) -> list[View]:
    """The views that the table and the grammar allow, y itself first."""
    rows = spread_rows(table.y, SCREEN_ROWS)
    X, y = table.X[rows], table.y[rows]
    weights = np.ones(len(rows)) if table.sample_weight is None else table.sample_weight[rows]
    views = [View("y", _screen(X, y, weights, np.ones(len(rows))))]
    heavy = is_heavy_tailed(y)
    if heavy:
        views.append(View("y, relative", _screen(X, y, weights, np.abs(y))))
    return [*views, *_transformed(X, y, weights, heavy, grammar)]


def _transformed(X: FloatArray, y: FloatArray, weights: FloatArray, heavy: bool, grammar: Grammar) -> Iterator[View]:
    for transform in _TRANSFORMS:
        if not grammar.operators.issuperset((transform.inner, transform.outer)) or not transform.applies(y):
            continue
        with np.errstate(all="ignore"):
            target, sizes = transform.value(y), np.abs(transform.slope(y))
        sizes = sizes * np.abs(y) if heavy else sizes
        if np.isfinite(target).all() and np.isfinite(sizes).all() and np.ptp(target) > 0:
            screen = _screen(X, target, weights, sizes)
            yield View(transform.name, screen, ids_of(transform.inner), ids_of(transform.outer))


def is_heavy_tailed(y: FloatArray) -> bool:
    """Whether a twentieth of the rows hold most of the sum of squares around the median."""
    squares = np.sort((y - np.median(y)) ** 2)[::-1]
    return bool(squares[: max(1, len(y) // 20)].sum() > _HEAVY * squares.sum())


def _screen(X: FloatArray, target: FloatArray, weights: FloatArray, sizes: FloatArray) -> _core.Screen:
    positive = sizes[sizes > 0]
    middle = float(np.median(positive)) if len(positive) else 1.0
    sizes = np.clip(sizes, middle / _LARGEST_RATIO, middle * _LARGEST_RATIO)
    return _core.Screen(np.ascontiguousarray(X.T), np.ascontiguousarray(target), np.ascontiguousarray(weights), sizes)
