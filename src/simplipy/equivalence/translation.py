"""Constants carried from one skeleton to another through the form to which both simplify.

Simplification says how the result's constants follow from the input's. Where two skeletons have one result, a member of
the one is a member of the other if those equations can be solved the other way: a small system without variables, much
easier than a fit of values. What comes out are guesses; family.py checks them.
"""

from __future__ import annotations

import numpy as np

from simplipy.equivalence.probe_points import Array
from simplipy.expression.expression import Expression, parse
from simplipy.fit.constants import fit_constants
from simplipy.simplification.engine import Engine

_N_STARTS = 16
# mean square of the relative residuals
_SOLVED = 1e-8


class Translation:
    """From constants of a to constants of b."""

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
