"""Small linear least squares, and which features to sum: all pairs by one Gram matrix, triples, more by pursuit.

For rows f_i and a target t of norm 1, orthogonal to what is projected out, with r_i = f_i.t and G_ij = f_i.f_j, the
best combination of two explains R2_ij = (r_i^2 + r_j^2 - 2 r_i r_j G_ij)/(1 - G_ij^2) of t.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.data import Clock, FloatArray

# a term that moves the fit by less than this part of the target is rounding, not law
_NEGLIGIBLE = 1e-9
_NEARLY_EXACT = 1e-12
_BLOCK = 64
# two rows closer than this are one: the formula would divide rounding errors
_LEAST_ANGLE = 1e-8
# features that the triples are made of
_TRIPLE_POOL = 160
_EXACT = 1 - 1e-10
# pursuit ends when so much is explained, and takes no feature that is a sum of those that it has
_ENOUGH = 1 - 1e-13
_LEAST_NEW = 1e-7
_A_FEW = 5
_SOME = 12


def solve(terms: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[FloatArray, float]:
    """Coefficients of the terms and the unexplained part of the target.

    Parameters
    ----------
    terms : array (n_terms, n_rows)
    target, weight : array (n_rows,)
        The weight multiplies residuals before they are squared.

    Returns
    -------
    coefficients : array (n_terms,)
    unexplained : float
        Weighted residual sum of squares over the weighted sum of squares of the target.
    """
    A, b = terms * weight, target * weight
    norms = np.sqrt(np.einsum("ij,ij->i", A, A))
    total = float(b @ b)
    if not (norms > 0).all() or total == 0 or not np.isfinite(norms).all():
        return np.zeros(len(terms)), 1.0
    A = A / norms[:, None]
    coefficients, *_ = np.linalg.lstsq(A.T, b, rcond=1e-14)
    residual = b - coefficients @ A
    if float(residual @ residual) > _NEARLY_EXACT * total:
        return coefficients / norms, float(residual @ residual) / total
    # one step of refinement: the last digits decide whether a law is exact
    correction, *_ = np.linalg.lstsq(A.T, residual, rcond=1e-14)
    coefficients = coefficients + correction
    residual = b - coefficients @ A
    return coefficients / norms, float(residual @ residual) / total


def solve_pruned(terms: FloatArray, target: FloatArray, weight: FloatArray) -> tuple[list[int], FloatArray, float]:
    """As ``solve`` without the terms that only explain rounding: (kept, coefficients, unexplained)."""
    kept = list(range(len(terms)))
    coefficients, unexplained = solve(terms, target, weight)
    size = np.sqrt(np.mean((target * weight) ** 2))
    part = np.abs(coefficients) * np.sqrt(np.mean((terms * weight) ** 2, axis=1))
    small = [i for i in kept if part[i] < _NEGLIGIBLE * size]
    if small and len(small) < len(kept):
        kept = [i for i in kept if i not in small]
        coefficients, unexplained = solve(terms[kept], target, weight)
    return kept, coefficients, unexplained


def orthonormal(rows: FloatArray) -> FloatArray:
    """Orthonormal rows that span the given ones, (rank, n)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(norms > 0, norms, 1.0)
    _, sizes, basis = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(basis[sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)])


def project_out(rows: FloatArray, basis: FloatArray) -> FloatArray:
    """The part of the rows outside an orthonormal basis."""
    return np.asarray(rows - (rows @ basis.T) @ basis)


def best_pairs(
    rows: FloatArray, target: FloatArray, n_best: int, clock: Clock, others: FloatArray | None = None
) -> list[tuple[int, int, float]]:
    """The pairs (i, j, R2) with the largest R2, best first.

    Parameters
    ----------
    rows : array (n, n_rows)
        Norm 1, orthogonal to what was projected out.
    target : array (n_rows,)
        Norm 1.
    others : array (m, n_rows), optional
        Rows that j is from; otherwise both are from the same, each pair once.
    """
    found: list[tuple[int, int, float]] = []
    r, r_others = rows @ target, None if others is None else others @ target
    for start in range(0, len(rows), _BLOCK):
        clock.check()
        block, own = rows[start : start + _BLOCK], r[start : start + _BLOCK]
        if others is None or r_others is None:
            # beyond the diagonal: each pair once, no feature with itself
            r2, first = np.triu(_explained(block @ rows[start:].T, own, r[start:]), 1), start
        else:
            r2, first = _explained(block @ others.T, own, r_others), 0
        least = found[-1][2] if len(found) == n_best else 0.0
        above = np.flatnonzero(r2 > least)
        if above.size > n_best:
            above = above[np.argpartition(r2.ravel()[above], -n_best)[-n_best:]]
        i, j = np.unravel_index(above, r2.shape)
        found += zip((i + start).tolist(), (j + first).tolist(), r2[i, j].tolist(), strict=True)
        # ties by position, so that the result does not depend on blocks
        found = sorted(found, key=lambda pair: (-pair[2], *pair[:2]))[:n_best]
    return found


