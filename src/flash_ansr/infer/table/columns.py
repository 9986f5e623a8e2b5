"""The columns of a table: their names in formulas, and the choice among more than the proposers can use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.ranks import ranks
from flash_ansr.infer.table.table import Table
from simplipy import Expression

_MAX_ROWS = 1000
_N_BINS = 8


def with_names(expression: Expression, names: Sequence[str]) -> Expression:
    """The formula of x1, x2, ... in the names of the columns, x1 first."""
    renamed = {f"x{k}": name for k, name in enumerate(names, start=1)}
    return expression.rename({v: renamed[v] for v in expression.variables})


def varying_columns(table: Table) -> npt.NDArray[np.int64]:
    """Indices of the columns that are not constant; the first one where all are."""
    varying = np.flatnonzero(table.X.min(axis=0) < table.X.max(axis=0))
    return varying if len(varying) else np.arange(1)


def select_columns(table: Table, n: int, seed: int) -> npt.NDArray[np.int64]:
    """Indices of the n columns that say most about y, ascending; all that vary when there are no more than n.

    A column counts by the share of the variance of y's ranks that bins of the column explain, which sees monotone and
    other smooth dependences alike.
    """
    varying = varying_columns(table)
    if len(varying) <= n:
        return varying
    rows = np.arange(table.n_rows)
    if table.n_rows > _MAX_ROWS:
        rows = np.random.default_rng(seed).choice(table.n_rows, _MAX_ROWS, replace=False)
    target = ranks(table.y[rows])
    explained = np.array([_explained(table.X[rows, k], target) for k in varying])
    return np.sort(varying[np.argsort(-explained, kind="stable")[:n]])


def _explained(column: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> float:
    n_bins = max(2, min(_N_BINS, len(column) // 4))
    bins = (ranks(column) * n_bins / len(column)).astype(np.int64)
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, weights=target - target.mean(), minlength=n_bins)
    return float(np.sum(sums[counts > 0] ** 2 / counts[counts > 0]))
