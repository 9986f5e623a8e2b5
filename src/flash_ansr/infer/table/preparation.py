"""From a user's table to the rows of a search: columns become numbers, gaps are refused, dropped or filled.

Variables that no law needs are left out: those that are the same in every row, and copies of others.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.column_kinds import NO_VALUE, SAME, learn_encoding
from flash_ansr.infer.table.encoding import Encoding, FloatArray
from flash_ansr.infer.table.input_checks import check_no_gaps, check_no_infinities, checked_weights
from flash_ansr.infer.table.table import Rows, Table

Missing = Literal["error", "drop", "median"]
MISSING: tuple[Missing, ...] = ("error", "drop", "median")
_FEWEST_ROWS = 2
# rows in which columns are compared before all rows are
_COMPARED_FIRST = 64
_GAPS_OF_FITS = 'missing="drop" leaves these rows out, missing="median" fills the gaps'
_EMPTY_COLUMNS = "; both leave columns without any value out"
_GAPS_OF_PREDICTIONS = 'set_params(missing="drop") predicts NaN there, set_params(missing="median") fills the gaps'


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What a search gets of a user's table, and what became of the rest.

    Attributes
    ----------
    table : Table
        Without gaps; column k is the variable ``encoding.names[k]``.
    encoding : Encoding
    rows : bool array (n_rows,)
        Rows of the user's table that are in ``table``: other arrays with one entry a row are cut alike.
    n_gaps : int
        Rows that were left out for their gaps.
    notes : tuple of str
        On columns that may be read in another way.
    """

    table: Table
    encoding: Encoding
    rows: npt.NDArray[np.bool_]
    n_gaps: int
    notes: tuple[str, ...]

    @property
    def row_numbers(self) -> Rows:
        """Of the rows of ``table`` in the user's table, from 1."""
        return np.flatnonzero(self.rows) + 1

    def facts(self) -> dict[str, Any]:
        """Rows and columns for the report of a search."""
        return {
            "rows": self.table.n_rows,
            "left_out_rows": self.n_gaps,
            "columns": self.encoding.names,
            "left_out_columns": dict(self.encoding.left_out),
            "input_notes": list(self.notes),
        }


def prepare(X: Any, y: FloatArray, sample_weight: Any, missing: Missing) -> Prepared:
    """The rows of a search.

    Parameters
    ----------
    X : float64 array or DataFrame (n_rows, n_columns)
    y : float64 array (n_rows,)
        NaN in gaps.
    sample_weight : array (n_rows,), optional
        Rows of weight 0 are left out.
    missing : {"error", "drop", "median"}
        Gaps in columns are refused, their rows are left out, or they are filled. Rows without y cannot be filled.

    Raises
    ------
    ValueError
        The message names the columns or rows, and the remedy.
    """
    weights = checked_weights(sample_weight, len(y))
    learned = learn_encoding(X, y)
    encoding = learned.encoding
    numbers = encoding.numbers(X)
    sources = [column.name for _, column in encoding.sources]
    if not (is_complete := bool(np.isfinite(numbers).all())):
        check_no_infinities(numbers, sources)
    if missing == "error" and not is_complete:
        has_empty = bool(np.isnan(numbers).all(axis=0).any())
        check_no_gaps(numbers, sources, _GAPS_OF_FITS + (_EMPTY_COLUMNS if has_empty else ""))
    counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    if not is_complete:
        encoding, numbers = _reduced(encoding, numbers, _without_values(encoding.names, numbers, counted))
    if not encoding.names:
        reasons = ", ".join(f"{name!r} ({why})" for name, why in encoding.left_out.items())
        raise ValueError(f"X has no column that a law could use: {reasons}; add a column of numbers")
    if missing == "median" and not is_complete:
        numbers = encoding.filled(numbers)
    complete = np.isfinite(y)
    if not is_complete:
        complete &= ~np.isnan(numbers).any(axis=1)
    rows = counted & complete
    n_rows = int(np.count_nonzero(rows))
    if n_rows < _FEWEST_ROWS:
        in_y, in_x = np.isnan(y).sum(), np.isnan(numbers).any(axis=1).sum()
        raise ValueError(
            f"only {n_rows} of {len(y)} rows are complete, a law needs {_FEWEST_ROWS}: y has gaps in {in_y} rows, X in "
            f'{in_x}; fill them, leave out columns with many gaps, or pass missing="median" to fill those of X'
        )
    if n_rows < len(y):
        numbers = numbers[rows]
    encoding, numbers = _reduced(encoding, numbers, _copies(encoding.names, numbers, y[rows]))
    if np.may_share_memory(numbers, X):  # it is kept, and may change
        numbers = numbers.copy()
    table = Table(numbers, y[rows], None if weights is None else weights[rows])
    return Prepared(table, encoding, rows, int(np.count_nonzero(counted & ~complete)), learned.notes)


