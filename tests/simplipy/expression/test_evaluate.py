"""Values and domains against the multiprecision oracle; layouts of X; float32; many expressions at once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import simplipy
from tests import oracle
from tests.needs import need
from tests.strategies import UNARY

parse = simplipy.parse
NAN = math.nan

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1.0000000000000002,
    0.9999999999999999,
    -1.0000000000000002,
]
SPECIAL += [1e-8, -1e-8, 1e-100, -1e-100, 1e8, -1e8, 1e100, -1e100, 1e-290, 1e290, 88.0, 700.0, -700.0, 20.0, -20.0]
SPECIAL += [
    math.pi,
    -math.pi,
    math.pi / 2,
    2 * math.pi,
    100 * math.pi,
    355.0,
    1e5,
    1e15,
    1e22,
    4.0,
    8.0,
    -8.0,
    27.0,
    32.0,
    -32.0,
]


def grid() -> np.ndarray:
    """Corners, and numbers of both signs over many decades; more than one block of rows."""
    rng = np.random.default_rng(0)
    spread = 10.0 ** rng.uniform(-12, 6, 120) * rng.choice([-1, 1], 120)
    return np.concatenate([SPECIAL, np.linspace(-3, 3, 61), rng.uniform(-1, 1, 60), spread])


@pytest.mark.parametrize("op", UNARY)
def test_unary_operators(op: str) -> None:
    x = grid()
    got = parse([op, "x1"])(x[:, None])
    wrong = [oracle.disagreement(float(g), [op, "x1"], {"x1": float(v)}) for g, v in zip(got, x, strict=True)]
    assert [w for w in wrong if w] == []


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "pow"])
def test_binary_operators(op: str) -> None:
    side = np.array(
        [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1 / 3, -8.0, 1e-5, -1e5, 7.25, 64.0, -64.0, 1e16, -63.0]
    )
    X = np.array([(a, b) for a in side for b in side])
    got = parse([op, "x1", "x2"])(X)
    prefix = [op, "x1", "x2"]
    wrong = [
        oracle.disagreement(float(g), prefix, {"x1": float(a), "x2": float(b)})
        for g, (a, b) in zip(got, X, strict=True)
    ]
    assert [w for w in wrong if w] == []


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("pow1_3(x1)", -8.0, -2.0),
        ("cbrt(x1)", -8.0, -2.0),
        ("pow1_5(x1)", -32.0, -2.0),
        ("x1^(1/3)", -8.0, NAN),
        ("pow(x1, 0.2)", -32.0, NAN),
        ("pow(x1, 3)", -2.0, -8.0),
        ("pow(x1, -3)", -2.0, -0.125),
        ("pow(x1, 0)", 0.0, 1.0),
        ("pow(x1, x1)", 0.0, 1.0),
        ("pow(x1, -1)", 0.0, NAN),
        ("pow(x1, -0.5)", 0.0, NAN),
        ("pow(x1, 0.5)", 0.0, 0.0),
        ("pow(x1, 0.5)", -1e-300, NAN),
        ("sqrt(x1)", 0.0, 0.0),
        ("sqrt(x1)", -0.0, 0.0),
        ("pow1_4(x1)", -1.0, NAN),
        ("1/x1", 0.0, NAN),
        ("1/x1", -0.0, NAN),
        ("x1/x1", 0.0, NAN),
        ("atan(1/x1)", 0.0, NAN),
        ("exp(-1/x1)", 0.0, NAN),
        ("exp(log(x1))", 0.0, NAN),
        ("0*log(x1)", -1.0, NAN),
        ("0*(1/x1)", 0.0, NAN),
        ("pow(log(x1), 0)", -1.0, NAN),
        ("pow(1, log(x1))", -1.0, NAN),
        ("tanh(1/x1)", 0.0, NAN),
        ("1/(1/x1)", 0.0, NAN),
        ("log(x1)", 0.0, NAN),
        ("log(x1)", -0.0, NAN),
        ("atanh(x1)", 1.0, NAN),
        ("atanh(x1)", -1.0, NAN),
        ("acos(x1)", 1.0, 0.0),
        ("asin(x1)", 1.5, NAN),
        ("acosh(x1)", 0.5, NAN),
        ("acosh(x1)", 1.0, 0.0),
        ("x1 + inf", 1.0, NAN),
        ("exp(-inf)", 1.0, NAN),
        ("x1*nan", 0.0, NAN),
        ("-2^2", 0.0, -4.0),
        ("sin(x1)", math.pi, 1.2246467991473532e-16),
    ],
)
def test_meaning(text: str, x: float, expected: float) -> None:
    value = float(parse(text)(np.array([[x]]))[0])
    assert value == pytest.approx(expected, rel=1e-14, abs=2e-16, nan_ok=True)
    _, defined = simplipy.evaluate_many([parse(text)], np.array([[x]]))
    assert bool(defined[0, 0]) == (not math.isnan(expected))


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("exp(x1)", 1000.0, math.inf),
        ("-exp(x1)", 1000.0, -math.inf),
        ("x1*x1", 1e200, math.inf),
        ("pow5(x1)", -1e100, -math.inf),
        ("pow(x1, 40)", 1e10, math.inf),
        ("log(exp(x1))", 1000.0, math.inf),
        ("atan(exp(x1))", 1000.0, math.pi / 2),
        ("exp(-x1)", 1000.0, 0.0),
        ("sinh(x1)", -1000.0, -math.inf),
        ("cosh(x1)", -1000.0, math.inf),
    ],
)
def test_overflow_and_underflow_are_defined(text: str, x: float, expected: float) -> None:
    values, defined = simplipy.evaluate_many([parse(text)], np.array([[x]]))
    assert bool(defined[0, 0])
    assert float(values[0, 0]) == pytest.approx(expected)
    assert float(parse(text)(np.array([[x]]))[0]) == pytest.approx(expected)


def test_nan_is_never_defined() -> None:
    values, defined = simplipy.evaluate_many([parse("exp(x1) - exp(x1)")], np.array([[1000.0], [1.0]]))
    assert defined.tolist() == [[False, True]]
    assert values[0, 1] == 0.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("text", ["x1", "atan(x1)", "0*x1", "pow(x1, 0)", "exp(-x1^2)", "1/x1", "x2 + x1"])
def test_bad_rows_are_undefined_and_alone(text: str, bad: float) -> None:
    X = np.full((9, 2), 0.5)
    clean = parse(text)(X)
    X[4, 0] = bad
    got = parse(text)(X)
    assert math.isnan(got[4])
    assert np.array_equal(np.delete(got, 4), np.delete(clean, 4))


def test_constant_expression_fills_every_row() -> None:
    assert parse("2.5")(np.zeros((3, 1))).tolist() == [2.5, 2.5, 2.5]
    assert parse("pi")(np.zeros((2, 4))).tolist() == [math.pi] * 2
    assert parse("<constant>")(np.zeros((2, 1)), constants=[7.0]).tolist() == [7.0, 7.0]


def test_constants_bind_from_the_left() -> None:
    e = parse("<constant> - <constant>/x1")
    assert e(np.array([[2.0], [4.0]]), constants=[10.0, 8.0]).tolist() == [6.0, 8.0]
    assert e(np.array([[2.0]]), constants=np.array([10, 8])).tolist() == [6.0]


LAW = "x1*sin(x3) - x2/(1 + x3^2)"


def table(n: int = 37) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, 3))


def by_hand(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * np.sin(X[:, 2]) - X[:, 1] / (1 + X[:, 2] ** 2)


@pytest.mark.parametrize(
    "n", [1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 4099]
)
def test_any_number_of_rows(n: int) -> None:
    X = table(n)
    got = parse(LAW)(X)
    assert got.shape == (n,)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, by_hand(X), rtol=1e-12, atol=1e-14)


def test_layouts_make_no_difference() -> None:
    X = table()
    wide = np.zeros((74, 6))
    wide[::2, ::2] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    expected = parse(LAW)(X)
    layouts = [np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], read_only, X.astype(">f8"), np.hstack([X, X])]
    for other in layouts:
        assert np.array_equal(parse(LAW)(other), expected)
    assert np.array_equal(parse(LAW)(X[::-1]), expected[::-1])
    assert np.array_equal(parse(LAW)(np.broadcast_to(X[:1], (5, 3))), np.repeat(expected[:1], 5))


def test_x_is_left_alone() -> None:
    X = table()
    before = X.copy()
    parse(LAW)(X)
    simplipy.evaluate_many([parse(LAW)], X)
    parse(LAW).gradient(X, wrt="variables")
    assert np.array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_integers_are_numbers(dtype: type) -> None:
    X = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype)
    assert np.array_equal(parse(LAW)(X), parse(LAW)(X.astype(float)))
    assert parse(LAW)(X).dtype == np.float64


def test_nested_lists_are_arrays() -> None:
    assert parse("x1 + x2")([[1, 2], [3, 4]]).tolist() == [3.0, 7.0]


def test_labels_that_are_numbers_bind_as_an_array() -> None:
    values = table()[:, :2]
    for labels in ([0, 1], [2, 1], [0.5, 1.5], [(0, "a"), (0, "b")]):
        frame = pd.DataFrame(values, columns=pd.Index(labels, tupleize_cols=False))
        np.testing.assert_array_equal(parse("x1 - 2*x2")(frame), parse("x1 - 2*x2")(values))
    frame = pd.DataFrame(values, columns=[2, 1])
    np.testing.assert_array_equal(parse("`1` - 3")(frame), values[:, 1] - 3)
    with pytest.raises(simplipy.EvaluationError, match="no column 'x1'"):
        parse("x1")(pd.DataFrame(values, columns=[0, "a"]))


def test_float32_in_and_out() -> None:
    X = table().astype(np.float32)
    got = parse(LAW)(X)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, by_hand(X.astype(float)), rtol=2e-5, atol=1e-6)
    assert np.isnan(parse("log(x1)")(np.array([[-1.0]], dtype=np.float32))[0])


def test_dict_of_columns() -> None:
    X = table()
    columns = {"x3": X[:, 2], "unused": X[:, 0], "x1": X[:, 0], "x2": X[:, 1].tolist()}
    assert np.array_equal(parse(LAW)(columns), parse(LAW)(X))
    named = parse("mass*sin(`my angle`)")
    np.testing.assert_allclose(named({"mass": X[:, 0], "my angle": X[:, 1]}), X[:, 0] * np.sin(X[:, 1]), rtol=1e-13)


def test_data_frame() -> None:
    pd = need("pandas")
    X = table()
    frame = pd.DataFrame({"angle": X[:, 1], "text": ["a"] * len(X), "mass": X[:, 0]})
    frame.index = range(100, 100 + len(X))
    np.testing.assert_allclose(parse("mass*sin(angle)")(frame), X[:, 0] * np.sin(X[:, 1]), rtol=1e-13)


def test_many_with_constants() -> None:
    batch = [parse("<constant>*x1"), parse("x1"), parse("<constant> + <constant>*x1")]
    values, defined = simplipy.evaluate_many(batch, np.array([[2.0], [3.0]]), constants=[[10.0], [], [1.0, 5.0]])
    assert values.tolist() == [[20.0, 30.0], [2.0, 3.0], [11.0, 16.0]]
    assert defined.all()


def test_many_with_nothing() -> None:
    values, defined = simplipy.evaluate_many([], np.zeros((4, 1)))
    assert values.shape == defined.shape == (0, 4)
    values, defined = simplipy.evaluate_many([parse("x1"), parse("1")], np.zeros((0, 1)))
    assert values.shape == defined.shape == (2, 0)


def test_many_in_float32() -> None:
    values, defined = simplipy.evaluate_many([parse("x1 + 1")], np.array([[0.5]], dtype=np.float32))
    assert values.dtype == np.float32
    assert values[0, 0] == 1.5
    assert defined[0, 0]


@pytest.mark.parametrize("n", [1, 5, 64, 1000])
def test_rows_do_not_see_each_other(n: int) -> None:
    """A row's mask depends on that row only, wherever in a block it lies."""
    X = np.full((n, 1), 2.0)
    X[n // 2] = -1.0
    _, defined = simplipy.evaluate_many([parse("log(x1)"), parse("atan(1/(x1 + 1))")], X)
    expected = np.arange(n) != n // 2
    assert (defined == expected).all()
