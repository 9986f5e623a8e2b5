"""Tables from files: text, Parquet and NumPy archives, as DataFrames. Chooses nothing silently."""

from __future__ import annotations

import difflib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simplipy.files.output_files import replacing
from simplipy.files.text_tables import TableError, TextFormat, TextTable, read_text_table, why_not_numeric

_TEXT = (".csv", ".txt", ".dat", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_NO_PARQUET = "Parquet files need pyarrow: pip install 'flash-ansr[parquet]'"
KNOWN_SUFFIXES = (*_TEXT, *_PARQUET, ".npz")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns of a table that a law is sought in.

    Attributes
    ----------
    features : DataFrame
    target : Series
    left_out : dict of str to str
        Columns that are not numeric, and why.
    """

    features: pd.DataFrame
    target: pd.Series[Any]
    left_out: dict[str, str] = field(default_factory=dict)


def read_table_file(path: Path, text_format: TextFormat | None = None) -> TextTable:
    """The table of a file, and what was found out about it.

    A NumPy archive holds ``X`` (n_rows, n_columns), whose columns become x1, x2, ..., and arrays (n_rows,) such as
    ``y``, which become columns of their own names.
    """
    suffix = path.suffix.lower()
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file")
    if suffix not in KNOWN_SUFFIXES:
        raise TableError(f"{path} has none of the endings of tables: {' '.join(KNOWN_SUFFIXES)}")
    if not path.is_file():
        raise TableError(f"there is no file {path}")
    try:
        if suffix in _TEXT:
            table = read_text_table(path, text_format)
        else:
            table = TextTable(_archive(path) if suffix == ".npz" else pd.read_parquet(path))
    except ImportError:
        raise TableError(_NO_PARQUET) from None
    except TableError:
        raise
    except (ValueError, zipfile.BadZipFile) as error:
        raise TableError(f"{path} is no table: {' '.join(str(error).split())}") from None
    if table.frame.empty:
        raise TableError(f"{path} has no rows")
    return table


def choose_columns(table: pd.DataFrame, target: str | None, features: Sequence[str] = ()) -> Columns:
    """Features and target; without ``features`` all numeric columns but the target."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if target is None and "y" not in names:
        raise TableError(f"name the target with --target; columns are: {', '.join(names)}")
    chosen = "y" if target is None else target
    for name in (chosen, *features):
        find_column(name, names)
    if chosen in features:
        raise TableError(f"column {chosen!r} is the target and cannot be a feature too")
    complete_numbers(table[chosen], f"the target {chosen!r}")
    # features are checked below; of names that are there twice the estimator refuses both
    whys = {n: why_not_numeric(table[n]) for n in names if n != chosen and not features and table[n].ndim == 1}
    left_out = {name: why for name, why in whys.items() if why is not None}
    kept = list(features) or [n for n in names if n != chosen and n not in left_out]
    if not kept:
        reasons = "".join(f"; {name!r}: {why}" for name, why in left_out.items())
        raise TableError(f"beside the target {chosen!r} there is no numeric column{reasons}")
    for name in features:
        complete_numbers(table[name], f"the feature {name!r}")
    return Columns(table[kept], table[chosen], left_out)


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


def complete_numbers(column: Any, what: str) -> None:
    """Refuse a column with text, gaps or infinities.

    Raises
    ------
    TableError
        The message names the first such value and its row.
    """
    why = why_not_numeric(column)
    if why is not None:
        raise TableError(f"{what} must be numeric: {why}")
    rows = np.flatnonzero(~np.isfinite(column.to_numpy(dtype=np.float64, na_value=np.nan)))
    if len(rows):
        raise TableError(
            f"{what} must be a finite number in every row: it is missing or infinite in {len(rows)} of {len(column)} "
            f"rows, first in row {rows[0] + 1}; drop or fill these rows first"
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
