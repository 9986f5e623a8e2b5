"""The NumPy export: values against multiprecision, sticky undefinedness, data of all kinds, refusals."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import simplipy
from simplipy.errors import ConversionError, EvaluationError
from simplipy.export.numpy_function import numpy_function
from tests.oracle import disagreement
from tests.strategies import BINARY, EVERY_OPERATOR, UNARY, X_TOKENS, examples, points, token_lists

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -8.0, 32.0, 3.0, -0.25, 1e-3, 7.3]


def evaluated(text, X=None, constants=None):
    expression = simplipy.parse(text)
    data = np.zeros((1, 2)) if X is None else X
    return numpy_function(expression.tokens, expression.variables)(data, constants)


@examples(200)
@given(token_lists(8, names=False, operators=EVERY_OPERATOR), points(8, 1))
def test_values_equal_multiprecision(tokens, rows):
    env = dict(zip(X_TOKENS, rows[0], strict=False))
    constants = [rows[0][-1] + k for k in range(tokens.count("<constant>"))]
    value = numpy_function(tokens, X_TOKENS)(np.array(rows), constants)[0]
    assert not disagreement(value, tokens, env, constants)


@pytest.mark.parametrize("token", UNARY)
def test_unary_values(token):
    X = np.array([[v] for v in [*SPECIAL, 1e-9, -1e5, 0.999, 1.001, 1e150, -1e-150]])
    for x, value in zip(X[:, 0], numpy_function([token, "x1"], ["x1"])(X), strict=True):
        assert not disagreement(value, [token, "x1"], {"x1": x})


@pytest.mark.parametrize("token", BINARY)
def test_binary_values(token):
    X = np.array(list(itertools.product(SPECIAL, repeat=2)))
    for (x1, x2), value in zip(X, numpy_function([token, "x1", "x2"], ["x1", "x2"])(X), strict=True):
        assert not disagreement(value, [token, "x1", "x2"], {"x1": x1, "x2": x2})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/x1", np.nan),
        ("0*log(x1)", np.nan),
        ("atan(1/x1)", np.nan),
        ("exp(-1/x1)", np.nan),
        ("(1/x1)^(0)", np.nan),
        ("1^log(x1)", np.nan),
        ("atan(inf)", np.nan),
        ("0*-inf", np.nan),
        ("x1^0", 1.0),
        ("x1^(-1)", np.nan),
        ("x1^0.5", 0.0),
        ("cbrt(-8)", -2.0),
        ("pow1_5(-32)", -2.0),
        ("(-8)^(1/3)", np.nan),
        ("(-2)^(3)", -8.0),
        ("(-2)^(-2)", 0.25),
        ("sqrt(-1)^2", np.nan),
        ("exp(1000)", np.inf),  # overflow is not undefinedness
        ("atan(exp(1000))", np.pi / 2),
        ("1/exp(1000)", 0.0),
    ],
)
def test_undefinedness_is_sticky_and_overflow_is_not(text, expected):
    np.testing.assert_allclose(evaluated(text), [expected], rtol=1e-15)


def test_agrees_with_the_core():
    e = simplipy.parse("<constant>*sin(x1)/x2 + sqrt(x1 - x2)^<constant> - pow1_5(x1)*atanh(x2)")
    X = np.random.default_rng(0).normal(size=(500, 2))
    np.testing.assert_allclose(e.numpy()(X, [1.5, 2.5]), e(X, [1.5, 2.5]), rtol=1e-12)


def test_data_by_name():
    expected = [3.0, 5.0]
    columns = {"b": [1, 2], "unused": [0, 0], "a rate": np.array([1.0, 1.5], dtype=np.float32)}
    for data in (columns, pd.DataFrame(columns)):
        result = evaluated("b + 2*`a rate`", data)
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == np.float64
    np.testing.assert_array_equal(evaluated("x1 - x2", pd.DataFrame({"x2": [1.0], "x1": [3.0]})), [2.0])


def test_arrays_of_all_kinds():
    X = np.arange(12).reshape(4, 3)
    expected = X[:, 2] - X[:, 0] * 2.0
    for data in (X, X.astype(np.float32), np.asfortranarray(X), X[::1].tolist(), X.astype(object)):
        result = evaluated("x3 - 2*x1", data)
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == np.float64
    np.testing.assert_array_equal(evaluated("x3 - 2*x1", X[::-2]), expected[::-2])
    assert evaluated("x1", np.empty((0, 1))).shape == (0,)
    np.testing.assert_array_equal(evaluated("2*pi", np.empty((3, 0))), [2 * np.pi] * 3)
    np.testing.assert_array_equal(evaluated("0*x1 + 1", [[np.nan], [np.inf], [2.0]]), [np.nan, np.nan, 1.0])


def test_the_result_is_a_fresh_array():
    X = np.ones((2, 1))
    evaluated("x1", X)[0] = 5.0
    assert X[0, 0] == 1.0


@pytest.mark.parametrize(
    ("text", "X", "constants", "message"),
    [
        ("x3", np.zeros((2, 2)), None, "needs column 3, X has 2"),
        ("speed", np.zeros((2, 2)), None, "pass a mapping"),
        ("x1", np.zeros(3), None, "shape"),
        ("x1", {"x2": [1.0]}, None, "no column 'x1'"),
        ("x1*<constant>", np.zeros((2, 1)), None, "must have 1 values, .* got 0"),
        ("x1*<constant>", np.zeros((2, 1)), [1.0, 2.0], "must have 1 values, .* got 2"),
        ("x1", np.array([["a"]], dtype=object), None, "no number"),
        ("x1", np.zeros((2, 1), dtype=complex), None, "complex"),
    ],
)
def test_bad_data(text, X, constants, message):
    with pytest.raises(EvaluationError, match=message):
        evaluated(text, X, constants)


def test_a_variable_must_be_given():
    with pytest.raises(ConversionError, match="'x2' is not among"):
        numpy_function(["+", "x1", "x2"], ["x1"])


def test_deep_expressions():
    f = numpy_function(["sin"] * 10_000 + ["x1"], ["x1"])
    assert f(np.array([[1.0]])).shape == (1,)


def test_pickle_and_repr():
    f = numpy_function(["*", "<constant>", "log", "x1"], ["x1"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))([[1.0], [2.0]], [3.0]), [0.0, 3 * np.log(2.0)])
    assert repr(f) == "NumpyFunction(* <constant> log x1)"
