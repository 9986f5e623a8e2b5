"""How well candidates predict rows that their constants were not fitted to, row by row, so that they can be compared.

Rows are left out by folds, each of them once; where there are many, some of them are predicted and some are fitted to.
The search has seen all rows, though, and the best of very many forms predicts them too well: a part of the price of
its form is charged to a candidate, which is about as many nats as it gains by chance. Two candidates are compared by
the differences of their losses in the same rows: these vary much less than the losses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import form_prices, with_rare_numbers_free
from flash_ansr.infer.candidates.fitter import refit_all
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.table.table import FloatArray, Rows, Table
from simplipy import FitStatus
from simplipy.fit.unexplained import unit_of

_N_FOLDS = 5
# with fewer rows, each is left out once
_FEW_ROWS = 20
# rows that are predicted, and that a fit is made to
_MOST_PREDICTED = 1500
_MOST_FITTED = 3000
# of a fit to most of the rows, from the numbers of the fit to all of them
_REFIT_STEPS = 8
# of the price of a form, with few rows and with many: the measured gain by chance (docs/noise.md)
_CHARGED, _CHARGED_OF_MANY = 0.5, 0.25
_MANY_ROWS = 200
# losses that count in a comparison are at most so many times the mean loss: one wild row must not decide
_LARGEST_LOSS = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Losses of candidates in rows that they were not fitted to.

    Attributes
    ----------
    candidates : list of Candidate
        Those that were tried, each with its ``r2_cv``.
    losses : array (n_candidates, n_rows)
        Weighted squares of errors, with the charge for the form.
    """

    candidates: list[Candidate]
    losses: FloatArray

    @property
    def best(self) -> int:
        """The candidate with the least loss."""
        return int(np.argmin(self.losses.mean(axis=1)))

    def excess(self, i: int, over: int) -> float:
        """By how many standard errors the loss of a candidate is above another's; 0 for equal ones."""
        if i == over:
            return 0.0
        cap = _LARGEST_LOSS * float(self.losses[over].mean())
        difference = np.minimum(self.losses[i], cap) - np.minimum(self.losses[over], cap)
        error = float(difference.std()) / math.sqrt(len(difference))
        mean = float(difference.mean())
        return 0.0 if mean == 0 else math.copysign(math.inf, mean) if error == 0 else mean / error


def held_out(
    candidates: Sequence[Candidate],
    table: Table,
    loss: str,
    seed: int,
    deadline: Budget | None,
    precisions: FloatArray | None = None,
) -> HeldOut:
    """Losses of candidates; those that time does not allow, or that are undefined on a row, are left out.

    Parameters
    ----------
    candidates : sequence of Candidate
        The first ones are tried first.
    loss : str
        Of the fits.
    seed : int
        Of the folds.
    precisions : array (n_rows,), optional
        Weights for fits and losses in place of the table's, where the noise is not the same in all rows. ``r2_cv`` is
        by the weights of the table all the same.
    """
    folds = _folds(table.n_rows, seed)
    unit = unit_of(table.y)
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight / table.sample_weight.mean()
    counted = weights if precisions is None else precisions / precisions.mean()
    parts: list[FloatArray] = []
    plain: list[FloatArray] = []
    means: list[FloatArray] = []
    skeletons, numbers = zip(*(with_rare_numbers_free(c.expression) for c in candidates), strict=True)
    for train, test in folds:
        if deadline is not None and deadline.spent() is not None:
            break
        rows = table.at(train)
        fitted = rows if precisions is None else replace(rows, sample_weight=counted[train])
        left = None if deadline is None else deadline.seconds_left
        fits = refit_all(skeletons, numbers, fitted, loss, left, _REFIT_STEPS)
        if any(fit.status is FitStatus.DEADLINE for fit in fits):
            break
        laws = [fit.expression if fit.ok else c.expression for fit, c in zip(fits, candidates, strict=True)]
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.array([np.broadcast_to(law(table.X[test]), len(test)) for law in laws], dtype=np.float64)
            squares = (values / unit - table.y[test] / unit) ** 2
            parts.append(squares * counted[test])
            plain.append(squares * weights[test])
            mean = np.average(rows.y / unit, weights=rows.sample_weight)
            means.append((mean - table.y[test] / unit) ** 2 * weights[test])
    if not parts:
        return HeldOut([], np.empty((0, 0)))
    losses, of_mean = np.concatenate(parts, axis=1), max(float(np.concatenate(means).mean()), 1e-300)
    charges = np.exp(2 * _charges(candidates, table) / table.n_rows)
    losses *= charges[:, None]
    means_of_plain = np.concatenate(plain, axis=1).mean(axis=1) * charges
    kept = np.flatnonzero(np.isfinite(losses).all(axis=1)).tolist()
    tried = [replace(candidates[i], r2_cv=1 - float(means_of_plain[i]) / of_mean) for i in kept]
    return HeldOut(tried, losses[kept])


def _charges(candidates: Sequence[Candidate], table: Table) -> FloatArray:
    """Nats that each candidate gains by chance; a baseline is not searched for."""
    prices = form_prices([c.expression for c in candidates], table.n_columns).min(axis=1)
    charged = _CHARGED if table.n_rows < _MANY_ROWS else _CHARGED_OF_MANY
    return np.where([c.is_baseline for c in candidates], 0.0, charged * prices)


def _folds(n_rows: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Rows to fit to and rows to predict, without a row in two predictions."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_folds = n_rows if n_rows <= _FEW_ROWS else _N_FOLDS
    folds = []
    for test in np.array_split(order[:_MOST_PREDICTED], n_folds):
        train = np.setdiff1d(order, test, assume_unique=True)
        folds.append((np.sort(train[np.linspace(0, len(train) - 1, min(len(train), _MOST_FITTED)).astype(int)]), test))
    return folds
