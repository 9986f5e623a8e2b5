"""The rows above the numbers of a table: lines before the header, names that are broken over lines, a row of units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simplipy.files.number_texts import number_of

_BRACKETS = {"[": "]", "(": ")", "{": "}", "<": ">"}
_NOT_GIVEN = frozenset("na n.a. n/a #n/a nan null none nil missing unknown ?".split())
_DIMENSIONLESS = frozenset("- – — 1".split())
_UNIT_LIKE = re.compile(r"(?=.*[^\W\d_]|.*[°%‰])[\w°%‰µ'\"/*·×.^⁻⁺⁰¹²³⁴-⁹()+−\- ]{1,24}")
_IN_SQUARE = re.compile(r".*\S\s*\[([^\[\]]+)\]\s*")
_IN_ROUND = re.compile(r".*\S\s*\(([^()]+(?:\([^()]*\)[^()]*)*)\)\s*")
_PREFIXES = tuple("YZEPTGMkhdcmµμunpfazy")
_WITH_PREFIX = frozenset(
    "m g s A K mol cd Hz N Pa J W C V F Ω Ohm ohm S Wb T H lm lx Bq Gy Sv kat eV cal bar L l t yr pc u Da rad".split()
)
_ALONE = frozenset(
    "h min d a sr deg ° °C °F degC degF % ‰ ppm ppb Å M ha psi atm torr Torr mmHg in ft yd mi lb lbs oz gal kn au AU "
    "ly dB px rpm hr hrs sec year years day days hour hours minutes seconds second mph percent".split()
)


def on_one_line(name: str) -> str:
    r"""A name without its line breaks.

    Examples
    --------
    >>> on_one_line("length\n(mm)")
    'length (mm)'
    """
    return re.sub(r"\s*[\r\n]+\s*", " ", name.strip())


def unit_in_name(name: str) -> str | None:
    """The unit at the end of a column's name: in square brackets, or a known one in round brackets.

    Examples
    --------
    >>> unit_in_name("length [m]"), unit_in_name("speed (km/h)"), unit_in_name("speed (max)")
    ('m', 'km/h', None)
    """
    square, round_ = _IN_SQUARE.fullmatch(name), _IN_ROUND.fullmatch(name)
    if square is not None:
        return _unit(square[1])
    return _unit(round_[1]) if round_ is not None and _is_known_unit(round_[1]) else None


def units_row(cells: Sequence[str], below: Sequence[Sequence[str]]) -> list[str | None] | None:
    """The unit of each column where a row holds units, otherwise None.

    Such a row has no number, but texts like units above columns of numbers; columns of texts have no unit.

    Parameters
    ----------
    cells : sequence of str
        The row below the header.
    below : sequence of sequences of str
        The rows below it; cells may be missing at their ends.

    Examples
    --------
    >>> units_row(["m", "[km/h]", ""], [["1", "2", "a"], ["3", "", "b"]])
    ['m', 'km/h', None]
    >>> units_row(["1", "2"], [["3", "4"]])
    """
    units: list[str | None] = []
    n_found = 0
    for k, cell in enumerate(cells):
        values = [row[k] for row in below if k < len(row) and not _is_gap(row[k])]
        unit = _unit(cell)
        if _is_gap(cell):
            unit = None
        elif unit is None:
            return None
        elif all(_is_number(value) for value in values):
            n_found += unit != "1" and bool(values)
        elif unit != "1" and cell.strip()[0] not in _BRACKETS:
            return None
        units.append(unit)
    return units if n_found else None


def preamble_length(rows: Sequence[Sequence[str]]) -> int:
    """Number of rows above the header of a table: those that have another number of cells than all rows below.

    There are none where such a row may be a part of the table: a row above it has as many cells as the rows below, or
    the rows below begin with numbers, and it is not prose.
    """
    if len(rows) < 2:
        return 0
    width = len(rows[-1])
    n = next((len(rows) - k for k, row in enumerate(reversed(rows)) if len(row) != width), 0)
    if width < 2 or n == 0 or n > len(rows) - 2 or any(len(row) == width for row in rows[:n]):
        return 0
    if not any(_is_number(cell) for cell in rows[n]):
        return n
    is_prose = all(len(row) == 1 for row in rows[:n]) and any(re.search(r"[\s:=]", row[0].strip()) for row in rows[:n])
    return n if is_prose and all(_is_number(cell) for cell in rows[n]) else 0


def _unit(cell: str) -> str | None:
    text = cell.strip()
    while text and text[0] in _BRACKETS and text.endswith(_BRACKETS[text[0]]):
        text = text[1:-1].strip()
    if text in _DIMENSIONLESS:
        return "1"
    return text if _UNIT_LIKE.fullmatch(text) and not _is_number(text) else None


def _is_known_unit(text: str) -> bool:
    words = [word for word in re.split(r"[\s/*·×^()\d⁻⁺⁰¹²³⁴-⁹.+−-]+", text) if word]
    return bool(words) and all(
        word in _ALONE or word in _WITH_PREFIX or (word[0] in _PREFIXES and word[1:] in _WITH_PREFIX) for word in words
    )


def _is_gap(cell: str) -> bool:
    return not cell.strip() or cell.strip().lower() in _NOT_GIVEN


def _is_number(cell: str) -> bool:
    return number_of(cell) is not None or number_of(cell, ",") is not None
