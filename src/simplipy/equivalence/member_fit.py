"""Constants of a skeleton that give a known function: the fit behind family.py.

The target is exact, so that a fit either reaches the noise of doubles or is none. All starts run at once: the free
constants become columns of the data, and one evaluation serves every start and every point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simplipy.equivalence.pointwise import Function
from simplipy.equivalence.probe_points import Array, Mask, ProbePoints
from simplipy.expression.expression import Expression, parse
from simplipy.expression.operators import CONSTANT, OPERATORS

# starts and steps of two rounds: few are enough where the constants are simple functions of the target's
_ROUNDS = ((6, 12), (48, 30))
_MAX_CANDIDATES = 3
# weighted residual below which a start has found the target
_CLOSE = 1e-5
_UNDEFINED_COST = 1e3
# the same before the last digits are polished, and constants whose signs are tried
_NEARLY = 1e-2
_MAX_SIGNED = 4


@dataclass(frozen=True, slots=True)
class _Target:
    """What is to be met: points, values (n_points,), and the weights of their residuals, (n_points,)."""

    points: ProbePoints
    y: Array
    weights: Array

    @classmethod
    def of(cls, points: ProbePoints, y: Array) -> _Target:
        scale = float(np.median(np.abs(y)))
        return cls(points, y, 1 / (np.abs(y) + 1e-3 * scale + (scale == 0)))


class MemberFit:
    """Seeks members of one skeleton.

    Parameters
    ----------
    skeleton : Expression
        With any number of free constants.
    names : tuple of str
        The variables of the points.
    """

    def __init__(self, skeleton: Expression, names: tuple[str, ...]) -> None:
        self._n = skeleton.n_constants
        # columns of a plain array, the quickest to bind: variables first, then constants
        column = {name: f"x{k}" for k, name in enumerate(names, start=1)}
        constant = iter(f"x{len(names) + k}" for k in range(1, self._n + 1))
        renamed = skeleton.rename({name: column[name] for name in skeleton.variables})
        self._expression = parse([next(constant) if token == CONSTANT else token for token in renamed.tokens])
        self._first_slope = len(skeleton.variables)  # slopes come by variable, in the order of the columns
        self._linear = np.array(linear_constants(skeleton.tokens), dtype=np.bool_)

    def candidates(
        self, points: ProbePoints, y: Array, guesses: Array, hints: Array, rng: np.random.Generator
    ) -> Iterator[tuple[float, ...]]:
        """Constants whose member is close to y at the points, the closest first; each also rounded to what is near.

        Parameters
        ----------
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
        if not self._n:
            yield ()
            return
        target = _Target.of(points, y)
        seen: set[tuple[float, ...]] = set()
        for c in self._fits(target, guesses, hints, rng):
            for constants in (tuple(_tidied(c).tolist()), tuple(c.tolist())):
                if constants not in seen:
                    seen.add(constants)
                    yield constants

    def _fits(self, target: _Target, guesses: Array, hints: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Constants that meet the target, in the order of the work that they take."""
        for guess in guesses:
            polished = self._polished(target, guess)
            if polished is not None:
                yield polished
        for n_starts, n_steps in ((1, 4),) if self._linear.all() else _ROUNDS:
            starts = self._solved_linear(target, starting_values(n_starts, self._n, hints, rng))
            c, cost = self._descended(target, starts, n_steps)
            for row in np.argsort(cost, kind="stable")[:_MAX_CANDIDATES]:
                polished = self._polished(target, self._with_signs(target, c[row]))
                if polished is not None:
                    yield polished

    def _values(self, points: ProbePoints, c: Array) -> tuple[Array, Array]:
        """Values (n_starts, n_points) and slopes (n_starts, n_points, n_constants) for all starts c."""
        shape = (len(c), len(points))
        data = np.concatenate([np.tile(points.values, (len(c), 1)), np.repeat(c, len(points), axis=0)], axis=1)
        slopes = self._expression.gradient(data, wrt="variables")[:, self._first_slope :]
        return np.reshape(self._expression(data), shape), np.reshape(slopes, (*shape, self._n))

    def _residuals(self, target: _Target, c: Array, by_logarithm: Mask | None = None) -> tuple[Array, Array, Array]:
        """Weighted residuals, slopes and cost of each start; a point where the member is undefined only costs.

        Where ``by_logarithm``, (n_starts, 1), the residual is that of log|value|: it leads through magnitudes.
        """
        with np.errstate(all="ignore"):
            values, slopes = self._values(target.points, c)
            r, slope_weights = (values - target.y) * target.weights, np.broadcast_to(target.weights, values.shape)
            if by_logarithm is not None:
                r = np.where(by_logarithm, np.log(np.abs(values / target.y)), r)
                slope_weights = np.where(by_logarithm, 1 / values, slope_weights)
            slopes = slopes * slope_weights[..., None]
            good = np.abs(r) < 1e100  # not so for NaN
            # a slope may be infinite where the value is not, as that of c^x at c = 0
            r, slopes = np.where(good, r, 0.0), np.where(good[..., None] & (np.abs(slopes) < 1e100), slopes, 0.0)
            cost = (r * r).sum(axis=1) + _UNDEFINED_COST * (~good).sum(axis=1)
        return r, slopes, cost

    def _solved_linear(self, target: _Target, c: Array) -> Array:
        """Starts whose linear constants are the best ones given the others."""
        if not self._linear.any():
            return c
        c = np.where(self._linear, 0.0, c)
        r, slopes, _ = self._residuals(target, c)
        c[:, self._linear] -= damped_step(r, slopes[:, :, self._linear], np.full(len(c), 1e-13))
        return c

    def _descended(self, target: _Target, c: Array, n_steps: int) -> tuple[Array, Array]:
        """Levenberg-Marquardt on all starts at once; stops when one of them has arrived."""
        damping = np.full(len(c), 1e-3)
        by_logarithm = (np.arange(len(c)) % 2 == 1)[:, None] & bool((target.y != 0).all())
        r, slopes, cost = self._residuals(target, c, by_logarithm)
        for _ in range(n_steps):
            if cost.min() < 1e-20 * len(target.y):
                break
            trial = c - damped_step(r, slopes, damping)
            new_r, new_slopes, new_cost = self._residuals(target, trial, by_logarithm)
            better = new_cost < cost
            c = np.where(better[:, None], trial, c)
            r = np.where(better[:, None], new_r, r)
            slopes = np.where(better[:, None, None], new_slopes, slopes)
            cost = np.where(better, new_cost, cost)
            damping = np.where(better, damping * 0.2, np.minimum(damping * 5, 1e12))
        return c, cost

    def _with_signs(self, target: _Target, c: Array) -> Array:
        """The constants, or where these do not fit, the same with other signs that do: logarithms lose them."""
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=min(self._n, _MAX_SIGNED))))
        turned = np.tile(c, (len(signs), 1))
        turned[:, : signs.shape[1]] *= signs
        r, _, cost = self._residuals(target, turned)
        fits = np.abs(r).max(axis=1) < _NEARLY
        best: Array = turned[np.argmin(np.where(fits, cost, np.inf))]  # the first of equal ones: c itself
        return best

    def _polished(self, target: _Target, c: Array) -> Array | None:
        """Gauss-Newton by least squares, which loses fewer digits than normal equations; None where it is no fit."""
        r, slopes, cost = self._residuals(target, c[None])
        for _ in range(4):
            step = np.linalg.lstsq(slopes[0], r[0], rcond=1e-12)[0]
            new_r, new_slopes, new_cost = self._residuals(target, (c - step)[None])
            if not new_cost[0] < cost[0]:
                break
            c, r, slopes, cost = c - step, new_r, new_slopes, new_cost
        everywhere_undefined = cost[0] >= _UNDEFINED_COST * len(target.y)
        return c if np.abs(r).max() < _CLOSE and not everywhere_undefined else None


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
    return Function(function.expression, function.tokens, tuple(exact))


def linear_constants(tokens: list[str]) -> list[bool]:
    """Which free constants enter linearly, all of these jointly: a choice where there is one."""
    counts: list[int] = []  # free constants below each token, by position from the right
    stack: list[int] = []
    for token in reversed(tokens):
        below = sum(stack.pop() for _ in range(OPERATORS[token].arity)) if token in OPERATORS else 0
        stack.append(below + (token == CONSTANT))
        counts.append(stack[-1])
    counts.reverse()
    result: list[bool] = []
    pending = [True]  # whether the next tokens are in a linear position, the nearest last
    for i, token in enumerate(tokens):
        linear = pending.pop()
        if token not in OPERATORS:
            result += [linear] if token == CONSTANT else []
        elif token in ("+", "-"):
            pending += [linear, linear]
        elif token in ("*", "/"):
            # of two factors with constants one keeps them fixed; a lone constant is the better linear one
            first = linear and (token == "/" or counts[i + 1] > 0)
            second = linear and token == "*" and counts[i + 1] == 0
            if linear and token == "*" and tokens[i + 1] != CONSTANT and _second(tokens, i) == CONSTANT:
                first, second = False, True
            pending += [second, first]
        else:
            keeps = token == "neg" or token.startswith(("mult", "div"))
            pending += [linear and keeps] * OPERATORS[token].arity
    return result


def _second(tokens: list[str], i: int) -> str:
    """First token of the second operand of a binary operator at i."""
    open_ends, k = 1, i + 1
    while open_ends:
        open_ends += OPERATORS[tokens[k]].arity - 1 if tokens[k] in OPERATORS else -1
        k += 1
    return tokens[k]


def damped_step(r: Array, slopes: Array, damping: Array) -> Array:
    """Levenberg-Marquardt step of each start, (n_starts, n_constants)."""
    # columns of length one: then slopes of any size fit, and the damping is relative
    scale = np.sqrt(np.einsum("sni,sni->si", slopes, slopes)) + 1e-150
    columns = slopes / scale[:, None, :]
    normal = np.einsum("sni,snj->sij", columns, columns)
    damped = normal + np.eye(normal.shape[1]) * (damping + 1e-14)[:, None, None]
    right = np.einsum("sni,sn->si", columns, r)
    try:
        step: Array = np.linalg.solve(damped, right[..., None])[..., 0] / scale
    except np.linalg.LinAlgError:
        return np.zeros_like(right)
    return np.where(np.isfinite(step), step, 0.0)


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
