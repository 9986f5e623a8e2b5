"""Which features to sum: all pairs by one Gram matrix, block by block, triples from the best, more by pursuit.

For rows f_i and a target t of norm 1, orthogonal to what is projected out, with r_i = f_i.t and G_ij = f_i.f_j, the
best combination of two explains R2_ij = (r_i^2 + r_j^2 - 2 r_i r_j G_ij)/(1 - G_ij^2) of t.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import Clock, FloatArray
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out

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


def best_pairs(rows: FloatArray, target: FloatArray, n_best: int, clock: Clock) -> list[tuple[int, int, float]]:
    """The pairs (i, j, R2) with the largest R2, best first.

    Parameters
    ----------
    rows : array (n, n_rows)
        Norm 1, orthogonal to what was projected out.
    target : array (n_rows,)
        Norm 1.
    """
    r = rows @ target
    found = _Best(n_best)
    for start in range(0, len(rows), _BLOCK):
        clock.check()
        block = rows[start : start + _BLOCK]
        # beyond the diagonal: each pair once, no feature with itself
        r2 = np.triu(_explained(block @ rows[start:].T, r[start : start + _BLOCK], r[start:]), 1)
        found.add(r2, start, start)
    return found.result()


def best_cross_pairs(
    left: FloatArray, right: FloatArray, target: FloatArray, n_best: int, clock: Clock
) -> list[tuple[int, int, float]]:
    """As ``best_pairs``, with i from one set of rows and j from another."""
    r_left, r_right = left @ target, right @ target
    found = _Best(n_best)
    for start in range(0, len(left), _BLOCK):
        clock.check()
        block = slice(start, start + _BLOCK)
        found.add(_explained(left[block] @ right.T, r_left[block], r_right), start, 0)
    return found.result()


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


class _Best:
    """The largest entries over blocks of a matrix."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._least = 0.0
        self._entries: list[tuple[float, int, int]] = []

    def add(self, r2: FloatArray, first_row: int, first_column: int) -> None:
        flat = r2.ravel()
        above = np.flatnonzero(flat > self._least)
        if above.size > self._n:
            above = above[np.argpartition(flat[above], -self._n)[-self._n :]]
        rows, columns = np.unravel_index(above, r2.shape)
        self._entries += zip(
            flat[above].tolist(), (rows + first_row).tolist(), (columns + first_column).tolist(), strict=True
        )
        if len(self._entries) > self._n:
            # ties by position, so that the result does not depend on blocks
            self._entries.sort(key=lambda e: (-e[0], e[1], e[2]))
            del self._entries[self._n :]
            self._least = self._entries[-1][0]

    def result(self) -> list[tuple[int, int, float]]:
        return [(i, j, r2) for r2, i, j in sorted(self._entries, key=lambda e: (-e[0], e[1], e[2]))]
