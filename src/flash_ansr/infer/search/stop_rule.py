"""When the best law is good enough to end a search: it reached the target, is exact, or leaves noise."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.candidates.archive import Archive, Candidate
from flash_ansr.infer.candidates.description import rough_nats
from flash_ansr.infer.candidates.noise_models import leaves_noise
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.table import Table
from simplipy.fit.score import is_exact

# an exact law of more tokens than this is doubted for this share of the budget
_SHORT = 6
_PATIENCE = 0.2
# seconds after which a search may end because what is left is noise, and how often the best must have lasted its age
_LEAST_SECONDS = 5.0
_LASTING = 3.0


class StopRule:
    """Whether the laws of an archive are good enough.

    Parameters
    ----------
    table : Table
    settings : Settings
    price : float
        Of a token, in decades of FVU.
    """

    def __init__(self, table: Table, settings: Settings, exact_fvu: float) -> None:
        self._table = table
        self._settings = settings
        self._exact_fvu = exact_fvu
        self._exact_at: float | None = (
            None  # seconds or formulas spent when an exact law was the best for the first time
        )
        # the best description so far, since when, and whether it leaves noise
        self._described, self._described_at = b"", 0.0
        self._leaves_noise: bool | None = None

    def is_exact(self, candidate: Candidate | None) -> bool:
        """Whether there is a candidate, and rounding alone is what it leaves."""
        return candidate is not None and is_exact(candidate.fvu, self._exact_fvu)

    def reached(self, archive: Archive, budget: Budget) -> Stop | None:
        """Why the search can end, None where it should go on."""
        best, target = archive.best, self._settings.target_fvu
        if best is None or not self._settings.pipeline.stops_early:
            return None
        if target is not None:
            # a target of 0 asks for the whole budget
            return Stop.TARGET if target and (best.fvu <= target or self.is_exact(best)) else None
        if self.is_exact(best):
            return self._lasts(best, budget)
        self._exact_at = None
        return Stop.NOISE if budget.n_samples is None and self._is_settled(archive, budget.elapsed) else None

    def _lasts(self, best: Candidate, budget: Budget) -> Stop | None:
        """An exact law may have a shorter spelling: look for as long as it took to find it, longer for a long one."""
        by_count = budget.n_samples is not None
        spent, limit = (budget.n_drawn, budget.n_samples) if by_count else (budget.elapsed, budget.time_limit)
        if self._exact_at is None:
            self._exact_at = spent
        patience = _PATIENCE * (limit or 0.0) if best.length > _SHORT else 0.0
        return Stop.EXACT if spent >= self._exact_at + max(self._exact_at, patience) else None

    def _is_settled(self, archive: Archive, elapsed: float) -> bool:
        """Whether what the best description leaves is noise, and it has been the best for most of the time."""
        table, front = self._table, archive.front()
        lengths = rough_nats(
            [c.expression for c in front],
            [c.fvu for c in front],
            [c.n_constants for c in front],
            table.n_rows,
            table.n_columns,
            self._settings.gamma,
            self._exact_fvu,
        )
        best = front[int(np.argmin(lengths))]
        if best.key != self._described:
            self._described, self._described_at, self._leaves_noise = best.key, elapsed, None
        if elapsed < max(_LASTING * self._described_at, _LEAST_SECONDS):
            return False
        if self._leaves_noise is None:
            self._leaves_noise = leaves_noise(best, self._table, self._settings.loss)
        return self._leaves_noise
