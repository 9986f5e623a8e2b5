"""Families of functions: whether the members of one skeleton are members of another, by fitting both ways.

For values of a's free constants, b's are sought that give the same function: first through the form to which both
simplify, then by a fit of values from simple functions of a's constants and from a signed-log grid. Only meant for the
few constants of a formula. A member that was matched is checked by pointwise.py like any two functions; one that was
not is evidence, no proof.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simplipy.equivalence.member_fit import Translation, candidates, refined
from simplipy.equivalence.pointwise import Function, Relation, compare_functions, relation
from simplipy.equivalence.probe_points import Array, ProbePoints, lattice_points, probe_points
from simplipy.expression.expression import Expression
from simplipy.expression.operators import CONSTANT

# differences that the rounding of constants fitted in doubles explains, and of constants refined in multiprecision
_FITTED, _REFINED = 1e-8, 1e-25
_N_FIT_POINTS = 32
_N_LATTICE = 96


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
