"""The archive: every distinct form that was fitted, the best of them as candidates, and their Pareto front.

A form is known by its canonical key; it is fitted once from the numbers of a proposer and once from blind starts, at
most. Which candidate is the law is decided by the score; the archive never draws and never fits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flash_ansr._core import KeySet
from simplipy import OPERATORS, Expression
from simplipy.fit.score import EXACT_FVU

Key = bytes
# proposer of the models that any law must beat
BASELINE = "baseline"
# lengths that count for the level of the front
_LEVEL_LENGTH = 30


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted formula.

    Attributes
    ----------
    expression : Expression
        With its numbers.
    key : bytes
        Of the canonical skeleton.
    fvu, score : float
        On the rows of the fit.
    n_constants : int
        Fitted numbers.
    log_prob : float
        Under its proposer; NaN where that has none.
    proposer : str
    drawn : int
        How many formulas had been drawn before it: ties go to the earlier one.
    r2_cv : float
        Share of the variance explained in rows that it was not fitted to; NaN where that was not tried.
    """

    expression: Expression
    key: Key
    fvu: float
    score: float
    n_constants: int
    log_prob: float
    proposer: str
    drawn: int
    r2_cv: float = math.nan

    @property
    def length(self) -> int:
        """Number of tokens."""
        return len(self.expression)

    @property
    def is_baseline(self) -> bool:
        """Whether it is a model that any law must beat."""
        return self.proposer == BASELINE

    @property
    def is_linear_baseline(self) -> bool:
        """Whether it is such a model and linear: a power law, such as x1^2*x2, is a form like others."""
        operators = {token for token in self.expression.tokens if token in OPERATORS}
        is_product = len(self.expression.variables) > 1 and operators.isdisjoint(("+", "-"))
        return self.is_baseline and not is_product and operators <= {"+", "-", "*", "neg"}

    @property
    def rank(self) -> tuple[float, int, int]:
        """Smaller is better."""
        return self.score, self.length, self.drawn


class Archive:
    """Candidates by canonical key.

    Parameters
    ----------
    capacity : int
        Candidates to keep beside the front.
    """

    def __init__(self, capacity: int = 1000) -> None:
        self.capacity = capacity
        self.n_seen = 0  # distinct forms that were fitted or refused
        self._blind, self._started = KeySet(), KeySet()  # forms fitted without and with numbers to start from
        self._candidates: dict[Key, Candidate] = {}
        self._best_at: dict[int, Candidate] = {}  # lowest FVU of each length
        self.worst_score = math.inf  # of the last candidate that is kept, once there are enough
        self.best: Candidate | None = None

    def was_seen(self, key: int, started: bool) -> bool:
        """Whether the form was fitted in this way, from numbers or blind: each may miss what the other finds."""
        return (self._started if started else self._blind).contains(key)

    def see(self, key: int, started: bool) -> None:
        """Never fit the form again in this way; the key is its hash."""
        own, other = (self._started, self._blind) if started else (self._blind, self._started)
        if own.insert(key) and not other.contains(key):
            self.n_seen += 1

    def wants(self, score: float) -> bool:
        """Whether a candidate with this score would be kept; the front takes others too."""
        return math.isfinite(score) and score < self.worst_score

    def add(self, candidate: Candidate) -> bool:
        """Take a candidate in; True when it is the best so far."""
        if not math.isfinite(candidate.score):
            return False
        best_here = self._best_at.get(candidate.length)
        if best_here is None or candidate.fvu < best_here.fvu:
            self._best_at[candidate.length] = candidate
        known = self._candidates.get(candidate.key)
        if known is not None and known.rank <= candidate.rank:
            return False
        self._candidates[candidate.key] = candidate
        if len(self._candidates) > 2 * self.capacity:
            self._shrink()
        if self.best is None or candidate.rank < self.best.rank:
            self.best = candidate
            return True
        return False

    def front(self) -> list[Candidate]:
        """Candidates that no shorter or equally long one fits better than, by length."""
        front: list[Candidate] = []
        for length in sorted(self._best_at):
            candidate = self._best_at[length]
            if not front or candidate.fvu < front[-1].fvu:
                front.append(candidate)
        return front

    def level(self) -> float:
        """Mean over lengths of the decades of FVU that the front reaches: lower is better."""
        decades = total = 0.0
        for length in range(1, _LEVEL_LENGTH + 1):
            here = self._best_at.get(length)
            if here is not None:
                decades = min(decades, math.log10(max(here.fvu, EXACT_FVU)))
            total += decades
        return total / _LEVEL_LENGTH

    def enters_front(self, length: int, fvu: float) -> bool:
        """Whether a candidate like this would be on the front."""
        return all(c.fvu > fvu for c in self._best_at.values() if c.length <= length)

    def candidates(self) -> list[Candidate]:
        """Best first: the front and the best of the rest."""
        kept = {id(c): c for c in (*self.front(), *self._ranked()[: self.capacity])}
        return sorted(kept.values(), key=lambda c: c.rank)

    def _ranked(self) -> list[Candidate]:
        return sorted(self._candidates.values(), key=lambda c: c.rank)

    def _shrink(self) -> None:
        ranked = self._ranked()[: self.capacity]
        self.worst_score = ranked[-1].score
        self._candidates = {c.key: c for c in ranked}
