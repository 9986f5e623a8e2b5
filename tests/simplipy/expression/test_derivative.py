"""Derivatives: reverse mode and symbolic, against finite differences in multiprecision and torch autograd."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simplipy
from tests import oracle
from tests.strategies import UNARY

parse = simplipy.parse


@pytest.mark.parametrize("op", UNARY)
def test_every_unary_derivative(op: str) -> None:
    x = np.array([-3.0, -1.5, -0.7, -0.25, 0.0, 0.3, 0.9, 1.2, 2.5, 7.0])
    by_variables = parse([op, "x1"]).gradient(x[:, None], wrt="variables")
    by_constants = [parse([op, "<constant>"]).gradient(np.zeros((1, 1)), [v], wrt="constants")[0, 0] for v in x]
    slope = parse([op, "x1"]).diff("x1")(x[:, None])
    n_checked = 0
    for i, v in enumerate(x):
        expected = oracle.derivative([op, "x1"], {"x1": float(v)}, wrt="x1")
        if expected is None:
            continue
        n_checked += 1
        for got in (by_variables[i, 0], by_constants[i], slope[i]):
            assert got == pytest.approx(expected[0], rel=1e-12, abs=1e-14), (op, v)
    assert n_checked >= 3


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("x1 + x2", (2.0, 3.0), (1.0, 1.0)),
        ("x1 - x2", (2.0, 3.0), (1.0, -1.0)),
        ("x1*x2", (2.0, 3.0), (3.0, 2.0)),
        ("x1*x2", (0.0, 0.0), (0.0, 0.0)),
        ("x1/x2", (2.0, 4.0), (0.25, -0.125)),
        ("x1^x2", (2.0, 3.0), (12.0, 8 * math.log(2))),
    ],
)
def test_every_binary_derivative(text: str, row: tuple[float, float], expected: tuple[float, float]) -> None:
    assert parse(text).gradient(np.array([row]), wrt="variables")[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("pow(x1, 2)", -3.0, -6.0),  # not through log(x1)
        ("pow(x1, 2)", 0.0, 0.0),
        ("pow(x1, 1)", 0.0, 1.0),
        ("pow(x1, 0)", 0.0, 0.0),
        ("pow(x1, -2)", -1.0, 2.0),
        ("pow2(x1)", 0.0, 0.0),
        ("pow5(x1)", 0.0, 0.0),
        ("pow1_3(x1)", -8.0, 1 / 12),
        ("abs(x1)", -2.0, -1.0),
        ("x1*x1*x1", 2.0, 12.0),
        ("x1 - x1", 2.0, 0.0),
    ],
)
def test_derivatives_at_corners(text: str, x: float, expected: float) -> None:
    assert parse(text).gradient(np.array([[x]]), wrt="variables")[0, 0] == pytest.approx(
        expected, rel=1e-14, abs=1e-300
    )


def test_an_undefined_partial_leaves_the_others_alone() -> None:
    # x1^x2 has no slope by x2 at (-3, 2), but one by x1
    assert parse("x1^x2").gradient(np.array([[-3.0, 2.0]]), wrt="variables")[0, 0] == -6.0


@pytest.mark.parametrize(
    "text", ["log(x1)", "atan(1/(x1 + 1))", "0*log(x1)", "x1 + <constant>*sqrt(x1)", "<constant> + inf*x1"]
)
def test_gradient_is_nan_where_undefined(text: str) -> None:
    e = parse(text)
    constants = [2.0] * e.n_constants
    for wrt in ("constants", "variables"):
        assert np.isnan(e.gradient(np.array([[-1.0]]), constants, wrt=wrt)).all()


def test_columns_follow_the_order_of_variables() -> None:
    e = parse("2*b + 3*x10 + 5*x2 + 7*a")
    X = {name: np.ones(2) for name in ("a", "b", "x2", "x10")}
    assert e.variables == ("x2", "x10", "a", "b")
    assert e.gradient(X, wrt="variables").tolist() == [[5.0, 3.0, 7.0, 2.0]] * 2


def test_constants_follow_the_order_of_occurrence() -> None:
    e = parse("<constant>*x1 + <constant>*x2 + <constant>")
    assert e.gradient(np.array([[3.0, 5.0]]), [1.0, 1.0, 1.0], wrt="constants").tolist() == [[3.0, 5.0, 1.0]]


def test_default_is_by_constants() -> None:
    e = parse("<constant>*x1")
    assert e.gradient(np.array([[3.0], [4.0]]), [1.0]).tolist() == [[3.0], [4.0]]


def test_shapes_without_constants_variables_or_rows() -> None:
    assert parse("x1").gradient(np.ones((3, 1)), wrt="constants").shape == (3, 0)
    assert parse("<constant>").gradient(np.ones((3, 1)), [1.0], wrt="variables").shape == (3, 0)
    assert parse("<constant>*x1").gradient(np.ones((0, 1)), [1.0]).shape == (0, 1)
    assert parse("x1*x2").gradient(np.ones((0, 2)), wrt="variables").shape == (0, 2)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1025])
def test_blocks_of_rows(n: int) -> None:
    X = np.random.default_rng(2).uniform(0.5, 2, (n, 2))
    got = parse("<constant>*sin(x1*x2) + x1^<constant>").gradient(X, [2.0, 1.5])
    expected = np.column_stack([np.sin(X[:, 0] * X[:, 1]), X[:, 0] ** 1.5 * np.log(X[:, 0])])
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-13)


def test_wrt_is_one_of_two_words() -> None:
    with pytest.raises(ValueError, match="'constants' or 'variables'"):
        parse("x1").gradient(np.ones((1, 1)), wrt="rows")
