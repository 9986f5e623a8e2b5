"""The NumPy export against mpmath; also the oracle and the token strategy that the other export tests share."""

from __future__ import annotations

import itertools
import pickle
from decimal import Decimal

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simplipy
from simplipy.errors import ConversionError, EvaluationError
from simplipy.numpy_export import TABLE, numpy_function
from simplipy.operators import OPERATORS, leaf_kind, variable_name

mp = mpmath.mp.clone()
mp.dps = 40

EPS = mpmath.mpf(2) ** -50
UNDEFINED = "undefined"
BINARY = [op.token for op in OPERATORS.values() if op.arity == 2]
UNARY = [op.token for op in OPERATORS.values() if op.arity == 1]
SPECIAL = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -8.0, 32.0, 3.0, -0.25, 1e-3, 7.3]


def token_lists(variables=("x1", "x2"), constants=False, max_leaves=8):
    """Prefix tokens of small random expressions."""
    numbers = ["0", "1", "2", "3", "5", "-1", "-2", "0.5", "0.1", "-2.75", "1e-3", "100"]
    leaves = st.sampled_from([*variables, *variables, *numbers, "pi", "e"] + ["<constant>"] * (3 * constants))
    return st.recursive(
        leaves.map(lambda leaf: [leaf]),
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(UNARY), inner).map(lambda t: [t[0], *t[1]]),
            st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda t: [t[0], *t[1], *t[2]]),
        ),
        max_leaves=max_leaves,
    )


points = st.one_of(st.sampled_from(SPECIAL), st.floats(-20, 20))


def _odd_root(a, n):
    return mp.sign(a) * mp.root(abs(a), n)


VALUE = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "pow": lambda a, b: mp.power(a, b).real,
    "abs": abs,
    "inv": lambda a: 1 / a,
    "neg": lambda a: -a,
    "pow1_2": mp.sqrt,
    "pow1_3": lambda a: _odd_root(a, 3),
    "pow1_4": lambda a: mp.root(a, 4),
    "pow1_5": lambda a: _odd_root(a, 5),
    "log": mp.log,
    "exp": mp.exp,
    **{name: getattr(mp, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(mp, name) for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{f"pow{k}": lambda a, k=k: a**k for k in range(2, 6)},
    **{f"mult{k}": lambda a, k=k: k * a for k in range(2, 6)},
    **{f"div{k}": lambda a, k=k: a / k for k in range(2, 6)},
}
DOMAIN = {
    "/": lambda a, b: b != 0,
    "inv": lambda a: a != 0,
    "pow": lambda a, b: a > 0 or (a == 0 and b >= 0) or (a < 0 and mp.isint(b)),
    "pow1_2": lambda a: a >= 0,
    "pow1_4": lambda a: a >= 0,
    "asin": lambda a: abs(a) <= 1,
    "acos": lambda a: abs(a) <= 1,
    "acosh": lambda a: a >= 1,
    "atanh": lambda a: abs(a) < 1,
    "log": lambda a: a > 0,
}


def _applied(token, operands):
    """Value and error radius of an operator on operands with radii; None where doubles cannot tell."""
    corners = list(itertools.product(*((v - r, v, v + r) if r else (v,) for v, r in operands)))
    defined = [DOMAIN.get(token, lambda *_: True)(*corner) for corner in corners]
    value, radius = operands[-1]
    if token in ("/", "inv") and radius and abs(value) <= radius:
        return None
    if token == "pow" and radius and operands[0][0] <= operands[0][1]:
        return None  # whether the exponent is an integer hangs on its last digit
    if not any(defined):
        return UNDEFINED
    if not all(defined) or (token in ("exp", "sinh", "cosh", "pow") and abs(value) > 600):
        return None
    center = VALUE[token](*(v for v, _ in operands))
    spread = max(abs(VALUE[token](*corner) - center) for corner in corners)
    total = spread + EPS * abs(center)
    too_large = (
        abs(center) > 1e290 or (center and abs(center) < 1e-290) or (total > 1e-3 and total > 1e-3 * abs(center))
    )
    return None if too_large else (center, total)


def oracle(tokens, point, constants=()):
    """Exact value and a bound for the error of doubles, UNDEFINED, or None where doubles cannot tell."""
    remaining = list(constants)
    stack = []
    for token in reversed(tokens):
        if token in OPERATORS:
            operands = [stack.pop() for _ in range(OPERATORS[token].arity)]
            if UNDEFINED in operands:
                return UNDEFINED
            stack.append(None if None in operands else _applied(token, operands))
            continue
        kind = leaf_kind(token)
        if kind == "constant":
            stack.append((mp.mpf(remaining.pop()), mp.mpf(0)))
        elif kind == "variable":
            stack.append((mp.mpf(point[variable_name(token)]), mp.mpf(0)))
        elif kind == "number":
            exact = Decimal(token) == Decimal(float(token))
            stack.append((mp.mpf(token), mp.mpf(0) if exact else EPS * abs(mp.mpf(token))))
        else:
            stack.append((+getattr(mp, token), EPS * 4) if token in ("pi", "e") else UNDEFINED)
    return stack[0]


def assert_equals_oracle(value, expected):
    if expected == UNDEFINED:
        assert np.isnan(value)
    elif expected is not None:
        exact, radius = expected
        assert abs(mp.mpf(float(value)) - exact) <= 16 * radius + mp.mpf(10) ** -300, (value, exact, radius)


def evaluated(text, X=None, constants=None):
    expression = simplipy.parse(text)
    data = np.zeros((1, 2)) if X is None else X
    return numpy_function(expression.tokens, expression.variables)(data, constants)


def test_every_operator_is_covered():
    assert set(TABLE) == set(VALUE) == set(OPERATORS)


@settings(max_examples=400, deadline=None)
@given(token_lists(constants=True), points, points, points)
def test_values_equal_mpmath(tokens, x1, x2, c):
    constants = [c + k for k in range(tokens.count("<constant>"))]
    value = numpy_function(tokens, ["x1", "x2"])(np.array([[x1, x2]]), constants)[0]
    assert_equals_oracle(value, oracle(tokens, {"x1": x1, "x2": x2}, constants))


@pytest.mark.parametrize("token", UNARY)
def test_unary_values(token):
    X = np.array([[v] for v in [*SPECIAL, -0.0, 1e-9, -1e5, 0.999, 1.001, 1e150, -1e-150]])
    for x, value in zip(X[:, 0], numpy_function([token, "x1"], ["x1"])(X), strict=True):
        assert_equals_oracle(value, oracle([token, "x1"], {"x1": x}))


@pytest.mark.parametrize("token", BINARY)
def test_binary_values(token):
    X = np.array(list(itertools.product([*SPECIAL, -3.0, -0.0], repeat=2)))
    for (x1, x2), value in zip(X, numpy_function([token, "x1", "x2"], ["x1", "x2"])(X), strict=True):
        assert_equals_oracle(value, oracle([token, "x1", "x2"], {"x1": x1, "x2": x2}))


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
        ("x3", np.zeros((2, 2)), None, "needs 3 columns, X has 2"),
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
