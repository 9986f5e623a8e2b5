"""The rows that a law is sought for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
# of rows that are held out
_HELD_OUT_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Table:
    """The rows that laws are sought for.

    Attributes
    ----------
    X : float64 array (n_rows, n_columns)
        Column k is the variable x_{k+1}.
    y : float64 array (n_rows,)
    sample_weight : float64 array (n_rows,), optional
    """

    X: FloatArray
    y: FloatArray
    sample_weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return self.X.shape[1]

    @property
    def most_constants(self) -> int:
        """Fitted numbers that the rows determine: one for three rows, and two always."""
        return max(2, self.n_rows // 3)

    @cached_property
    def ranges(self) -> FloatArray:
        """The smallest and the largest value of each column, (n_columns, 2)."""
        return np.stack([self.X.min(axis=0), self.X.max(axis=0)], axis=1)

    def at(self, rows: Rows) -> Table:
        """These rows alone."""
        return Table(self.X[rows], self.y[rows], None if self.sample_weight is None else self.sample_weight[rows])

    def thinned(self, n: int | None) -> Table:
        """At most so many of its rows, evenly spread; None for all of them."""
        return self if n is None or self.n_rows <= n else self.at(np.linspace(0, self.n_rows - 1, n).astype(np.int64))


def split_rows(n_rows: int, seed: int) -> tuple[Rows, Rows]:
    """Rows to fit to, and a random quarter of the rows to predict, both ascending."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_held = max(1, int(_HELD_OUT_SHARE * n_rows))
    return np.sort(order[n_held:]), np.sort(order[:n_held])
