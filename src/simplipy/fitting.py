"""Constant fitting. Input: skeletons, X, y. Finds values of the free constants; never ranks formulas.

The search runs in the core, one call a batch; ``method="bfgs"`` and ``method="scipy"`` are references through SciPy.
A result depends on the formula, the data, the options and ``random_state`` alone, not on the other formulas of a list,
nor on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np

from simplipy import _core
from simplipy.data_binding import thread_count
from simplipy.errors import FitError, ParseError
from simplipy.expression import Expression, parse
from simplipy.fit_input import (
    check_bounds,
    check_data,
    check_parameters,
    check_starts,
    columns_of,
    robust_threshold,
)
from simplipy.fit_result import STATUSES, Fit
from simplipy.token_batch import TokenBatch

Loss = Literal["squared", "huber", "log_cosh", "relative"]
Method = Literal["lm", "bfgs", "scipy"]
Formula = str | Expression

_LOSSES = ("squared", "huber", "log_cosh", "relative")
_METHODS = ("lm", "bfgs", "scipy")
_STARTS = ("auto", "normal")
_OBJECTIVES = {"squared": 0, "relative": 0, "huber": 1, "log_cosh": 2}
_SCREEN_ROWS = 64
# one fit is worth about so many evaluated values
_VALUES_PER_FIT = 10_000
_SEED_MASK = 2**64 - 1


@overload
def fit_constants(expression: Formula, X: Any, y: Any, *arguments: Any, **options: Any) -> Fit: ...
@overload
def fit_constants(
    expression: Sequence[Any] | TokenBatch, X: Any, y: Any, *arguments: Any, **options: Any
) -> list[Fit]: ...
def fit_constants(
    expression: Formula | Sequence[Any] | TokenBatch,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    y_err: Any = None,
    x0: Any = None,
    parameters: Mapping[str, float] | None = None,
    bounds: Any = None,
    loss: Loss = "squared",
    method: Method = "lm",
    n_restarts: int = 8,
    rows: int | None = None,
    deadline: float | None = None,
    random_state: int = 0,
    n_threads: int | None = None,
    *,
    starts: Literal["auto", "normal"] = "auto",
) -> Fit | list[Fit]:
    """Values of the free constants of one formula or of many, by least squares.

    Parameters
    ----------
    expression : Expression or str, or a list of them, a list of token lists, or a TokenBatch
        Formulas with free constants ``<constant>``; one without any is evaluated.
    X : array (n_rows, n_columns), DataFrame or mapping of columns
        x_k is column k-1 of an array; tables and mappings bind by name.
    y : array (n_rows,)
        The target.
    sample_weight : array (n_rows,), optional
        Weights of squared residuals, >= 0.
    y_err : float or array (n_rows,), optional
        Standard deviations of y: residuals are divided by them, and standard errors are absolute.
    x0 : array (n_constants,) or (n_starts, n_constants), optional
        Starts to try first. Of a list of formulas, a list with one entry each.
    parameters : mapping of str to float, optional
        Variables that are parameters to be fitted, with their starts; one may occur several times.
    bounds : sequence of (low, high), or mapping of parameter name or constant number to (low, high), optional
        Limits of constants and parameters.
    loss : {"squared", "huber", "log_cosh", "relative"}
        What is minimised.
    method : {"lm", "bfgs", "scipy"}
        The core's Levenberg-Marquardt, or SciPy's BFGS or curve_fit from N(0, 5).
    n_restarts : int, default 8
        Descents beside the caller's starts; 0 descends from ``x0`` and ``parameters`` alone.
    rows : int, optional
        Rows that starts are screened on, spread over the range of y; 64 by default. All rows decide.
    deadline : float, optional
        Seconds for the whole call. What is not done then has the status DEADLINE.
    random_state : int, default 0
        Seed; each formula gets its own stream from it and its tokens.
    n_threads : int, optional
        None takes what pays off. The result does not depend on it.
    starts : {"auto", "normal"}
        "normal" descends on all rows from N(0, 5) alone, every constant by Levenberg-Marquardt, as the paper does.

    Returns
    -------
    Fit or list of Fit

    Examples
    --------
    >>> import numpy as np, simplipy
    >>> X = np.linspace(0, 4, 50).reshape(-1, 1)
    >>> fit = simplipy.fit_constants("<constant>*exp(<constant>*x1)", X, 2.5 * np.exp(-0.7 * X[:, 0]))
    >>> fit.expression.infix(precision=6)
    '2.5*exp(-0.7*x1)'
    """
    started = time.perf_counter()
    _check_options(loss, method, n_restarts, rows, deadline, random_state, starts)
    formulas, single = _formulas(expression)
    variables = [e._tree.variables() for e in formulas]
    n_constants = [e._tree.n_constants() for e in formulas]
    names = variables[0] if single else sorted({name for own in variables for name in own})
    named = check_parameters(parameters, names) if parameters else {}
    data = check_data(X, y, [n for n in names if n not in named] if named else names, sample_weight, y_err, loss)
    x0s = [x0] if single else _one_each(x0, len(formulas))
    own = [{n: start for n, start in named.items() if n in held} if named else {} for held in variables]
    all_starts = [check_starts(x, n, p) for x, n, p in zip(x0s, n_constants, own, strict=True)]
    all_bounds = [check_bounds(bounds, n, p) for n, p in zip(n_constants, own, strict=True)]
    if method != "lm":
        from simplipy.scipy_refiners import refine

        fits = refine(formulas, own, data, all_starts, all_bounds, loss, method, n_restarts, deadline, random_state)
        return fits[0] if single else fits
    results = _core.fit_batch(
        [e._tree for e in formulas],
        [columns_of(v, n, data, p) for v, n, p in zip(variables, n_constants, own, strict=True)],
        [n + len(p) for n, p in zip(n_constants, own, strict=True)],
        all_starts,
        all_bounds,
        _core.FitRows(data.columns, data.y, data.sample_weights, data.sizes),
        _core.FitOptions(
            n_restarts,
            _SCREEN_ROWS if rows is None else rows,
            starts == "normal",
            _OBJECTIVES[loss],
            robust_threshold(data) if _OBJECTIVES[loss] else 1.0,
            data.has_errors,
            random_state & _SEED_MASK,
            # what was spent so far, and about as much for the results
            -1.0 if deadline is None else max(0.0, deadline - 2 * (time.perf_counter() - started)),
            thread_count(n_threads, len(formulas) * _VALUES_PER_FIT),
        ),
    )
    fits = [_fit(e, p, r) for e, p, r in zip(formulas, own, results, strict=True)]
    return fits[0] if single else fits


def _fit(skeleton: Expression, parameters: dict[str, float], result: tuple[Any, ...]) -> Fit:
    status, loss, fvu, n_evaluations, n_starts, values, covariance = result
    n = len(values) - len(parameters)
    return Fit(
        STATUSES[status],
        skeleton,
        values[:n] if parameters else values,
        dict(zip(parameters, values[n:].tolist(), strict=True)),
        covariance,
        loss,
        fvu,
        n_evaluations,
        n_starts,
    )


def _formulas(expression: Any) -> tuple[list[Expression], bool]:
    """The formulas, and whether the caller passed one alone."""
    if isinstance(expression, str | Expression):
        return [parse(expression)], True
    if isinstance(expression, TokenBatch):
        return expression.expressions(), False
    items = list(expression)
    if len(items) > 1 and all(isinstance(item, str) for item in items):
        try:
            return [parse(items)], True  # one formula as tokens
        except ParseError:
            pass
    return [parse(item) for item in items], False


def _one_each(x0: Any, n: int) -> Sequence[Any]:
    if x0 is None:
        return [None] * n
    if len(x0) != n:
        raise FitError(f"x0 must have one entry a formula: {n}, got {len(x0)}")
    return list(x0)


def _check_options(
    loss: str,
    method: str,
    n_restarts: int,
    rows: int | None,
    deadline: float | None,
    random_state: int,
    starts: str,
) -> None:
    for what, value, known in (("loss", loss, _LOSSES), ("method", method, _METHODS), ("starts", starts, _STARTS)):
        if value not in known:
            raise FitError(f"{what} must be one of {', '.join(map(repr, known))}, got {value!r}")
    if n_restarts < 0:
        raise FitError(f"n_restarts must be >= 0, got {n_restarts}")
    if rows is not None and rows < 1:
        raise FitError(f"rows must be >= 1 or None, got {rows}")
    if deadline is not None and not deadline > 0:
        raise FitError(f"deadline must be > 0 seconds or None, got {deadline}")
    if not isinstance(random_state, int | np.integer):
        raise FitError(f"random_state must be an integer, got {random_state!r}")