def variables_of(X: Any, encoding: Encoding, used: Set[str], missing: Missing) -> FloatArray:
    """The variables of a law on the rows of X (n_rows, n_variables).

    Levels that are new are told by a warning. With ``missing="error"`` gaps and infinities are refused; otherwise only
    the variables that the law uses are read, with NaN in their gaps, or the fill.
    """
    for name, levels in encoding.unseen(X, used).items():
        shown = ", ".join(map(repr, levels[:5])) + (", ..." if len(levels) > 5 else "")
        warnings.warn(f"column {name!r} has levels that the fit did not see: {shown}", UserWarning, stacklevel=4)
    numbers = encoding.numbers(X, None if missing == "error" else used)
    if missing == "error":
        sources = [column.name for _, column in encoding.sources]
        check_no_infinities(numbers, sources)
        check_no_gaps(numbers, sources, _GAPS_OF_PREDICTIONS)
    return encoding.filled(numbers) if missing == "median" else numbers


def _reduced(encoding: Encoding, numbers: FloatArray, left_out: dict[str, str]) -> tuple[Encoding, FloatArray]:
    if not left_out:
        return encoding, numbers
    kept = [name not in left_out for name in encoding.names]
    return encoding.without(left_out), numbers[:, kept]


def _without_values(names: Sequence[str], numbers: FloatArray, counted: npt.NDArray[np.bool_]) -> dict[str, str]:
    """Columns without a value in any row that counts: they would have every row dropped."""
    empty = np.flatnonzero((np.isnan(numbers) | ~counted[:, None]).all(axis=0))
    return {names[k]: NO_VALUE for k in empty.tolist()}


def _copies(names: Sequence[str], numbers: FloatArray, y: FloatArray) -> dict[str, str]:
    """Variables that are the same in every row or equal to an earlier one; where y is level, one always stays."""
    left_out: dict[str, str] = {}
    # only columns that agree, or are level, in some rows are looked at in all
    rows = numbers[:: -(-len(numbers) // _COMPARED_FIRST)]
    is_level = (rows == rows[0]).all(axis=0)
    is_level[is_level] = (numbers[:, is_level] == numbers[0, is_level]).all(axis=0)
    some = [column.tobytes() for column in _without_minus_zeros(rows).T]
    n_alike = Counter(some)
    first: dict[bytes, str] = {}
    for k, name in enumerate(names):
        if is_level[k]:
            left_out[name] = SAME
            continue
        own = some[k] if n_alike[some[k]] == 1 else _without_minus_zeros(numbers[:, k]).tobytes()
        original = first.setdefault(own, name)
        if original != name:
            left_out[name] = f"equal to {original} in every row"
    if len(left_out) < len(names):
        return left_out
    if y.min() < y.max():
        raise ValueError("every column of X is constant while y varies: there is nothing that a law could depend on")
    return dict(list(left_out.items())[1:])


def _without_minus_zeros(numbers: FloatArray) -> FloatArray:
    return np.asarray(numbers + 0.0)
