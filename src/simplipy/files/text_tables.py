"""Tables from text files as laboratories write them: separators, decimal commas, comments and headers are found out.

A note reports each finding beside the usual ones: commas, decimal points, a header, UTF-8. A column that is not numeric
keeps its text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simplipy.errors import SimplipyError
from simplipy.files.header_rows import on_one_line, preamble_length, unit_in_name, units_row
from simplipy.files.number_texts import decimal_sign, number_of, numbers_from_texts

if TYPE_CHECKING:
    import pandas as pd

_BLANKS = " "  # any number of blanks and tabs
_BAR = "|"
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", _BLANKS: "blanks", _BAR: "bars"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "blank": _BLANKS, "space": _BLANKS, "bar": _BAR}
_SAMPLE_LINES = 200
_MOST_LINES_OF_A_CELL = 20
_BEGINS_CELL = re.compile(r"""(?:^|[,;\t|])[ ]*"(?!")""")
_OF_RULES = " \t|:+=-"  # the characters of lines that are drawn below a header
_NEWLINE = re.compile(r"\r\n|\r|\n")  # not all that str.splitlines takes for one
_NOT_IN_WINDOWS = set(b"\x81\x8d\x8f\x90\x9d")  # bytes that stand for no letter there
_INDEX_NAMES = ("", "Unnamed: 0")


class TableError(SimplipyError):
    """A file that is no table, or a table without what is asked for."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table that was read.

    Attributes
    ----------
    frame : DataFrame
    notes : tuple of str
        Assumptions about facts that the file does not state.
    units : mapping of str to str
        Units by column, as the file writes them: in a row below the header, or in the names of the columns.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """Format of a file; each entry that is None is found out.

    Attributes
    ----------
    separator : str or None
        One character, or one of the words comma, semicolon, tab, blank.
    decimal : str or None
        "." or ",".
    header : bool or None
        Whether the first line has names.
    """

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            known = _WORDS.get(self.separator, self.separator)
            if len(known) != 1:
                words = ", ".join(word for word in _WORDS if word.isalpha())
                raise TableError(f"the separator must be one character or one of {words}, got {self.separator!r}")
            object.__setattr__(self, "separator", known)
        if self.decimal not in (None, ".", ","):
            raise TableError(f"the decimal sign must be '.' or ',', got {self.decimal!r}")
        if self.decimal == "," and self.separator == ",":
            raise TableError("a comma cannot both separate columns and begin decimals")


def read_text_table(path: Path, wanted: TextFormat | None = None) -> TextTable:
    """The table of a text file.

    Raises
    ------
    TableError
        When the file is no table; the message names the line.
    """
    wanted = wanted or TextFormat()
    notes: list[str] = []
    lines = _NEWLINE.split(_text(path, notes))
    _join_quoted(lines)
    comment = _blank_comments(lines)
    places = [k for k, line in enumerate(lines) if line.strip()][:_SAMPLE_LINES]
    if not places:
        raise TableError(f"{path} is empty")
    is_tsv = path.suffix.lower() in (".tsv", ".tab")
    separator = wanted.separator or ("\t" if is_tsv else _separator([lines[k] for k in places]))
    if separator != "," and not (separator == "\t" and is_tsv):
        notes.append(f"columns are separated by {_NAMES.get(separator, repr(separator))}")
    if separator == _BAR:
        _strip_bars(lines)
    rows = [_split(lines[k], separator) for k in places]
    n_above = preamble_length(rows)
    if n_above:
        notes.append(f"lines above the table were left out, the first of {n_above}: {lines[places[0]].strip()!r}")
        _blank(lines, places[:n_above])
        places, rows = places[n_above:], rows[n_above:]
    decimal, first_comma = _decimal(rows, separator, wanted.decimal)
    has_header = wanted.header
    if has_header is None:
        has_header = not all(_is_number(cell, decimal) for cell in rows[0])
    units: dict[str, str] = {}
    if has_header:
        names = [on_one_line(name) for name in rows[0]]
        found = units_row(rows[1], rows[2:]) if len(rows) > 2 and len(rows[1]) == len(names) else None
        units = units_of(names, found)
        _blank(lines, places[: 1 if found is None else 2])
    else:
        names = _names(len(rows[0]), _split(comment, separator) if comment else [], wanted.header is None, notes)
    if decimal == "," and wanted.decimal is None:
        notes.append(f"commas are decimal signs, as in {first_comma!r}; --decimal . says otherwise")
    frame = without_index(_frame(path, lines, separator, decimal, names, notes), notes)
    read_numbers(frame, decimal, notes)
    return TextTable(frame, tuple(notes), units)


def read_numbers(frame: pd.DataFrame, decimal: str | None, notes: list[str]) -> None:
    """Make numbers of the columns with texts of numbers, such as 1,234.5, and leave no blanks around other texts."""
    import pandas as pd

    for k, name in enumerate(frame.columns):
        column = frame.iloc[:, k]
        if not pd.api.types.is_string_dtype(column) and column.dtype != object:
            continue
        numbers = numbers_from_texts(column, decimal)
        if numbers is None:
            frame.isetitem(k, [cell.strip() if isinstance(cell, str) else cell for cell in column])
        else:
            frame.isetitem(k, numbers.values)
            if numbers.example is not None:
                number = number_of(numbers.example, numbers.decimal)
                notes.append(f"column {name!r} was read as numbers: {numbers.example!r} as {number:.15g}")


def units_of(names: Sequence[str], in_row: Sequence[str | None] | None = None) -> dict[str, str]:
    """Units by column: of a row of units, otherwise of the name itself."""
    found = in_row or [None] * len(names)
    units = {name: unit or unit_in_name(name) for name, unit in zip(names, found, strict=True)}
    return {name: unit for name, unit in units.items() if unit is not None}


