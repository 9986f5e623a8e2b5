"""Families of functions: whether the members of one skeleton are members of another, by fitting both ways.

For values of a's free constants, b's are sought that give the same function: first through the form to which both
simplify, then by a fit of values from simple functions of a's constants and from a signed-log grid. Only meant for the
few constants of a formula. A member that was matched is checked by pointwise.py like any two functions; one that was
not is evidence, no proof.

The target of a fit is exact, so that a fit either reaches the noise of doubles or is none. fit_constants descends from
many starts in one call; it needs a formula that is defined on all rows, so starts are grouped by the points where their
members are defined, and each group is fitted to these points.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from simplipy.equivalence.pointwise import Function, Relation, compare_functions, relation
from simplipy.equivalence.probe_points import Array, Mask, ProbePoints, lattice_points, probe_points
from simplipy.expression.expression import Expression, evaluate_many, parse
from simplipy.expression.operators import CONSTANT
from simplipy.fit.constants import fit_constants
from simplipy.simplification.engine import Engine

# differences that the rounding of constants fitted in doubles explains, and of constants refined in multiprecision
_FITTED, _REFINED = 1e-8, 1e-25
_N_FIT_POINTS = 32
_N_LATTICE = 96
# starts of a translation, and the mean square of relative residuals where it is solved
_N_STARTS = 16
_SOLVED = 1e-8
# starts of two rounds: few are enough where the constants are simple functions of the target's
_ROUNDS = (6, 48)
# groups of starts that are fitted, and fits of a group that are tried
_MAX_GROUPS = 3
_MAX_FITS = 3
# residual, relative to the target, below which constants meet it
_CLOSE = 1e-5
# constants whose signs are tried
_MAX_SIGNED = 4


@dataclass(slots=True)
class Families:
    """Result of comparing two families.

    Attributes
    ----------
    relation : {"same", "a wider", "b wider", "differs"}
        Which has more members.
    witness : dict of str to float, or None
        Constants of a member that the other family lacks.
    a_only, b_only : bool
        Whether some matched member is defined in more places in a, in b.
    """

    relation: Relation
    witness: dict[str, float] | None
    a_only: bool
    b_only: bool


@dataclass(slots=True)
class _Containment:
    """Members of one family sought in another: the first that is not there, and the domains of those that are."""

    missing: Array | None = None
    wider: bool = False
    narrower: bool = False


def compare_families(
    a: Expression, b: Expression, names: tuple[str, ...], rtol: float, rng: np.random.Generator
) -> Families:
    """Fit both ways.

    Parameters
    ----------
    a, b : Expression
        Skeletons; one of them may have no free constants.
    names : tuple of str
        The variables of both.
    rtol : float
        As in ``simplipy.equivalent``.
    rng : numpy.random.Generator
        For points, constants and starts.
    """
    points = probe_points(names, 256, rng, "ordinary" if rtol > 0 else "all")
    fit_points = probe_points(names, 128, rng, "small")
    a_in_b = _contained(a, b, points, fit_points, rtol, rng)
    b_in_a = _contained(b, a, points, fit_points, rtol, rng)
    missing = (a_in_b.missing, b_in_a.missing)
    lacking = [constants for constants in missing if constants is not None]
    witness = None
    if lacking:
        constants = next((c for c in lacking if len(c)), lacking[0])
        witness = {f"{CONSTANT}{k}": float(c) for k, c in enumerate(constants, start=1)}
    members = relation(*(constants is not None for constants in missing))
    return Families(members, witness, a_in_b.wider or b_in_a.narrower, a_in_b.narrower or b_in_a.wider)


def _contained(
    a: Expression, b: Expression, points: ProbePoints, fit_points: ProbePoints, rtol: float, rng: np.random.Generator
) -> _Containment:
    """Whether drawn members of a are members of b."""
    result = _Containment()
    translation = Translation(a, b)
    lattice = lattice_points(fit_points.names, _N_LATTICE, rng)
    for n_drawn, constants in enumerate(_draws(a.n_constants, rng)):
        known, everywhere = fit_points, points
        rows, values = _defined(a, constants, known)
        if not rows.size:  # (-2)^x is defined at whole numbers only
            known = everywhere = lattice
            rows, values = _defined(a, constants, known)
        if not rows.size:
            continue  # defined nowhere, or nowhere that doubles reach: nothing to match
        member, here = Function(a, constants.tolist()), known.take(rows)
        guesses = translation.guesses(constants)
        for candidate in candidates(b, here, values, guesses, constants, rng):
            other, tolerance = Function(b, candidate), max(rtol, _FITTED)
            # one member to many digits; and zeros, since x/c comes as close to zero as one likes, but not to zero
            if rtol == 0 and (n_drawn == 0 or 0 in constants):
                other, tolerance = refined(other, member, here), _REFINED
            matched = compare_functions(member, other, everywhere, tolerance, n_confirmed=2 if n_drawn else 8)
            if matched.counterexample is None and matched.n_common:
                break
        else:
            result.missing = constants
            return result
        result.wider |= matched.a_only is not None
        result.narrower |= matched.b_only is not None
    return result


def _defined(a: Expression, constants: Array, points: ProbePoints) -> tuple[npt.NDArray[np.intp], Array]:
    """The first rows where a member is defined, and its values there."""
    values = a(points.data(), constants).astype(np.float64)
    rows = np.flatnonzero(np.isfinite(values))[:_N_FIT_POINTS]
    return rows, values[rows]


def _draws(n: int, rng: np.random.Generator) -> list[Array]:
    """Values of n constants, one member each: generic ones of all signs, even and odd numbers, zeros one by one."""
    if n == 0:
        return [np.empty(0)]
    size = rng.uniform(0.3, 2.5, (3, n))
    signs = rng.choice([-1.0, 1.0], n)
    wide = 10 ** rng.uniform(-1, 1.5, n)
    whole = rng.integers(2, 4, n)  # and with 5 less it the other parity: a^2 is abs(a)^2, a^3 is not abs(a)^3
    draws = [size[0], -size[1], signs * wide, whole * signs, (5 - whole) * signs]
    draws += [np.where(np.arange(n) == k, 0.0, size[2] * signs) for k in range(min(n, 6))]
    return [*draws, np.zeros(n)] if n > 1 else draws


class Translation:
    """From constants of a to constants of b, through the form to which both simplify.

    Simplification says how the result's constants follow from the input's. Where two skeletons have one result, a
    member of the one is a member of the other if those equations can be solved the other way: a small system without
    variables, much easier than a fit of values. The results are guesses.
    """

    def __init__(self, a: Expression, b: Expression) -> None:
        engine = Engine()
        there, back = engine.explain(a), engine.explain(b)
        self._n = b.n_constants
        self._there = there.constants if there.expression == back.expression and self._n else ()
        # all equations in one formula: a row of data for each, where one of s1, s2, ... is 1 and the others are 0
        terms = (("*", f"s{k}", *e.tokens) for k, e in enumerate(back.constants, start=1))
        self._formula = ["+"] * (len(back.constants) - 1) + [token for term in terms for token in term]
        self._unknowns = sorted({name for e in back.constants for name in e.variables})

    def guesses(self, constants: Array) -> Array:
        """Constants of b that may give the member of a with these constants, (n_guesses, n_constants)."""
        given = {f"c{k}": np.array([value]) for k, value in enumerate(constants, start=1)} or np.zeros((1, 1))
        goal = np.array([e(given)[0] for e in self._there])
        if not self._unknowns or not len(goal) or not np.isfinite(goal).all():
            return np.empty((0, self._n))
        rows = {f"s{k}": row for k, row in enumerate(np.eye(len(goal)), start=1)}
        units = np.where(goal == 0, 1.0, np.abs(goal))
        found = np.resize(goal, self._n)  # b is the common form, or almost
        starts = {name: found[int(name[1:]) - 1] for name in self._unknowns}
        formula = parse(self._formula)
        fit = fit_constants(formula, rows, goal, y_err=units, parameters=starts, n_restarts=_N_STARTS, n_threads=1)
        found[[int(name[1:]) - 1 for name in fit.parameters]] = list(fit.parameters.values())
        return found[None] if fit.loss < _SOLVED else np.empty((0, self._n))


@dataclass(frozen=True, slots=True)
class _Goal:
    """Values (n_points,) that a member shall have at points, and the units of its residuals, (n_points,)."""

    points: ProbePoints
    y: Array
    units: Array

    def take(self, rows: Mask) -> _Goal:
        """The goal at these points."""
        return _Goal(self.points.take(np.flatnonzero(rows)), self.y[rows], self.units[rows])


def candidates(
    skeleton: Expression, points: ProbePoints, y: Array, guesses: Array, hints: Array, rng: np.random.Generator
) -> Iterator[tuple[float, ...]]:
    """Constants whose member is close to y at the points; each also rounded to halves that are near.

    Parameters
    ----------
    skeleton : Expression
        With any number of free constants.
    points : ProbePoints
        Where the target is known.
    y : array (n_points,)
        The target.
    guesses : array (n_guesses, n_constants)
        Constants to try first.
    hints : array
        Constants of the target in its own spelling.
    rng : numpy.random.Generator
        For the starts.
    """
    if not skeleton.n_constants:
        yield ()
        return
    scale = float(np.median(np.abs(y)))
    goal = _Goal(points, y, np.abs(y) + 1e-3 * scale + (scale == 0))
    seen: set[tuple[float, ...]] = set()
    for c in _close_constants(skeleton, goal, guesses, hints, rng):
        for constants in (tuple(_tidied(c).tolist()), tuple(c.tolist())):
            if constants not in seen:
                seen.add(constants)
                yield constants


def _close_constants(
    skeleton: Expression, goal: _Goal, guesses: Array, hints: Array, rng: np.random.Generator
) -> Iterator[Array]:
    """Constants that meet the goal, in the order of the work that they take."""
    yield from _fitted(skeleton, goal, guesses)
    for n_starts in _ROUNDS:
        starts = starting_values(n_starts, skeleton.n_constants, hints, rng)
        yield from _fitted(skeleton, goal, starts)
    if (goal.y != 0).all():
        # the logarithm leads through magnitudes, but loses the signs
        logarithm = parse(["log", "abs", *skeleton.tokens])
        signs = np.ones((2 ** min(skeleton.n_constants, _MAX_SIGNED), skeleton.n_constants))
        signs[:, :_MAX_SIGNED] = list(itertools.product((1.0, -1.0), repeat=min(skeleton.n_constants, _MAX_SIGNED)))
        for c in _fitted(logarithm, _Goal(goal.points, np.log(np.abs(goal.y)), np.ones(len(goal.y))), starts):
            yield from _fitted(skeleton, goal, c * signs)


def _fitted(skeleton: Expression, goal: _Goal, starts: Array) -> Iterator[Array]:
    """Starts that meet the goal as they are, then fits that do, those that are defined at most points first."""
    if not len(starts):
        return
    meets, defined = _meeting(skeleton, goal, starts)
    yield from starts[meets]
    groups = np.unique(defined, axis=0)
    for rows in groups[np.argsort(-groups.sum(axis=1), kind="stable")][:_MAX_GROUPS]:
        if not rows.any():
            break
        here, own = goal.take(rows), starts[(defined == rows).all(axis=1)]
        data, skeletons = here.points.data(), [skeleton] * len(own)
        fits = fit_constants(skeletons, data, here.y, y_err=here.units, x0=own, n_restarts=0, n_threads=1)
        best = sorted((fit for fit in fits if fit.ok), key=lambda fit: fit.loss)[:_MAX_FITS]
        if best:
            c = np.array([fit.constants for fit in best])
            yield from c[_meeting(skeleton, goal, c)[0]]


def _meeting(skeleton: Expression, goal: _Goal, c: Array) -> tuple[Mask, Mask]:
    """Which of these constants meet the goal where they are defined, (n,), and where that is, (n, n_points)."""
    values, _ = evaluate_many([skeleton] * len(c), goal.points.data(), c, n_threads=1)  # type: ignore[arg-type]
    defined = np.isfinite(values)
    with np.errstate(all="ignore"):
        distance = np.where(defined, np.abs(values - goal.y) / goal.units, 0.0).max(axis=1)
    return (distance < _CLOSE) & defined.any(axis=1), defined


def refined(function: Function, target: Function, points: ProbePoints) -> Function:
    """Function with its constants corrected in multiprecision until it meets the target to 32 digits.

    Newton's method with the slopes of doubles: each round gains some ten digits, if there are more to gain.
    """
    from simplipy.equivalence.multiprecision import Outcome, difference, enclose

    if not function.constants:
        return function
    few = points.take(np.arange(min(len(points), len(function.constants) + 2)))
    values = target.expression(few.data(), target.doubles())
    values = np.where(values == 0, 1.0, values)  # residuals are relative, where there is something to relate to
    with np.errstate(all="ignore"):
        slopes = function.expression.gradient(few.data(), function.doubles()) / values[:, None]
    constants = [Fraction(c) for c in function.constants]
    good: Mask = np.asarray(np.isfinite(slopes).all(axis=1))
    if not good.any():
        return function
    inverse = np.linalg.pinv(np.where(good[:, None], slopes, 0.0), rcond=1e-12)
    goals = [enclose(target.tokens, few.point(k), target.constants) for k in range(len(few))]
    for _ in range(5):
        errors = np.zeros(len(few))
        for k, goal in enumerate(goals):
            value = enclose(function.tokens, few.point(k), constants)
            if good[k] and not isinstance(goal, Outcome) and not isinstance(value, Outcome):
                errors[k] = difference(goal, value) / values[k]
        if np.abs(errors).max() < 1e-32:
            break
        constants = [c + Fraction(step) for c, step in zip(constants, (inverse @ errors).tolist(), strict=True)]
    # corrections of the others must not move an exponent off its integer
    halves = [Fraction(round(2 * c), 2) for c in constants]
    exact = (h if abs(c - h) < Fraction(1, 10**20) else c for c, h in zip(constants, halves, strict=True))
    return Function(function.expression, tuple(exact))


def starting_values(n_starts: int, n: int, hints: Array, rng: np.random.Generator) -> Array:
    """Starting values, (n_starts, n): the hints themselves, simple functions of them, and a signed-log grid."""
    with np.errstate(all="ignore"):
        pool = [hints, -hints, 1 / hints, hints**2, np.exp(hints), np.log(np.abs(hints)), np.sqrt(np.abs(hints))]
        pool += [(hints + np.pi / 2) % (2 * np.pi), (hints - np.pi / 2) % (2 * np.pi)]
        pairs = [np.add.outer(hints, hints), np.multiply.outer(hints, hints), np.divide.outer(hints, hints)]
    near = np.concatenate([*pool, *(p.ravel() for p in pairs), [1.0, -1.0, 2.0, 0.5]])
    near = near[np.isfinite(near) & (np.abs(near) < 1e6)]
    shape = (n_starts, n)
    grid = rng.choice([-1.0, 1.0], shape) * 10 ** rng.uniform(-1.5, 1.5, shape)
    starts = np.where(rng.random(shape) < 0.6, rng.choice(near, shape), grid)
    if len(hints) == n:
        starts[0] = hints
    return starts


def _tidied(c: Array) -> Array:
    """Constants with those next to a multiple of one half put there: x^2.0000000001 has no negative base."""
    halves = np.round(2 * c) / 2
    return np.where(np.abs(c - halves) < 1e-7, halves, c)
