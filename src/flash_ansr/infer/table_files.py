"""Tables from files: CSV, TSV, Parquet and NumPy archives, as DataFrames. Chooses nothing silently."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simplipy.errors import SimplipyError

_SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
KNOWN_SUFFIXES = (*_SEPARATORS, *_PARQUET, ".npz")


class TableError(SimplipyError):
    """A file that is no table, or a table without what is asked for."""


def read_table_file(path: Path) -> pd.DataFrame:
    """The table of a file.

    A NumPy archive holds ``X`` (n_rows, n_columns), whose columns become x1, x2, ..., and arrays (n_rows,) such as
    ``y``, which become columns of their own names.
    """
    suffix = path.suffix.lower()
    if suffix not in KNOWN_SUFFIXES:
        raise TableError(f"{path} has none of the endings of tables: {' '.join(KNOWN_SUFFIXES)}")
    if not path.is_file():
        raise TableError(f"there is no file {path}")
    try:
        if suffix == ".npz":
            table = _archive(path)
        elif suffix in _PARQUET:
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, sep=_SEPARATORS[suffix])
    except ImportError:
        raise TableError("Parquet files need pyarrow: pip install 'flash-ansr[parquet]'") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, zipfile.BadZipFile) as error:
        raise TableError(f"{path} is no table: {' '.join(str(error).split())}") from None
    if table.empty:
        raise TableError(f"{path} has no rows")
    return table


def choose_columns(
    table: pd.DataFrame, target: str | None, features: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.Series[Any], list[str]]:
    """Features, target, and the names of columns that were left out because they are not numeric."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if target is None and "y" not in names:
        raise TableError(f"name the target with --target; columns are: {', '.join(names)}")
    chosen = "y" if target is None else target
    for name in (chosen, *features):
        if name not in names:
            raise TableError(f"there is no column {name!r}; columns are: {', '.join(names)}")
        if names.count(name) > 1:
            raise TableError(f"column {name!r} is there more than once; rename one of them")
    if chosen in features:
        raise TableError(f"column {chosen!r} is the target and cannot be a feature too")
    if not _is_numeric(table[chosen]) or not np.isfinite(table[chosen].to_numpy(dtype=np.float64)).all():
        raise TableError(f"the target {chosen!r} must be a finite number in every row; drop or fill the others first")
    left_out = [] if features else [n for n in names if n != chosen and not _is_numeric(table[n])]
    kept = list(features) or [n for n in names if n != chosen and n not in left_out]
    if not kept:
        raise TableError(f"beside the target {chosen!r} there is no numeric column")
    return table[kept], table[chosen], left_out


def _is_numeric(column: Any) -> bool:
    return column.ndim == 2 or bool(pd.api.types.is_numeric_dtype(column))


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
