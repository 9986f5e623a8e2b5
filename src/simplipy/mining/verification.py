"""Whether a rule holds, on fresh points and in multiprecision; this knows nothing of how it was found.

For a rule without free constants: values on heavy-tailed points where the conditions hold, first in doubles, then with
proved error bounds; domains on both sides, at points and by intervals on boxes; agreement that gets closer from 50 to
300 digits; and exact special points (0, 1, pi/2, ...), since a metavariable may be bound to a number, for which a null
set is everything. With free constants: the family of the pattern must be contained in that of the replacement.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simplipy.equivalence import balls as balls
from simplipy.equivalence.family import compare_families
from simplipy.equivalence.multiprecision import UNDECIDED, Outcome, compare, enclose
from simplipy.equivalence.pointwise import Function, compare_functions
from simplipy.equivalence.probe_points import Array, Mask, ProbePoints, probe_points
from simplipy.errors import SimplipyError
from simplipy.expression.expression import evaluate_many, parse
from simplipy.expression.intervals import on_boxes
from simplipy.expression.prefix import subterm_ends
from simplipy.mining.rule import METAVARIABLES, Rule, Tokens

_N_POINTS = 768
_N_POINTS_MORE = 12288
_MIN_COMMON = 4
_N_CONFIRMED = 6
_N_BOXES = 512
_N_FAR = 256
_N_BORDERS = 24
_N_CLOSER = 6
_DIGITS = (50, 300)
_LARGEST_TAME = 100.0  # tanh(100) differs from 1 in the 87th digit
_SPECIAL = [Fraction(n, 2) for n in (0, 1, 2, -1, -2, 4, -4)]
# (a^b)^c is not a^(b*c) at a = -2, b = 2, c = 1/2
_FEW_SPECIAL = [Fraction(n, 2) for n in (0, 1, -2, 4, -4)]
_TURNS = [Fraction(n, 4) for n in (1, 2, -1, -2, 4, -4)]
_BRANCHES: dict[tuple[str, ...], tuple[float, float]] = {
    ("acos", "cos"): (0.0, math.pi),
    ("asin", "sin"): (-math.pi / 2, math.pi / 2),
    ("atan", "tan"): (-math.pi / 2, math.pi / 2),
}
# of a bound of an interval beside the end of a branch
_ROUNDING = 1e-9
_CONDITION = re.compile(r"(?P<name>[a-d]) (?P<relation>>=|<=|>|<|in|integer|finite)\s*(?P<bounds>.*)")


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict of verification on a rule.

    Attributes
    ----------
    holds : bool
        Whether the rule may be used.
    extends : bool
        Whether the replacement is defined in more places.
    reason : str
        Why it does not hold; "" otherwise.
    counterexample : dict of str to str, or None
        Values of the metavariables, or of the free constants, where it fails.
    """

    holds: bool
    extends: bool = False
    reason: str = ""
    counterexample: dict[str, str] | None = None


def verify_rule(rule: Rule, seed: int) -> Finding:
    """Check one rule on points that depend on the seed.

    Parameters
    ----------
    rule : Rule
        Its kind is not believed; ``extends`` is found anew.
    seed : int
        Of the points; use another one than mining did.
    """
    rng = np.random.default_rng(seed)
    if rule.has_constant:
        return _verify_family(rule, rng)
    return _verify_values(rule, rng)


