"""How well residuals can be predicted from near rows and from a polynomial in the ranks of the columns."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.candidates.rank_tests import RankedRows, standard
from flash_ansr.infer.table.ranks import ranks

RNG = np.random.default_rng(0)


def test_near_rows_are_the_nearest_in_ranks() -> None:
    rows = RankedRows(np.array([[1.0, 5.0], [1.0, 6.0], [40.0, 7.0], [9000.0, 7.0]]))
    assert rows.near.tolist() == [1, 0, 3, 2]


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_what_a_polynomial_explains_is_that_of_least_squares(n_columns: int) -> None:
    X, r = RNG.uniform(1, 9, (60, n_columns)), standard(RNG.normal(size=60))
    explained, k = RankedRows(X).explained(r, n_constants=2)
    u = np.column_stack([standard(ranks(column)) for column in X.T])
    products = [u[:, i] * u[:, j] for i in range(n_columns) for j in range(i + 1)]
    terms = np.column_stack([np.ones(60), u, *products])
    assert k == terms.shape[1] - 1
    left = r - terms @ np.linalg.lstsq(terms, r, rcond=None)[0]
    assert explained == pytest.approx(1 - float(left @ left) / 60, abs=1e-9)


def test_without_rows_for_products_the_polynomial_is_linear() -> None:
    X, r = RNG.normal(size=(30, 4)), standard(RNG.normal(size=30))
    assert RankedRows(X).explained(r, n_constants=0)[1] == 4
    assert RankedRows(X[:, :2]).explained(r, n_constants=4)[1] == 5
    assert RankedRows(X[:, :2]).explained(r, n_constants=5)[1] == 2


def test_equal_columns_count_once() -> None:
    x, r = RNG.normal(size=60), standard(RNG.normal(size=60))
    once, twice = RankedRows(x[:, None]), RankedRows(np.column_stack([x, x]))
    assert twice.explained(r, 0)[0] == pytest.approx(once.explained(r, 0)[0], abs=1e-9)


def test_a_polynomial_with_a_term_for_each_row_explains_nothing() -> None:
    assert RankedRows(RNG.normal(size=(12, 40))).explained(standard(RNG.normal(size=12)), 0) == (0.0, 40)
