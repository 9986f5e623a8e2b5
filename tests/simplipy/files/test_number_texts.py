"""Numbers as people write them: read in one convention a column, or not at all."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simplipy.files.number_texts import decimal_sign, number_of, numbers_from_texts, why_not_numeric


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("3.047D+00", ".", 3.047),
        ("\u22121.5", ".", -1.5),
        ("1 000", ".", 1000.0),
        ("1\u00a0000\u202f000.5", ".", 1000000.5),
        ("1'234", ".", 1234.0),
        ("12.5 %", ".", 0.125),
        ("1,234.5", ".", 1234.5),
        ("-1,234,567", ".", -1234567.0),
        ("1.234,5", ",", 1234.5),
        ("1,5e-3", ",", 0.0015),
        ("1.234", ",", 1234.0),
        ("-inf", ".", -math.inf),
        ("1,5", ".", None),
        ("12,34", ".", None),
        ("0,123", ".", None),
        ("1,2345", ".", None),
        ("1.5", ",", None),
        ("1,234.5", ",", None),
        ("1 00", ".", None),
        ("12 m", ".", None),
        ("", ".", None),
        ("e5", ".", None),
        ("0x10", ".", None),
    ],
)
def test_number_of(text: str, decimal: str, number: float | None) -> None:
    assert number_of(text, decimal) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_as_python_reads_it(value: float) -> None:
    assert number_of(repr(value)) == value


@given(st.decimals(-(10**9), 10**9, places=3))
def test_thousands_are_read_in_both_conventions(value: Decimal) -> None:
    """Python's own formatting is the oracle."""
    english = f"{value:,.3f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert number_of(english) == number_of(german, ",") == float(value)


@pytest.mark.parametrize(
    ("texts", "sign"),
    [
        (["1,5", "12"], ","),
        (["1,5", "1.234"], ","),
        (["1,000", "900"], "."),
        (["1,000", "0,5"], ","),
        (["1,000", "0.5"], "."),
        (["1,000,000"], "."),
        (["1,5", "1.5"], "."),
        ([], "."),
    ],
)
def test_decimal_sign(texts: list[str], sign: str) -> None:
    assert decimal_sign(texts) == sign
    assert decimal_sign([*texts, "name"]) == sign


def test_texts_that_show_nothing_leave_the_sign_to_the_caller() -> None:
    assert decimal_sign(["1,000"], otherwise=",") == ","
    assert decimal_sign(["1,000", "2.5"], otherwise=",") == "."


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "1,234.5", None, " "], [1.0, 1234.5, math.nan, math.nan]),
        (["12 %", "50%"], [0.12, 0.5]),
        ([1, "2", 3.5, True, pd.NA], [1.0, 2.0, 3.5, 1.0, math.nan]),
        ([Decimal("1.5"), "2"], [1.5, 2.0]),
        (["1", "x"], None),
        (["1,5", "1.5"], None),
        (["12 %", "0.5"], None),
        (["1", [2]], None),
        (["1", b"2"], None),
    ],
)
def test_columns(cells: list[object], values: list[float] | None) -> None:
    found = numbers_from_texts(cells)
    if values is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found.values, values)


def test_the_example_is_the_first_text_that_programs_do_not_read() -> None:
    assert numbers_from_texts(["1", "2.5"]).example is None
    assert numbers_from_texts(["1", "1,000", "2,000"]).example == "1,000"
    assert numbers_from_texts(["1,000"], decimal=",").values.tolist() == [1.0]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([1, 2], None),
        ([True, False], None),
        (["1", "x"], "'x' in row 2 is no number"),
        (["1,5", "x"], "'x' in row 2 is no number"),
        (["1.5", "1,5"], "'1,5' in row 2 is no number: write 1.5"),
        (["1,5"], None),
        (["1,000,000"], None),
        (["1", 2.5], None),
        (["1", "2", "3 %"], "'3 %' in row 3 is in per cent and others are not"),
        ([1j], "its values are complex numbers"),
        (pd.to_datetime(["2020-01-01"]), "its values are dates; convert them to a number such as seconds"),
        (pd.to_timedelta(["1 h"]), "its values are dates; convert them to a number such as seconds"),
        ([np.str_("a")], "'a' in row 1 is no number"),
    ],
)
def test_why_a_column_is_not_numeric(values: object, why: str | None) -> None:
    found = why_not_numeric(pd.Series(values))
    assert found == why if why is None else found.startswith(why)
