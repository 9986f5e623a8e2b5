"""Two functions compared point by point: doubles find where to look, multiprecision decides.

A function here is an expression with values for its free constants. The result is evidence, not proof, where nothing
differs; a difference in values is proved, and a difference in domain is proved at the points that are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simplipy.equivalence.probe_points import Array, Mask, ProbePoints, neighbours
from simplipy.expression.data_binding import FloatArray
from simplipy.expression.expression import Expression, evaluate_many
from simplipy.expression.operators import CONSTANT, OPERATORS, leaf_kind

if TYPE_CHECKING:
    from simplipy.equivalence.balls import Ball
    from simplipy.equivalence.multiprecision import Outcome

Relation = Literal["same", "a wider", "b wider", "differs"]

# doubles that differ by less than this, relative to the larger one, are taken as possibly equal
_DOUBLES_AGREE = 1e-9
# suspected differences that go to multiprecision first, of each kind; suspected domains on each side, common points
_N_FIRST = 12
_MAX_DOMAIN = 10
_N_CONFIRMED = 16
# of the common points, those where equality must hold at 120 digits
_N_THOROUGH = 4
# where the tolerance is a larger share of the value, equality is no evidence
_LARGEST_TOLERANCE = 0.1
# whole numbers up to this are meant as they are written, others may have been fitted
_LARGEST_MEANT = 100


def relation(a_only: bool, b_only: bool) -> Relation:
    """Which of two is wider, from whether something is only in the one, only in the other."""
    if a_only and b_only:
        return "differs"
    return "a wider" if a_only else "b wider" if b_only else "same"


@dataclass(frozen=True, slots=True)
class Function:
    """An expression with values for its free constants."""

    expression: Expression
    constants: Sequence[Any] = ()

    @property
    def tokens(self) -> list[str]:
        """Prefix tokens of the expression."""
        return self.expression.tokens

    def doubles(self) -> list[float]:
        """The constants as doubles."""
        return [float(c) for c in self.constants]


@dataclass(slots=True)
class Comparison:
    """Differences between two functions a and b at the points.

    Attributes
    ----------
    counterexample : dict or None
        A point where both are defined and differ: proved.
    a_only, b_only : dict or None
        A point with a neighbourhood where only this one is defined.
    n_common : int
        Points, corners aside, where multiprecision found both defined and equal, and not by a tolerance that any value
        would meet.
    a_defined, b_defined : bool
        Whether it was found defined anywhere.
    """

    counterexample: dict[str, float] | None = None
    a_only: dict[str, float] | None = None
    b_only: dict[str, float] | None = None
    n_common: int = 0
    a_defined: bool = False
    b_defined: bool = False
    tried: set[int] = field(default_factory=set)


def compare_functions(
    a: Function, b: Function, points: ProbePoints, rtol: float = 0.0, n_confirmed: int = _N_CONFIRMED
) -> Comparison:
    """Compare two functions on points.

    Parameters
    ----------
    a, b : Function
        The two functions to compare.
    points : ProbePoints
        Where; all variables of both must be there.
    rtol : float
        Difference that counts as equal: what a relative change of each constant and of each number, small whole ones
        aside, by ``rtol`` explains, to first order, or ``rtol`` relative to the values. Zero: any difference counts.
    n_confirmed : int
        Common points that multiprecision confirms.
    """
    constants = [a.doubles(), b.doubles()]
    values, defined = evaluate_many([a.expression, b.expression], points.data(), constants, n_threads=1)
    tolerance = _tolerance(a, b, points, values, rtol)
    with np.errstate(all="ignore"):
        is_evidence = ~(tolerance > _LARGEST_TOLERANCE * np.fmax(np.abs(values[0]), np.abs(values[1])))
    found = Comparison()

    def search(rows: Sequence[int], enough: Callable[[], bool]) -> None:
        for row in rows:
            if found.counterexample is not None or enough():
                return
            _record(found, a, b, points, row, float(tolerance[row]), bool(is_evidence[row]))

    search(_suspects(points, values, defined, tolerance), lambda: False)
    # corners lie in null sets, which do not count for domains
    only_a, only_b = (defined[i] & ~defined[1 - i] & ~points.corner for i in (0, 1))
    search(_mildest(only_a, points)[:_MAX_DOMAIN], lambda: found.a_only is not None)
    search(_mildest(only_b, points)[:_MAX_DOMAIN], lambda: found.b_only is not None)
    search(_spread(points, values, defined & is_evidence, n_confirmed), lambda: found.n_common >= n_confirmed)
    return found


def _tolerance(a: Function, b: Function, points: ProbePoints, values: FloatArray, rtol: float) -> Array:
    """Absolute difference at each point that counts as equal, (n_points,).

    NaN where doubles do not determine it: two values that they round to zero or infinity may differ by any factor.
    """
    if rtol == 0:
        return np.zeros(len(points))
    with np.errstate(all="ignore"):
        allowed = np.fmax(np.abs(values[0]), np.abs(values[1])) + _sensitivity(a, points) + _sensitivity(b, points)
        return np.where(np.isfinite(allowed) & (rtol * allowed > 1e-300), rtol * allowed, np.nan)


def _sensitivity(function: Function, points: ProbePoints) -> Array:
    """Sum over the numbers of |number times derivative|, (n_points,): what a relative change of each one explains."""
    constants = iter(function.doubles())
    known = {"pi": math.pi, "e": math.e}
    numbers, changes = [], []
    for token in function.tokens:
        if token == CONSTANT:
            numbers.append(next(constants))
        elif token not in OPERATORS and (token in known or leaf_kind(token) == "number"):
            numbers.append(known.get(token) or float(token))
        else:
            continue
        changes.append(0.0 if _is_meant(token) else numbers[-1])
    if not any(changes):
        return np.zeros(len(points))
    slopes = function.expression.skeleton().gradient(points.data(), numbers)
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.abs(slopes * changes), nan=0.0).sum(axis=1)  # type: ignore[no-any-return]


def _is_meant(token: str) -> bool:
    """Whether a token is a whole number that a law has exactly, such as the 1 of 1 - cos(x)."""
    return token.lstrip("-").isdigit() and abs(int(token)) <= _LARGEST_MEANT


def _suspects(points: ProbePoints, values: FloatArray, defined: Mask, tolerance: Array) -> list[int]:
    """All rows where doubles differ: the mildest first, where doubles err least, and the largest differences.

    None is left out: where doubles cancel, rounding differs in many rows, and a true difference hides in others.
    """
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(values[0]), np.abs(values[1]))
        gap = np.abs(values[0] - values[1])
        relative = gap / np.where(size > 0, size, 1.0)
    common = defined[0] & defined[1] & np.isfinite(values[0]) & np.isfinite(values[1])
    differ = common & (relative > _DOUBLES_AGREE) & (gap > tolerance)
    by_mildness, by_gap = _mildest(differ, points), _mildest(differ, points, -gap)
    return [*by_mildness[:_N_FIRST], *_mildest(differ, points, -relative)[:_N_FIRST], *by_gap]


def _mildest(mask: Mask, points: ProbePoints, key: Array | None = None) -> list[int]:
    """Rows of a mask, sorted by the key; by how extreme the point is without one."""
    rows = np.flatnonzero(mask)
    order = (points.mildness() if key is None else key)[rows]
    return rows[np.argsort(order, kind="stable")].tolist()  # type: ignore[no-any-return]


def _spread(points: ProbePoints, values: FloatArray, defined: Mask, n: int) -> list[int]:
    """Rows to confirm equality on: common ones of all classes, then ones that doubles may call undefined wrongly."""
    common = defined[0] & defined[1] & np.isfinite(values[0]) & np.isfinite(values[1])
    rows: list[int] = np.flatnonzero(common)[: 2 * n].tolist()  # points come in random order of classes
    return rows if len(rows) >= n else [*rows, *_mildest(~common, points)[:n]]


def decide(
    a: Function, b: Function, point: Mapping[str, Any], tolerance: float = 0.0, thorough: bool = False
) -> tuple[str, Ball | Outcome, Ball | Outcome]:
    """Compare two functions at one point in multiprecision, at 50 digits and where needed at 120.

    Parameters
    ----------
    a, b : Function
        The two functions to compare.
    point : mapping of str to number
        Where.
    tolerance : float
        Absolute difference that counts as equal.
    thorough : bool
        Call values equal only at 120 digits.

    Returns
    -------
    verdict : str
        equal, different, a only, b only, neither (only such a one is defined) or undecided.
    value_a, value_b : Ball or Outcome
        The values that decided.
    """
    from simplipy.equivalence.multiprecision import DIGITS, UNDECIDED, Outcome, compare, enclose, sharp

    for digits in DIGITS:
        x, y = enclose(a.tokens, point, a.constants, digits), enclose(b.tokens, point, b.constants, digits)
        if x is UNDECIDED or y is UNDECIDED:
            continue
        if isinstance(x, Outcome) or isinstance(y, Outcome):
            only = "neither" if isinstance(x, Outcome) else "a only"
            return (only if isinstance(y, Outcome) else "b only"), x, y
        verdict = compare(x, y, tolerance, digits)
        # a value that may be zero agrees with anything tiny: more digits must make the difference smaller
        settled = tolerance > 0 or digits == DIGITS[-1] or (sharp(x, digits) and sharp(y, digits) and not thorough)
        if verdict == "different" or (verdict == "equal" and settled):
            return verdict, x, y
    return "undecided", x, y


def _record(
    found: Comparison, a: Function, b: Function, points: ProbePoints, row: int, tolerance: float, is_evidence: bool
) -> None:
    """Decide one row and note the result."""
    if row in found.tried:
        return
    found.tried.add(row)
    point, is_corner = points.point(row), points.corner[row]
    verdict, _, _ = decide(a, b, point, np.nan_to_num(tolerance), thorough=found.n_common < _N_THOROUGH)
    found.a_defined |= verdict in ("equal", "different", "a only")
    found.b_defined |= verdict in ("equal", "different", "b only")
    if verdict == "different":
        found.counterexample = None if np.isnan(tolerance) else point
    elif verdict == "equal":
        # a corner may be all that they have in common, such as 0 for sqrt(x) and sqrt(-x): that is no equality
        found.n_common += is_evidence and not is_corner
    elif verdict in ("a only", "b only") and not is_corner:
        name = verdict.replace(" ", "_")
        if getattr(found, name) is None and has_neighbourhood(a, b, point, verdict):
            setattr(found, name, point)


def has_neighbourhood(a: Function, b: Function, point: Mapping[str, float], verdict: str, n: int = 3) -> bool:
    """Whether a random neighbour of the point has the same verdict: then the set of such points is no null set."""
    return any(decide(a, b, near)[0] == verdict for near in neighbours(point, n))