def _verify_values(rule: Rule, rng: np.random.Generator) -> Finding:
    names = tuple(name for name in METAVARIABLES if name in rule.pattern)
    a, b = Function(parse(rule.pattern)), Function(parse(rule.replacement))
    far = _where_conditions_hold(_far_points(names, rng), rule.conditions)
    beyond = compare_functions(a, b, far, n_confirmed=2)
    if beyond.counterexample is not None:
        return Finding(False, reason="the values differ far out", counterexample=_text(beyond.counterexample))
    if _leaves_branch(rule):
        return Finding(False, reason="the argument is not proved to stay on the branch")
    for n_points in (_N_POINTS, _N_POINTS_MORE):
        points = _where_conditions_hold(probe_points(names, n_points, rng), rule.conditions)
        found = compare_functions(a, b, points, n_confirmed=_N_CONFIRMED)
        if found.counterexample is not None:
            return Finding(False, reason="the values differ", counterexample=_text(found.counterexample))
        if found.a_only is not None:
            return Finding(False, reason="the replacement is undefined", counterexample=_text(found.a_only))
        if found.n_common >= _MIN_COMMON or not names:
            break
    near = _where_conditions_hold(_border_points(a, points), rule.conditions)
    if len(near) and (border := compare_functions(a, b, near, n_confirmed=2)).counterexample is not None:
        return Finding(False, reason="the values differ near a border", counterexample=_text(border.counterexample))
    if _has_unseen_branch(rule, [far, points, near]):
        return Finding(False, reason="an argument may leave its branch where no point is")
    nowhere = not found.a_defined
    if nowhere and rule.replacement != ("nan",):
        return Finding(False, reason="the pattern is defined nowhere, and the replacement is not nan")
    if not nowhere and found.n_common < (_MIN_COMMON if names else 1):
        return Finding(False, reason=f"only {found.n_common} points where both are defined")
    failure = _fails_at_special_point(rule, names, nowhere) or _fails_with_digits(rule, points)
    if failure is not None:
        return failure
    narrowed, widened = _compare_on_boxes(rule, names, rng)
    if narrowed is not None:
        return Finding(False, reason="the replacement is undefined on a box", counterexample=_text(narrowed))
    return Finding(True, extends=widened or found.b_only is not None)


def _compare_on_boxes(
    rule: Rule, names: tuple[str, ...], rng: np.random.Generator
) -> tuple[dict[str, float] | None, bool]:
    """A box where the pattern is proved defined and the replacement undefined; whether there is a reverse one."""
    points = probe_points(names, _N_BOXES, rng, "ordinary")
    half = np.abs(points.values) * 10 ** rng.uniform(-4, -0.5, points.values.shape)
    boxes = {name: (points.values[:, k] - half[:, k], points.values[:, k] + half[:, k]) for k, name in enumerate(names)}
    inside: Mask = np.ones(len(points), dtype=np.bool_)
    for condition in rule.conditions:
        name, low, high, integer = read_condition(condition)
        inside &= (boxes[name][0] >= low) & (boxes[name][1] <= high) & (not integer)
    left, right = (on_boxes(parse(side), boxes, len(points)) for side in (rule.pattern, rule.replacement))
    narrowed = np.flatnonzero(inside & left.whole & right.nowhere)
    widened = inside & left.nowhere & right.whole
    return (points.point(int(narrowed[0])) if narrowed.size else None), bool(widened.any())


def _far_points(names: tuple[str, ...], rng: np.random.Generator) -> ProbePoints:
    """Points of all magnitudes that doubles have: acos(cos(a^(1/16))) is a^(1/16) up to pi^16."""
    shape = (_N_FAR if names else 1, len(names))
    values = rng.choice([-1.0, 1.0, 1.0], shape) * 10 ** rng.uniform(-150, 150, shape)
    return ProbePoints(names, values, np.zeros(shape[0], dtype=np.bool_))


def _border_points(function: Function, points: ProbePoints) -> ProbePoints:
    """Points close to where the function ceases to be defined: atanh is large only there.

    Between a point where it is defined and one where it is not, halving finds a border; points lie at 10^-k of the way.
    """
    names = points.names

    def defined(values: Array) -> Mask:
        data = ProbePoints(names, values, np.zeros(len(values), dtype=np.bool_)).data()
        return evaluate_many([function.expression], data, n_threads=1)[1][0]  # type: ignore[no-any-return]

    if not names:
        return points
    is_defined = defined(points.values)
    n = min(_N_BORDERS, int(is_defined.sum()), int((~is_defined).sum()))
    start, end = points.values[is_defined][:n], points.values[~is_defined][:n]
    if n == 0:
        return ProbePoints(names, start, np.zeros(0, dtype=np.bool_))
    inside, outside = start.copy(), end.copy()
    for _ in range(64):
        middle = (inside + outside) / 2
        good = defined(middle)[:, None]
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    close = np.concatenate([inside + (start - inside) * 10.0**-k for k in range(16)])
    return ProbePoints(names, close, np.zeros(len(close), dtype=np.bool_))


