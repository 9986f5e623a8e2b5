"""The refiners that the paper compares with: SciPy's curve_fit and BFGS, each from starts of N(0, 5).

They are references, one formula after the other in Python; the core's own method is faster and finds more.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from simplipy.expression.expression import Expression
from simplipy.fit.checks import FitData, check_bounds, check_starts, own_parameters, robust_threshold
from simplipy.fit.result import Fit, FitStatus
from simplipy.fit.score import ROUNDING_FVU
from simplipy.fit.unexplained import Floats, fvu

_START_DEVIATION = 5.0


@dataclass
class _Objective:
    """One formula on the data: values and derivatives by all its constants, then parameters."""

    expression: Expression
    parameters: dict[str, float]
    data: FitData
    loss: str
    bounds: list[tuple[float, float]]
    n_evaluations: int = 0

    def __post_init__(self) -> None:
        self.n = self.expression.n_constants + len(self.parameters)
        self.threshold = robust_threshold(self.data)
        n_rows = len(self.data.y)
        self.weights = np.ones(n_rows) if self.data.weights is None else self.data.weights
        self.sizes = np.ones(n_rows) if self.data.errors is None else self.data.errors
        # one matrix for all calls, which SciPy makes thousands of: columns by number, of parameters too
        names = [*self.data.names, *self.parameters]
        self._matrix = np.zeros((n_rows, max(len(names), 1)))
        if self.data.matrix is not None:
            self._matrix[:, : len(self.data.names)] = self.data.matrix[:, self.data.column_numbers]
        numbers = {name: f"x{k}" for k, name in enumerate(names, start=1) if name in self.expression.variables}
        self._formula = self.expression.rename(numbers)
        self._slopes = [self._formula.variables.index(numbers[name]) for name in self.parameters]

    def _bind(self, values: Floats) -> Floats | None:
        """Constants of these values; parameters go into the matrix."""
        first = self.expression.n_constants
        if self.parameters:
            self._matrix[:, len(self.data.names) :] = values[first:]
        return values[:first] if first else None

    def predict(self, values: Floats) -> Floats:
        self.n_evaluations += 1
        return np.asarray(self._formula(self._matrix, self._bind(values)), dtype=np.float64)

    def slopes(self, values: Floats) -> Floats:
        """Derivatives (n_rows, n_constants + n_parameters)."""
        constants = self._bind(values)
        by_constants = np.asarray(self._formula.gradient(self._matrix, constants), dtype=np.float64)
        if not self.parameters:
            return by_constants
        by_variables = self._formula.gradient(self._matrix, constants, wrt="variables")
        return np.hstack([by_constants, by_variables[:, self._slopes]])

    def __call__(self, values: Floats) -> tuple[float, Floats]:
        """Weighted mean loss and its gradient."""
        weights = self.weights / self.weights.sum()
        rho, slope = _rho(self.loss, self.threshold, (self.predict(values) - self.data.y) / self.sizes)
        return float(weights @ rho), (weights * slope / self.sizes) @ self.slopes(values)

    def fvu(self, values: Floats) -> float:
        return fvu(self.data.y, self.predict(values), self.weights / self.sizes**2)


def _rho(loss: str, threshold: float, u: Floats) -> tuple[Floats, Floats]:
    """Loss of each residual and its derivative."""
    if loss == "huber":
        near = np.abs(u) <= threshold
        rho = np.where(near, u**2, threshold * (2 * np.abs(u) - threshold))
        return rho, np.where(near, 2 * u, 2 * threshold * np.sign(u))
    if loss == "log_cosh":
        size = np.abs(u) / threshold
        rho = 2 * threshold**2 * (size + np.log1p(np.exp(-2 * size)) - np.log(2))
        return rho, 2 * threshold * np.tanh(u / threshold)
    return u**2, 2 * u


def _by_curve_fit(objective: _Objective, start: Floats) -> Floats:
    used, y = objective.weights > 0, objective.data.y

    def predict(_: object, *values: float) -> Floats:
        return objective.predict(np.array(values))[used]

    sigma = objective.sizes[used] / np.sqrt(objective.weights[used])
    limits = tuple(np.array(objective.bounds).T) if objective.bounds else (-np.inf, np.inf)
    return np.asarray(optimize.curve_fit(predict, None, y[used], p0=start, sigma=sigma, bounds=limits)[0])


def _by_bfgs(objective: _Objective, start: Floats) -> Floats:
    bounds = objective.bounds
    method = "L-BFGS-B" if bounds else "BFGS"
    return np.asarray(optimize.minimize(objective, start, jac=True, method=method, bounds=bounds or None).x)


def refine(
    formulas: Sequence[Expression],
    parameters: Mapping[str, float],
    data: FitData,
    x0s: Sequence[Any],
    bounds: Any,
    loss: str,
    method: str,
    n_restarts: int,
    deadline: float | None,
    random_state: int,
) -> list[Fit]:
    """Fits of these formulas, one after the other; see ``simplipy.fit_constants`` for the arguments."""
    if method == "scipy" and loss in ("huber", "log_cosh"):
        from simplipy.errors import FitError

        raise FitError(f"method='scipy' minimises squares, not {loss!r}; use method='lm' or 'bfgs'")
    end = math.inf if deadline is None else time.monotonic() + deadline
    descend = _by_curve_fit if method == "scipy" else _by_bfgs
    fits = []
    for expression, x0 in zip(formulas, x0s or [None] * len(formulas), strict=True):
        named = own_parameters(expression, parameters)
        objective = _Objective(expression, named, data, loss, check_bounds(bounds, expression.n_constants, named))
        rng = np.random.default_rng([random_state % 2**32, expression._tree.hash() % 2**32])
        fits.append(_refine_one(objective, _starts(objective, x0, n_restarts, rng), descend, end))
    return fits


def _starts(objective: _Objective, x0: Any, n_restarts: int, rng: np.random.Generator) -> Floats:
    """Starts (n_starts, n_constants + n_parameters): those of the caller, drawn where he says nothing, and others."""
    own, n_constants = list(objective.parameters.values()), objective.expression.n_constants
    given = np.full((int(bool(own)), n_constants), np.nan) if x0 is None else check_starts(x0, n_constants)
    given = np.hstack([given, np.tile(own, (len(given), 1))])
    draws = rng.normal(scale=_START_DEVIATION, size=(n_restarts, objective.n))
    given = np.where(np.isnan(given), rng.normal(scale=_START_DEVIATION, size=given.shape), given)
    starts = np.vstack([given, draws])
    return np.clip(starts, *np.array(objective.bounds).T) if objective.bounds else starts


def _refine_one(
    objective: _Objective, starts: Floats, descend: Callable[[_Objective, Floats], Floats], end: float
) -> Fit:
    n, first = objective.n, objective.expression.n_constants
    best: Floats = np.full(n, np.nan)
    fraction, n_starts, status = np.inf, 0, FitStatus.OK if n else FitStatus.NO_CONSTANTS
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        best_loss = np.inf if n else objective(best)[0]
        for start in starts if n else ():
            if time.monotonic() > end:
                status = FitStatus.DEADLINE
                break
            n_starts += 1
            try:
                found = descend(objective, start)
            except (RuntimeError, ValueError, np.linalg.LinAlgError):
                continue  # SciPy's way to say that this start led nowhere
            loss = objective(found)[0]
            if loss < best_loss:
                best, best_loss = found, loss
            if np.isfinite(best_loss) and objective.fvu(best) < ROUNDING_FVU:
                break  # no further start can improve it
        covariance = np.full((n, n), np.nan)
        if np.isfinite(best_loss):
            fraction, covariance = objective.fvu(best), _covariance(objective, best)
        else:
            best_loss, status = np.inf, status if status is FitStatus.DEADLINE else FitStatus.NON_FINITE
    named: dict[str, Any] = dict(zip(objective.parameters, best[first:].tolist(), strict=True))
    constants, n_evaluations = best[:first], objective.n_evaluations
    return Fit(status, objective.expression, constants, named, covariance, best_loss, fraction, n_evaluations, n_starts)


def _covariance(objective: _Objective, values: Floats) -> Floats:
    data = objective.data
    root = np.sqrt(objective.weights) / objective.sizes
    jacobian = objective.slopes(values) * root[:, None] if objective.n else np.empty((len(data.y), 0))
    freedom = len(data.y) - objective.n
    residual = (objective.predict(values) - data.y) * root
    variance = 1.0 if data.has_errors else (float(residual @ residual) / freedom if freedom > 0 else np.nan)
    try:
        return np.asarray(np.linalg.inv(jacobian.T @ jacobian) * variance)
    except np.linalg.LinAlgError:
        return np.full((objective.n, objective.n), np.nan)
