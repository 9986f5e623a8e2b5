"""The pipeline: proposals -> normal forms -> seen filter -> screen -> fit -> tidy -> score -> archive.

Everything that is drawn passes through ``Pipeline.take``. With a budget in formulas the result depends on the seed
alone: rounds have a fixed size, thresholds hold for a whole round, and every fit has its own seed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Archive, Candidate
from flash_ansr.infer.candidates.fitter import Fitter
from flash_ansr.infer.candidates.model_probability import FormProbabilities
from flash_ansr.infer.candidates.normal_forms import form_hashes, form_keys, normal_forms
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.candidates.seen_filter import Job, unfitted_forms
from flash_ansr.infer.candidates.tidying import LEAST_SECONDS, Tidier
from flash_ansr.infer.proposers.base import Proposer
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.search.progress import Callback, Progress, Tally
from flash_ansr.infer.search.schedule import Schedule
from flash_ansr.infer.search.stop_rule import StopRule
from flash_ansr.infer.search.team import Team
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Fit, FitStatus, TokenBatch
from simplipy.fit.score import fvu_at, is_nearly_exact, score
from simplipy.fit.shorter_forms import reductions

# pause while no proposer is ready
_PAUSE = 0.01
# with many rows, formulas are fitted to all of them whose score is within so many of the best
_DECADES = 1.0
# a nearly exact law may lose so many tokens when it is tidied
_TOKENS_TO_DROP = 8
# of a batch, the other proposers get so many fits
_LESSONS = 32
# seconds after which what loads beside a search is worth loading, while no law is exact
_TOO_SOON = 0.3


class _Scored(NamedTuple):
    """A fit in the units of the search."""

    score: float
    fit: Fit
    key: bytes
    log_prob: float


class Pipeline:
    """Fits and ranks what proposers draw for one table.

    Parameters
    ----------
    table : Table
        In the user's units, as are all candidates.
    scaling : UnitScaling
        Units of the search: proposers draw for the scaled table.
    proposers : sequence of Proposer
        Asked as ``Schedule`` says.
    grammar : Grammar
        Formulas outside it are dropped.
    settings : Settings

    Attributes
    ----------
    price : float
        Of a token, in decades of FVU.
    exact_fvu : float
        Lower FVUs count as equal to it.
    archive : Archive
    tallies : dict of str to Tally
        By proposer.
    form_probabilities : FormProbabilities
    n_rounds : int
    """

    def __init__(
        self, table: Table, scaling: UnitScaling, proposers: Sequence[Proposer], grammar: Grammar, settings: Settings
    ) -> None:
        self.table = table
        self.scaling = scaling
        self.grammar = grammar
        self.settings = settings
        self.price = settings.pipeline.token_price(settings.gamma, table.n_rows)
        self.exact_fvu = settings.pipeline.exact_fvu(table.y)
        self.archive = Archive()
        self.team = Team(proposers, table.n_columns, lambda: self.archive.best is None)
        self.tallies = {proposer.name: Tally() for proposer in proposers}
        self.form_probabilities = FormProbabilities()
        self.n_rounds = 0
        self._fitter = Fitter(scaling.apply(table), settings)
        self._tidier = Tidier(table, scaling, self.price, settings.loss, self.exact_fvu)
        self._stop_rule = StopRule(table, settings, self.exact_fvu)
        self._tidied_keys: set[bytes] = set()
        self._reduced: Candidate | None = None  # the last law whose reductions were proposed

    def run(self, budget: Budget, callback: Callback | None = None) -> Stop:
        """Draw, fit and rank until the budget is spent. Ctrl-C ends it and keeps what is there."""
        schedule = Schedule(self.team.proposers, budget.time_limit if budget.n_samples is None else budget.n_samples)
        try:
            while schedule:
                stop = budget.spent() or self._stop_rule.reached(self.archive, budget)
                if stop is not None:
                    return stop
                proposer = schedule.next()
                self._start_loading(proposer is None, budget)
                if proposer is None:
                    time.sleep(_PAUSE)
                    continue
                drew = self._round(proposer, schedule, budget)
                if drew and callback is not None and callback(self.progress(budget)):
                    return Stop.CALLBACK
            return self._stop_rule.reached(self.archive, budget) or Stop.EXHAUSTED
        except KeyboardInterrupt:
            return Stop.INTERRUPTED

    def _start_loading(self, is_needed: bool, budget: Budget) -> None:
        """Start what loads beside the search when it is needed, or the search is not over at once."""
        if is_needed or (budget.elapsed >= _TOO_SOON and not self._stop_rule.is_exact(self.archive.best)):
            for proposer in self.team.loading:
                proposer.load()

    def _round(self, proposer: Proposer, schedule: Schedule, budget: Budget) -> bool:
        """Ask a proposer and take what it draws; False when it has nothing more."""
        n_before, before, level = budget.n_drawn, budget.elapsed, self.archive.level()
        self.n_rounds += 1
        n = budget.next_draw(self.settings.pipeline.round_size(proposer.round_size, budget.n_samples))
        seed = round_seed(self.settings.random_state, self.n_rounds)
        proposals = self.team.ask(proposer, n, seed, budget.seconds_left)
        if proposals is None:
            schedule.drop(proposer)
            return False
        self.take(proposals, proposer.name, budget)
        self._reduce_best(proposer.name, budget)
        seconds, gain = budget.elapsed - before, level - self.archive.level()
        schedule.record(proposer, seconds if budget.n_samples is None else budget.n_drawn - n_before, gain)
        self.tallies[proposer.name].count_round(seconds, gain)
        return True

    def take(self, proposals: Proposals, name: str, budget: Budget) -> None:
        """Everything that happens to a batch of proposals."""
        n_drawn = len(proposals) if proposals.n_drawn is None else proposals.n_drawn
        budget.n_drawn += n_drawn
        # forms that no proposer drew are not credited to any
        tally = self.tallies[name] if n_drawn or proposals.n_unique else Tally()
        tally.drawn += n_drawn
        if not len(proposals):
            tally.unique += proposals.n_unique or 0
            return
        policy = self.settings.pipeline
        forms = normal_forms(proposals.batch, policy.simplifier, self.settings.n_threads)
        if policy.measures_bloat:
            tally.inflation += float(proposals.repeats @ _inflation(proposals.batch))
        keys, hashes = form_keys(forms), form_hashes(forms)
        self.form_probabilities.count(proposals, keys)
        self.team.pass_on_model_draws(proposals)
        jobs, n_new = unfitted_forms(proposals, forms, hashes, self.archive, self.grammar)
        tally.unique += n_new if proposals.n_unique is None else proposals.n_unique
        found = []
        for job, fit in self._fitted(jobs, budget):
            tally.count_fit(fit)
            # a warm start comes back to formulas that the clock cut short
            if fit is None or fit.status is not FitStatus.DEADLINE:
                self.archive.see(hashes[job.row], job.start is not None)
            if fit is not None and fit.ok and np.isfinite(fit.constants).all():
                log_prob = math.nan if proposals.log_prob is None else float(proposals.log_prob[job.row])
                found.append(_Scored(self._score(fit.fvu, len(job.formula)), fit, keys[job.row], log_prob))
        # best first: of the rest few enter the front, and only those are tidied
        found.sort(key=lambda scored: scored.score)
        for scored in found:
            self._add(scored, name, budget)
        self.team.pass_on([Lesson(s.fit.skeleton, s.fit.constants) for s in found[:_LESSONS]], name)

    def _fitted(self, jobs: Sequence[Job], budget: Budget) -> list[tuple[Job, Fit | None]]:
        """A fit of each, those with starts first; None for those that few rows rule out."""
        limit = self._hopeless_from()
        fitted: list[tuple[Job, Fit | None]] = []
        for part in ([job for job in jobs if job.start is not None], [job for job in jobs if job.start is None]):
            if part:
                starts = [job.start for job in part if job.start is not None] or None
                fits = self._fitter.fit([job.formula for job in part], starts, budget.seconds_left, limit)
                fitted += zip(part, fits, strict=True)
        return fitted

    def _hopeless_from(self) -> Callable[[int], float]:
        """FVU from which a formula of a length has no chance to be of interest; frozen for a batch."""
        front = [(c.length, c.fvu) for c in self.archive.front()]
        best = self.archive.best
        worst = self.archive.worst_score if best is None else min(self.archive.worst_score, best.score + _DECADES)

        def limit(length: int) -> float:
            on_front = min((fvu for n, fvu in front if n <= length), default=math.inf)
            return max(on_front, fvu_at(worst, length, self.price))

        return limit

    def _add(self, found: _Scored, name: str, budget: Budget) -> None:
        """Put a fit into the archive, in the user's units; one that may be the law is tidied first."""
        enters = self.archive.enters_front(len(found.fit.skeleton), max(found.fit.fvu, self.exact_fvu))
        is_late = budget.seconds_left is not None and budget.seconds_left <= 0
        takes_long = is_late and not self.scaling.is_identity
        if not enters and (takes_long or not self.archive.wants(found.score)):
            return
        fit = self._tidier.in_user_units(found.fit, is_late)
        fits = [fit]
        if fit is not None and not is_late and self._may_be_the_law(found):
            fits.append(self._tidier.tidied(fit, budget.seconds_left))
            # if the clock cut it short, it is tidied at the end
            if budget.spent() is None:
                self._tidied_keys.add(found.key)
        self._keep([self._candidate(f, found.key, found.log_prob, name, budget.n_drawn) for f in fits if f is not None])

    def _may_be_the_law(self, found: _Scored) -> bool:
        """Whether the fit is nearly exact and, some tokens shorter, would be the best."""
        if not self.settings.pipeline.tidies or not is_nearly_exact(found.fit.fvu, self.exact_fvu):
            return False
        best = self.archive.best
        return best is None or found.score - self.price * _TOKENS_TO_DROP < best.score

    def _candidate(self, fit: Fit, key: bytes, log_prob: float, name: str, drawn: int) -> Candidate:
        expression = fit.expression
        fvu = max(fit.fvu, self.exact_fvu)
        value = self._score(fvu, len(expression))
        return Candidate(expression, key, fvu, value, len(fit.constants), log_prob, name, drawn)

    def _keep(self, spellings: Sequence[Candidate]) -> None:
        """Add the best of the spellings of a law that are allowed and that the rows determine."""
        most = self.table.most_constants if self.settings.pipeline.adapts_to_rows else math.inf
        allowed = [c for c in spellings if c.n_constants <= most and self.grammar.allows(c.expression)]
        if allowed:
            self.archive.add(min(allowed, key=lambda c: c.rank))

    def _score(self, fvu: float, length: int) -> float:
        return score(fvu, length, self.price, self.exact_fvu)

    def _reduce_best(self, name: str, budget: Budget) -> None:
        """Propose a new exact law without one of its operands: those that only moved the last digits are not needed."""
        while (best := self.archive.best) is not self._reduced and best is not None and self.settings.pipeline.tidies:
            self._reduced = best
            if not self._stop_rule.is_exact(best) or budget.spent() is not None:
                return
            numbers = np.array(numbers_of(best.expression))
            forms = [r.skeleton for r in reductions(best.expression.skeleton(), numbers)]
            if forms:
                self.take(Proposals(TokenBatch.from_expressions(forms), n_drawn=0), name, budget)

    def tidy(self, seconds: float | None) -> None:
        """Tidy what is on the front, the best first, for so many seconds; the best always, wholly if it is exact."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        for n_done, candidate in enumerate(sorted(self.archive.front(), key=lambda c: c.rank)):
            left = deadline - time.monotonic()
            if n_done and left <= 0:
                return
            if candidate.key in self._tidied_keys:
                continue
            self._tidied_keys.add(candidate.key)
            is_cut = seconds is not None and not self._stop_rule.is_exact(candidate)
            fit = self._tidier.tidied_formula(candidate.expression, max(left, LEAST_SECONDS) if is_cut else None)
            if fit is not None:
                c = candidate
                self._keep([self._candidate(fit, c.key, c.log_prob, c.proposer, c.drawn)])

    def go_on_from(self, archive: Archive, form_probabilities: FormProbabilities, n_rounds: int) -> None:
        """Take over what an earlier search on the table knows; the proposers get its best."""
        self.archive, self.form_probabilities, self.n_rounds = archive, form_probabilities, n_rounds
        scaled = [self.scaling.inverse().restore(c.expression) for c in archive.candidates()[:_LESSONS]]
        self.team.pass_on([Lesson(e.skeleton(), np.array(numbers_of(e))) for e in scaled if e is not None])

    def progress(self, budget: Budget) -> Progress:
        """Where the search stands."""
        n_fitted = sum(tally.fitted for tally in self.tallies.values())
        n_screened = sum(tally.screened for tally in self.tallies.values())
        front = tuple(self.archive.front())
        return Progress(
            budget.elapsed, budget.n_drawn, self.archive.n_seen, n_fitted, n_screened, self.archive.best, front
        )


def _inflation(batch: TokenBatch) -> FloatArray:
    """Length of each formula as it was drawn over its simplified length; integer factors stay what they are."""
    short = simplipy.simplify_many(batch, mask_numbers=True)
    inflation: FloatArray = np.diff(batch.offsets) / np.diff(short.offsets)
    return inflation


def round_seed(random_state: int, round_number: int) -> int:
    """Seed of a round, from the run's."""
    return int(np.random.SeedSequence([random_state, round_number]).generate_state(1, np.uint64)[0]) >> 1