def _leaves_branch(rule: Rule) -> bool:
    """Whether a rule such as acos(cos(u)) -> u has no proof by intervals that u stays where that holds.

    Points do not show it: log(log(a)) grows beyond pi, but not for any a that a double can be.
    """
    bounds = _BRANCHES.get(rule.pattern[:2])
    if bounds is None or rule.conditions or rule.pattern[2:] != rule.replacement:
        return False
    low, high = _possible_values(rule.replacement, ())
    return low < bounds[0] - _ROUNDING or high > bounds[1] + _ROUNDING


def _has_unseen_branch(rule: Rule, clouds: Sequence[ProbePoints]) -> bool:
    """Whether an argument u of asin(sin(u)) and its like may lie beyond the branch, by intervals, but does at no point.

    asinh(acosh(log(a))) is greater than pi for a > exp(50000), and asinh(atanh(a)^(1/4)) than pi/2 next to a = 1.
    """
    for part in subterms(rule.pattern):
        bounds = _BRANCHES.get(part[:2])
        if bounds is None:
            continue
        low, high = _possible_values(part[2:], rule.conditions)
        found = [evaluate_many([parse(part[2:])], cloud.data(), n_threads=1) for cloud in clouds]
        seen = np.concatenate([values[0][defined[0]] for values, defined in found])
        if high > bounds[1] + _ROUNDING and not (seen > bounds[1]).any():
            return True
        if low < bounds[0] - _ROUNDING and not (seen < bounds[0]).any():
            return True
    return False


def _possible_values(tokens: Tokens, conditions: Sequence[str]) -> tuple[float, float]:
    """Bounds of a term wherever these conditions hold, by intervals."""
    ranges = dict.fromkeys(METAVARIABLES, (-math.inf, math.inf))
    ranges |= {name: (low, high) for name, low, high, _ in map(read_condition, conditions)}
    found = on_boxes(
        parse(tokens), {name: (np.array([low]), np.array([high])) for name, (low, high) in ranges.items()}, 1
    )
    return float(found.low[0]), float(found.high[0])


def _where_conditions_hold(points: ProbePoints, conditions: Sequence[str]) -> ProbePoints:
    """Points on which all conditions hold; whole numbers where one asks for them."""
    keep: Mask = np.ones(len(points), dtype=np.bool_)
    values = points.values.copy()
    for condition in conditions:
        name, low, high, integer = read_condition(condition)
        column = points.names.index(name)
        if integer:
            values[:, column] = np.rint(np.clip(values[:, column], -9, 9))
        keep &= (values[:, column] >= low) & (values[:, column] <= high)
    return ProbePoints(points.names, values, points.corner).take(np.flatnonzero(keep))


def read_condition(text: str) -> tuple[str, float, float, bool]:
    """Metavariable, bounds that may be reached, and whether it must be a whole number."""
    match = _CONDITION.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        relation, bounds = match["relation"], match["bounds"]
        low, high = -math.inf, math.inf
        if relation == "in":
            low, high = (_bound(part) for part in bounds[1:-1].split(","))
            low = math.nextafter(low, math.inf) if bounds[0] == "(" else low
            high = math.nextafter(high, -math.inf) if bounds[-1] == ")" else high
        elif relation in (">", ">="):
            low = _bound(bounds) if relation == ">=" else math.nextafter(_bound(bounds), math.inf)
        elif relation in ("<", "<="):
            high = _bound(bounds) if relation == "<=" else math.nextafter(_bound(bounds), -math.inf)
    except ValueError:
        message = f"a condition is 'a > 0', 'a in [-1, 1]', 'a integer' or 'a finite', got {text!r}"
        raise SimplipyError(message) from None
    return match["name"], low, high, relation == "integer"


def _bound(text: str) -> float:
    """A bound, rounded towards zero, so that a point within it fulfils the condition."""
    top, _, divisor = text.strip().partition("/")
    sign = -1.0 if top.startswith("-") else 1.0
    value = {"pi": math.pi, "inf": math.inf}.get(top.lstrip("-")) or float(top.lstrip("-"))
    return sign * value / float(divisor or 1)


