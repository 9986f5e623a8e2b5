"""Some of very many rows, so chosen that a search on them sees what is in all: every part of the range of y, and ends.

A row out of each step through the sorted target stands for its step, whatever the order of the table. Rows at the ends
of the columns come on top: there, a wrong formula fails first.
"""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.table.table import FloatArray, Rows, Table

# rows that y is sorted in for each row that is chosen: to sort all of very many takes long
_LOOKED_AT = 4
# of the rows that are chosen, those at the ends of columns, and those that are asked for, each
_SPECIAL = 0.1
# rows that ends are sought in at a time
_BLOCK = 4096


def sampled(table: Table, n: int | None, seed: int, wanted: Rows | None = None) -> Table:
    """So many of the rows, ascending; the table itself where there are no more, or n is None.

    Parameters
    ----------
    wanted : array (n_wanted,), optional
        Rows that should be among them, the most important ones first.
    """
    if n is None or table.n_rows <= n:
        return table
    random = np.random.default_rng(seed)
    most = int(_SPECIAL * n)
    ends = np.union1d(_ends(table.y[:, None]), _ends(table.X))
    special = random.permutation(ends)[:most] if len(ends) > most else ends
    if wanted is not None:
        special = np.union1d(special, wanted[:most])
    others = np.setdiff1d(random.choice(table.n_rows, min(table.n_rows, _LOOKED_AT * n), replace=False), special)
    n_others = n - len(special)
    ordered = others[np.argsort(table.y[others], kind="stable")]
    steps = np.linspace(0, len(ordered), n_others + 1).astype(np.int64)
    chosen = ordered[random.integers(steps[:-1], np.maximum(steps[1:], steps[:-1] + 1))]
    return table.at(np.union1d(special, chosen))


def _ends(X: FloatArray) -> Rows:
    """Rows with the smallest and the largest value of each column."""
    found = []
    for find, of_block in ((np.argmin, np.min), (np.argmax, np.max)):
        starts = range(0, len(X), _BLOCK)
        extremes = np.array([of_block(X[first : first + _BLOCK], axis=0) for first in starts])
        blocks = find(extremes, axis=0)
        found += [_BLOCK * b + int(find(X[_BLOCK * b : _BLOCK * (b + 1), k])) for k, b in enumerate(blocks.tolist())]
    return np.unique(np.array(found, dtype=np.int64))
