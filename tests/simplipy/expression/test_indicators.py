"""Indicators, (colour == "red"): variables that print as a comparison, parse back, and bind to columns of texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from simplipy.expression.indicators import indicator_name, indicator_parts, level_of

FRAME = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "my colour": ["red", " red", "dark blue", None]})
LAW = '2*x + 3*(`my colour` == "red")'

names = st.text(min_size=1, max_size=12).filter(lambda t: "\0" not in t and t.isprintable())


@given(names, names)
def test_every_name_is_printed_and_parsed_back(column: str, level: str) -> None:
    name = indicator_name(column, level)
    assert indicator_parts(name) == (column, level)
    e = simplipy.parse(["+", "x1", simplipy.expression.operators.variable_token(name)])
    assert e.variables == ("x1", name)
    assert e.infix() == f"x1 + {name}"
    assert simplipy.parse(e.infix()) == simplipy.parse(e.tokens) == e


@pytest.mark.parametrize(
    ("text", "infix"),
    [
        ('( colour=="red" )', '(colour == "red")'),
        ('2*(`a b` == "c ""d""")^2', '2*(`a b` == "c ""d""")^2'),
        ('sin((colour == "red"))', 'sin((colour == "red"))'),
        ('-(c == "x")/((c == "y") + 1)', '-(c == "x")/((c == "y") + 1)'),
        ('(`sin` == "a")', '(`sin` == "a")'),
        ('(x1 == "a") + x1', '(x1 == "a") + x1'),
    ],
)
def test_infix(text: str, infix: str) -> None:
    assert simplipy.parse(text).infix() == infix
    assert simplipy.parse(infix) == simplipy.parse(text)


@pytest.mark.parametrize(
    "text", ['colour == "red"', "(colour == red)", '(colour = "red")', '(colour == "red"', '("a" == c)']
)
def test_other_comparisons_are_refused(text: str) -> None:
    with pytest.raises(simplipy.ParseError, match="position"):
        simplipy.parse(text)


def test_other_names_have_no_parts() -> None:
    for name in ("colour", "x1", '(colour=="red")', 'colour == "red"', "(a)", ""):
        assert indicator_parts(name) is None


def test_values_come_from_the_column_of_texts() -> None:
    e = simplipy.parse(LAW)
    wanted = [5.0, 7.0, 6.0, np.nan]
    np.testing.assert_array_equal(e(FRAME), wanted)
    np.testing.assert_array_equal(e.numpy()(FRAME), wanted)
    np.testing.assert_array_equal(e({"x": FRAME["x"], "my colour": list(FRAME["my colour"])}), wanted)
    np.testing.assert_array_equal(e({"x": [1.0], '(`my colour` == "red")': [0.5]}), [3.5])
    np.testing.assert_array_equal(e(FRAME.assign(**{"my colour": FRAME["my colour"].astype("category")})), wanted)
    numbers = pd.DataFrame({"cylinders": [4, 6, 4]})
    np.testing.assert_array_equal(simplipy.parse('(cylinders == "4")')(numbers), [1.0, 0.0, 1.0])


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(simplipy.EvaluationError, match="no column 'my colour' in the data; columns are: x"):
        simplipy.parse(LAW)(FRAME[["x"]])
    twice = pd.DataFrame([["a", "b"]], columns=["c", "c"])
    with pytest.raises(simplipy.EvaluationError, match="column 'c' is there more than once"):
        simplipy.parse('(c == "a")')(twice)


def test_other_systems() -> None:
    e = simplipy.parse(LAW)
    assert simplipy.from_sympy(e.to_sympy()) == e
    assert e.latex() == r"2 x + 3 [\mathrm{my\ colour} = \text{red}]"
    assert simplipy.parse('(k_1 == "50 % & {a}")').latex() == r"[k_{1} = \text{50 \% \& \{a\}}]"
    assert simplipy.parse(simplipy.simplify('(c == "a") + (c == "a")')) == simplipy.parse('2*(c == "a")')
    assert e.diff("x").infix() == "2"


def test_levels_are_texts_without_blanks_around() -> None:
    assert [level_of(cell) for cell in (" a b ", 4, 4.0, True, None, np.nan, pd.NA, pd.NaT, " ")] == [
        *("a b", "4", "4.0", "True"),
        *(None,) * 5,
    ]
