"""Proofs by interval arithmetic: whether formulas are defined everywhere on a box, and which values they take there.

The core computes intervals that hold the exact real value and the double of the evaluator alike, and cuts a box that
they do not settle. "proved" and "disproved" are therefore certain; "unknown" means that the limit of boxes came first.
Bounds of derivatives are those of ``e.diff("x1")``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from simplipy import _core
from simplipy.errors import EvaluationError
from simplipy.expression.data_binding import thread_count
from simplipy.expression.expression import Expression, parse

Status = Literal["proved", "disproved", "unknown"]
Failure = Literal["", "undefined", "pole", "overflow", "outside"]
Ranges = Mapping[str, tuple[float, float]] | npt.ArrayLike
Array = npt.NDArray[np.float64]

MAX_BOXES = 2000
# a formula on a box is worth about so many evaluated values
_VALUES_PER_FORMULA = 2000
_EVERYWHERE = 2


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The values of a formula on a box, and whether it has one everywhere.

    Attributes
    ----------
    status : {"proved", "disproved", "unknown"}
        Whether the formula has a value in doubles, inside the range that was asked for, at every point of the box.
    low, high : float
        Bounds of its values wherever it is defined; they may be wider than the values are.
    point : dict of str to float, or None
        Where it fails, by variable; of a pole, a neighbour in doubles of a point where it fails.
    failure : {"", "undefined", "pole", "overflow", "outside"}
        How it fails there.
    """

    status: Status
    low: float
    high: float
    point: Mapping[str, float] | None = None
    failure: Failure = ""


class OnBoxes(NamedTuple):
    """A formula on many boxes, without cutting them.

    Attributes
    ----------
    low, high : array (n_boxes,)
        Bounds of the values where the formula is defined.
    whole, nowhere : bool array (n_boxes,)
        Proved to be defined on all of the box, on none of it.
    """

    low: Array
    high: Array
    whole: npt.NDArray[np.bool_]
    nowhere: npt.NDArray[np.bool_]


def enclosure(
    expression: Expression | str,
    ranges: Ranges,
    within: tuple[float, float] | None = None,
    max_boxes: int = MAX_BOXES,
) -> Enclosure:
    """Bounds of a formula on a box, with a proof that it is defined there, or a point where it fails.

    Parameters
    ----------
    expression : Expression or str
        Without free constants.
    ranges : mapping of variable to (low, high), or array (n_columns, 2)
        The box; of an array, x_k has the range in row k-1.
    within : (low, high), optional
        A range that the values must keep to; an infinite end leaves that side open.
    max_boxes : int
        Parts of the box to look at, at most.

    Examples
    --------
    >>> import simplipy
    >>> simplipy.enclosure("x1/(2 + x1)", {"x1": (0.0, 6.0)}, within=(0.0, 1.0)).status
    'proved'
    >>> found = simplipy.enclosure("1/(x1 - x2)", {"x1": (0.0, 2.0), "x2": (1.0, 3.0)})
    >>> found.status, found.failure
    ('disproved', 'pole')

    Does the first one rise with x1?

    >>> slope = simplipy.parse("x1/(2 + x1)").diff("x1")
    >>> simplipy.enclosure(slope, {"x1": (0.0, 6.0)}, within=(0.0, float("inf"))).status
    'proved'
    """
    return enclose_many([parse(expression)], ranges, within, max_boxes, n_threads=1)[0]


def enclose_many(
    expressions: Sequence[Expression],
    ranges: Ranges,
    within: tuple[float, float] | None = None,
    max_boxes: int = MAX_BOXES,
    n_threads: int | None = None,
) -> list[Enclosure]:
    """As ``enclosure``, of many formulas in one call; ``max_boxes`` is for each, None threads are what pays off."""
    names, bounds = _bound(ranges)
    options = (names, _checked_range(within), _checked_count(max_boxes), _threads(expressions, n_threads))
    found = _core.prove_on_box(_trees(expressions), bounds[:, 0].copy(), bounds[:, 1].copy(), *options)
    return _enclosures(expressions, found)


