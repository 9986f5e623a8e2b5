"""Models that any law must beat: the right columns of many, least squares in them, and products of powers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.selection.baselines import (
    constant_baseline,
    linear_baseline,
    linear_expression,
    power_law_baseline,
    stepwise_baseline,
)
from flash_ansr.infer.table.table import Table

PRICE = 0.05


def columns_of(candidate: Candidate) -> list[int]:
    return [int(name[1:]) - 1 for name in candidate.expression.variables]


def least_squares(table: Table, columns: list[int]) -> np.ndarray:
    """Values of weighted least squares in these columns, by NumPy."""
    root = np.ones(table.n_rows) if table.sample_weight is None else np.sqrt(table.sample_weight)
    design = np.column_stack([np.ones(table.n_rows), table.X[:, columns]])
    return design @ np.linalg.lstsq(design * root[:, None], table.y * root, rcond=None)[0]


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sets(st.integers(0, 39), min_size=3, max_size=3), st.booleans())
def test_the_right_columns_of_many_and_least_squares_in_them(seed: int, right: set[int], weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 40))
    slopes = rng.choice([-1, 1], 3) * rng.uniform(1, 5, 3)
    weights = rng.uniform(0.5, 2, 300) if weighted else None
    table = Table(X, 4 + X[:, sorted(right)] @ slopes + 0.5 * rng.normal(size=300), weights)
    found = stepwise_baseline(table, PRICE)
    assert right <= set(columns_of(found))
    assert len(columns_of(found)) <= 4
    np.testing.assert_allclose(found.expression(X), least_squares(table, columns_of(found)), rtol=1e-9, atol=1e-9)
    assert found.is_baseline


def test_columns_that_say_nothing_are_nearly_never_taken() -> None:
    n_taken = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_taken += len(columns_of(stepwise_baseline(Table(rng.normal(size=(200, 40)), rng.normal(size=200)), PRICE)))
    assert n_taken <= 2


def test_noise_gives_the_mean() -> None:
    rng = np.random.default_rng(0)
    table = Table(rng.normal(size=(200, 40)), 5 + rng.normal(size=200), rng.uniform(0.1, 1, 200))
    found = stepwise_baseline(table, PRICE)
    assert not columns_of(found)
    assert found.expression(table.X[:1])[0] == pytest.approx(np.average(table.y, weights=table.sample_weight))


def test_collinear_columns_are_taken_once() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 200))
    X = np.column_stack([a, a, 2 * a - 3 * b, b, a + b, 7 * a])
    found = stepwise_baseline(Table(X, 2 * a + b + 1e-3 * rng.normal(size=200)), PRICE)
    assert len(columns_of(found)) == 2
    assert found.fvu < 1e-5


@pytest.mark.parametrize(("small", "large"), [(1e-30, 1e30), (1e-150, 1e150)])
def test_units_of_columns_do_not_count(small: float, large: float) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 20))
    y = 3 * X[:, 4] - 2 * X[:, 9] + 0.1 * rng.normal(size=200)
    sizes = np.ones(20)
    sizes[4], sizes[9] = small, large
    plain, scaled = (stepwise_baseline(Table(X * s, y), PRICE) for s in (np.ones(20), sizes))
    assert columns_of(plain) == columns_of(scaled) == [4, 9]
    np.testing.assert_allclose(scaled.expression(X * sizes), plain.expression(X), rtol=1e-9)


def test_rows_without_weight_do_not_count() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 10))
    y = 2 * X[:, 0] + 0.1 * rng.normal(size=200)
    y[:20] = 1e3 * X[:20, 5]
    weights = np.ones(200)
    weights[:20] = 1e-12
    assert columns_of(stepwise_baseline(Table(X, y, weights), PRICE)) == [0]
    assert 5 in columns_of(stepwise_baseline(Table(X, y), PRICE))


@pytest.mark.parametrize("n_rows", [5, 12, 30])
def test_more_columns_than_rows_are_no_exact_fit(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    table = Table(rng.normal(size=(n_rows, 40)), rng.normal(size=n_rows))
    for found in (stepwise_baseline(table, PRICE), linear_baseline(table, PRICE)):
        assert len(columns_of(found)) <= n_rows // 3
        assert found.fvu > 1e-6


def test_all_columns_where_the_rows_allow_it() -> None:
    rng = np.random.default_rng(4)
    table = Table(rng.normal(size=(60, 5)), rng.normal(size=60), rng.uniform(0.1, 2, 60))
    found = linear_baseline(table, PRICE)
    np.testing.assert_allclose(found.expression(table.X), least_squares(table, list(range(5))), rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.3, 3), st.floats(-200, 200))
def test_a_power_law_is_recovered(seed: int, first: float, second: float, decades: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 5, (100, 6))
    y = 10**decades * X[:, 1] ** first / X[:, 4] ** second
    found = power_law_baseline(Table(X, y), PRICE)
    np.testing.assert_allclose(np.asarray(found.expression(X)) / y, 1, rtol=1e-6)
    assert set(columns_of(found)) <= {1, 4}


def test_exponents_are_found_under_noise_and_other_columns_left_out() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 5, (300, 20))
    y = 7 * X[:, 2] ** 1.5 / X[:, 11] ** 2 * np.exp(0.05 * rng.normal(size=300))
    found = power_law_baseline(Table(X, y), PRICE)
    assert columns_of(found) == [2, 11]
    numbers = sorted(float(token) for token in found.expression.tokens if token[-1].isdigit() and token[0] != "x")
    np.testing.assert_allclose(numbers, [-2, 1.5, 7], rtol=0.02)


def test_columns_that_are_not_positive_have_no_powers() -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(0.5, 5, (100, 3))
    y = X[:, 0] ** 2 * X[:, 2]
    X[3, 2] = 0.0
    assert columns_of(power_law_baseline(Table(X, y), PRICE)) == [0]


@pytest.mark.parametrize("worst", [0.0, -1.0])
def test_a_target_that_is_not_positive_gives_the_mean(worst: float) -> None:
    rng = np.random.default_rng(7)
    X = rng.uniform(0.5, 5, (100, 3))
    y = X[:, 0] ** 2
    y[5] = worst
    table = Table(X, y)
    assert power_law_baseline(table, PRICE).expression == constant_baseline(table, PRICE).expression
    assert constant_baseline(table, PRICE).expression(X)[0] == pytest.approx(y.mean())


def test_terms_without_a_slope_are_not_written() -> None:
    assert linear_expression(np.array([1.5, 0.0, -2.0])).tokens == ["+", "1.5", "*", "-2", "x2"]
