"""Constant fitting. Input: skeletons, X, y. Finds values of the free constants; never ranks formulas.

The search runs in the core, one call a batch; ``method="bfgs"`` and ``method="scipy"`` are references through SciPy.
A result depends on the formula, the data, the options and ``random_state`` alone, not on the other formulas of a list,
nor on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from simplipy import _core
from simplipy.errors import FitError, ParseError
from simplipy.expression.data_binding import thread_count
from simplipy.expression.expression import Expression, parse, parse_many
from simplipy.expression.token_batch import TokenBatch
from simplipy.fit import checks
from simplipy.fit.result import STATUSES, Fit, FitStatus
from simplipy.fit.unexplained import Floats

Formula = str | Expression
Formulas = Sequence[Any] | TokenBatch

_METHODS = ("lm", "bfgs", "scipy")
_STARTS = ("auto", "normal")
_OBJECTIVES = {"squared": 0, "huber": 1, "log_cosh": 2, "relative": 0}
_SCREEN_ROWS = 64
# of a fit that is begun in time
_LEAST_SECONDS = 1e-3
# one fit is worth about so many evaluated values
_VALUES_PER_FIT = 10_000
_SEED_MASK = 2**64 - 1
# from so many formulas on, what their results take counts against a deadline; it is measured on a few
_LONG_LIST = 500
_SAMPLE = 100
# over what the few took: later ones meet new memory
_RESERVE = 1.5
_UNREACHED = STATUSES.index(FitStatus.DEADLINE)


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """Which formulas of a list are of interest; what few rows show to be beyond is not fitted to all rows.

    Attributes
    ----------
    keep_best : int, optional
        Those that can still be among so many best by log10(FVU) + length_penalty * length. Limits are set anew after
        each round of 256 formulas, so that the result does not depend on threads.
    length_penalty : float
        Price of a token.
    fvu_limits : array (n_formulas,), optional
        FVU from which a formula is of no interest, whatever the others do.
    """

    keep_best: int | None = None
    length_penalty: float = 0.0
    fvu_limits: Any = None

    def __post_init__(self) -> None:
        if self.keep_best is not None and self.keep_best < 1:
            raise FitError(f"keep_best must be >= 1 or None, got {self.keep_best}")
        if not self.length_penalty >= 0:
            raise FitError(f"length_penalty must be >= 0, got {self.length_penalty}")


_NO_RACE = Race()


class FitKeywords(TypedDict, total=False):
    """Keywords of ``fit_constants``, for its two overloads."""

    x0: Any
    parameters: Mapping[str, float] | Iterable[str] | None
    bounds: Any
    loss: str
    method: str
    n_restarts: int
    rows: int | None
    deadline: float | None
    random_state: int
    n_threads: int | None
    starts: str
    max_steps: int | None
    race: Race | None


@overload
def fit_constants(
    expression: Formula, X: Any, y: Any, sample_weight: Any = None, y_err: Any = None, **keywords: Unpack[FitKeywords]
) -> Fit: ...
@overload
def fit_constants(
    expression: Formulas, X: Any, y: Any, sample_weight: Any = None, y_err: Any = None, **keywords: Unpack[FitKeywords]
) -> list[Fit]: ...
def fit_constants(
    expression: Formula | Formulas,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    y_err: Any = None,
    x0: Any = None,
    parameters: Mapping[str, float] | Iterable[str] | None = None,
    bounds: Any = None,
    loss: str = "squared",
    method: str = "lm",
    n_restarts: int = 8,
    rows: int | None = None,
    deadline: float | None = None,
    random_state: int = 0,
    n_threads: int | None = None,
    *,
    starts: str = "auto",
    max_steps: int | None = None,
    race: Race | None = None,
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
    parameters : mapping of str to float, or names, optional
        Variables that are parameters to be fitted, with starts where it is a mapping; one may occur several times.
    bounds : sequence of (low, high), or mapping of parameter name or constant number to (low, high), optional
        Limits of constants and parameters.
    loss : {"squared", "huber", "log_cosh", "relative"}
        The quantity to minimise.
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
    max_steps : int, optional
        Steps of a descent from ``x0`` with ``n_restarts=0``, for rough fits. None descends until nothing changes.
    race : Race, optional
        Drops formulas that cannot be among the best after the screen: their status is DROPPED.

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
    _check_options(loss, method, starts, n_restarts, rows, deadline, max_steps, random_state)
    formulas, single = _formulas(expression)
    trees = [e._tree for e in formulas]
    names = _core.variables_of(trees)
    named = checks.check_parameters(parameters, names) if parameters is not None else {}
    data = checks.check_data(X, y, [n for n in names if n not in named] if named else names, sample_weight, y_err, loss)
    x0s = [] if x0 is None else [x0] if single else list(x0)
    if x0s and len(x0s) != len(formulas):
        raise FitError(f"x0 must have one entry a formula: {len(formulas)}, got {len(x0s)}")
    if method != "lm":
        from simplipy.paper.scipy_refiners import refine

        fits = refine(formulas, named, data, x0s, bounds, loss, method, n_restarts, deadline, random_state)
        return fits[0] if single else fits
    jobs = _core.FitJobs(trees, data.names, list(named), list(named.values()))
    for i, start in enumerate(x0s):
        if start is not None:
            jobs.set_starts(i, checks.check_starts(start, trees[i].n_constants()))
    if bounds is not None:
        for i, e in enumerate(formulas):
            jobs.set_bounds(i, checks.check_bounds(bounds, e.n_constants, checks.own_parameters(e, named)))
    race = race or _NO_RACE
    if race.fvu_limits is not None:
        jobs.set_fvu_limits(_limits(race.fvu_limits, len(formulas)))
    options = _core.FitOptions(
        n_restarts,
        _SCREEN_ROWS if rows is None else rows,
        starts == "normal",
        _OBJECTIVES[loss],
        checks.robust_threshold(data) if _OBJECTIVES[loss] else 1.0,
        data.has_errors,
        random_state & _SEED_MASK,
        -1.0 if deadline is None else _seconds_left(formulas, started + deadline),
        thread_count(n_threads, len(formulas) * _VALUES_PER_FIT),
        max_steps or 0,
        race.keep_best or 0,
        race.length_penalty,
    )
    fits = _fits(formulas, named, _core.fit_batch(jobs, data.rows, options))
    if bounds is not None and x0 is None and starts == "auto":
        same = {"sample_weight": sample_weight, "y_err": y_err, "loss": loss, "n_restarts": n_restarts, "rows": rows}
        same |= {"random_state": random_state, "n_threads": n_threads}
        for i, fit in enumerate(fits):
            if not fit.fvu <= 1 and fit.status is not FitStatus.DEADLINE:
                left = None if deadline is None else max(started + deadline - time.perf_counter(), _LEAST_SECONDS)
                fits[i] = _from_free_fit(fit, X, y, bounds, {**same, "deadline": left})
    return fits[0] if single else fits


def _from_free_fit(fit: Fit, X: Any, y: Any, bounds: Any, options: dict[str, Any]) -> Fit:
    """The fit within bounds from the one without, where that is better: where usual starts fail."""
    free = fit_constants(fit.skeleton, X, y, parameters=list(fit.parameters) or None, **options)
    pairs = np.array(checks.check_bounds(bounds, len(fit.constants), fit.parameters))
    values = np.clip([*free.constants, *free.parameters.values()], *pairs.T)
    if not (free.ok and len(fit.constants) and np.isfinite(values).all()):
        return fit
    n = len(fit.constants)
    starts = dict(zip(fit.parameters, values[n:].tolist(), strict=True)) or None
    other = fit_constants(fit.skeleton, X, y, x0=values[:n], parameters=starts, bounds=bounds, **options)
    return other if other.fvu < fit.fvu or not fit.ok else fit


def _fits(formulas: Sequence[Expression], named: dict[str, float], results: tuple[Any, ...]) -> list[Fit]:
    *columns, values, covariances = results
    rows = zip(formulas, *(column.tolist() for column in columns), strict=True)
    fits = []
    at = at_square = 0
    for skeleton, status, loss, fvu, n_evaluations, n_starts, n in rows:
        own = checks.own_parameters(skeleton, named) if named else {}
        if n or status != _UNREACHED:
            fitted, covariance = values[at : at + n], covariances[at_square : at_square + n * n].reshape(n, n)
            at += n
            at_square += n * n
        else:
            fitted, covariance = _no_values(skeleton._tree.n_constants() + len(own))
        constants = fitted[: len(fitted) - len(own)] if own else fitted
        parameters = dict(zip(own, fitted[len(constants) :].tolist(), strict=True)) if own else {}
        status = STATUSES[status]
        fits.append(Fit(status, skeleton, constants, parameters, covariance, loss, fvu, n_evaluations, n_starts))
    return fits


@cache
def _no_values(n: int) -> tuple[Floats, Floats]:
    """Values and covariance of a formula that was not reached; all of them share these."""
    values, covariance = np.full(n, np.nan), np.full((n, n), np.nan)
    values.flags.writeable = covariance.flags.writeable = False
    return values, covariance


def _seconds_left(formulas: Sequence[Expression], end: float) -> float:
    """Seconds for the core: what is left, less what the results of a long list will take, measured on a few."""
    reserve = 0.0
    if len(formulas) >= _LONG_LIST:
        sample = formulas[:_SAMPLE]
        zeros, counts = np.zeros(_SAMPLE), np.full(_SAMPLE, _UNREACHED)
        nothing = np.zeros(_SAMPLE, dtype=np.int64)
        before = time.perf_counter()
        _fits(sample, {}, (counts, zeros, zeros, counts, counts, nothing, zeros, zeros))
        reserve = _RESERVE * (time.perf_counter() - before) / _SAMPLE * len(formulas)
    return max(0.0, end - time.perf_counter() - reserve)


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
            return parse_many(items), False
    return [item if type(item) is Expression else parse(item) for item in items], False


def _limits(limits: Any, n: int) -> Floats:
    checked = np.ascontiguousarray(limits, dtype=np.float64)
    if checked.shape != (n,):
        raise FitError(f"fvu_limits must have one entry a formula: {n}, got shape {checked.shape}")
    return checked


def _check_options(
    loss: str,
    method: str,
    starts: str,
    n_restarts: int,
    rows: int | None,
    deadline: float | None,
    max_steps: int | None,
    random_state: int,
) -> None:
    for what, value, known in (("loss", loss, _OBJECTIVES), ("method", method, _METHODS), ("starts", starts, _STARTS)):
        if value not in known:
            raise FitError(f"{what} must be one of {', '.join(map(repr, known))}, got {value!r}")
    if n_restarts < 0:
        raise FitError(f"n_restarts must be >= 0, got {n_restarts}")
    if rows is not None and rows < 1:
        raise FitError(f"rows must be >= 1 or None, got {rows}")
    if deadline is not None and not deadline > 0:
        raise FitError(f"deadline must be > 0 seconds or None, got {deadline}")
    if max_steps is not None and max_steps < 1:
        raise FitError(f"max_steps must be >= 1 or None, got {max_steps}")
    if not isinstance(random_state, int | np.integer):
        raise FitError(f"random_state must be an integer, got {random_state!r}")
