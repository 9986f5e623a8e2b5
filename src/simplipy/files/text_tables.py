"""Tables from text files as laboratories write them: separators, decimal commas, comments and headers are found out.

A note reports each finding beside the usual ones: commas, decimal points, a header, UTF-8. A column that is not numeric
keeps its text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simplipy.errors import SimplipyError

if TYPE_CHECKING:
    import pandas as pd

_BLANKS = " "  # any number of blanks and tabs
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", _BLANKS: "blanks"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "blank": _BLANKS, "space": _BLANKS}
_SAMPLE_LINES = 50
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_FORTRAN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[dD][+-]?\d+")
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
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


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
    comment = _blank_comments(lines)
    sample = [line for line in lines if line.strip()][:_SAMPLE_LINES]
    if not sample:
        raise TableError(f"{path} is empty")
    is_tsv = path.suffix.lower() in (".tsv", ".tab")
    separator = wanted.separator or ("\t" if is_tsv else _separator(sample))
    rows = [_split(line, separator) for line in sample]
    first_comma = next((cell for row in rows for cell in row if _DECIMAL_COMMA.fullmatch(cell)), None)
    has_point = any(_is_number(cell) and "." in cell for row in rows for cell in row)
    decimal = wanted.decimal or ("." if separator == "," or first_comma is None or has_point else ",")
    has_header = wanted.header
    if has_header is None:
        has_header = not all(_is_number(cell, decimal) for cell in rows[0])
    if has_header:
        names = rows[0]
        lines[lines.index(sample[0])] = ""
    else:
        names = _names(len(rows[0]), _split(comment, separator) if comment else [], wanted.header is None, notes)
    if separator != "," and not (separator == "\t" and is_tsv):
        notes.insert(0, f"columns are separated by {_NAMES.get(separator, repr(separator))}")
    if decimal == "," and wanted.decimal is None:
        notes.append(f"commas are decimal signs, as in {first_comma!r}; --decimal . says otherwise")
    frame = _frame(path, lines, separator, decimal, names, notes)
    return TextTable(_without_index(frame, notes), tuple(notes))


def why_not_numeric(column: Any) -> str | None:
    """Why a column is no numbers: its first value that is none, and its row; None for numbers, also written as text.

    Examples
    --------
    >>> import pandas as pd
    >>> why_not_numeric(pd.Series(["3", "1,000"]))
    "'1,000' in row 2 is no number: the comma is no decimal sign; write 1000"
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return "its values are complex numbers" if pd.api.types.is_complex_dtype(column) else None
    if pd.api.types.is_datetime64_any_dtype(column):
        return "its values are dates; convert them to a number such as seconds since the first"
    for row, value in enumerate(column, start=1):
        text = str(value).strip()
        try:
            float(value)
        except (TypeError, ValueError):
            hint = ""
            if _THOUSANDS.fullmatch(text):
                hint = f": the comma is no decimal sign; write {text.replace(',', '')}"
            elif _DECIMAL_COMMA.fullmatch(text):
                hint = f": write {text.replace(',', '.')}, or read the file with --decimal ,"
            elif _FORTRAN.fullmatch(text):
                hint = f": write {text.lower().replace('d', 'e')}"
            elif (plain := _plain_number(text)) is not None:
                hint = f": write {plain}"
            return f"{value!r} in row {row} is no number{hint}"
    return None


def _plain_number(text: str) -> str | None:
    """A number as programs read it, from one with a typographer's minus, blanks between digits or a per cent sign."""
    plain = re.sub(r"(?<=\d)[\s'](?=\d{3})", "", text.replace("\u2212", "-"))
    is_share = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    if plain == text or not _is_number(plain):
        return None
    return f"{float(plain) / 100:g}" if is_share else plain


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


def _blank_comments(lines: list[str]) -> str | None:
    """Empty the lines that begin with #, so that the others keep their numbers; the last one above the first row."""
    last, above = None, True
    for k, line in enumerate(lines):
        if line.lstrip().startswith("#"):
            last = line.lstrip().lstrip("#").strip() if above else last
            lines[k] = ""
        elif line.strip():
            above = False
    return last


def _separator(sample: Sequence[str]) -> str:
    """The first separator that gives every line the same number of fields, more than one."""
    for separator in ("\t", ";", ",", _BLANKS):
        widths = {len(_split(line, separator)) for line in sample}
        if len(widths) == 1 and widths != {1}:
            return separator
    return ","


def _split(line: str, separator: str) -> list[str]:
    if separator == _BLANKS:
        return line.split()
    cells = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [cell.strip() for cell in cells]


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
        called = f"columns are called {', '.join(names)}"
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


def _without_index(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
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
