"""Fits as formulas of the user's table, and in the simple numbers that they stand for. Ranks nothing."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

import simplipy
from flash_ansr.infer.candidates.fitter import refit
from flash_ansr.infer.candidates.normal_forms import merged
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.table.table import Table
from simplipy import Expression, Fit
from simplipy.fit.score import is_nearly_exact

# seconds for a law that is not exact when there are none left
LEAST_SECONDS = 0.02
# of more than twice as many rows, laws that are nearly exact are tidied on so many
_ROWS = 2048


class Tidier:
    """Brings fits to the user's units and to simple numbers.

    Parameters
    ----------
    table : Table
        In the user's units.
    scaling : UnitScaling
        Units of the fits.
    price : float
        Of a token, in decades of FVU.
    loss : str
    exact_fvu : float
        FVU of rounding.
    """

    def __init__(self, table: Table, scaling: UnitScaling, price: float, loss: str, exact_fvu: float) -> None:
        self._table = table
        self._scaling = scaling
        self._price = price
        self._loss = loss
        self._exact_fvu = exact_fvu

    def in_user_units(self, fit: Fit, is_late: bool) -> Fit | None:
        """The fit as one of the user's table; None where its numbers leave the range of doubles."""
        if self._scaling.is_identity:
            return fit
        restored = self._scaling.restore(fit.expression)
        if restored is None:
            return None
        skeleton, numbers = merged(restored.skeleton(), numbers_of(restored))
        # the numbers are those of the fit up to rounding: without time, one look at the rows is enough
        again = self._valued(skeleton, numbers) if is_late else refit(skeleton, numbers, self._table, self._loss)
        return again if again.ok else None

    def tidied(self, fit: Fit, seconds: float | None) -> Fit | None:
        """The fit in simple numbers; of a law that is nearly exact, read off some rows of many."""
        deadline = None if seconds is None else time.monotonic() + seconds
        rows = self._table
        if rows.n_rows > 2 * _ROWS and is_nearly_exact(fit.fvu, self._exact_fvu):
            rows = rows.thinned(_ROWS)
            fit = refit(fit.skeleton, fit.constants, rows, self._loss, seconds)
        tidied = simplipy.tidy(
            fit,
            rows.X,
            rows.y,
            sample_weight=rows.sample_weight,
            gamma=self._price,
            loss=self._loss,
            deadline=None if deadline is None else max(deadline - time.monotonic(), LEAST_SECONDS),
        )
        if tidied.ok and rows is not self._table:
            tidied = self._valued(tidied.skeleton, tidied.constants.tolist())
        return tidied if tidied.ok else None

    def tidied_formula(self, expression: Expression, seconds: float | None) -> Fit | None:
        """The formula with its numbers fitted and tidied."""
        fit = refit(expression.skeleton(), numbers_of(expression), self._table, self._loss, seconds)
        return self.tidied(fit, seconds) if fit.ok else None

    def _valued(self, skeleton: Expression, numbers: list[float]) -> Fit:
        """The formula with these numbers as if they had been fitted to all rows."""
        formula = skeleton.with_constants(numbers) if numbers else skeleton
        return replace(refit(formula, [], self._table, self._loss), skeleton=skeleton, constants=np.array(numbers))
