"""How data meets variables: arrays bind x_k to column k-1, tables and dicts bind columns by name.

A table whose labels are numbers binds as an array does, unless the variables have these numbers as names. An indicator
such as (colour == "red") binds to the column of its name, or is computed from the column "colour".

Hands the core a float64 or float32 matrix without copying one that already is; everything else is converted once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simplipy import _core
from simplipy.errors import EvaluationError, SimplipyError
from simplipy.expression.indicators import indicator_parts, indicator_values, source_column

Floats = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.floating[Any]]

# below this many values a thread costs more than it saves
_VALUES_PER_THREAD = 20_000


def bind_data(X: Any, variables: Sequence[str]) -> tuple[FloatArray, list[str] | None]:
    """Matrix and column names for an expression with these variables.

    Parameters
    ----------
    X : array (n_rows, n_columns), DataFrame, or mapping of name to (n_rows,) columns
        The data. Integers, booleans and lists are converted.
    variables : sequence of str
        The variables that must be there.

    Returns
    -------
    matrix : array (n_rows, n_columns)
        float64 or float32, any strides.
    names : list of str or None
        One name a column; None where x_k is column k-1.
    """
    if isinstance(X, np.ndarray):
        return _matrix(X), None
    if isinstance(X, Mapping):
        return _columns(X, list(X), variables)
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        names = [str(name) for name in X.columns]
        repeated = sorted({name for name in map(source_column, variables) if names.count(name) > 1})
        if repeated:
            raise EvaluationError(f"column {repeated[0]!r} is there more than once; rename one of them")
        # numbers as labels name no variable: as in scikit-learn, such a table is an array
        if set(variables) <= set(names) or any(isinstance(label, str) for label in X.columns):
            return _columns(X, list(X.columns), variables)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise EvaluationError(f"X is no table: {error}") from error
    return _matrix(array), None


def column_numbers(variables: Sequence[str], names: list[str] | None, n_columns: int) -> list[int]:
    """Columns of bound data, with what ``bind_data`` says of their names, that hold these variables."""
    if names is not None:
        return [names.index(name) for name in variables]
    numbers = [_core.column_number(name) for name in variables]
    for name, number in zip(variables, numbers, strict=True):
        if number == 0:
            raise EvaluationError(
                f"variable {name!r} has no column number: an array binds x1, x2, ... to its columns; "
                "pass a mapping of names to columns"
            )
        if number > n_columns:
            raise EvaluationError(f"variable {name!r} needs column {number}, X has {n_columns}")
    return [number - 1 for number in numbers]


def as_floats(values: Any, what: str, error: type[SimplipyError]) -> Floats:
    """Numbers as an array of doubles."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise error(f"{what} must be numbers: {reason}") from reason


def bind_constants(constants: Any) -> list[float]:
    """Values of free constants as a list; a single number counts as one."""
    if constants is None:
        return []
    values = np.atleast_1d(as_floats(constants, "constants", EvaluationError))
    if values.ndim != 1:
        raise EvaluationError(f"constants must be one-dimensional, got shape {values.shape}")
    return values.tolist()  # type: ignore[no-any-return]


def thread_count(n_threads: int | None, n_values: int) -> int:
    """Threads for a call that computes so many values: the caller's wish, or what pays off on the usable cores."""
    if n_threads is not None:
        if n_threads < 1:
            raise EvaluationError(f"n_threads must be >= 1 or None, got {n_threads}")
        return n_threads
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(usable, n_values // _VALUES_PER_THREAD))


def _columns(X: Any, labels: list[Any], variables: Sequence[str]) -> tuple[FloatArray, list[str]]:
    by_name = {str(label): label for label in labels}
    if not labels and not variables:
        raise EvaluationError("the data has no columns, so the number of rows is unknown")
    used = list(variables) or [str(labels[0])]
    columns = [_column(X, by_name, name) for name in used]
    for name, column in zip(used, columns, strict=True):
        if column.ndim != 1:
            raise EvaluationError(f"column {name!r} must be one-dimensional, got shape {column.shape}")
        if len(column) != len(columns[0]):
            raise EvaluationError(f"column {name!r} has {len(column)} rows, column {used[0]!r} has {len(columns[0])}")
    single = all(column.dtype == np.float32 for column in columns)
    matrix = np.empty((len(columns[0]), len(columns)), dtype=np.float32 if single else np.float64, order="F")
    for i, (name, column) in enumerate(zip(used, columns, strict=True)):
        matrix[:, i] = _floats(column, f"column {name!r}")
    return matrix, used


def _column(X: Any, by_name: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    if name in by_name:
        return np.asarray(X[by_name[name]])
    indicator = indicator_parts(name)
    if source_column(name) not in by_name or indicator is None:
        known = ", ".join(list(by_name)[:20]) or "none"
        raise EvaluationError(f"no column {source_column(name)!r} in the data; columns are: {known}")
    return indicator_values(X[by_name[indicator[0]]], indicator[1])


def _matrix(array: npt.NDArray[Any]) -> FloatArray:
    if array.ndim != 2:
        remedy = "; use X.reshape(-1, 1) for one column" if array.ndim == 1 else ""
        raise EvaluationError(f"X must have shape (n_rows, n_columns), got {array.shape}{remedy}")
    return _floats(array, "X")


def _floats(array: npt.NDArray[Any], what: str) -> FloatArray:
    if array.dtype == np.float64 or array.dtype == np.float32:
        native: FloatArray = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        # a view into packed records has strides that are no multiple of the item size
        return native if all(s % native.itemsize == 0 for s in native.strides) else native.copy()
    if array.dtype.kind == "c":
        raise EvaluationError(f"{what} is complex; expressions are real, pass .real or two columns")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{what} has a value that is no number: {_first_bad(array)}") from error


def _first_bad(array: npt.NDArray[Any]) -> str:
    """The first value that is no number, and its row."""
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} in row {place[0] + 1}"
    return f"its type is {array.dtype}"
