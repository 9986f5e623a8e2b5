"""Result of a fit: the outcome as data, and the formula with its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from simplipy.expression.expression import Expression, parse
from simplipy.expression.operators import variable_token
from simplipy.fit.unexplained import Floats


class FitStatus(Enum):
    """How a fit ended. ``OK``, ``NO_CONSTANTS``, ``SINGULAR`` and ``DIVERGED`` come with a finite loss."""

    OK = "the constants are a minimum of the loss"
    NO_CONSTANTS = "there is nothing to fit; the expression was evaluated"
    DIVERGED = "a constant runs off to infinity while the loss still falls"
    NON_FINITE = "no start gives finite values on all rows; the loss is infinite"
    SINGULAR = "the data do not determine all constants; the fit is one of many that are as good"
    DEADLINE = "the time was over; the best so far, or an infinite loss where nothing was fitted"
    DROPPED = "few rows show that it cannot be among the best; not fitted to all rows, the loss is infinite"


# in the order of the core's enumeration
STATUSES = tuple(FitStatus)


@dataclass(frozen=True, slots=True)
class TidyStep:
    """One change that ``tidy`` made: what, why, and the fraction of variance unexplained after it."""

    action: str
    reason: str
    expression: Expression
    fvu: float


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted formula.

    Attributes
    ----------
    status : FitStatus
        How the fit ended.
    skeleton : Expression
        The fitted formula with its free constants.
    constants : array (n_constants,)
        Values of the free constants, in prefix order.
    parameters : dict of str to float
        Values of the named parameters.
    covariance : array (n_constants + n_parameters, n_constants + n_parameters)
        Of constants, then parameters; NaN where the data do not determine it.
    loss : float
        Weighted mean of the objective; infinite where the formula is undefined on a row, or where squares are beyond
        doubles. The covariance has the same limit, the FVU has none.
    fvu : float
        Fraction of variance unexplained, weighted as the loss. Of a constant y, the sum of squared residuals over the
        sum of squares of y; where y is zero, over the sum of weights.
    n_evaluations : int
        Passes over rows that the fit took.
    n_starts : int
        Starts that were valued.
    steps : tuple of TidyStep
        What ``tidy`` did.
    """

    status: FitStatus
    skeleton: Expression
    constants: Floats
    parameters: dict[str, float]
    covariance: Floats
    loss: float
    fvu: float
    n_evaluations: int
    n_starts: int
    steps: tuple[TidyStep, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether the formula is finite on all rows."""
        return bool(np.isfinite(self.fvu))

    @property
    def expression(self) -> Expression:
        """The formula with its numbers, or the skeleton where nothing was fitted."""
        if not (np.isfinite(self.constants).all() and np.isfinite(list(self.parameters.values())).all()):
            return self.skeleton
        filled = self.skeleton.with_constants(self.constants) if len(self.constants) else self.skeleton
        return substituted(filled, self.parameters) if self.parameters else filled

    @property
    def stderr(self) -> Floats:
        """Standard errors (n_constants + n_parameters,)."""
        return np.sqrt(np.diag(self.covariance))

    def __repr__(self) -> str:
        text = self.expression.infix(precision=6)
        return f"Fit({self.status.name}, {text!r}, loss={self.loss:.6g}, fvu={self.fvu:.6g})"


def substituted(expression: Expression, values: dict[str, float]) -> Expression:
    """The expression with these variables replaced by numbers."""
    by_token = {variable_token(name): repr(float(value)) for name, value in values.items()}
    return parse([by_token.get(token, token) for token in expression.tokens])
