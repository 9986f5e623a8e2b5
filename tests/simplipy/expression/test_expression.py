"""Expression as a value: immutable, hashable, its measures, and the expressions made from it."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from tests.oracle import is_number

parse = simplipy.parse


def test_not_equal_to_other_things() -> None:
    e = parse("x1 + 1")
    assert e != "x1 + 1"
    assert e != ["+", "x1", "1"]
    assert e != 1
    assert e != None  # noqa: E711
    assert parse("x1 + x2") != parse("x2 + x1")


@pytest.mark.parametrize("name", ["tokens", "depth", "variables", "n_constants", "something_new"])
def test_immutable(name: str) -> None:
    e = parse("x1 + <constant>")
    with pytest.raises((AttributeError, TypeError)):
        setattr(e, name, 3)


def test_tokens_are_the_callers() -> None:
    e = parse("x1 + x2")
    copied = e.tokens
    if isinstance(copied, list):
        copied[0] = "*"
    assert list(e.tokens) == ["+", "x1", "x2"]


def test_repr_and_notebook() -> None:
    e = parse("x1*sin(x2)")
    assert "sin(x2)" in repr(e)
    rendered = e._repr_latex_()
    assert rendered.startswith("$")
    assert rendered.endswith("$")
    assert "\\sin" in rendered


@pytest.mark.parametrize(("text", "depth"), [("x1", 1), ("sin(x1)", 2), ("x1 + sin(x2)", 3), ("x1 + x2 + x3", 3)])
def test_depth(text: str, depth: int) -> None:
    assert parse(text).depth == depth


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("1 + <constant>", ()),
        ("x10 + x2 + x1", ("x1", "x2", "x10")),
        ("b + x3 + a + x1", ("x1", "x3", "a", "b")),
        ("alpha10 + alpha2 + alpha1", ("alpha1", "alpha2", "alpha10")),
        ("`my var` + x1 + `sin`", ("x1", "my var", "sin")),
        ("x1*x1*x1", ("x1",)),
        ("pi*e*x2", ("x2",)),
        ("t2s10 + t2s9 + t1s99", ("t1s99", "t2s9", "t2s10")),
    ],
)
def test_variables(text: str, variables: tuple[str, ...]) -> None:
    assert parse(text).variables == variables
    assert isinstance(parse(text).variables, tuple)


def test_with_constants_spells_numbers_shortly() -> None:
    e = parse("<constant>*x1 + <constant>")
    assert list(e.with_constants([0.1, -3]).tokens) == ["+", "*", "0.1", "x1", "-3"]
    assert e.with_constants((2.0, 0.5)) == parse("(2)*x1 + 0.5")
    assert e.with_constants(np.array([2.0, 0.5])) == parse("(2)*x1 + 0.5")


def test_skeleton_and_with_constants_are_inverse() -> None:
    e = parse("2.5*sin(0.1*x1 - 7) + x2^3.25")
    numbers = [float(t) for t in e.tokens if is_number(t)]
    assert e.skeleton().with_constants(numbers) == e


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0]])
def test_with_constants_wants_the_right_number(values: list[float]) -> None:
    with pytest.raises(simplipy.SimplipyError, match="2"):
        parse("<constant>*x1 + <constant>").with_constants(values)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_with_constants_wants_finite_numbers(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        parse("<constant>*x1").with_constants([value])


def test_rename_is_simultaneous() -> None:
    assert parse("x1 - x2").rename({"x1": "x2", "x2": "x1"}) == parse("x2 - x1")
    assert parse("x1 + x2*x3").rename({"x1": "mass"}) == parse("mass + x2*x3")


def test_rename_takes_plain_names() -> None:
    e = parse("x1 + `my var`").rename({"x1": "sin", "my var": "x7"})
    assert e == parse("`sin` + x7")
    assert e.variables == ("x7", "sin")


def test_rename_may_merge() -> None:
    assert parse("x1 - x2").rename({"x1": "v", "x2": "v"}) == parse("v - v")


@pytest.mark.parametrize(("text", "by"), [("x1", "x2"), ("3", "x1"), ("sin(x2)^2", "x1")])
def test_diff_by_what_is_absent_is_zero(text: str, by: str) -> None:
    slope = parse(text).diff(by)
    assert slope(np.full((3, 2), 0.5)).tolist() == [0.0, 0.0, 0.0]


def test_diff_gives_an_expression_of_the_same_kind() -> None:
    slope = parse("x1^2*speed").diff("speed")
    assert isinstance(slope, simplipy.Expression)
    assert slope({"x1": np.array([3.0]), "speed": np.array([7.0])}).tolist() == [9.0]


def test_diff_by_a_backquoted_name() -> None:
    slope = parse("`my var`^2").diff("my var")
    assert slope({"my var": np.array([3.0])}).tolist() == [6.0]
