"""Checks of user input: tables, weights, options. A message names the thing, the limit and the remedy."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.operator_presets import PRESETS
from flash_ansr.infer.table.table import Table
from flash_ansr.strict_config import nearest
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS
from simplipy.files.text_tables import why_not_numeric

# that weights must leave
_FEWEST_ROWS = 2

# how formulas spell operators, where that is not the token: sqrt, cbrt, ^
_SPELLINGS = {row.call: token for token, row in OPERATORS.items() if row.call} | {"^": "pow", "**": "pow"}


def check_columns(X: Any) -> None:
    """Refuse what scikit-learn would not name: columns with text, NaN or infinities, names that are there twice."""
    if hasattr(X, "columns"):
        _check_frame(X)
        columns = [(repr(name), X[name]) for name in X.columns]
    else:
        _check_real(X, "X")
        values = _numbers(X)
        # scikit-learn refuses what is no array of numbers
        columns = [] if values is None or values.ndim != 2 else [(f"x{k}", c) for k, c in enumerate(values.T, start=1)]
    gaps = [(name, np.flatnonzero(~np.isfinite(np.asarray(column, dtype=np.float64)))) for name, column in columns]
    bad = [f"{name} ({_rows_text(rows)})" for name, rows in gaps if len(rows)]
    if bad:
        raise ValueError(f"X contains NaN or infinity in the columns {', '.join(bad)}; drop or fill these rows first")


def _check_frame(X: Any) -> None:
    """Columns with names that differ, of numbers."""
    names = [str(name) for name in X.columns]
    if not all(name.strip() for name in names):
        raise ValueError(f"column {[bool(n.strip()) for n in names].index(False) + 1} of X has no name; rename it")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"column names of X must differ, got {', '.join(map(repr, repeated))} more than once; rename")
    for name in X.columns:
        why = why_not_numeric(X[name]) if hasattr(X[name], "dtype") else None
        if why is not None:
            raise ValueError(f"column {str(name)!r} of X is not numeric: {why}; convert or drop it")


def check_target(y: Any) -> None:
    """Refuse a target that is absent, complex, text, or has gaps; the rest is for scikit-learn."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    _check_real(y, "y")
    values = _numbers(y)
    rows = np.flatnonzero(~np.isfinite(values)) if values is not None and values.ndim == 1 else np.array([])
    if len(rows):
        raise ValueError(f"Input y contains NaN or infinity: {_rows_text(rows)}; drop these rows of X and y first")


def _numbers(values: Any) -> npt.NDArray[np.float64] | None:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _check_real(values: Any, what: str) -> None:
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: {what} is complex; pass its real part, or two columns")


def _rows_text(rows: npt.NDArray[np.int64]) -> str:
    """Rows counted from 1, as people do."""
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}, first row {rows[0] + 1}"


def checked_table(X: npt.NDArray[np.float64], y: npt.NDArray[np.float64], sample_weight: Any) -> Table:
    """The rows that count; those without weight are left out."""
    weights = None
    if sample_weight is not None:
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be numbers, one a row: {error}; convert or leave it out") from None
        if weights.ndim == 0:
            weights = np.full(y.shape, float(weights))
        if weights.shape != y.shape:
            raise ValueError(f"sample_weight must have one entry a row, {len(y)}, got the shape {weights.shape}")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("sample_weight must be finite and >= 0")
        rows = weights > 0
        if not rows.any():
            raise ValueError(f"sample_weight is zero on all rows; at least {_FEWEST_ROWS} must be > 0")
        if np.count_nonzero(rows) < _FEWEST_ROWS:
            raise ValueError(f"sample_weight must be > 0 on at least {_FEWEST_ROWS} rows, got one such row")
        X, y, weights = X[rows], y[rows], weights[rows]
    n_rows, n_columns = X.shape
    if n_columns > n_rows:
        raise ValueError(
            f"X has more columns ({n_columns}) than rows (n_samples={n_rows}): no law can be told from chance; "
            "select columns, or transpose X if its rows are the variables"
        )
    if y.min() < y.max() and (X.min(axis=0) == X.max(axis=0)).all():
        raise ValueError("every column of X is constant while y varies: there is nothing that a law could depend on")
    return Table(X, y, weights)


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
