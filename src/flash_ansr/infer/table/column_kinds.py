"""What each column of a table is: numbers, ordered categories, or texts with levels. Learns the encoding of a fit."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from flash_ansr.infer.table.encoding import Cells, Column, Encoding, FloatArray, cells_of, column_numbers, levels_of
from simplipy.expression.indicators import level_of
from simplipy.files.number_texts import is_missing, number_of, numbers_from_texts, shown, why_not_numeric

_MOST_INDICATORS = 20
# rows in which an indicator must be 1, and 0
_FEWEST_ROWS = 2
# rows that a median is taken of, and numbers that are looked at at once
_MOST_ROWS = 100_000
_VALUES_AT_ONCE = 1_000_000
SAME = "the same in every row"
NO_VALUE = "no value in any row"
_DATES = "its values are dates; convert them to a number such as days since the first"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2})?"
)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedEncoding:
    """An encoding, and how columns were read that may be read in another way.

    Attributes
    ----------
    encoding : Encoding
    notes : tuple of str
    """

    encoding: Encoding
    notes: tuple[str, ...]


def learn_encoding(X: Any, y: FloatArray) -> LearnedEncoding:
    """The encoding of the columns of a table.

    Parameters
    ----------
    X : array or DataFrame (n_rows, n_columns)
    y : array (n_rows,)
        NaN in gaps. Of two levels, the one with the larger mean of y gets the indicator.

    Raises
    ------
    ValueError
        For a column that mixes numbers and texts, or has neither; the message names the first such value and its row.
    """
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        fills = _medians(X)
        return LearnedEncoding(Encoding(tuple(Column(f"x{k}", fill=f) for k, f in enumerate(fills, start=1))), ())
    left_out: dict[str, str] = {}
    notes: list[str] = []
    columns = tuple(_learned(name, cells, y, left_out, notes) for name, cells in cells_of(X))
    encoding = Encoding(columns, left_out)
    repeated = [name for name, n in Counter(encoding.names).items() if n > 1]
    if repeated:
        raise ValueError(f"two columns of X become the variable {repeated[0]!r}; rename one of them")
    return LearnedEncoding(encoding, tuple(notes))


def _learned(name: str, cells: Cells[Any], y: FloatArray, left_out: dict[str, str], notes: list[str]) -> Column:
    dtype = cells.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if not dtype.ordered:
            return _with_levels(name, cells, y, left_out, notes)
        codes = np.where(cells.cat.codes < 0, np.nan, cells.cat.codes)
        return Column(name, "ordered", tuple(str(level_of(c)) for c in dtype.categories), fill=_median(codes))
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return Column(name, fill=_median(column_numbers(name, cells, None)))
    numbers = numbers_from_texts(cells)
    if numbers is None:
        _check_texts(name, cells)
        return _with_levels(name, cells, y, left_out, notes)
    if numbers.example is not None:
        number = number_of(numbers.example, numbers.decimal)
        notes.append(f"column {name!r} was read as numbers: {numbers.example!r} as {number:.15g}")
    return Column(name, decimal=numbers.decimal, fill=_median(numbers.values))


def _check_texts(name: str, cells: Cells[Any]) -> None:
    """Refuse a column that has numbers or other things beside its texts."""
    for row, cell in enumerate(cells, start=1):
        if is_missing(cell):
            continue
        if not isinstance(cell, str) and not isinstance(cell, int | float | np.number):
            kind = type(cell).__name__
            raise ValueError(
                f"column {name!r} of X is not numeric: row {row} has a {kind}, {shown(cell)}; convert or drop it"
            )
        if not isinstance(cell, str) or number_of(cell) is not None or number_of(cell, ",") is not None:
            raise ValueError(
                f"column {name!r} of X mixes numbers and texts: {why_not_numeric(cells)}, and {shown(cell)} in row "
                f"{row} is one; correct or empty such cells, leave the column out, or pass it as categories"
            )


def _with_levels(name: str, cells: Cells[Any], y: FloatArray, left_out: dict[str, str], notes: list[str]) -> Column:
    found, rows = levels_of(cells)
    levels = np.array(found, dtype=object)[rows]
    counts = Counter(level for level in levels if level is not None)
    known = sorted(counts, key=lambda level: (-counts[level], level))
    why = None
    if len(known) < 2:
        why = SAME if known else NO_VALUE
    elif all(_DATE.fullmatch(level) for level in known):
        why = _DATES
    elif counts[known[0]] < _FEWEST_ROWS:
        why = "its texts all differ"
    elif len(known) > max(_MOST_INDICATORS, counts.total() / 2):
        why = "most of its texts differ"
    elif counts.total() - counts[known[0]] < _FEWEST_ROWS:
        why = f"{SAME} but {counts.total() - counts[known[0]]}"
    if why is not None:
        left_out[name] = why
        return Column(name, "levels")
    if len(known) == 2:
        finite = np.isfinite(y)
        sums = {level: np.sum(y[finite & (levels == level)]) / counts[level] for level in known}
        known.sort(key=lambda level: -sums[level])
        return Column(name, "levels", tuple(known), 1, fill=counts.most_common(1)[0][0])
    n = min(_MOST_INDICATORS, sum(counts[level] >= _FEWEST_ROWS for level in known))
    if n < len(known):
        n_rows = sum(counts[level] for level in known[n:])
        notes.append(
            f"column {name!r} has {len(known)} levels: the {n} most frequent have indicators; the others, in {n_rows} "
            "rows, have none"
        )
    return Column(name, "levels", tuple(known), n, fill=known[0])


def _medians(X: FloatArray) -> list[float | None]:
    """Medians of the columns of X (n_rows, n_columns), as ``_median``."""
    some = _some(X)
    medians: list[float | None] = []
    n = max(1, _VALUES_AT_ONCE // max(len(some), 1))
    for first in range(0, X.shape[1], n):
        block = some[:, first : first + n]
        medians += (
            np.median(block, axis=0).tolist() if np.isfinite(block).all() else map(_median, X[:, first : first + n].T)
        )
    return medians


def _some(values: FloatArray) -> FloatArray:
    """At most ``_MOST_ROWS`` of the rows, evenly spread."""
    return values[:: -(-len(values) // _MOST_ROWS)]


def _median(values: FloatArray) -> float | None:
    values = _some(values)
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else None
