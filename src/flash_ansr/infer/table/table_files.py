"""Tables from files: text, Excel, Parquet and NumPy archives, as DataFrames. Chooses nothing silently."""

from __future__ import annotations

import difflib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flash_ansr.infer.table.workbooks import read_workbook
from simplipy.files.number_texts import is_time, numbers_from_texts, why_not_numeric
from simplipy.files.output_files import replacing
from simplipy.files.text_tables import TableError, TextFormat, TextTable, read_text_table, units_of

_TEXT = (".csv", ".txt", ".dat", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xlsm")
_OTHER_SPREADSHEETS = (".xls", ".xlsb", ".ods", ".numbers")
_NO_PARQUET = "Parquet files need pyarrow: pip install 'flash-ansr[parquet]'"
_NO_EXCEL = "Excel files need openpyxl: pip install 'flash-ansr[excel]'"
KNOWN_SUFFIXES = (*_TEXT, *_EXCEL, *_PARQUET, ".npz")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of a table that a law is sought in.

    Attributes
    ----------
    features : DataFrame
    target : Series
    left_out : dict of str to str
        Columns that no numbers can be made of, and why.
    """

    features: pd.DataFrame
    target: pd.Series[Any]
    left_out: dict[str, str] = field(default_factory=dict)


def read_table_file(path: Path, text_format: TextFormat | None = None, sheet: str | None = None) -> TextTable:
    """The table of a file, and what was found out about it.

    A NumPy archive holds ``X`` (n_rows, n_columns), whose columns become x1, x2, ..., and arrays (n_rows,) such as
    ``y``, which become columns of their own names.

    Parameters
    ----------
    sheet : str, optional
        Name or number, from 1, of the sheet of an Excel file.
    """
    suffix = path.suffix.lower()
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file")
    if suffix not in KNOWN_SUFFIXES:
        remedy = "; save it as .xlsx or .csv" if suffix in _OTHER_SPREADSHEETS else ""
        raise TableError(f"{path} has none of the endings of tables: {' '.join(KNOWN_SUFFIXES)}{remedy}")
    if not path.is_file():
        raise TableError(f"there is no file {path}")
    if sheet is not None and suffix not in _EXCEL:
        raise TableError(f"{path} has no sheets, only Excel files ({' '.join(_EXCEL)}) have; leave out --sheet {sheet}")
    try:
        table = _read(path, suffix, text_format, sheet)
    except ImportError:
        raise TableError(_NO_EXCEL if suffix in _EXCEL else _NO_PARQUET) from None
    except TableError:
        raise
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise TableError(f"{path} is no table: {' '.join(str(error).split())}") from None
    if table.frame.empty:
        raise TableError(f"{path} has no rows of data; add at least 2")
    return table


def _read(path: Path, suffix: str, text_format: TextFormat | None, sheet: str | None) -> TextTable:
    if suffix in _TEXT:
        return read_text_table(path, text_format)
    if suffix in _EXCEL:
        return read_workbook(path, sheet, text_format)
    frame = _archive(path) if suffix == ".npz" else pd.read_parquet(path)
    return TextTable(frame, units=units_of([str(name) for name in frame.columns]))


def choose_columns(
    table: pd.DataFrame, target: str | None, features: Sequence[str] = (), missing: str = "error"
) -> Columns:
    """Features and target; without ``features`` all columns but the target that numbers can be made of.

    Parameters
    ----------
    missing : {"error", "drop", "median"}
        Whether the target may have gaps: only where their rows will be left out.
    """
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if target is None and "y" not in names:
        raise TableError(f"name the target with --target; columns are: {', '.join(names)}")
    chosen = "y" if target is None else target
    if chosen not in names and "," in chosen and all(part.strip() in names for part in chosen.split(",")):
        raise TableError(f"--target must be one column, got {chosen!r}: a law gives one; run the command once for each")
    for name in (chosen, *features):
        find_column(name, names)
    if chosen in features:
        raise TableError(f"column {chosen!r} is the target and cannot be a feature too")
    _check_target(table[chosen], chosen, missing)
    others = [name for name in names if name != chosen]
    left_out = {} if features else {n: why for n in others if (why := _why_no_numbers(table[n])) is not None}
    kept = list(features) or [name for name in others if name not in left_out]
    if not kept:
        reasons = "".join(f"; {name!r}: {why}" for name, why in left_out.items())
        raise TableError(f"beside the target {chosen!r} there is no column that a law could use{reasons}")
    return Columns(table[kept], table[chosen], left_out)


def _why_no_numbers(column: Any) -> str | None:
    """Why numbers cannot be made of a column; of names that are there twice the estimator refuses both."""
    if column.ndim != 1:
        return None
    return why_not_numeric(column) if is_time(column) or pd.api.types.is_complex_dtype(column) else None


def find_column(name: str, names: Sequence[str], where: str = "there is") -> None:
    """Refuse the name of a column that is not there, or there twice."""
    if name not in names:
        folded = {known.casefold(): known for known in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.8)
        hint = f"did you mean {folded[near[0]]!r}? " if near else ""
        raise TableError(f"{where} no column {name!r}; {hint}columns are: {', '.join(names)}")
    if list(names).count(name) > 1:
        raise TableError(f"column {name!r} is there more than once; rename one of them")


def write_table_file(path: Path, table: pd.DataFrame) -> None:
    """Write a table as its ending says: text, with tabs in .tsv and .tab, or Parquet."""
    suffix = path.suffix.lower()
    if suffix not in (*_TEXT, *_PARQUET):
        raise TableError(f"{path} must end with one of {' '.join((*_TEXT, *_PARQUET))}")
    with replacing(path) as partial:
        if suffix in _PARQUET:
            try:
                table.to_parquet(partial, index=False)
            except ImportError:
                raise TableError(_NO_PARQUET) from None
        else:
            table.to_csv(partial, index=False, sep="\t" if suffix in (".tsv", ".tab") else ",")


def _check_target(column: Any, name: str, missing: str) -> None:
    """Refuse a target with text or infinities, and one with gaps that are not to be left out.

    Raises
    ------
    TableError
        The message names the first such value and its row.
    """
    numbers = None if is_time(column) else numbers_from_texts(column)
    if numbers is None:
        raise TableError(
            f"the target {name!r} must be numeric: {why_not_numeric(column)}; name another with --target, or write "
            "numbers, such as 0 and 1 for two classes"
        )
    for is_bad, what, remedy in (
        (np.isinf(numbers.values), "infinite", "correct these values"),
        (np.isnan(numbers.values), "missing", "fill them, or --missing drop leaves these rows out"),
    ):
        rows = np.flatnonzero(is_bad)
        if len(rows) and (what == "infinite" or missing == "error"):
            raise TableError(
                f"the target {name!r} is {what} in {len(rows)} of {len(column)} rows, first in row {rows[0] + 1}; "
                + remedy
            )


def _archive(path: Path) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    with np.load(path, allow_pickle=False) as arrays:
        for name in arrays.files:
            array = arrays[name]
            if array.ndim == 2 and name == "X":
                columns |= {f"x{k + 1}": array[:, k] for k in range(array.shape[1])}
            elif array.ndim == 1:
                columns[name] = array
            else:
                raise ValueError(f"the array {name!r} has the shape {array.shape}, only X may have two dimensions")
    return pd.DataFrame(columns)
