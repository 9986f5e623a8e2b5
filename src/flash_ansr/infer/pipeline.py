"""The pipeline: proposals -> multipliers freed -> simplify -> seen filter -> fit -> tidy -> score -> archive.

Everything that is drawn passes through ``Pipeline.take``; where it comes from is the proposers' business, when to stop
the budget's. With a budget in formulas the result depends on the seed alone: rounds have a fixed size, and every fit
has its own seed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

import simplipy
from flash_ansr.infer.archive import Archive, Candidate
from flash_ansr.infer.budget import Budget, Stop
from flash_ansr.infer.proposals import Grammar, Proposals, Proposer, Table, free_multipliers
from flash_ansr.infer.score import exact_fvu, score
from simplipy import Expression, Fit, TokenBatch

# the paper's L_max for proposals
_MAX_PATTERN_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback sees after every round."""

    elapsed: float
    n_drawn: int
    n_unique: int
    n_fitted: int
    best: Candidate | None


Callback = Callable[[Progress], bool | None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How proposals are treated.

    Attributes
    ----------
    gamma : float
        The paper's price of a token, in decades of FVU.
    loss : str
        What fits minimise.
    n_restarts : int
        Of a fit.
    round_size : int
        Formulas that a proposer is asked for at a time.
    target_fvu : float, optional
        Stop when the best law reaches it.
    random_state : int
    n_threads : int, optional
    """

    gamma: float = 0.05
    loss: str = "squared"
    n_restarts: int = 8
    round_size: int = 256
    target_fvu: float | None = None
    random_state: int = 0
    n_threads: int | None = None


@dataclass(slots=True)
class Tally:
    """What became of the formulas of one proposer."""

    drawn: int = 0
    unique: int = 0
    fitted: int = 0
    statuses: Counter[str] = field(default_factory=Counter)


class Pipeline:
    """Fits and ranks what proposers draw for one table.

    Parameters
    ----------
    table : Table
    proposers : sequence of Proposer
        Asked in turn.
    grammar : Grammar
        Formulas outside it are dropped.
    settings : Settings
    """

    def __init__(self, table: Table, proposers: Sequence[Proposer], grammar: Grammar, settings: Settings) -> None:
        self.table = table
        self.grammar = grammar
        self.settings = settings
        self.archive = Archive()
        self.tallies = {proposer.name: Tally() for proposer in proposers}
        self.log_evidence: dict[bytes, float] = {}  # canonical form to the log of its summed probability
        self.exact_fvu = exact_fvu(table)
        self._proposers = list(proposers)
        self._exact_at: float | None = None

    def run(self, budget: Budget, callback: Callback | None = None) -> Stop:
        """Draw, fit and rank until the budget is spent. Ctrl-C ends it and keeps what is there."""
        waiting = list(self._proposers)
        round_number = 0
        try:
            while waiting:
                for proposer in tuple(waiting):
                    stop = budget.spent() or self._reached(budget)
                    if stop is not None:
                        return stop
                    round_number += 1
                    n = budget.next_draw(self.settings.round_size)
                    proposals = proposer.propose(n, round_seed(self.settings.random_state, round_number))
                    if proposals is None or len(proposals) == 0:
                        waiting.remove(proposer)
                        continue
                    budget.n_drawn += n
                    self.take(proposals, proposer.name, budget, n)
                    if callback is not None and callback(self.progress(budget)):
                        return Stop.CALLBACK
            return Stop.EXHAUSTED
        except KeyboardInterrupt:
            return Stop.INTERRUPTED

    def take(self, proposals: Proposals, name: str, budget: Budget, n_drawn: int) -> None:
        """Everything that happens to a batch of proposals."""
        tally = self.tallies[name]
        tally.drawn += n_drawn
        simplified = simplipy.simplify_many(
            free_multipliers(proposals.batch),
            n_threads=self.settings.n_threads,
            mask_numbers=True,
            max_pattern_length=_MAX_PATTERN_LENGTH,
        )
        assert isinstance(simplified, TokenBatch)
        keys = [part.tobytes() for part in np.split(simplified.ids, simplified.offsets[1:-1])]
        if proposals.log_prob is not None:
            for key, log_prob in zip(keys, proposals.log_prob.tolist(), strict=True):
                self.log_evidence[key] = np.logaddexp(self.log_evidence.get(key, -math.inf), log_prob)
        new = [i for i, key in enumerate(keys) if self.archive.is_new(key)]
        tally.unique += len(new)
        # what comes with starts is fitted as it was proposed: its numbers belong to that spelling
        source = simplified if proposals.starts is None else proposals.batch
        formulas = source.expressions()
        new = [i for i in new if self.grammar.allows(formulas[i])]
        if not new:
            return
        fits = self._fit([formulas[i] for i in new], proposals, new, budget)
        for i, fit in zip(new, fits, strict=True):
            tally.statuses[fit.status.name] += 1
            if not fit.ok:
                continue
            tally.fitted += 1
            log_prob = math.nan if proposals.log_prob is None else float(proposals.log_prob[i])
            self._add(fit, keys[i], log_prob, name, budget)

    def progress(self, budget: Budget) -> Progress:
        """Where the search stands."""
        n_fitted = sum(tally.fitted for tally in self.tallies.values())
        return Progress(budget.elapsed, budget.n_drawn, self.archive.n_seen, n_fitted, self.archive.best)

    def _fit(self, formulas: list[Expression], proposals: Proposals, rows: list[int], budget: Budget) -> list[Fit]:
        left = budget.seconds_left
        x0 = None if proposals.starts is None else [proposals.starts[i] for i in rows]
        return simplipy.fit_constants(
            formulas,
            self.table.X,
            self.table.y,
            sample_weight=self.table.sample_weight,
            x0=x0,
            loss=self.settings.loss,
            n_restarts=self.settings.n_restarts if x0 is None else 0,
            deadline=None if left is None else max(left, 1e-3),
            random_state=self.settings.random_state,
            n_threads=self.settings.n_threads,
        )

    def _add(self, fit: Fit, key: bytes, log_prob: float, name: str, budget: Budget) -> None:
        """Put a fit into the archive; one that enters the front is tidied first."""
        fits = [fit]
        if self.archive.enters_front(len(fit.expression), max(fit.fvu, self.exact_fvu)):
            tidied = simplipy.tidy(fit, self.table.X, self.table.y, sample_weight=self.table.sample_weight)
            fits.append(tidied)
        for candidate in fits:
            expression = candidate.expression
            if not self.grammar.allows(expression):
                continue
            fvu = max(candidate.fvu, self.exact_fvu)
            self.archive.add(
                Candidate(
                    expression,
                    key,
                    fvu,
                    score(fvu, len(expression), self.settings.gamma),
                    len(candidate.constants),
                    log_prob,
                    name,
                    budget.n_drawn,
                )
            )

    def _reached(self, budget: Budget) -> Stop | None:
        """Whether the best law is good enough to stop."""
        best = self.archive.best
        if best is None:
            return None
        if self.settings.target_fvu is not None:
            return Stop.TARGET if best.fvu <= self.settings.target_fvu else None
        if best.fvu > self.exact_fvu:
            self._exact_at = None
            return None
        # an exact law may have a shorter spelling still: look for as long as it took to find it
        spent = float(budget.n_drawn) if budget.n_samples is not None else budget.elapsed
        if self._exact_at is None:
            self._exact_at = spent
        return Stop.EXACT if spent >= 2 * self._exact_at else None


def round_seed(random_state: int, round_number: int) -> int:
    """Seed of a round, from the run's."""
    return int(np.random.SeedSequence([random_state, round_number]).generate_state(1, np.uint64)[0]) >> 1
