"""Scaled searches: the way back gives the same values, and the same laws where units do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import simplipy
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.table.table import Table
from tests.strategies import expressions


def restored(text: str, *columns: float, y: float = 1.0) -> str:
    return UnitScaling(columns, y).restore(simplipy.parse(text)).infix()


@pytest.mark.parametrize(
    ("law", "columns", "y", "wanted"),
    [
        ("x1*x2", (1e-20, 1e15), 1e-5, "x1*x2"),
        ("0.001*x1*x2", (1e-20, 1.0), 1e-17, "x1*x2"),
        ("x1/x2^2", (1e20, 1e10), 1.0, "x1/x2^2"),
        ("2.5*sqrt(x1/x2)", (1e20, 1.0), 1e10, "2.5*sqrt(x1/x2)"),
        ("sin(x1)", (1e20,), 1.0, "sin(1e-20*x1)"),
        ("x1 + x2", (1e20, 1e20), 1e20, "x1 + x2"),
        ("3*x1 - 3*x2", (1e20, 1e20), 1e20, "3*(x1 - x2)"),
        ("x1^1.5", (1e10,), 1e15, "x1^1.5"),
        ("exp(x1/x2)", (1e-10, 1e-10), 1.0, "exp(x1/x2)"),
        ("49.05170185988092 + log(x1)", (1e20,), 1.0, "3 + log(x1)"),
        ("2*x1 + 3", (1e10,), 1e5, "300000 + 2e-5*x1"),
        ("3", (1e10,), 1e6, "3000000"),
    ],
)
def test_laws_in_the_users_units(law: str, columns: tuple[float, ...], y: float, wanted: str) -> None:
    found = simplipy.parse(restored(law, *columns, y=y))
    assert len(found) <= len(simplipy.parse(wanted))
    assert simplipy.equivalent(found, wanted, rtol=1e-9).equivalent, found


SIZES = st.sampled_from([1e-8, 1e-5, 1.0, 1e6])


@given(expressions(names=False, wild_numbers=False), st.tuples(*[SIZES] * 5), st.sampled_from([1e-6, 1.0, 1e7]))
def test_the_way_back_keeps_values(expression: simplipy.Expression, columns: tuple[float, ...], y: float) -> None:
    expression = expression.with_constants(np.linspace(-2.5, 3.5, expression.n_constants))
    back = UnitScaling(columns, y).restore(expression)
    assume(back is not None)
    X = np.random.default_rng(0).uniform(0.3, 2.0, (20, 5))
    before, nearby = (y * expression(X * (1 + step)) for step in (0.0, 1e-9))
    after = back(X * np.array(columns))
    # next to a pole or a cancellation rounding alone moves the values
    sound = np.isfinite(before) & np.isclose(before, nearby, rtol=1e-6, atol=0) & (np.abs(before) > 1e-6 * y)
    np.testing.assert_allclose(after[sound], before[sound], rtol=1e-5)


def test_only_far_magnitudes_are_scaled() -> None:
    x = np.linspace(1, 2, 20)
    table = Table(np.column_stack([x, 1e-20 * x, 3e6 * x, 0 * x, 5e3 * x]), 1e12 * x)
    scaling = UnitScaling.of(table)
    assert scaling.columns == (1.0, 1e-20, 1e7, 1.0, 1.0)
    assert scaling.y == 1e12
    scaled = scaling.apply(table)
    assert np.allclose(scaled.X[:, 1], x)
    assert UnitScaling.of(Table(x[:, None], x)).is_identity


def test_numbers_out_of_range_give_up() -> None:
    assert UnitScaling((1e-300,), 1.0).restore(simplipy.parse("x1^5")) is None


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1e35), (1e-310, 1e-310, 1e8), (1.7e308, 1.7e308), (1e-320,), (0.0, 5.0)])
def test_nothing_leaves_the_range_of_the_search(sizes: tuple[float, ...]) -> None:
    values = np.array([*sizes, *(-size for size in sizes)])
    table = Table(values[:, None], values)
    scaling = UnitScaling.of(table)
    scaled = scaling.apply(table)
    assert np.abs(scaled.X).max() <= 1e30 * (1 + 1e-12)
    assert np.abs(scaled.y).max() <= 1e30 * (1 + 1e-12)
    back = UnitScaling(scaling.inverse().columns, 1.0).apply(scaled)
    np.testing.assert_allclose(back.X, table.X, rtol=1e-3 if 0 < sizes[0] < 1e-300 else 1e-12)
