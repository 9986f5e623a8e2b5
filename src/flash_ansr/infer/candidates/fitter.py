"""Fits of a batch of skeletons to one table: on few rows first, on all rows what has a chance. Ranks nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import simplipy
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression, Fit, FitStatus
from simplipy.fit import unexplained
from simplipy.fit.constants import Race

# rows of a screen; with less than twice as many it saves nothing
_SCREEN_ROWS = 64
_SHORTEST_SECONDS = 1e-3
_BLIND_STARTS = 8


def refit(
    skeleton: Expression, numbers: Sequence[float] | FloatArray, rows: Table, loss: str, seconds: float | None = None
) -> Fit:
    """The skeleton with its constants fitted from these numbers alone."""
    return refit_all([skeleton], [numbers], rows, loss, seconds)[0]


def refit_all(
    skeletons: Sequence[Expression],
    numbers: Sequence[Sequence[float] | FloatArray] | None,
    rows: Table,
    loss: str = "squared",
    seconds: float | None = None,
    max_steps: int | None = None,
) -> list[Fit]:
    """As ``refit``, of many; without numbers from blind starts. ``max_steps`` is as in ``fit_constants``."""
    return simplipy.fit_constants(
        list(skeletons),
        rows.X,
        rows.y,
        sample_weight=rows.sample_weight,
        x0=None if numbers is None else [np.asarray(own, dtype=np.float64) for own in numbers],
        loss=loss,
        n_restarts=_BLIND_STARTS if numbers is None else 0,
        n_threads=1,
        deadline=_deadline(seconds),
        max_steps=max_steps,
    )


def fvu_on(expression: Expression, rows: Table) -> float:
    """Fraction of variance unexplained on these rows; infinite where the formula is undefined on one."""
    values = np.asarray(expression(rows.X), dtype=np.float64)
    return unexplained.fvu(rows.y, values, rows.sample_weight)


class Fitter:
    """Fits skeletons to a table.

    Parameters
    ----------
    table : Table
    settings : Settings
    """

    def __init__(self, table: Table, settings: Settings) -> None:
        self._table = table
        self._settings = settings
        self._screens = settings.pipeline.screens and table.n_rows > 2 * _SCREEN_ROWS

    def fit(
        self,
        formulas: list[Expression],
        starts: Sequence[FloatArray] | None,
        seconds: float | None,
        limit: Callable[[int], float],
    ) -> list[Fit | None]:
        """A fit of each formula; None where few rows show that its FVU is beyond the limit for its length."""
        table, settings = self._table, self._settings
        fits = simplipy.fit_constants(
            formulas,
            table.X,
            table.y,
            sample_weight=table.sample_weight,
            x0=starts,
            loss=settings.loss,
            method=settings.pipeline.refiner,
            n_restarts=settings.n_restarts if starts is None else 0,
            rows=_SCREEN_ROWS,
            deadline=_deadline(seconds),
            random_state=settings.random_state,
            n_threads=settings.n_threads,
            starts=settings.pipeline.starts,
            race=Race(fvu_limits=[limit(len(formula)) for formula in formulas]) if self._screens else None,
        )
        return [None if f.status is FitStatus.DROPPED else f for f in fits]


def _deadline(seconds: float | None) -> float | None:
    """The fitter takes only times that are not over."""
    return None if seconds is None else max(seconds, _SHORTEST_SECONDS)
