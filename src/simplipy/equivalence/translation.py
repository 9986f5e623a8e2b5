"""Constants carried from one skeleton to another through the form to which both simplify.

Simplification says how the result's constants follow from the input's. Where two skeletons have one result, a member of
the one is a member of the other if those equations can be solved the other way: a small system without variables, much
easier than a fit of values. What comes out are guesses; family.py checks them.
"""

from __future__ import annotations

import numpy as np

from simplipy.equivalence.member_fit import starting_values
from simplipy.equivalence.probe_points import Array
from simplipy.expression.expression import Expression
from simplipy.simplification.engine import Engine

_N_STARTS = 16
_N_STEPS = 15
_MAX_GUESSES = 3


class Translation:
    """From constants of a to constants of b."""

    def __init__(self, a: Expression, b: Expression) -> None:
        engine = Engine()
        there, back = engine.explain(a), engine.explain(b)
        same = there.expression == back.expression
        self._n = b.n_constants
        self._there = [_by_column(e) for e in there.constants] if same else []
        self._back = [_by_column(e) for e in back.constants] if same else []

    def guesses(self, constants: Array, rng: np.random.Generator) -> Array:
        """Constants of b that may give the member of a with these constants, (n_guesses, n_constants)."""
        if not self._there or len(self._there) != len(self._back) or not self._n:
            return np.empty((0, self._n))
        goal = np.array([e(constants[None])[0] for e in self._there])
        if not np.isfinite(goal).all():
            return np.empty((0, self._n))
        c = starting_values(_N_STARTS, self._n, np.concatenate([constants, goal]), rng)
        if len(goal) == self._n:
            c[0] = goal  # b is the common form, or almost
        r, slopes = self._equations(c, goal)
        cost, damping = (r * r).sum(axis=1), np.full(len(c), 1e-3)
        for _ in range(_N_STEPS):
            if cost.min() < 1e-24:
                break
            trial = c - _damped_step(r, slopes, damping)
            new_r, new_slopes = self._equations(trial, goal)
            new_cost = (new_r * new_r).sum(axis=1)
            better = new_cost < cost
            c, cost = np.where(better[:, None], trial, c), np.where(better, new_cost, cost)
            r, slopes = np.where(better[:, None], new_r, r), np.where(better[:, None, None], new_slopes, slopes)
            damping = np.where(better, damping * 0.2, np.minimum(damping * 5, 1e12))
        order = np.argsort(cost, kind="stable")[:_MAX_GUESSES]
        found: Array = c[order[cost[order] < 1e-8]]
        return found

    def _equations(self, c: Array, goal: Array) -> tuple[Array, Array]:
        """Relative residuals, (n_starts, n_equations), and their slopes; undefined ones count as far off."""
        r = np.full((len(c), len(goal)), 1e3)
        slopes = np.zeros((len(c), len(goal), self._n))
        with np.errstate(all="ignore"):
            for k, (equation, value) in enumerate(zip(self._back, goal, strict=True)):
                scale = abs(value) or 1.0
                columns = [int(name[1:]) - 1 for name in equation.variables]
                residual = (equation(c) - value) / scale
                slope = equation.gradient(c, wrt="variables") / scale
                good = np.abs(residual) < 1e100
                r[:, k] = np.where(good, residual, r[:, k])
                slopes[:, k, columns] = np.where(good[:, None] & (np.abs(slope) < 1e100), slope, 0.0)
        return r, slopes


def _by_column(expression: Expression) -> Expression:
    """Expression in c1, c2, .. as one in the columns of an array."""
    return expression.rename({name: f"x{name[1:]}" for name in expression.variables})


def _damped_step(r: Array, slopes: Array, damping: Array) -> Array:
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
