"""Checks of user input: tables, weights, options. A message names the thing, the limit and the remedy."""

from __future__ import annotations

import math
import numbers
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.operator_presets import PRESETS
from flash_ansr.strict_config import nearest
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS
from simplipy.files.number_texts import is_missing, numbers_from_texts, why_not_numeric

# that weights must leave
_FEWEST_ROWS = 2
# columns that a message names
_MOST_LISTED = 8

# how formulas spell operators, where that is not the token: sqrt, cbrt, ^
_SPELLINGS = {row.call: token for token, row in OPERATORS.items() if row.call} | {"^": "pow", "**": "pow"}


def validated_new(estimator: Any, X: Any, may_have_texts: bool) -> Any:
    """Other rows, with the names and width of those of the fit; an array that may have texts becomes a DataFrame."""
    if may_have_texts and not hasattr(X, "columns"):
        import pandas as pd

        X = pd.DataFrame(np.asarray(X, dtype=object))
    return validated(estimator, X, is_fit=False)


def validated(estimator: Any, X: Any, is_fit: bool) -> Any:
    """X as a float64 array or a DataFrame; the estimator keeps names and width of a fit, for other rows to match."""
    from sklearn.utils.validation import validate_data

    fewest_rows = _FEWEST_ROWS if is_fit else 1
    if hasattr(X, "columns"):
        _check_frame(X, fewest_rows)
        return validate_data(estimator, X, reset=is_fit, skip_check_array=True)
    _check_real(X, "X")
    if isinstance(X, np.ndarray) and X.dtype == object and X.size:
        X = np.where(np.vectorize(is_missing, otypes=[bool])(X), np.nan, X)  # None and pandas' NA
    options = {"dtype": np.float64, "ensure_all_finite": False, "ensure_min_samples": fewest_rows}
    try:
        return validate_data(estimator, X, reset=is_fit, **options)
    except ValueError as error:
        if "sample(s)" in str(error):
            raise ValueError(f"{str(error).rstrip('.')}; add rows") from None
        if "convert string" not in str(error):
            raise
        said = re.sub(r"np\.str_\((.*)\)", r"\1", str(error))
        raise ValueError(f"X has text, {said}; pass a DataFrame: its columns of texts become indicators") from None


def _check_frame(X: Any, fewest_rows: int) -> None:
    """Refuse a DataFrame without rows or columns, and names that are empty or there twice."""
    if len(X) < fewest_rows or not len(X.columns):
        rows = "row" if fewest_rows == 1 else "rows"
        got, few = f"({len(X)}, {len(X.columns)})", "columns" if len(X) >= fewest_rows else "rows"
        raise ValueError(f"X must have at least {fewest_rows} {rows} and one column, got the shape {got}; add {few}")
    names = [str(name) for name in X.columns]
    if not all(name.strip() for name in names):
        raise ValueError(f"column {[bool(n.strip()) for n in names].index(False) + 1} of X has no name; rename it")
    repeated = sorted(name for name, n in Counter(names).items() if n > 1)
    if repeated:
        raise ValueError(f"column names of X must differ, got {_listed(repeated)} more than once; rename")


def checked_target(y: Any, missing: str) -> npt.NDArray[np.float64]:
    """The target (n_rows,), NaN in gaps.

    Raises
    ------
    ValueError
        For a target that is absent, complex, text, infinite, or of several columns, and for one with gaps where
        ``missing="error"``.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    _check_real(y, "y")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got the shape {y.shape}: a law gives one target; fit an estimator for each column"
        )
    from sklearn.utils.validation import column_or_1d

    y = column_or_1d(y, warn=True)
    values = _numbers(y)
    if values is None:
        read = numbers_from_texts(y)
        if read is None:
            raise ValueError(f"y is not numeric: {_why_no_target(y)}; for two classes, pass 0 and 1")
        values = read.values
    for rows, what, remedy in (
        (np.flatnonzero(np.isinf(values)), "infinity", "correct these values"),
        (np.flatnonzero(np.isnan(values)), "NaN", 'missing="drop" leaves these rows out, or drop them from X and y'),
    ):
        if len(rows) and (what == "infinity" or missing == "error"):
            raise ValueError(f"Input y contains {what}: {_rows_text(rows)} of {len(values)}; {remedy}")
    return values


def _why_no_target(y: Any) -> str:
    import pandas as pd

    return str(why_not_numeric(pd.Series(list(y), dtype=object)))


def check_no_infinities(numbers: npt.NDArray[np.float64], columns: Sequence[str]) -> None:
    """Refuse infinities; ``columns`` are the names by column of ``numbers`` (n_rows, n_columns)."""
    bad = _bad_columns(np.isinf(numbers), columns)
    if bad:
        raise ValueError(f"X contains infinity in the columns {bad}; correct these values, or empty them as missing")


def check_no_gaps(numbers: npt.NDArray[np.float64], columns: Sequence[str], remedy: str) -> None:
    """Refuse NaN; the message ends with the remedy."""
    bad = _bad_columns(np.isnan(numbers), columns)
    if bad:
        n_rows = np.count_nonzero(np.isnan(numbers).any(axis=1))
        raise ValueError(f"X contains NaN (missing values) in {n_rows} of {len(numbers)} rows, columns {bad}; {remedy}")


def _bad_columns(is_bad: npt.NDArray[np.bool_], columns: Sequence[str]) -> str:
    found = {columns[k]: np.flatnonzero(is_bad[:, k]) for k in np.flatnonzero(is_bad.any(axis=0)).tolist()}
    return _listed([f"{name!r} ({_rows_text(rows)})" for name, rows in found.items()], quote=False)


def _listed(items: Sequence[str], quote: bool = True) -> str:
    """Some of the items with commas between them, and the number of the others."""
    shown = ", ".join(repr(item) if quote else item for item in items[:_MOST_LISTED])
    return shown + (f" and {len(items) - _MOST_LISTED} more" if len(items) > _MOST_LISTED else "")


def _numbers(values: Any) -> npt.NDArray[np.float64] | None:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # an integer may be larger than any double
        return None


def _check_real(values: Any, what: str) -> None:
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: {what} is complex; pass its real part, or two columns")


def _rows_text(rows: npt.NDArray[np.int64]) -> str:
    """Rows counted from 1, as people do."""
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}, first row {rows[0] + 1}"


def checked_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """One weight a row, at least two of them above 0; None where there are none."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must be numbers, one a row: {error}; convert or leave it out") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry a row, {n_rows}, got the shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and >= 0")
    n_counted = np.count_nonzero(weights)
    if n_counted == 0:
        raise ValueError(f"sample_weight is zero on all rows; at least {_FEWEST_ROWS} must be > 0")
    if n_counted < _FEWEST_ROWS:
        raise ValueError(f"sample_weight must be > 0 on at least {_FEWEST_ROWS} rows, got one such row")
    return weights


