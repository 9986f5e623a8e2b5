"""Orthogonal matching pursuit with a beam: the next feature is the one that explains most of what is left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import Clock, FloatArray
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out

_ENOUGH = 1 - 1e-13
_LEAST_NEW = 1e-7


def pursue(rows: FloatArray, target: FloatArray, n_terms: int, beam: int, clock: Clock) -> Iterator[list[int]]:
    """Supports of growing size, the best of each size first.

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
