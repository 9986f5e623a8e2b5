"""What is wrong with an input is said by a typed error with its position and remedy; fuzzed parsers never crash."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import simplipy
from tests.needs import need

parse = simplipy.parse
LAW = "x1*x2 + <constant>"


def test_one_tree_of_exceptions() -> None:
    for kind in (simplipy.ParseError, simplipy.EvaluationError):
        assert issubclass(kind, simplipy.SimplipyError)
        assert issubclass(kind, ValueError)
    assert issubclass(simplipy.SimplipyError, Exception)
    assert not issubclass(simplipy.ParseError, simplipy.EvaluationError)


def caret_column(message: str, text: str) -> int:
    """Where the caret line points to in the text that is quoted above it."""
    lines = message.splitlines()
    for above, below in itertools.pairwise(lines):
        if text in above and below.strip(" ^~") == "" and "^" in below:
            return below.index("^") - above.index(text)
    raise AssertionError(f"no caret line under {text!r} in:\n{message}")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("x1 + * x2", {5}),
        ("x1 + $", {5}),
        ("x1 x2", {3}),
        ("2 x1", {2}),
        ("x1 +", {3, 4}),
        ("sin(x1", {3, 6}),
        ("x1)", {2}),
        (")", {0}),
        ("(x1 + x2", {0, 8}),
        ("()", {0, 1}),
        ("sin()", {3, 4}),
        ("sinn(x1)", {0}),
        ("x1 + frobnicate(x2)", {5}),
        ("sin(x1, x2)", {0, 6, 8}),
        ("pow(x1)", {0, 3, 6}),
        ("pow(x1, x2, x3)", {0, 10, 12}),
        ("x1 + `open", {5, 10}),
        ("x1 ++", {4, 5}),
        ("1.2.3", {3, 0}),
        ("x1^", {2, 3}),
        ("*x1", {0}),
        ("<const>", {0}),
        ("x1 = 2", {3}),
        ("sin x1", {0, 3, 4}),
        ("x1, x2", {2}),
        ("1e400*x1", {0}),
        ("[x1]", {0}),
    ],
)
def test_caret_points_at_the_mistake(text: str, columns: set[int]) -> None:
    with pytest.raises(simplipy.ParseError) as caught:
        parse(text)
    message = str(caught.value)
    assert caret_column(message, text) in columns, message
    assert any(char.isdigit() for char in message.replace(text, "")), f"no position: {message}"


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("sinn(x1)", "sin"),
        ("sqr(x1)", "sqrt"),
        ("arctan(x1)", "a?tan"),
        ("lgo(x1)", "log"),
        ("tahn(x1)", "tanh"),
        ("pow1_6(x1)", "pow1_[2-5]"),
    ],
)
def test_unknown_function_names_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(simplipy.ParseError) as caught:
        parse(text)
    assert re.search(rf"\b{nearest}\b", str(caught.value)), caught.value


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_empty_text(text: str) -> None:
    with pytest.raises(simplipy.ParseError, match="empty"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "x1\0",
        "\0",
        "\ud800",
        "x1 + \udcff",
        "`\ud800`",
        "x1\u202e",
        "x1 \N{MULTIPLICATION SIGN} x2",
        "\N{SUPERSCRIPT TWO}",
    ],
)
def test_odd_characters(text: str) -> None:
    with pytest.raises(simplipy.ParseError):
        parse(text)


def test_caret_counts_characters_not_bytes() -> None:
    text = "`größe` + $"
    with pytest.raises(simplipy.ParseError) as caught:
        parse(text)
    assert caret_column(str(caught.value), text) == 10


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ([], ["empty"]),
        (["+", "x1"], ["+"]),
        (["+", "x1", "sin"], ["sin"]),
        (["sin"], ["sin", "1"]),
        (["x1", "x2"], ["x2"]),
        (["sin", "x1", "x2"], ["x2"]),
        (["+", "x1", "x 2"], ["x 2"]),
        (["+", "x1", "2*x2"], ["2*x2"]),
        (["+", "x1", ""], []),
        (["+", "x1", "`open"], ["`open"]),
        (["+", "x1", "1e999"], ["1e999"]),
        (["+", "x1", "<konstant>"], ["<konstant>"]),
        (["+", "x1", "x2)"], ["x2)"]),
        (["^", "x1", "x2"], ["^"]),
        (["`a`b`"], []),
    ],
)
def test_bad_tokens(prefix: list[str], words: list[str]) -> None:
    with pytest.raises(simplipy.ParseError) as caught:
        parse(prefix)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    if prefix:
        assert any(char.isdigit() for char in message), f"no position: {message}"


def test_unknown_token_names_the_nearest() -> None:
    with pytest.raises(simplipy.ParseError, match=r"pow1_[2-5]"):
        parse(["pow1_6(", "x1"])


@pytest.mark.parametrize(
    "source",
    [
        "a" + "é" * 99 + "(x1)",
        ["a" + "é" * 99 + " "],
        ["`a" + "é" * 99],
        ["x1", "a" + "é" * 99],
        ["a\0b"],
        ["x1", "`a\0b`"],
        ["+", "a" * 100_000],
    ],
)
def test_messages_show_whole_characters_and_no_control_characters(source: object) -> None:
    with pytest.raises(simplipy.ParseError) as caught:
        parse(source)
    message = str(caught.value)
    assert all(char.isprintable() or char == "\n" for char in message)
    assert 30 < len(message) < 500


@pytest.mark.parametrize(
    "thing", [None, 3, 2.5, b"x1", object(), [1, 2], ["x1", None], [["x1"]], {"x1": 1}, [b"x1"], iter(())]
)
def test_not_an_expression_at_all(thing: object) -> None:
    with pytest.raises((simplipy.ParseError, TypeError)) as caught:
        parse(thing)
    assert str(caught.value)


def calls(e: simplipy.Expression, X: object, constants: object) -> list:
    """The ways to evaluate, all of which check their input alike."""
    return [
        lambda: e(X, constants=constants),
        lambda: e.gradient(X, constants, wrt="constants"),
        lambda: e.gradient(X, constants, wrt="variables"),
        lambda: simplipy.evaluate_many([e], X, constants=None if constants is None else [constants]),
    ]


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((3, 1)), ["x2", "column"]),
        (np.zeros((3, 0)), ["column"]),
        (np.zeros((3, 2, 2)), ["2"]),
        (np.float64(3.0), []),
        ({"x1": [1.0, 2.0]}, ["x2"]),
        ({"x1": [1.0, 2.0], "x2": [1.0]}, ["x2|length|rows"]),
        ({}, ["x1"]),
    ],
    ids=["too few columns", "no columns", "3-D", "scalar", "missing key", "ragged", "empty dict"],
)
def test_wrong_shapes(way: int, X: object, words: list[str]) -> None:
    with pytest.raises(simplipy.EvaluationError) as caught:
        calls(parse(LAW), X, [1.0])[way]()
    for word in words:
        assert re.search(word, str(caught.value)), caught.value


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize(
    "X",
    [
        np.array([["a", "b"]]),
        np.array([[1j, 2.0]]),
        np.array([[object(), 1.0]], dtype=object),
        None,
        "x1",
        [[1.0], [1.0, 2.0]],
    ],
    ids=["text", "complex", "objects", "None", "string", "ragged list"],
)
def test_wrong_types(way: int, X: object) -> None:
    with pytest.raises((simplipy.EvaluationError, TypeError)):
        calls(parse(LAW), X, [1.0])[way]()


def test_object_array_of_numbers_works() -> None:
    X = np.array([[1, 2.5], [3, 4]], dtype=object)
    assert parse("x1 + x2")(X).tolist() == [3.5, 7.0]


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("constants", [[], [1.0, 2.0], None, [[1.0, 2.0]]], ids=["none", "two", "missing", "2-D"])
def test_wrong_number_of_constants(way: int, constants: object) -> None:
    with pytest.raises(simplipy.EvaluationError, match="constant"):
        calls(parse(LAW), np.ones((3, 2)), constants)[way]()


def test_constants_for_an_expression_without() -> None:
    with pytest.raises(simplipy.EvaluationError, match="constant"):
        parse("x1")(np.ones((3, 1)), constants=[1.0])
    assert parse("x1")(np.ones((3, 1)), constants=[]).tolist() == [1.0] * 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_constants_that_are_not_finite_leave_it_undefined(value: float) -> None:
    e = parse("atan(<constant>)*x1")
    X = np.ones((3, 1))
    values, defined = simplipy.evaluate_many([e], X, constants=[[value]])
    assert not defined.any()
    for got in (e(X, constants=[value]), values, e.gradient(X, [value]), e.gradient(X, [value], wrt="variables")):
        assert np.isnan(got).all()


def test_constants_that_are_text() -> None:
    with pytest.raises((simplipy.EvaluationError, TypeError)):
        parse("<constant>*x1")(np.ones((3, 1)), constants=["a"])


def test_names_need_columns_with_names() -> None:
    with pytest.raises(simplipy.EvaluationError, match="mass"):
        parse("mass*x1")(np.ones((3, 2)))


def test_missing_column_of_a_frame_is_named() -> None:
    pd = need("pandas")
    with pytest.raises(simplipy.EvaluationError, match="mass"):
        parse("mass*x1")(pd.DataFrame({"x1": [1.0], "mas": [2.0]}))


def test_text_column_of_a_frame_is_named() -> None:
    pd = need("pandas")
    with pytest.raises((simplipy.EvaluationError, TypeError), match="mass"):
        parse("mass + 1")(pd.DataFrame({"mass": ["a", "b"]}))


@pytest.mark.parametrize("way", range(4))
def test_zero_rows_simply_work(way: int) -> None:
    result = calls(parse(LAW), np.zeros((0, 2)), [1.0])[way]()
    shapes = [r.shape for r in result] if isinstance(result, tuple) else [result.shape]
    assert shapes == [[(0,)], [(0, 1)], [(0, 2)], [(1, 0), (1, 0)]][way]


def test_evaluate_many_wants_expressions() -> None:
    with pytest.raises((simplipy.SimplipyError, TypeError)):
        simplipy.evaluate_many([3], np.ones((1, 1)))
    with pytest.raises((simplipy.SimplipyError, TypeError)):
        simplipy.evaluate_many(None, np.ones((1, 1)))


def test_evaluate_many_wants_constants_for_each() -> None:
    batch = [parse("<constant>*x1"), parse("<constant>")]
    for constants in ([[1.0]], [[1.0], [1.0, 2.0]], None, [[1.0], []]):
        with pytest.raises(simplipy.EvaluationError, match="constant"):
            simplipy.evaluate_many(batch, np.ones((2, 1)), constants=constants)


@pytest.mark.parametrize("mapping", [{"x1": 3}, {"x1": ""}, {1: "x2"}, None, ["x1"]])
def test_bad_rename(mapping: object) -> None:
    with pytest.raises((simplipy.SimplipyError, TypeError, ValueError, AttributeError)):
        parse("x1 + 1").rename(mapping)


def test_memory_is_not_read_beyond_the_rows() -> None:
    """An empty slice of a large array, and rows with a stride of 0 or below."""
    big = np.arange(12.0).reshape(6, 2)
    assert parse("x1 + x2")(big[6:]).shape == (0,)
    assert parse("x1 + x2")(big[::-2]).tolist() == [21.0, 13.0, 5.0]
    assert parse("x1 + x2")(np.lib.stride_tricks.as_strided(big, (3, 2), (0, 8))).tolist() == [1.0] * 3


def test_parse_many_wants_texts() -> None:
    for things in (["x1", 3], None, 5, "x1"):
        with pytest.raises((simplipy.ParseError, TypeError)):
            simplipy.parse_many(things)
