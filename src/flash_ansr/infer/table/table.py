"""The rows that a law is sought for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
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

    def at(self, rows: npt.NDArray[np.int64]) -> Table:
        """These rows alone."""
        return Table(self.X[rows], self.y[rows], None if self.sample_weight is None else self.sample_weight[rows])

    def thinned(self, n: int) -> Table:
        """At most so many of its rows, evenly spread."""
        return self if self.n_rows <= n else self.at(np.linspace(0, self.n_rows - 1, n).astype(np.int64))