def _special_points(names: Sequence[str], conditions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Exact points: all combinations, of fewer values where there are more than two metavariables."""
    values: list[tuple[float, Any]] = [(float(v), v) for v in (_SPECIAL if len(names) < 3 else _FEW_SPECIAL)]
    if len(names) < 3:
        values += [(float(t) * math.pi, balls.pi_multiple(t)) for t in _TURNS]
    rows = itertools.product(values, repeat=len(names))
    bounds = [read_condition(c) for c in conditions]
    for row in rows:
        near = dict(zip(names, (v for v, _ in row), strict=True))
        if all(low <= near[n] <= high for n, low, high, _ in bounds):
            yield dict(zip(names, (v for _, v in row), strict=True))


def _fails_at_special_point(rule: Rule, names: Sequence[str], nowhere: bool) -> Finding | None:
    """A finding where the pattern is defined at a special point and the replacement is not, or differs."""
    for point in _special_points(names, rule.conditions):
        x, y = (enclose(side, point, (), _DIGITS[0]) for side in (rule.pattern, rule.replacement))
        if isinstance(x, Outcome):
            continue
        if y is UNDECIDED:
            continue
        if isinstance(y, Outcome):
            why = "defined at a point, so not nan" if nowhere else "the replacement is undefined at a special point"
            return Finding(False, reason=why, counterexample=_text(point))
        if compare(x, y, digits=_DIGITS[0]) == "different":
            return Finding(False, reason="the values differ at a special point", counterexample=_text(point))
    return None


def _fails_with_digits(rule: Rule, points: ProbePoints) -> Finding | None:
    """A finding where values do not come closer with more digits, or where there are too few points to decide.

    Only tame points count, where no part of the pattern is large: tanh(exp(exp(3))) is 1 to any number of digits.
    """
    n_checked = 0
    for row in _tame_rows(rule, points):
        if n_checked == _N_CLOSER:
            break
        point = points.point(row)
        sides = [[enclose(side, point, (), d) for side in (rule.pattern, rule.replacement)] for d in _DIGITS]
        if any(isinstance(value, Outcome) for pair in sides for value in pair):
            continue
        n_checked += 1
        for digits, (x, y) in zip(_DIGITS, sides, strict=True):
            if compare(x, y, digits=digits) != "equal":  # type: ignore[arg-type]
                return Finding(False, reason=f"the values differ at {digits} digits", counterexample=_text(point))
    if n_checked < (1 if rule.is_ground else _MIN_COMMON) and rule.replacement != ("nan",):
        return Finding(False, reason=f"only {n_checked} points where no part of the pattern is large")
    return None


def _tame_rows(rule: Rule, points: ProbePoints) -> list[int]:
    """Rows where every part of the pattern is of ordinary size, the mildest first."""
    parts = [parse(part) for part in subterms(rule.pattern)]
    values, defined = evaluate_many(parts, points.data(), n_threads=1)
    with np.errstate(invalid="ignore"):
        tame: Mask = np.logical_and.reduce(defined & (np.abs(values) <= _LARGEST_TAME), axis=0)
    order = np.lexsort((points.mildness(), points.corner))
    # each point once, corners last: at a = 1, tanh(exp(exp(a)))*acosh(a) is acosh(a)
    distinct = {tuple(points.values[row].tolist()): row for row in reversed(order.tolist()) if tame[row]}
    return list(reversed(distinct.values()))[: 4 * _N_CLOSER]


def subterms(tokens: Tokens) -> list[Tokens]:
    """All subterms of prefix tokens."""
    return [tokens[start:end] for start, end in enumerate(subterm_ends(tokens))]


def _verify_family(rule: Rule, rng: np.random.Generator) -> Finding:
    """Whether members of the pattern are members of the replacement."""
    names = tuple(name for name in METAVARIABLES if name in rule.pattern)
    a, b = parse(rule.pattern), parse(rule.replacement)
    if rule.kind == "masks":
        a = a.skeleton()
    families = compare_families(a, b, names, 0.0, rng)
    if families.relation in ("a wider", "differs"):
        witness = _text(families.witness) if families.witness else None
        return Finding(False, reason="the family of the replacement lacks a member", counterexample=witness)
    if families.a_only:
        return Finding(False, reason="a member of the replacement is undefined where the pattern's is defined")
    return Finding(True, extends=families.b_only)


def _text(point: Any) -> dict[str, str]:
    """A point as a report shows it."""
    return {
        name: f"{value.turns}*pi" if isinstance(value, balls.Ball) else f"{float(value):.17g}"
        for name, value in point.items()
    }