def checked_seed(random_state: Any) -> int:
    """The seed of a run; drawn where none is given."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if not isinstance(random_state, numbers.Integral) or random_state < 0:
        raise ValueError(f"random_state must be an integer >= 0 or None, got {random_state!r}")
    return int(random_state)


def checked_operators(operators: str | Sequence[str] | None) -> frozenset[str]:
    """The operators that may occur: of a preset, or as tokens or as formulas spell them; None means the paper's."""
    if operators is None:
        return frozenset(DEFAULT_OPERATORS)
    if isinstance(operators, str):
        return _of_preset(operators)
    operators = [_SPELLINGS.get(name, name) for name in operators]
    unknown = [name for name in operators if name not in OPERATORS]
    if unknown:
        near = nearest(str(unknown[0]), [*PRESETS, *OPERATORS])
        hint = f"did you mean {near!r}?" if near else f"known are {' '.join(OPERATORS)}"
        if near in PRESETS:
            hint = f"did you mean the preset {near!r}, without others?"
        raise ValueError(f"unknown operator {unknown[0]!r}; {hint}")
    return frozenset(operators)


def _of_preset(name: str) -> frozenset[str]:
    if name in PRESETS:
        return frozenset(PRESETS[name])
    if name in OPERATORS or name in _SPELLINGS:
        raise ValueError(
            f"operators must be a list of operator tokens, or the name of a preset, got the operator {name!r}: "
            f"write [{name!r}]"
        )
    near = nearest(name, list(PRESETS))
    hint = f"did you mean {near!r}? " if near else ""
    raise ValueError(f"operators has the unknown preset {name!r}; {hint}presets are {', '.join(PRESETS)}")


def checked_threads(n_jobs: Any) -> int | None:
    """Threads for an ``n_jobs`` as scikit-learn means it: -1 is every core, None what pays off."""
    number = n_jobs if n_jobs is None else _whole(n_jobs)
    if n_jobs is None or number == -1:
        return None
    if number is None or number < 1:
        raise ValueError(f"n_jobs must be a whole number >= 1, -1 for every core or None, got {n_jobs!r}")
    return number


def checked_count(name: str, value: Any) -> int | None:
    """The value as an int; refuse what is neither None nor a whole number >= 1."""
    if value is None:
        return None
    number = _whole(value)
    if number is None or number < 1:
        raise ValueError(f"{name} must be a whole number >= 1 or None, got {value!r}")
    return number


def _whole(value: Any) -> int | None:
    """The whole number that a value is, None for others; 400.0 is one, True is none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return None
    if isinstance(value, numbers.Integral):
        return int(value)
    return int(float(value)) if float(value).is_integer() else None


def check_seconds(name: str, value: Any) -> None:
    """Refuse what is neither None nor a finite number > 0."""
    if value is not None and not (isinstance(value, numbers.Real) and 0 < float(value) < math.inf):
        raise ValueError(f"{name} must be a finite number of seconds > 0 or None, got {value!r}")


def check_share(name: str, value: Any) -> None:
    """Refuse what is neither None nor a number >= 0."""
    if value is not None and not (isinstance(value, numbers.Real) and float(value) >= 0):
        raise ValueError(f"{name} must be >= 0 or None, got {value!r}")


def check_price(name: str, value: Any) -> None:
    """Refuse what is no finite number >= 0."""
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
