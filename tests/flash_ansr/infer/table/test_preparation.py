"""Rows of a search: gaps are refused, dropped or filled, and copies and constants are left out, with reasons."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from flash_ansr.infer.table.preparation import Missing, prepare

N = np.nan
Y = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
GAPS = np.array([[1.0, 1.0], [N, 2.0], [3.0, 5.0], [4.0, N], [5.0, 8.0]])


def test_gaps_are_refused_with_names_and_remedy() -> None:
    message = (
        r"NaN \(missing values\) in 2 of 5 rows, columns 'x1' \(1 row, first row 2\), 'x2' \(1 row, first row 4\); "
        r'missing="drop" leaves these rows out, missing="median" fills'
    )
    with pytest.raises(ValueError, match=message):
        prepare(GAPS, Y, None, "error")


def test_rows_with_gaps_are_dropped() -> None:
    prepared = prepare(GAPS, np.where(Y == 5, N, Y), None, "drop")
    assert prepared.rows.tolist() == [True, False, True, False, False]
    assert prepared.n_gaps == 3
    np.testing.assert_array_equal(prepared.table.X, GAPS[[0, 2]])
    np.testing.assert_array_equal(prepared.table.y, [1, 3])


def test_gaps_are_filled_with_medians_but_y_is_not() -> None:
    prepared = prepare(GAPS, np.where(Y == 5, N, Y), None, "median")
    assert prepared.rows.tolist() == [True, True, True, True, False]
    np.testing.assert_array_equal(prepared.table.X, [[1, 1], [3.5, 2], [3, 5], [4, 3.5]])


def test_rows_without_weight_do_not_count() -> None:
    prepared = prepare(GAPS, Y, [1, 0, 2, 0, 1], "drop")
    assert prepared.n_gaps == 0
    np.testing.assert_array_equal(prepared.table.sample_weight, [1, 2, 1])
    level = np.column_stack([np.where(Y == 5, 7.0, 1.0), Y])
    assert prepare(level, Y, [1, 1, 1, 1, 0], "error").encoding.left_out == {"x1": "the same in every row"}


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_an_empty_column_is_left_out(missing: Missing) -> None:
    prepared = prepare(np.column_stack([Y, np.full(5, N)]), Y, None, missing)
    assert prepared.encoding.names == ["x1"]
    assert prepared.encoding.left_out == {"x2": "no value in any row"}
    assert prepared.table.n_rows == 5


def test_constants_and_copies_are_left_out() -> None:
    zeros = np.array([0.0, -0.0, 1.0, 2.0, 3.0])
    frame = pd.DataFrame({"a": Y, "k": 3.0, "b": Y, "z": zeros, "w": zeros + 0.0, "c": Y + 1e-15})
    prepared = prepare(frame, Y, None, "error")
    assert prepared.encoding.names == ["a", "z", "c"]  # what differs in its last digit is no copy
    assert prepared.encoding.left_out == {
        "k": "the same in every row",
        "b": "equal to a in every row",
        "w": "equal to z in every row",
    }
    facts = prepared.facts()
    assert facts["columns"] == ["a", "z", "c"]
    assert facts["left_out_columns"] == prepared.encoding.left_out


def test_columns_that_are_level_only_where_the_rows_are_complete() -> None:
    X = np.array([[1.0, 9.0], [1.0, 8.0], [1.0, 7.0], [2.0, N]])
    assert prepare(X, Y[:4], None, "drop").encoding.names == ["x2"]


def test_where_y_is_level_one_column_stays() -> None:
    prepared = prepare(np.ones((5, 2)), np.ones(5), None, "error")
    assert prepared.encoding.names == ["x1"]


@pytest.mark.parametrize(
    ("X", "y", "missing", "message"),
    [
        (np.ones((5, 2)), Y, "error", "every column of X is constant while y varies"),
        (
            pd.DataFrame({"id": list("abcde")}),
            Y,
            "error",
            r"X has no column that a law could use: 'id' \(its",
        ),
        (np.full((5, 1), N), Y, "drop", r"no column that a law could use: 'x1' \(no value in any row\)"),
        (
            GAPS[[0, 1, 3]],
            Y[:3],
            "drop",
            'only 1 of 3 rows are complete, a law needs 2: .* X in 2; .*missing="median"',
        ),
        (np.ones((5, 1)), np.full(5, N), "median", "only 0 of 5 rows are complete.*y has gaps in 5 rows"),
        (
            np.where(GAPS == 8, np.inf, GAPS),
            Y,
            "drop",
            r"X contains infinity in the columns 'x2' \(1 row, first",
        ),
        (np.full((5, 20), N), Y, "error", "'x8' .5 rows, first row 1. and 12 more; missing="),
    ],
)
def test_what_no_search_can_use(X: object, y: np.ndarray, missing: Missing, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(X, y, None, missing)


def test_more_columns_than_rows() -> None:
    X = np.random.default_rng(0).normal(size=(10, 5000))
    prepared = prepare(X, X[:, 3], None, "error")
    np.testing.assert_array_equal(prepared.table.X, X)


def test_copies_are_found_among_columns_that_begin_alike() -> None:
    alike = np.zeros((2000, 4))
    alike[1999] = [1.0, 2.0, 1.0, 0.0]
    left_out = prepare(alike, np.arange(2000.0), None, "error").encoding.left_out
    assert left_out == {"x3": "equal to x1 in every row", "x4": "the same in every row"}


def test_the_rows_of_a_search_are_one_copy() -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 20))
    tracemalloc.start()
    prepared = prepare(X, X[:, 0].copy(), None, "error")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes
    assert not np.may_share_memory(prepared.table.X, X)
