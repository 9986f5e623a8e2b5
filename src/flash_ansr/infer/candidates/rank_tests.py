"""How well residuals can be predicted: from near rows, and from a quadratic polynomial in the ranks of the columns.

Ranks take the place of values, so that a single large one decides nothing. A ``RankedRows`` is made once for a table
and serves the residuals of any number of formulas.
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property

import numpy as np

from flash_ansr.infer.table.ranks import ranks_of_columns
from flash_ansr.infer.table.table import FloatArray, Rows

# pairs of rows that are nearest to each other count twice
_PAIRS = 1.6
# of the squared sizes of directions: smaller ones are sums of the others
_SMALLEST_DIRECTION = 1e-12


class RankedRows:
    """Rows with the ranks of their columns.

    Parameters
    ----------
    X : array (n_rows, n_columns)
    """

    def __init__(self, X: FloatArray) -> None:
        self.ranks = standard(ranks_of_columns(X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.ranks)

    @cached_property
    def near(self) -> Rows:
        """The nearest other row of each."""
        distances = np.sum(self.ranks**2, axis=1) - 2 * self.ranks @ self.ranks.T  # less what is the same in a row
        np.fill_diagonal(distances, np.inf)
        return np.asarray(distances.argmin(axis=1))

    def near_deviations(self, r: FloatArray) -> float:
        """By how many deviations residuals are like those of near rows.

        Parameters
        ----------
        r : array (n_rows,)
            Residuals of mean 0 and variance 1.
        """
        return float(r @ r[self.near]) / math.sqrt(_PAIRS * self.n_rows)

    def explained(self, r: FloatArray, n_constants: int) -> tuple[float, int]:
        """The share of the residuals' variance that a polynomial explains, and its terms without the constant.

        It is quadratic where the rows allow it beside the fitted numbers of the law: of many columns there are millions
        of products. A polynomial that has a term for each row explains nothing.
        """
        n_columns = self.ranks.shape[1]
        n_terms = (n_columns + 1) * (n_columns + 2) // 2
        is_quadratic = n_terms + n_constants <= self.n_rows // 3
        k = (n_terms if is_quadratic else n_columns + 1) - 1
        if k >= self.n_rows:
            return 0.0, k
        terms = self._quadratic if is_quadratic else self._linear
        return terms.share(r), k

    @cached_property
    def _linear(self) -> _Terms:
        return _Terms(np.column_stack([np.ones(self.n_rows), self.ranks]))

    @cached_property
    def _quadratic(self) -> _Terms:
        u = self.ranks
        pairs = itertools.combinations_with_replacement(range(u.shape[1]), 2)
        return _Terms(np.column_stack([np.ones(self.n_rows), u, *(u[:, i] * u[:, j] for i, j in pairs)]))


class _Terms:
    """Terms of a polynomial (n_rows, n_terms), and the directions that they span."""

    def __init__(self, terms: FloatArray) -> None:
        self._terms = terms
        sizes, directions = np.linalg.eigh(terms.T @ terms)
        kept = sizes > _SMALLEST_DIRECTION * sizes[-1]
        self._directions = directions[:, kept] / np.sqrt(sizes[kept])

    def share(self, r: FloatArray) -> float:
        """Of the sum of squares of r, the share of their best sum."""
        parts = self._directions.T @ (self._terms.T @ r)
        return float(parts @ parts) / max(float(r @ r), 1e-300)


def standard(values: FloatArray) -> FloatArray:
    """Each column, or the only one, with mean 0 and variance 1."""
    return np.asarray((values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-300))
