"""The state of a search, as callbacks see it, and the counts of each proposer's formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.table.columns import with_names
from simplipy import Fit


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a search after a round; callbacks of the estimator get formulas in the names of the columns."""

    elapsed: float
    n_drawn: int
    n_unique: int
    n_fitted: int
    n_screened: int
    best: Candidate | None
    front: tuple[Candidate, ...]

    def named(self, names: Sequence[str]) -> Progress:
        """The same with x1, x2, ... called by these names."""
        front = [replace(c, expression=with_names(c.expression, names)) for c in self.front]
        best = self.best and replace(self.best, expression=with_names(self.best.expression, names))
        return replace(self, best=best, front=tuple(front))


Callback = Callable[[Progress], bool | None]


@dataclass(slots=True)
class Tally:
    """Counts of the formulas of one proposer."""

    drawn: int = 0
    unique: int = 0
    fitted: int = 0
    screened: int = 0  # dropped on few rows
    inflation: float = 0.0  # length over simplified length, summed over all draws, where the pipeline measures it
    statuses: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    seconds: float = 0.0  # drawing, fitting and ranking
    gain: float = 0.0  # decades of FVU by which the front fell, mean over lengths

    def count_fit(self, fit: Fit | None) -> None:
        """A formula was fitted, or ruled out on few rows."""
        self.statuses["SCREENED" if fit is None else fit.status.name] += 1
        self.screened += fit is None
        self.fitted += fit is not None and fit.ok

    def count_round(self, seconds: float, gain: float) -> None:
        """A round took so long and improved the front by so much."""
        self.rounds += 1
        self.seconds += seconds
        self.gain += gain
