"""What a user passes, checked once: tables, weights, options. A message names the thing, the limit and the remedy."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.proposals import Table
from simplipy import OPERATORS


def check_columns(X: Any) -> None:
    """Refuse what scikit-learn would not name: columns with text, NaN or infinities, and names that are there twice."""
    if not hasattr(X, "columns"):
        return
    names = [str(name) for name in X.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"column names of X must differ, got {', '.join(map(repr, repeated))} more than once; rename")
    bad = []
    for name in X.columns:
        try:
            column = np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"column {str(name)!r} of X is not numeric; convert or drop it") from None
        if not np.isfinite(column).all():
            bad.append(str(name))
    if bad:
        raise ValueError(f"X contains NaN or infinity in the columns {', '.join(bad)}; drop or fill these rows first")


def checked_table(X: npt.NDArray[np.float64], y: npt.NDArray[np.float64], sample_weight: Any) -> Table:
    """The rows that count; those without weight are left out."""
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(y.shape, float(weights))
        if weights.shape != y.shape:
            raise ValueError(f"sample_weight must have one entry a row, {len(y)}, got the shape {weights.shape}")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("sample_weight must be finite and >= 0")
        if not weights.any():
            raise ValueError("sample_weight is zero on all rows; at least one must be > 0")
        rows = weights > 0
        X, y, weights = X[rows], y[rows], weights[rows]
    n_rows, n_columns = X.shape
    if n_columns > n_rows:
        raise ValueError(
            f"X has more columns ({n_columns}) than rows (n_samples={n_rows}): no law can be told from chance; "
            "select columns, or transpose X if its rows are the variables"
        )
    if np.ptp(y) > 0 and (np.ptp(X, axis=0) == 0).all():
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


def checked_operators(operators: Sequence[str] | None) -> frozenset[str]:
    """The operators that may occur; None means all."""
    if operators is None:
        return frozenset(OPERATORS)
    if isinstance(operators, str):
        raise ValueError(
            f"operators must be a list of operator tokens, got the string {operators!r}; wrap it in a list"
        )
    unknown = [name for name in operators if name not in OPERATORS]
    if unknown:
        near = difflib.get_close_matches(str(unknown[0]), OPERATORS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {' '.join(OPERATORS)}"
        raise ValueError(f"unknown operator {unknown[0]!r}; {hint}")
    return frozenset(operators)


def checked_threads(n_jobs: int | None) -> int | None:
    """Threads for an ``n_jobs`` as scikit-learn means it: -1 is every core, None what pays off."""
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs < 1:
        raise ValueError(f"n_jobs must be >= 1, -1 for every core, or None, got {n_jobs}")
    return n_jobs


def check_number(name: str, value: Any, low: float, may_equal: bool, unit: str = "") -> None:
    """Refuse a value that is neither None nor a number above the limit."""
    if value is None:
        return
    above = isinstance(value, numbers.Real) and (float(value) >= low if may_equal else float(value) > low)
    if not above:
        raise ValueError(f"{name} must be {'>=' if may_equal else '>'} {low:g}{unit} or None, got {value!r}")
