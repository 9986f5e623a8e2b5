"""Tables from Excel files: one sheet, with a title above the header and a row of units below it where there are."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from simplipy.files.header_rows import on_one_line, units_row
from simplipy.files.number_texts import is_missing
from simplipy.files.text_tables import TableError, TextFormat, TextTable, read_numbers, units_of, without_index

_SAMPLE_ROWS = 200
# of the widest row's cells, a header fills as many or more
_HEADER_SHARE = 0.75


def read_workbook(path: Path, sheet: str | None = None, text_format: TextFormat | None = None) -> TextTable:
    """The table of one sheet.

    Parameters
    ----------
    sheet : str, optional
        Its name, or its number, from 1; without it the first sheet is read, and a note says so.
    text_format : TextFormat, optional
        Whether there is a header, and the decimal sign of numbers that are texts.
    """
    wanted = text_format or TextFormat()
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about parts of the file, such as styles, that are not read
        with pd.ExcelFile(path, engine="openpyxl") as book:
            chosen = _sheet(path, [str(name) for name in book.sheet_names], sheet, notes)
            cells = book.parse(chosen, header=None, dtype=object)
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if cells.empty:
        raise TableError(f"{path} has no rows in the sheet {chosen!r}; --sheet names another sheet")
    rows = [["" if is_missing(cell) else str(cell) for cell in row] for row in cells.head(_SAMPLE_ROWS).to_numpy()]
    top = _header_row(rows)
    if top:
        notes.append(f"rows above the table were left out, the first of {top}: {' '.join(rows[0]).strip()!r}")
    has_header, units, body = wanted.header, {}, top
    if has_header is None:
        has_header = any(isinstance(cell, str) and cell.strip() for cell in cells.iloc[top])
    if has_header:
        names = [on_one_line(name) for name in rows[top]]
        found = units_row(rows[top + 1], rows[top + 2 :]) if len(rows) > top + 2 else None
        units, body = units_of(names, found), top + (1 if found is None else 2)
    else:
        names = [f"x{k}" for k in range(1, cells.shape[1] + 1)]
        notes.append(f"the first row has numbers only, so columns are called x1 to x{len(names)}")
    frame = cells.iloc[body:].set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    frame = without_index(frame, notes)
    read_numbers(frame, wanted.decimal, notes)
    return TextTable(frame, tuple(notes), units)


def _sheet(path: Path, names: Sequence[str], wanted: str | None, notes: list[str]) -> str:
    """The name of the sheet that is to be read."""
    known = ", ".join(map(repr, names))
    if wanted is None:
        if len(names) > 1:
            notes.append(f"the file has the sheets {known}; the first was read, and --sheet names another")
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    near = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise TableError(f"{path} has no sheet {wanted!r}; {hint}sheets are: {known}, or their numbers from 1")


def _header_row(rows: Sequence[Sequence[str]]) -> int:
    """The first row that fills about as many columns as any; titles fill fewer."""
    filled = [sum(bool(cell) for cell in row) for row in rows]
    return next(k for k, n in enumerate(filled) if n >= _HEADER_SHARE * max(filled))
