"""The pipeline: proposals -> normal forms -> seen filter -> screen -> fit -> tidy -> score -> archive.

Everything that is drawn passes through ``Pipeline.take``; where it comes from is the proposers' business, when to stop
the budget's. With a budget in formulas the result depends on the seed alone: rounds have a fixed size, thresholds hold
for a whole round, and every fit has its own seed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Archive, Candidate
from flash_ansr.infer.candidates.description import rough_length
from flash_ansr.infer.candidates.fitter import Fitter, refit
from flash_ansr.infer.candidates.model_probability import Evidence
from flash_ansr.infer.candidates.noise_models import leaves_noise
from flash_ansr.infer.candidates.normal_forms import form_hashes, form_keys, merged, normal_forms
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.candidates.scaling import Scaling
from flash_ansr.infer.candidates.score import exact_fvu, score
from flash_ansr.infer.candidates.seen_filter import Job, unseen
from flash_ansr.infer.proposers.background import BackgroundProposer
from flash_ansr.infer.proposers.base import Proposer, ProposerError
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.search.progress import Callback, Progress, Tally
from flash_ansr.infer.search.schedule import Schedule
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression, Fit, FitStatus, TokenBatch
from simplipy.fit.shorter_forms import reductions

# of a budget in formulas, a round takes at most one part in so many
_ROUNDS = 8
_SMALLEST_ROUND = 64
# pause while no proposer is ready
_PAUSE = 0.01
# an exact law of more tokens than this is doubted for this share of the budget
_SHORT = 6
_PATIENCE = 0.2
# with many rows, formulas are fitted to all of them whose score is within so many of the best
_DECADES = 1.0
# what fits to this FVU may be exact, and this many tokens less when it is tidied
_NEARLY_EXACT = 1e-16
_TOKENS_TO_DROP = 8
# seconds for a law that is not exact when there are none left
_LEAST_TIDYING = 0.02
# of more than twice as many rows, exact laws are tidied on so many
_ROWS_TO_TIDY = 2048
# seconds after which a search may end because what is left is noise, and how often the best must have lasted its age
_LEAST_SECONDS = 5.0
_LASTING = 3.0
# of a batch, so many fits are told to the proposers that learn
_LESSONS = 32
# seconds after which what loads beside a search is worth loading, while no law is exact
_TOO_SOON = 0.3


class Pipeline:
    """Fits and ranks what proposers draw for one table.

    Parameters
    ----------
    table : Table
        In the user's units, as are all candidates.
    scaling : Scaling
        Units of the search: proposers draw for the scaled table.
    proposers : sequence of Proposer
        Asked as ``Schedule`` says.
    grammar : Grammar
        Formulas outside it are dropped.
    settings : Settings
    """

    def __init__(
        self, table: Table, scaling: Scaling, proposers: Sequence[Proposer], grammar: Grammar, settings: Settings
    ) -> None:
        self.table = table
        self.scaling = scaling
        self.grammar = grammar
        self.settings = settings
        self.archive = Archive()
        self.tallies = {proposer.name: Tally() for proposer in proposers}
        self.evidence = Evidence()
        self.exact_fvu = 0.0 if settings.paper else exact_fvu(table)
        self.n_rounds = 0
        self.failures: dict[str, str] = {}  # proposer to what kept it from going on
        self._proposers = list(proposers)
        self._fitter = Fitter(scaling.apply(table), settings)
        self._exact_at: float | None = None
        self._tidy_keys: set[bytes] = set()
        self._reduced: Candidate | None = None  # the last law whose reductions were proposed
        self._waiting = [p for p in proposers if isinstance(p, BackgroundProposer)]
        # the best description so far, since when, and whether it leaves noise
        self._described, self._described_at = b"", 0.0
        self._leaves_noise: bool | None = None

    @property
    def proposers(self) -> Sequence[Proposer]:
        """Who takes part."""
        return self._proposers

    def run(self, budget: Budget, callback: Callback | None = None) -> Stop:
        """Draw, fit and rank until the budget is spent. Ctrl-C ends it and keeps what is there."""
        by_count = budget.n_samples is not None
        schedule = Schedule(self._proposers, budget.n_samples if by_count else budget.time_limit)
        try:
            while schedule:
                stop = budget.spent() or self._reached(budget)
                if stop is not None:
                    return stop
                proposer = schedule.next()
                self._start_waiting(proposer is None, budget)
                if proposer is None:
                    time.sleep(_PAUSE)
                    continue
                n_before, before = budget.n_drawn, budget.elapsed
                level = self.archive.level()
                proposals = self._ask(proposer, budget)
                if proposals is None:
                    schedule.drop(proposer)
                    continue
                self.take(proposals, proposer.name, budget)
                self._reduce_best(proposer.name, budget)
                seconds, gain = budget.elapsed - before, level - self.archive.level()
                schedule.record(proposer, budget.n_drawn - n_before if by_count else seconds, gain)
                tally = self.tallies[proposer.name]
                tally.rounds, tally.seconds, tally.gain = tally.rounds + 1, tally.seconds + seconds, tally.gain + gain
                if callback is not None and callback(self.progress(budget)):
                    return Stop.CALLBACK
            return self._reached(budget) or Stop.EXHAUSTED
        except KeyboardInterrupt:
            return Stop.INTERRUPTED

    def _ask(self, proposer: Proposer, budget: Budget) -> Proposals | None:
        """A round of the proposer; None when it has nothing more, or fails where there is something to go on with."""
        if proposer.name in self.failures:
            return None
        self.n_rounds += 1
        seed = round_seed(self.settings.random_state, self.n_rounds)
        size = self._round_size(proposer, budget)
        drawn: list[Proposals] = []
        with self._leaving_out(proposer):
            proposals = proposer.propose(budget.next_draw(size), seed, budget.seconds_left)
            if proposals is not None:
                proposals.check(self.table.n_columns)
                drawn.append(proposals)
        return drawn[0] if drawn else None

    @contextmanager
    def _leaving_out(self, proposer: Proposer) -> Iterator[None]:
        """Leave a proposer out that fails, with a warning; raise its error where it was the last and found nothing."""
        try:
            yield
        except MemoryError:
            raise
        except Exception as error:
            failed = {*self.failures, proposer.name}
            if self.archive.best is None and len(failed) == len(self._proposers):
                raise
            reason = str(error) if isinstance(error, ProposerError) else f"{type(error).__name__}: {error}"
            self.failures[proposer.name] = reason
            warnings.warn(f"the proposer {proposer.name!r} is left out: {reason}", RuntimeWarning, stacklevel=4)

    def _start_waiting(self, is_needed: bool, budget: Budget) -> None:
        """Start what loads beside the search when it is needed, or the search is not over at once."""
        if self._waiting and (is_needed or (budget.elapsed >= _TOO_SOON and not self._is_exact())):
            for proposer in self._waiting:
                proposer.load()
            self._waiting = []

    def _round_size(self, proposer: Proposer, budget: Budget) -> int:
        if budget.n_samples is None:
            return proposer.round_size
        if self.settings.paper is None:  # a small budget has turns for all
            return min(proposer.round_size, max(_SMALLEST_ROUND, budget.n_samples // _ROUNDS))
        # a beam is searched once: its width is the budget
        return budget.n_samples if self.settings.paper.decoding == "beam" else proposer.round_size

    def take(self, proposals: Proposals, name: str, budget: Budget) -> None:
        """Everything that happens to a batch of proposals."""
        n_drawn = len(proposals) if proposals.n_drawn is None else proposals.n_drawn
        budget.n_drawn += n_drawn
        # what nobody drew is nobody's
        tally = self.tallies[name] if n_drawn or proposals.n_unique else Tally()
        tally.drawn += n_drawn
        if not len(proposals):
            tally.unique += proposals.n_unique or 0
            return
        paper = self.settings.paper
        forms = normal_forms(proposals.batch, paper.simplifier if paper else "simplipy", self.settings.n_threads)
        if paper is not None:
            tally.inflation += float(proposals.repeats @ _inflation(proposals.batch))
        keys, hashes = form_keys(forms), form_hashes(forms)
        self.evidence.count(proposals, keys)
        self._pass_on_model_draws(proposals)
        jobs, n_new = unseen(proposals, forms, hashes, self.archive, self.grammar)
        tally.unique += n_new if proposals.n_unique is None else proposals.n_unique
        found = []
        for job, fit in self._fitted(jobs, budget):
            tally.statuses["SCREENED" if fit is None else fit.status.name] += 1
            tally.screened += fit is None
            tally.fitted += fit is not None and fit.ok
            # a warm start comes back to what the clock cut short
            if fit is None or fit.status is not FitStatus.DEADLINE:
                self.archive.see(hashes[job.row], job.start is not None)
            if fit is not None and fit.ok and np.isfinite(fit.constants).all():
                log_prob = math.nan if proposals.log_prob is None else float(proposals.log_prob[job.row])
                found.append((self._score(fit.fvu, len(job.formula)), fit, keys[job.row], log_prob))
        # best first: of the rest few enter the front, and only those are tidied
        found.sort(key=lambda item: item[0])
        for value, fit, key, log_prob in found:
            self._add(value, fit, key, log_prob, name, budget)
        self._pass_on([Lesson(fit.skeleton, fit.constants) for _, fit, _, _ in found[:_LESSONS]], name)

    def _fitted(self, jobs: Sequence[Job], budget: Budget) -> list[tuple[Job, Fit | None]]:
        """A fit of each, those with starts first; None for what few rows rule out."""
        limit = self._hopeless_from()
        fitted: list[tuple[Job, Fit | None]] = []
        for part in ([job for job in jobs if job.start is not None], [job for job in jobs if job.start is None]):
            if part:
                starts = [job.start for job in part if job.start is not None] or None
                fits = self._fitter.fit([job.formula for job in part], starts, budget.seconds_left, limit)
                fitted += zip(part, fits, strict=True)
        return fitted

    def _reduce_best(self, name: str, budget: Budget) -> None:
        """Propose what is left of a new exact law when one operand goes: what only moved last digits is not needed."""
        best = self.archive.best
        while best is not None and best is not self._reduced and self.settings.paper is None:
            self._reduced = best
            if best.fvu > self.exact_fvu or budget.spent() is not None:
                return
            numbers = np.array(numbers_of(best.expression))
            forms = [r.skeleton for r in reductions(best.expression.skeleton(), numbers)]
            if forms:
                self.take(Proposals(TokenBatch.from_expressions(forms), n_drawn=0), name, budget)
            best = self.archive.best

    def _pass_on(self, lessons: Sequence[Lesson], name: str = "") -> None:
        """Hand formulas, in the units of the search, to all proposers but the one that found them."""
        for proposer in self._proposers:
            if lessons and proposer.name not in (name, *self.failures):
                with self._leaving_out(proposer):
                    proposer.learn(lessons)

    def go_on_from(self, archive: Archive, evidence: Evidence, n_rounds: int) -> None:
        """Take over what an earlier search on the table knows; the proposers get its best."""
        self.archive, self.evidence, self.n_rounds = archive, evidence, n_rounds
        scaled = [self.scaling.inverse().restore(c.expression) for c in archive.candidates()[:_LESSONS]]
        self._pass_on([Lesson(e.skeleton(), np.array(numbers_of(e))) for e in scaled if e is not None])

    def _pass_on_model_draws(self, proposals: Proposals) -> None:
        """Hand the draws of a model of the table to all proposers."""
        for proposer in self._proposers:
            if proposals.log_prob is not None and proposer.name not in self.failures:
                with self._leaving_out(proposer):
                    proposer.note_model_draws(proposals.batch, proposals.repeats)

    def progress(self, budget: Budget) -> Progress:
        """Where the search stands."""
        n_fitted = sum(tally.fitted for tally in self.tallies.values())
        n_screened = sum(tally.screened for tally in self.tallies.values())
        front = tuple(self.archive.front())
        seen, best = self.archive.n_seen, self.archive.best
        return Progress(budget.elapsed, budget.n_drawn, seen, n_fitted, n_screened, best, front)

    def _score(self, fvu: float, length: int) -> float:
        return score(max(fvu, self.exact_fvu), length, self.settings.gamma)

    def _hopeless_from(self) -> Callable[[int], float]:
        """FVU from which a formula of a length has no chance to be of interest; frozen for a batch."""
        front = [(c.length, c.fvu) for c in self.archive.front()]
        best = self.archive.best
        worst = self.archive.worst_score if best is None else min(self.archive.worst_score, best.score + _DECADES)

        def limit(length: int) -> float:
            on_front = min((fvu for n, fvu in front if n <= length), default=math.inf)
            return max(on_front, 10.0 ** min(worst - self.settings.gamma * length, 300.0))

        return limit

    def _is_determined(self, candidate: Candidate) -> bool:
        """Whether there are three rows for each fitted number, where there are more than two."""
        return self.settings.paper is not None or candidate.n_constants <= max(2, self.table.n_rows // 3)

    def _add(self, value: float, fit: Fit, key: bytes, log_prob: float, name: str, budget: Budget) -> None:
        """Put a fit into the archive, in the user's units; what may be the law itself is tidied first."""
        enters = self.archive.enters_front(len(fit.skeleton), max(fit.fvu, self.exact_fvu))
        is_late = budget.seconds_left is not None and budget.seconds_left <= 0
        takes_long = is_late and not self.scaling.is_identity
        if not enters and (takes_long or not self.archive.wants(value)):
            return
        if self.settings.paper:
            options = [fit]
        else:
            options = self._in_user_units(fit, is_late)
            if options and self._may_be_the_law(value, fit) and not is_late:
                options += self._tidied(options[0], budget.seconds_left)
                # what the clock cut short is tidied at the end
                if budget.spent() is None:
                    self._tidy_keys.add(key)
        made = [self._candidate(f, key, log_prob, name, budget.n_drawn) for f in options]
        self._keep(made)

    def _keep(self, made: Sequence[Candidate]) -> None:
        candidates = [c for c in made if self.grammar.allows(c.expression) and self._is_determined(c)]
        if candidates:
            self.archive.add(min(candidates, key=lambda c: c.rank))

    def _may_be_the_law(self, value: float, fit: Fit) -> bool:
        """Whether the fit is nearly exact and, some tokens shorter, would be the best."""
        best = self.archive.best
        if fit.fvu > max(_NEARLY_EXACT, 100 * self.exact_fvu):
            return False
        return best is None or value - self.settings.gamma * _TOKENS_TO_DROP < best.score

    def tidy(self, seconds: float | None) -> None:
        """Tidy what is on the front, the best first, for so many seconds; the best always, wholly if it is exact."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        for n_done, candidate in enumerate(sorted(self.archive.front(), key=lambda c: c.rank)):
            left = deadline - time.monotonic()
            if n_done and left <= 0:
                return
            if candidate.key in self._tidy_keys:
                continue
            self._tidy_keys.add(candidate.key)
            numbers = numbers_of(candidate.expression)
            is_cut = seconds is not None and candidate.fvu > self.exact_fvu
            in_seconds = max(left, _LEAST_TIDYING) if is_cut else None
            fit = self._refit(candidate.expression.skeleton(), numbers, in_seconds)
            made = [
                self._candidate(f, candidate.key, candidate.log_prob, candidate.proposer, candidate.drawn)
                for f in (self._tidied(fit, in_seconds) if fit.ok else [])
            ]
            self._keep(made)

    def _in_user_units(self, fit: Fit, is_late: bool) -> list[Fit]:
        """The fit as one of the user's table; nothing where its numbers leave the range of doubles."""
        if self.scaling.is_identity:
            return [fit]
        restored = self.scaling.restore(fit.expression)
        if restored is None:
            return []
        skeleton, numbers = merged(restored.skeleton(), numbers_of(restored))
        # the numbers are those of the fit up to rounding: without time, one look at the rows is enough
        again = self._valued(skeleton, numbers) if is_late else self._refit(skeleton, numbers)
        return [again] if again.ok else []

    def _valued(self, skeleton: Expression, numbers: list[float]) -> Fit:
        """The formula with these numbers as if they had been fitted."""
        fit = self._refit(skeleton.with_constants(numbers) if numbers else skeleton, [])
        return replace(fit, skeleton=skeleton, constants=np.array(numbers))

    def _refit(self, skeleton: Expression, numbers: list[float], seconds: float | None = None) -> Fit:
        return refit(skeleton, numbers, self.table, self.settings.loss, seconds)

    def _tidied(self, fit: Fit, seconds: float | None = None) -> list[Fit]:
        """The fit with the numbers that it stands for; of a law that is nearly exact, read off some rows of many."""
        deadline = None if seconds is None else time.monotonic() + seconds
        rows = self.table
        if rows.n_rows > 2 * _ROWS_TO_TIDY and fit.fvu <= max(_NEARLY_EXACT, 100 * self.exact_fvu):
            rows = self.table.thinned(_ROWS_TO_TIDY)
            fit = refit(fit.skeleton, list(fit.constants), rows, self.settings.loss, seconds)
        tidied = simplipy.tidy(
            fit,
            rows.X,
            rows.y,
            sample_weight=rows.sample_weight,
            gamma=self.settings.gamma,
            loss=self.settings.loss,
            deadline=None if deadline is None else max(deadline - time.monotonic(), _LEAST_TIDYING),
        )
        if tidied.ok and rows is not self.table:  # how it does on all of them
            valued = self._refit(tidied.expression, [])
            tidied = replace(valued, skeleton=tidied.skeleton, constants=tidied.constants)
        return [tidied] if tidied.ok else []

    def _candidate(self, fit: Fit, key: bytes, log_prob: float, name: str, drawn: int) -> Candidate:
        expression = fit.expression
        fvu = max(fit.fvu, self.exact_fvu)
        value = self._score(fvu, len(expression))
        return Candidate(expression, key, fvu, value, len(fit.constants), log_prob, name, drawn)

    def _reached(self, budget: Budget) -> Stop | None:
        """Whether the best law is good enough to stop."""
        best = self.archive.best
        if best is None or self.settings.paper:
            return None
        target = self.settings.target_fvu
        if target is not None:
            # no candidate is told to be better than exact; a target of 0 asks for the whole budget
            return Stop.TARGET if target and best.fvu <= max(target, self.exact_fvu) else None
        if not self._is_exact():
            self._exact_at = None
            return Stop.NOISE if budget.n_samples is None and self._is_settled(budget.elapsed) else None
        # an exact law may have a shorter spelling still: look for as long as it took to find it, longer for a long one
        by_count = budget.n_samples is not None
        spent, limit = (budget.n_drawn, budget.n_samples) if by_count else (budget.elapsed, budget.time_limit)
        if self._exact_at is None:
            self._exact_at = spent
        patience = _PATIENCE * (limit or 0.0) if best.length > _SHORT else 0.0
        return Stop.EXACT if spent >= self._exact_at + max(self._exact_at, patience) else None

    def _is_settled(self, elapsed: float) -> bool:
        """Whether what the best description leaves is noise, and it has been the best for most of the time."""
        gamma, n_rows = self.settings.gamma, self.table.n_rows
        best = min(self.archive.front(), key=lambda c: (rough_length(c, c.fvu, n_rows, gamma, self.exact_fvu), c.rank))
        if best.key != self._described:
            self._described, self._described_at, self._leaves_noise = best.key, elapsed, None
        if elapsed < max(_LASTING * self._described_at, _LEAST_SECONDS):
            return False
        if self._leaves_noise is None:
            self._leaves_noise = leaves_noise(best, self.table, self.settings.loss)
        return self._leaves_noise

    def _is_exact(self) -> bool:
        return self.archive.best is not None and self.archive.best.fvu <= self.exact_fvu


def _inflation(batch: TokenBatch) -> FloatArray:
    """Length of each formula as it was drawn over its simplified length; integer factors stay what they are."""
    short = simplipy.simplify_many(batch, mask_numbers=True)
    inflation: FloatArray = np.diff(batch.offsets) / np.diff(short.offsets)
    return inflation


def round_seed(random_state: int, round_number: int) -> int:
    """Seed of a round, from the run's."""
    return int(np.random.SeedSequence([random_state, round_number]).generate_state(1, np.uint64)[0]) >> 1
