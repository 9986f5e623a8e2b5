"""The columns of a table: their names in formulas, and the choice among more than the proposers can use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.ranks import ranks, ranks_of_columns
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression

_MAX_ROWS = 1000
_N_BINS = 8


def with_names(expression: Expression, names: Sequence[str]) -> Expression:
    """The formula of x1, x2, ... in the names of the columns, x1 first."""
    return expression.rename({v: names[int(v.removeprefix("x")) - 1] for v in expression.variables})


def varying_columns(table: Table) -> npt.NDArray[np.int64]:
    """Indices of the columns that are not constant; the first one where all are."""
    varying = np.flatnonzero(table.ranges[:, 0] < table.ranges[:, 1])
    return varying if len(varying) else np.arange(1)


class ColumnRelevance:
    """What the columns of a table say about y, and about residuals.

    A column counts by the share of the variance of y's ranks that bins of the column explain, which sees monotone and
    other smooth dependences alike. The bins are made once, when they are needed.

    Parameters
    ----------
    table : Table
    seed : int
        Of the choice among very many rows.
    """

    def __init__(self, table: Table, seed: int) -> None:
        self._table, self._seed = table, seed

    def best(self, n: int, residuals: FloatArray | None = None) -> npt.NDArray[np.int64]:
        """Indices of the n columns that say most, ascending; all that vary when there are no more than n.

        Parameters
        ----------
        residuals : array (n_rows,), optional
            Instead of y.
        """
        if len(self._varying) <= n:
            return self._varying
        explained = self._explained_of_y if residuals is None else self._explained(residuals)
        return np.sort(self._varying[np.argsort(-explained, kind="stable")[:n]])

    @cached_property
    def _varying(self) -> npt.NDArray[np.int64]:
        return varying_columns(self._table)

    @cached_property
    def _rows(self) -> npt.NDArray[np.int64]:
        n_rows = self._table.n_rows
        if n_rows <= _MAX_ROWS:
            return np.arange(n_rows)
        return np.random.default_rng(self._seed).choice(n_rows, _MAX_ROWS, replace=False)

    @property
    def _n_bins(self) -> int:
        return max(2, min(_N_BINS, len(self._rows) // 4))

    @cached_property
    def _cells(self) -> npt.NDArray[np.int64]:
        """The bin of each row in each varying column (n_rows, n_varying), numbered through the columns."""
        X = self._table.X[np.ix_(self._rows, self._varying)]
        bins = (ranks_of_columns(X) * self._n_bins / len(X)).astype(np.int64)
        return np.asarray(bins + self._n_bins * np.arange(X.shape[1]))

    @cached_property
    def _explained_of_y(self) -> FloatArray:
        return self._explained(self._table.y)

    def _explained(self, y: FloatArray) -> FloatArray:
        target = ranks(y[self._rows])
        shape = (len(self._varying), self._n_bins)
        weights = np.repeat(target - target.mean(), shape[0])
        counts = np.bincount(self._cells.ravel(), minlength=shape[0] * shape[1])
        sums = np.bincount(self._cells.ravel(), weights=weights, minlength=shape[0] * shape[1])
        return np.asarray((sums**2 / np.maximum(counts, 1)).reshape(shape).sum(axis=1))
