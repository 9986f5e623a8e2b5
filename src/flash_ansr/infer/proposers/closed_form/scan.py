"""One unknown number inside: the best (argument u, family h, c) such that a target is linear in h(c*u).

The target is explained by base terms, which are projected out, and by one more term g(c*u), where g is h or log|h|.
First all starts of c at once, then Gauss-Newton on log|c| for the best, all of them in one array: for each c the
linear coefficients are optimal (variable projection), so that only c is searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.proposers.closed_form.families import EXPONENTIAL, Family
from flash_ansr.infer.proposers.closed_form.linear_algebra import orthonormal, project_out
from flash_ansr.infer.proposers.data import Clock, FloatArray, IntArray

_STEPS = 10
_COARSE_ROWS = 100
_FIRST_REACH = 0.4
# steps after which hits that explain too little are left as they are
_TRIAL_STEPS = 4
_PROMISING = 0.98
_NEARLY_ONE, _ROUNDING = 1 - 1e-9, 1e-13
_OF_EACH_FAMILY = 2
_DIFFERENCE = 1e-4
# a term whose part beyond the base is smaller than this is the base again
_LEAST_NEW = 1e-7


@dataclass(frozen=True)
class Unexplained:
    """The part to explain: a weighted target beyond an orthonormal weighted basis.

    Attributes
    ----------
    basis : array (n_base, n_rows)
    target : array (n_rows,)
        Weighted, projected, norm 1.
    weight : array (n_rows,)
    logarithm : bool
        Whether log|h| rather than h is the term.
    factor : array (n_rows,), optional
        The factor of each term.
    share : float
        Norm of the target over what it was before it was projected.
    """

    basis: FloatArray
    target: FloatArray
    weight: FloatArray
    logarithm: bool = False
    factor: FloatArray | None = None
    share: float = 1.0

    @classmethod
    def beyond(cls, base: FloatArray, target: FloatArray, weight: FloatArray, logarithm: bool = False) -> Unexplained:
        """The part of a target outside base terms (n_base, n_rows), neither weighted yet."""
        basis, weighted = orthonormal(base * weight), target * weight
        left = project_out(weighted[None], basis)[0]
        norm = float(np.linalg.norm(left))
        share = norm / max(float(np.linalg.norm(weighted)), 1e-300)
        return cls(basis, left / max(norm, 1e-300), weight, logarithm, share=share)

    def thinned(self) -> tuple[Unexplained, slice]:
        """The same on at most so many rows, evenly taken, for a first look; and which rows."""
        rows = slice(None, None, max(1, -(-len(self.target) // _COARSE_ROWS)))
        basis = orthonormal(self.basis[:, rows])
        left = project_out(self.target[None, rows], basis)[0]
        target = left / max(float(np.linalg.norm(left)), 1e-300)
        factor = None if self.factor is None else self.factor[rows]
        return Unexplained(basis, target, self.weight[rows], self.logarithm, factor), rows

    def rows_of(self, terms: FloatArray, least: float = _LEAST_NEW) -> tuple[IntArray, FloatArray]:
        """Which terms (n, n_rows) are finite and have a part beyond the basis, and these parts, weighted, of norm 1."""
        with np.errstate(all="ignore"):
            weighted = terms * self.weight
            rows = project_out(weighted, self.basis)
            norms = np.linalg.norm(rows, axis=1)
            index = np.flatnonzero(np.isfinite(norms) & (norms > least * np.linalg.norm(weighted, axis=1)))
        return index, rows[index] / norms[index, None]

    def term(self, family: Family, u: FloatArray) -> FloatArray:
        """The term for arguments u of any shape (..., n_rows), NaN or infinite where undefined."""
        if self.logarithm:
            return u if family is EXPONENTIAL else np.log(np.abs(family.value(u)))
        return family.value(u) if self.factor is None else family.value(u) * self.factor


@dataclass(frozen=True, slots=True)
class Hit:
    """A term found: argument number, family, c, and the squared correlation with the target."""

    argument: int
    family: Family
    c: float
    r2: float


def scan(
    unexplained: Unexplained, arguments: FloatArray, families: Sequence[Family], clock: Clock, n_best: int = 24
) -> list[Hit]:
    """The best terms h(c*u) for arguments u (n_arguments, n_rows), refined in c, best first."""
    hits: list[Hit] = []
    coarse, rows = unexplained.thinned()
    coarse_arguments = np.ascontiguousarray(arguments[:, rows])
    typical = np.median(np.abs(arguments), axis=1)
    largest = np.abs(arguments).max(axis=1)
    with np.errstate(all="ignore"):
        for family in families:
            clock.check()
            starts = _starts(family, arguments, typical)
            r2 = np.zeros(starts.shape)
            for i, c in enumerate(starts):
                fine = np.isfinite(c) & (np.abs(c) * largest < family.largest) & (np.abs(c) * largest > 1e-3)
                if fine.any():
                    terms = coarse.term(family, c[fine, None] * coarse_arguments[fine])
                    r2[i, fine] = _squared_correlations(coarse, terms)
            best = r2.argmax(axis=0)
            top = r2[best, np.arange(len(best))]
            hits += [Hit(int(a), family, float(starts[best[a], a]), float(top[a])) for a in np.argsort(-top)[:n_best]]
        # a family whose grid is coarse starts low: each keeps a few
        hits = _best_of_each(sorted(hits, key=lambda h: -h.r2), n_best)
        refined: list[Hit] = []
        for family in dict.fromkeys(h.family for h in hits):
            clock.check()
            refined += _refined(unexplained, arguments, [h for h in hits if h.family is family])
    return sorted(refined, key=lambda h: -h.r2)


def _best_of_each(hits: list[Hit], n_best: int) -> list[Hit]:
    """The first n_best, and the first few of every family."""
    kept, counts = hits[:n_best], Counter(h.family.text for h in hits[:n_best])
    for h in hits[n_best:]:
        if counts[h.family.text] < _OF_EACH_FAMILY:
            counts[h.family.text] += 1
            kept.append(h)
    return kept


def _starts(family: Family, arguments: FloatArray, typical: FloatArray) -> FloatArray:
    """Values of c to try, (n_starts, n_arguments), NaN for none."""
    fixed = np.repeat(np.array(family.fixed)[:, None], len(typical), axis=1)
    starts = [fixed, np.array(family.grid)[:, None] / typical]
    if family.text == "(1 + {})":
        # 1 + c*u without a zero among the rows, close to one, or with one where the target's sign says so
        positive = (arguments > 0).all(axis=1)
        edges = [-f / arguments.max(axis=1) for f in (0.6, 0.9, 0.99)]
        edges += [-f / arguments.min(axis=1) for f in (1.01, 1.1, 2.0)]
        starts += [np.where(positive, edge, np.nan)[None] for edge in edges]
    return np.concatenate(starts)


def _squared_correlations(unexplained: Unexplained, rows: FloatArray) -> FloatArray:
    """r^2 of each row with the target beyond the basis; 0 where a row is undefined or nothing new."""
    rows = rows * unexplained.weight
    sizes = np.einsum("ij,ij->i", rows, rows)
    undefined = ~np.isfinite(sizes)
    if undefined.any():
        rows[undefined], sizes[undefined] = 0.0, 1.0
    rows = project_out(rows, unexplained.basis)
    left = np.einsum("ij,ij->i", rows, rows)
    new = left > _LEAST_NEW**2 * sizes
    return np.where(new, (rows @ unexplained.target) ** 2 / np.where(new, left, 1.0), 0.0)


def _refined(unexplained: Unexplained, arguments: FloatArray, hits: list[Hit]) -> list[Hit]:
    """Gauss-Newton on log|c| for hits of one family, with a pattern search where it does not help."""
    u, family = arguments[[h.argument for h in hits]], hits[0].family
    c = np.array([h.c for h in hits])

    def beyond(c: FloatArray) -> FloatArray:
        rows = unexplained.term(family, c[:, None] * u) * unexplained.weight
        return project_out(np.where(np.isfinite(rows), rows, 0.0), unexplained.basis)

    def gauss_newton(c: FloatArray) -> FloatArray:
        slope = (beyond(c * (1 + _DIFFERENCE)) - beyond(c * (1 - _DIFFERENCE))) / (2 * _DIFFERENCE)
        return np.clip(_log_steps(beyond(c), slope, unexplained.target), -1.0, 1.0)

    def squared_correlations(c: FloatArray) -> FloatArray:
        return _squared_correlations(unexplained, unexplained.term(family, c[:, None] * u))

    r2 = squared_correlations(c)
    reach = np.full(len(c), _FIRST_REACH)
    for step_number in range(_STEPS):
        if (r2 > 1 - 1e-15).all() or (step_number >= _TRIAL_STEPS and r2.max() < _PROMISING):
            break
        step = gauss_newton(c)
        before = r2
        # beside the Gauss-Newton step a fixed one to both sides: far from the optimum the model misleads
        for move in (step, reach, -reach):
            proposal = c * np.exp(np.where(r2 > before, 0.0, move))
            new = squared_correlations(proposal)
            better = new > r2
            c, r2 = np.where(better, proposal, c), np.where(better, new, r2)
        reach = np.where(r2 > before, reach, reach * 0.3)
    if r2.max() > _NEARLY_ONE:
        # r^2 has rounded to 1 where c still has an error of the root of that: the last step is taken unseen
        proposal = c * np.exp(gauss_newton(c))
        new = squared_correlations(proposal)
        last = (r2 > _NEARLY_ONE) & (new > r2 - _ROUNDING)
        c, r2 = np.where(last, proposal, c), np.where(last, np.maximum(new, r2), r2)
    return [Hit(h.argument, family, float(ci), float(ri)) for h, ci, ri in zip(hits, c, r2, strict=True)]


def _log_steps(g: FloatArray, slope: FloatArray, target: FloatArray) -> FloatArray:
    """Steps in log c from the least squares of the target on g and its derivative, (n,)."""
    gg, gs, ss = (np.einsum("ij,ij->i", a, b) for a, b in ((g, g), (g, slope), (slope, slope)))
    gt, st = g @ target, slope @ target
    a, b = gt * ss - st * gs, st * gg - gt * gs
    step = np.where(np.abs(a) > 0, b / np.where(a == 0, 1.0, a), 0.0)
    return np.where(np.isfinite(step), step, 0.0)
