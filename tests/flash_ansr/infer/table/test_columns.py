"""What columns say about y: the same for any way to ask, for monotone and other dependences."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from flash_ansr.infer.table.columns import ColumnRelevance
from flash_ansr.infer.table.ranks import ranks_of_columns
from flash_ansr.infer.table.table import Table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 40))


def test_ranks_of_columns_with_ties() -> None:
    values = np.round(X[:, :5])
    np.testing.assert_array_equal(ranks_of_columns(values), rankdata(values, axis=0) - 1)


def test_columns_that_say_most_about_y_or_residuals() -> None:
    table = Table(X, X[:, 7] ** 2 + 0.1 * X[:, 20])
    relevance = ColumnRelevance(table, 0)
    assert relevance.best(1).tolist() == [7]
    assert relevance.best(1, table.y - X[:, 7] ** 2).tolist() == [20]
    assert relevance.best(1).tolist() == [7]


def test_only_columns_that_vary() -> None:
    level = np.where(np.arange(40) % 2, X, 3.0)
    assert ColumnRelevance(Table(level, X[:, 1]), 0).best(30).tolist() == list(range(1, 40, 2))