def best_triples(
    rows: FloatArray, target: FloatArray, pool: list[int], n_best: int, clock: Clock
) -> list[tuple[int, int, int, float]]:
    """The best triples (i, j, k, R2) of a pool: for each i, the pairs of what i leaves of the others.

    With f_i projected out, a triple is a pair, and its Gram matrix a correction of rank one. The best partner k of each
    i, j is kept, so that the result may lack triples that share two members with a better one.
    """
    pool = sorted(pool[:_TRIPLE_POOL])
    gram = rows[pool] @ rows[pool].T
    r = rows[pool] @ target
    found: list[tuple[float, int, int, int]] = []
    for i in range(len(pool) - 2):
        clock.check()
        g, rest = gram[i, i + 1 :], gram[i + 1 :, i + 1 :]
        size = 1 - g**2
        usable = size > _LEAST_ANGLE
        scale = np.where(usable, 1 / np.sqrt(np.where(usable, size, 1.0)), 0.0)
        left_r = (r[i + 1 :] - r[i] * g) * scale
        left = (rest - np.outer(g, g)) * np.outer(scale, scale)
        # without its unit diagonal a feature would pair with itself
        np.fill_diagonal(left, 1.0)
        r2 = r[i] ** 2 + _explained(left, left_r, left_r)
        best = r2.argmax(axis=1)
        top = r2[np.arange(len(best)), best]
        found += [
            (float(top[j]), i, i + 1 + int(j), i + 1 + int(best[j])) for j in np.argsort(-top)[:n_best] if usable[j]
        ]
    found.sort(reverse=True)
    distinct = {tuple(sorted((i, j, k))): r2 for r2, i, j, k in reversed(found)}
    ranked = sorted(distinct.items(), key=lambda item: (-item[1], item[0]))[:n_best]
    return [(pool[i], pool[j], pool[k], r2) for (i, j, k), r2 in ranked]


def pursue(rows: FloatArray, target: FloatArray, n_terms: int, beam: int, clock: Clock) -> Iterator[list[int]]:
    """Supports of growing size, the best of each size first: the next feature explains most of what is left.

    Parameters
    ----------
    rows : array (n, n_rows)
        Norm 1.
    target : array (n_rows,)
        Norm 1.
    """
    supports: list[tuple[int, ...]] = [()]
    for size in range(1, n_terms + 1):
        grown: dict[tuple[int, ...], float] = {}
        for support in supports:
            clock.check()
            for i, r2 in _extensions(rows, target, support, beam):
                grown[tuple(sorted((*support, i)))] = r2
        supports = sorted(grown, key=lambda s: (-grown[s], s))[:beam]
        if not supports:
            return
        for support in supports[: 2 if size > 1 else 1]:
            yield list(support)
        if grown[supports[0]] > _ENOUGH:
            return


def worth_drafting(r2: list[float], noisy: bool = False) -> int:
    """How many of the best are worth more work: those that are exact where any is, else a few, with noise some more."""
    exact = sum(value > _EXACT for value in r2)
    return exact or (_SOME if noisy else _A_FEW)


def _explained(gram: FloatArray, r_left: FloatArray, r_right: FloatArray) -> FloatArray:
    """R2 of all pairs of a block of the Gram matrix, which is overwritten; 0 for rows that are one."""
    rest = gram * gram
    np.subtract(1.0, rest, out=rest)
    together = rest < _LEAST_ANGLE
    rest[together] = 1.0
    gram *= (-2.0 * r_left)[:, None]
    gram *= r_right
    gram += (r_left**2)[:, None]
    gram += r_right**2
    gram /= rest
    gram[together] = 0.0
    return gram


def _extensions(rows: FloatArray, target: FloatArray, support: tuple[int, ...], n: int) -> list[tuple[int, float]]:
    """The n best features to add, with the part that is then explained."""
    if not support:
        r2 = (rows @ target) ** 2
        return [(int(i), float(r2[i])) for i in np.argsort(-r2)[:n]]
    basis = orthonormal(rows[list(support)])
    left = project_out(target[None], basis)[0]
    rest = 1 - np.sum((rows @ basis.T) ** 2, axis=1)
    new = rest > _LEAST_NEW
    gain = np.where(new, (rows @ left) ** 2 / np.where(new, rest, 1.0), 0.0)
    gain[list(support)] = 0.0
    explained = 1 - float(left @ left)
    return [(int(i), explained + float(gain[i])) for i in np.argsort(-gain)[:n]]