def _text(path: Path, notes: list[str]) -> str:
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\x00" in content:
        raise TableError(f"{path} is no table: it is binary, not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        code, name = ("latin-1", "Latin-1") if _NOT_IN_WINDOWS & set(content) else ("cp1252", "Windows-1252")
        notes.append(f"the file is not UTF-8 and was read as {name}")
        return content.decode(code)


def _join_quoted(lines: list[str]) -> None:
    """Write a cell in quotes that has line breaks on its first line; the others are emptied and keep their numbers."""
    for k, line in enumerate(lines):
        if line.count('"') % 2 and _BEGINS_CELL.search(line):
            end = k + 1
            while end < min(len(lines), k + _MOST_LINES_OF_A_CELL) and lines[end].count('"') % 2 == 0:
                end += 1
            if end < len(lines) and lines[end].count('"') % 2:
                lines[k] = on_one_line("\n".join(lines[k : end + 1]))
                _blank(lines, range(k + 1, end + 1))


def _blank(lines: list[str], places: Iterable[int]) -> None:
    """Empty lines, so that the others keep their numbers."""
    for k in places:
        lines[k] = ""


def _blank_comments(lines: list[str]) -> str | None:
    """Empty the lines that begin with #, and rules; the last comment above the first row."""
    last, above = None, True
    for k, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            last = line.lstrip().lstrip("#").strip() if above else last
            lines[k] = ""
        elif ("---" in line or "===" in line) and not line.strip(_OF_RULES):
            lines[k] = ""
        elif line.strip():
            above = False
    return last


def _separator(sample: Sequence[str]) -> str:
    """The first separator that gives every line the same number of fields, more than one.

    Where none does, the one with the fewest lines above such a table.
    """
    fewest, found = len(sample), ","
    for separator in ("\t", ";", _BAR, ",", _BLANKS):
        rows = [_split(line, separator) for line in sample]
        widths = {len(row) for row in rows}
        if len(widths) == 1 and widths != {1}:
            return separator
        if 0 < preamble_length(rows) < fewest:
            fewest, found = preamble_length(rows), separator
    return found


def _strip_bars(lines: list[str]) -> None:
    """Remove the bars at both ends, where every line has them."""
    if all(line.strip()[0] == line.strip()[-1] == _BAR for line in lines if line.strip()):
        lines[:] = [line.strip()[1:-1] for line in lines]


def _split(line: str, separator: str) -> list[str]:
    if separator == _BLANKS:
        return line.split()
    cells = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [cell.strip() for cell in cells]


def _decimal(rows: Sequence[Sequence[str]], separator: str, wanted: str | None) -> tuple[str, str | None]:
    """The decimal sign, and the first cell with a decimal comma."""
    cells = [cell for row in rows for cell in row]
    first_comma = next((cell for cell in cells if "," in cell and number_of(cell, ",") is not None), None)
    if wanted is not None or separator == "," or first_comma is None:
        return wanted or ".", first_comma
    return decimal_sign(cells, otherwise=","), first_comma


def _is_number(cell: str, decimal: str = ".") -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True


def _names(n_columns: int, in_comment: list[str], was_found_out: bool, notes: list[str]) -> list[str]:
    """Names of the columns of a table without a header: those in the comment above it, or x1, x2, ..."""
    if len(in_comment) == n_columns > 0 and not all(_is_number(cell) for cell in in_comment):
        notes.append(f"names of columns are taken from the comment: {', '.join(in_comment)}")
        return in_comment
    names = [f"x{k}" for k in range(1, n_columns + 1)]
    if was_found_out:
        called = f"columns are called {', '.join(names) if n_columns < 10 else f'x1 to x{n_columns}'}"
        notes.append(f"the first line has numbers only, so {called}; --header says otherwise")
    return names


def _frame(
    path: Path, lines: Sequence[str], separator: str, decimal: str, names: list[str], notes: list[str]
) -> pd.DataFrame:
    import pandas as pd

    if not any(line.strip() for line in lines):
        return pd.DataFrame(columns=names)
    try:
        frame = pd.read_csv(
            io.StringIO("\n".join(lines)),
            sep=r"\s+" if separator == _BLANKS else separator,
            decimal=decimal,
            header=None,
            skipinitialspace=True,
        )
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise TableError(f"{path} is no table: {' '.join(str(error).split())}") from None
        expected, line, saw = found.groups()
        why = f"line {line} has {saw} fields, the lines above it have {expected}"
        raise TableError(f"{path} is no table: {why}") from None
    if frame.shape[1] == len(names) + 1 and frame.iloc[:, -1].isna().all():
        notes.append("rows end with a separator that the header does not have")
        frame = frame.iloc[:, :-1]
    if len(names) != frame.shape[1]:
        raise TableError(
            f"{path} is no table: its header has {len(names)} names, its rows have {frame.shape[1]} fields; "
            "--sep names the separator where it was not found out"
        )
    return frame.set_axis(names, axis=1)


def without_index(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """The table without columns that have no name: an index in front, from 0 or as in R from 1, and empty ones."""
    kept = []
    for k, name in enumerate(frame.columns):
        column = frame.iloc[:, k]
        first = column.iloc[0] if k == 0 and name in _INDEX_NAMES and len(frame) > 1 else None
        if first in (0, 1) and column.tolist() == list(range(first, first + len(frame))):
            notes.append(f"the first column is an index {first}, {first + 1}, ... without a name and was left out")
        elif name == "" and column.isna().all():
            notes.append(f"column {k + 1} has neither a name nor values and was left out")
        else:
            kept.append(k)
    frame = frame.iloc[:, kept]
    return frame.set_axis([name or f"column {k + 1}" for k, name in zip(kept, frame.columns, strict=True)], axis=1)
