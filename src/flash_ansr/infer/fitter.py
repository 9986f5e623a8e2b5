"""Fits of a batch of skeletons to one table: on few rows first, on all rows what has a chance. Ranks nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import simplipy
from flash_ansr.infer.proposals import FloatArray, Table
from flash_ansr.infer.settings import Settings
from simplipy import Expression, Fit

# below twice as many rows a screen saves nothing
_SCREEN_ROWS = 256
# how much worse than the limit a fit to few rows may be: their FVU is a noisy estimate
_SLACK = 4.0
_SHORTEST_SECONDS = 1e-3


class Fitter:
    """Fits skeletons to a table.

    Parameters
    ----------
    table : Table
    settings : Settings
    """

    def __init__(self, table: Table, settings: Settings) -> None:
        self.table = table
        self.settings = settings
        self._few: Table | None = None
        if settings.paper is None and table.n_rows > 2 * _SCREEN_ROWS:
            self._few = _few_rows(table, settings.random_state)

    def fit(
        self,
        formulas: list[Expression],
        starts: Sequence[FloatArray] | None,
        seconds: float | None,
        limit: Callable[[int], float],
    ) -> list[Fit | None]:
        """A fit of each formula; None where few rows show that its FVU is beyond the limit for its length."""
        if self._few is None:
            return list(self._fits(formulas, self.table, starts, seconds, self._n_restarts(starts)))
        first = self._fits(formulas, self._few, starts, seconds, self._n_restarts(starts))
        fits: list[Fit | None] = [None if f.ok else f for f in first]
        hopeful = [i for i, f in enumerate(first) if f.ok and f.fvu <= _SLACK * limit(len(f.skeleton))]
        if hopeful:
            again = self._fits(
                [formulas[i] for i in hopeful], self.table, [first[i].constants for i in hopeful], seconds, 0
            )
            for i, fit in zip(hopeful, again, strict=True):
                fits[i] = fit
        return fits

    def _n_restarts(self, starts: Sequence[FloatArray] | None) -> int:
        return self.settings.n_restarts if starts is None else 0

    def _fits(
        self,
        formulas: list[Expression],
        table: Table,
        starts: Sequence[FloatArray] | None,
        seconds: float | None,
        n_restarts: int,
    ) -> list[Fit]:
        paper = self.settings.paper
        return simplipy.fit_constants(
            formulas,
            table.X,
            table.y,
            sample_weight=table.sample_weight,
            x0=starts,
            loss=self.settings.loss,
            method=paper.refiner if paper else "lm",
            n_restarts=n_restarts,
            deadline=None if seconds is None else max(seconds, _SHORTEST_SECONDS),
            random_state=self.settings.random_state,
            n_threads=self.settings.n_threads,
            starts="normal" if paper else "auto",
        )


def _few_rows(table: Table, seed: int) -> Table:
    """Rows spread over the range of y: extremes tell formulas apart."""
    order = np.argsort(table.y, kind="stable")
    width = table.n_rows / _SCREEN_ROWS
    offsets = np.random.default_rng(seed).random(_SCREEN_ROWS)
    rows = np.sort(order[((np.arange(_SCREEN_ROWS) + offsets) * width).astype(np.int64)])
    weights = None if table.sample_weight is None else table.sample_weight[rows]
    return Table(table.X[rows], table.y[rows], weights)
