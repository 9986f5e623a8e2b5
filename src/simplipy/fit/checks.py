"""Checks of the fitter's arguments: data, weights, starts and bounds. Each error names the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simplipy import _core
from simplipy.errors import EvaluationError, FitError
from simplipy.expression.data_binding import FloatArray, as_floats, bind_data, column_numbers
from simplipy.expression.expression import Expression
from simplipy.fit.unexplained import Floats, unit_of

# relative error is measured by |y|, but not by less than this part of its median
RELATIVE_FLOOR = 1e-3
# threshold of the robust losses in units of y_err, or of a tenth of the robust deviation of y
HUBER_THRESHOLD = 1.345
_DEVIATION_OF_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class FitData:
    """Checked data: a matrix and the numbers of the columns by name, target, and weights where there are any.

    Residuals are measured in units of ``errors``: y_err, and |y| where the error is relative.
    """

    matrix: FloatArray | None
    column_numbers: list[int]
    names: list[str]
    y: Floats
    weights: Floats | None
    errors: Floats | None
    has_errors: bool
    rows: _core.FitRows


def check_data(X: Any, y: Any, variables: list[str], sample_weight: Any, y_err: Any, loss: str) -> FitData:
    """Finite columns of these variables, target and weights.

    Raises
    ------
    FitError
        Names the column or argument that is wrong.
    """
    matrix, labels = bind_data(X, variables) if variables or X is not None else (None, None)
    target = _vector(y, "y")
    if matrix is not None and len(matrix) != len(target):
        raise FitError(f"X has {len(matrix)} rows, y has {len(target)}; they must be the same")
    if len(target) == 0:
        raise FitError("X and y have no rows; at least one is needed")
    try:
        numbers = [] if matrix is None else column_numbers(variables, labels, matrix.shape[1])
    except EvaluationError as error:
        raise FitError(f"{error}; or declare it in parameters") from error
    weights = errors = None
    if sample_weight is not None:
        weights = _weights(sample_weight, "sample_weight", len(target))
        if not weights.any():
            raise FitError("sample_weight is zero on all rows; at least one must be > 0")
    if y_err is not None:
        errors = _weights(y_err, "y_err", len(target))
        if not errors.all():
            raise FitError(f"y_err must be > 0, got 0 in row {int(np.argmin(errors))}")
    if loss == "relative":
        _check_finite(target, "y")
        errors = relative_sizes(target) * (1.0 if errors is None else errors)
    # the core looks for what is not finite while it copies
    rows = _core.FitRows(matrix, numbers, target, weights, errors)
    if not rows.finite():
        _check_finite(target, "y")
        _refuse_columns(matrix, numbers, variables)
    return FitData(matrix, numbers, variables, target, weights, errors, y_err is not None, rows)


def relative_sizes(y: Floats) -> Floats:
    """Units of relative residuals, (n_rows,)."""
    sizes = np.abs(y)
    nonzero = sizes[sizes > 0]
    if len(nonzero) == 0:
        return np.ones_like(sizes)
    unit = unit_of(nonzero)  # the two values in the middle are added
    return np.maximum(sizes, RELATIVE_FLOOR * unit * float(np.median(nonzero / unit)))


def robust_threshold(data: FitData) -> float:
    """Residuals beyond this, in units of y_err if given, count by their size, not by its square."""
    if data.has_errors:
        return HUBER_THRESHOLD
    unit = unit_of(data.y)
    y = data.y / unit
    distances = np.abs(y - np.median(y))
    deviation = _DEVIATION_OF_MAD * float(np.median(distances))
    if deviation == 0:
        deviation = float(distances.mean()) or float(np.abs(y).max()) or 1.0
    return HUBER_THRESHOLD * deviation / 10 * unit


def check_starts(x0: Any, n_constants: int) -> Floats:
    """Starts (n_starts, n_constants)."""
    starts = np.ascontiguousarray(np.atleast_2d(as_floats(x0, "x0", FitError)))
    if starts.ndim != 2 or starts.shape[1] != n_constants:
        raise FitError(
            f"x0 must have one value a free constant, shape ({n_constants},) or (n_starts, {n_constants}), "
            f"got {np.shape(x0)}"
        )
    if not np.isfinite(starts).all():
        raise FitError(f"x0 must be finite, got {x0!r}")
    return starts


def own_parameters(expression: Expression, named: Mapping[str, float]) -> dict[str, float]:
    """Those of the named parameters that the expression holds, in their order."""
    if not named:
        return {}
    held = expression._tree.variables()
    return {name: start for name, start in named.items() if name in held}


def check_parameters(parameters: Mapping[str, float] | Iterable[str], variables: Sequence[str]) -> dict[str, float]:
    """Named parameters with their starts, NaN where the caller gives none; each must occur."""
    if isinstance(parameters, str):
        raise FitError(f"parameters must be a list of names or a mapping of names to starts, got {parameters!r}")
    has_starts = hasattr(parameters, "items")  # a Series has starts, too
    starts = dict(parameters.items()) if hasattr(parameters, "items") else dict.fromkeys(parameters, math.nan)
    checked = {}
    for name, start in starts.items():
        if name not in variables:
            raise FitError(f"parameter {name!r} is no variable of the expression; variables are: {_listed(variables)}")
        try:
            checked[str(name)] = float(start)
        except (TypeError, ValueError) as error:
            raise FitError(f"the start of parameter {name!r} must be a number, got {start!r}") from error
        if has_starts and not math.isfinite(checked[str(name)]):
            raise FitError(f"the start of parameter {name!r} must be finite, got {checked[str(name)]}")
    return checked


def check_bounds(bounds: Any, n_constants: int, parameters: Mapping[str, float]) -> list[tuple[float, float]]:
    """(low, high) of constants, then of parameters; empty without bounds."""
    if bounds is None:
        return []
    if not isinstance(bounds, Mapping):
        listed = list(bounds)
        if len(listed) != n_constants:
            raise FitError(f"bounds must have one (low, high) a free constant: {n_constants}, got {len(listed)}")
        bounds = dict(enumerate(listed))
    pairs: dict[Any, tuple[float, float]] = dict.fromkeys([*range(n_constants), *parameters], (-math.inf, math.inf))
    for key, pair in bounds.items():
        if key not in pairs:
            raise FitError(
                f"bounds names {key!r}; keys are 0..{n_constants - 1} for the free constants, and the parameters: "
                f"{_listed([*parameters])}"
            )
        pairs[key] = _pair(pair, f"bounds[{key!r}]")
    return list(pairs.values())


def _refuse_columns(matrix: Any, numbers: list[int], variables: Sequence[str]) -> None:
    finite = np.isfinite(matrix[:, numbers])
    first = np.argmin(finite, axis=0)
    bad = [
        f"{variables[k]} ({matrix[first[k], numbers[k]]} in row {first[k]})"
        for k in np.flatnonzero(~finite.all(axis=0)).tolist()
    ]
    raise FitError(f"X must be finite; NaN or infinity in column {', '.join(bad)}; drop or fill these rows")


def _vector(values: Any, what: str) -> Floats:
    vector = as_floats(values, what, FitError)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise FitError(f"{what} must be one-dimensional, got shape {vector.shape}")
    return vector if vector.flags.c_contiguous and vector.flags.aligned else vector.copy()


def _check_finite(vector: Floats, what: str) -> None:
    finite = np.isfinite(vector)
    if not finite.all():
        row = int(np.argmin(finite))
        raise FitError(f"{what} must be finite, got {vector[row]} in row {row}; drop or fill these rows")


def _weights(values: Any, what: str, n_rows: int) -> Floats:
    weights = _vector(np.broadcast_to(values, n_rows) if np.ndim(values) == 0 else values, what)
    if len(weights) != n_rows:
        raise FitError(f"{what} has {len(weights)} rows, y has {n_rows}; they must be the same")
    _check_finite(weights, what)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise FitError(f"{what} must be >= 0, got {weights[row]} in row {row}")
    return weights


def _pair(pair: Any, what: str) -> tuple[float, float]:
    try:
        low, high = (float(v) for v in pair)
    except (TypeError, ValueError) as error:
        raise FitError(f"{what} must be (low, high), got {pair!r}") from error
    if not low < high:
        raise FitError(f"{what} must be (low, high) with low < high, got {(low, high)}")
    return low, high


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
