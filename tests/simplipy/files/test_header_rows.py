"""Rows above the numbers: units are recognised, and lines of data are never taken for anything else."""

from __future__ import annotations

import pytest

from simplipy.files.header_rows import on_one_line, preamble_length, unit_in_name, units_row


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("length [m]", "m"),
        ("length[mm]", "mm"),
        ("speed (km/h)", "km/h"),
        ("g (m s^-2)", "m s^-2"),
        ("T (°C)", "°C"),
        ("heat (W/(m^2 K))", "W/(m^2 K)"),
        ("share [%]", "%"),
        ("ratio [-]", "1"),
        ("wave length (µm)", "µm"),
        ("speed (max)", None),
        ("f (x)", None),
        ("a(b)", None),
        ("year (2019)", None),
        ("item [3]", None),
        ("[m]", None),
        ("length", None),
    ],
)
def test_units_in_names(name: str, unit: str | None) -> None:
    assert unit_in_name(name) == unit


NUMBERS = [["1", "2.5", "a"], ["2", "", "b"], ["3", "1,000", "b"]]


@pytest.mark.parametrize(
    ("cells", "units"),
    [
        (["m", "m/s", ""], ["m", "m/s", None]),
        (["[kg]", "(s)", "-"], ["kg", "s", "1"]),
        (["m", "-", ""], ["m", "1", None]),
        (["", "seconds", ""], [None, "seconds", None]),
        (["m", "2", ""], None),  # a number
        (["m", "s", "red"], None),  # text above text: a row of data
        (["-", "-", "-"], None),  # nothing but gaps
        (["", "", ""], None),
        (["NA", "n/a", "c"], None),
        (["measured with the new device in May", "s", ""], None),
    ],
)
def test_units_row(cells: list[str], units: list[str | None] | None) -> None:
    assert units_row(cells, NUMBERS) == units


def test_without_rows_below_nothing_is_a_unit() -> None:
    assert units_row(["m", "s"], []) is None
    assert units_row(["m", "s"], [["", ""]]) is None


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("Device 7|time;mass|1;2|3;4", 1),
        ("Device 7|made: 3 May|time;mass|1;2|3;4", 2),
        ("of;three;parts|time;mass|1;2|3;4", 1),
        ("Device: 7|1;2|3;4|5;6", 1),
        ("name|1;2|3;4|5;6", 0),  # may be a header that lacks a name
        ("a;b|1;2;3|4;5;6|7;8;9", 0),
        ("a;b|red;2;3|blue;5;6|red;8;9", 0),
        ("a;b|1;2|3;4;5", 0),
        ("a;b;c|Ann;Rome|Bob;Paris;x|Eve;Oslo;y", 0),
        ("time;mass|1;2|3;4", 0),
        ("time|1|2", 0),
        ("time;mass", 0),
    ],
)
def test_preamble(text: str, n: int) -> None:
    assert preamble_length([line.split(";") for line in text.split("|")]) == n


def test_line_breaks() -> None:
    assert on_one_line("length\n(mm)") == "length (mm)"
    assert on_one_line(" a \r\n b") == "a b"