def enclose_between(
    expressions: Sequence[Expression],
    starts: Array,
    ends: Array,
    within: tuple[float, float] | None = None,
    max_boxes: int = MAX_BOXES,
    n_threads: int | None = None,
) -> list[Enclosure]:
    """As ``enclose_many``, on the straight lines between points instead of a box.

    Parameters
    ----------
    expressions : sequence of Expression
    starts, ends : array (n_lines, n_columns)
        Finite; line i goes from row i of one to row i of the other.
    within, n_threads
        As in ``enclose_many``.
    max_boxes : int
        Parts of all lines together to look at, at most, beyond one for each line.
    """
    starts, ends = (np.ascontiguousarray(points, dtype=np.float64) for points in (starts, ends))
    if starts.ndim != 2 or starts.shape != ends.shape or not (np.isfinite(starts).all() and np.isfinite(ends).all()):
        raise EvaluationError(
            f"starts and ends must be finite and have one shape (n_lines, n_columns), got {starts.shape}, {ends.shape}"
        )
    options = (None, _checked_range(within), _checked_count(max_boxes), _threads(expressions, n_threads))
    return _enclosures(expressions, _core.prove_on_lines(_trees(expressions), starts, ends, *options))


def on_boxes(expression: Expression, boxes: Mapping[str, tuple[Array, Array]], n_boxes: int) -> OnBoxes:
    """A formula on boxes, given by two arrays (n_boxes,) for each of its variables."""
    names = expression.variables
    low, high = (
        np.array([boxes[name][side] for name in names], dtype=np.float64).reshape(len(names), n_boxes).T.copy()
        for side in (0, 1)
    )
    lows, highs, defined = _core.tree_on_boxes(expression._tree, low, high)
    return OnBoxes(lows, highs, defined == _EVERYWHERE, defined == 0)


def _trees(expressions: Sequence[Expression]) -> list[_core.Tree]:
    for expression in expressions:
        if expression.n_constants:
            raise EvaluationError(f"{expression} has free constants; give them values by with_constants")
    return [expression._tree for expression in expressions]


def _threads(expressions: Sequence[Expression], n_threads: int | None) -> int:
    return thread_count(n_threads, len(expressions) * _VALUES_PER_FORMULA)


def _enclosures(expressions: Sequence[Expression], found: list[tuple[Any, ...]]) -> list[Enclosure]:
    return [
        Enclosure(status, low, high, dict(zip(e.variables, point, strict=True)) if failure else None, failure)
        for e, (status, low, high, failure, point) in zip(expressions, found, strict=True)
    ]


def _bound(ranges: Ranges) -> tuple[list[str] | None, Array]:
    """Names of the columns, None where x_k is column k-1, and their bounds (n_columns, 2)."""
    names = [str(name) for name in ranges] if isinstance(ranges, Mapping) else None
    try:
        values = list(ranges.values()) if isinstance(ranges, Mapping) else ranges
        bounds = np.array(values, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"ranges must be one pair (low, high) a variable: {error}") from None
    wrong = np.flatnonzero(~(bounds[:, 0] <= bounds[:, 1]))
    if len(wrong):
        column = wrong[0]
        name = f"x{column + 1}" if names is None else names[column]
        pair = tuple(bounds[column].tolist())
        raise EvaluationError(f"the range of {name!r} must be (low, high) with low <= high, got {pair}")
    return names, bounds


def _checked_range(within: tuple[float, float] | None) -> tuple[float, float]:
    low, high = (-math.inf, math.inf) if within is None else map(float, within)
    if not low <= high:
        raise EvaluationError(f"within must be (low, high) with low <= high, got {(low, high)}")
    return low, high


def _checked_count(max_boxes: int) -> int:
    if max_boxes < 1:
        raise EvaluationError(f"max_boxes must be >= 1, got {max_boxes}")
    return max_boxes
