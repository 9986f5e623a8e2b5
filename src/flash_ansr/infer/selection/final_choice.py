"""The end of a search: its numbers tidied, the law chosen; Ctrl-C gives what is there as it is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.candidates.score import exact_fvu
from flash_ansr.infer.search.budget import Budget, Stop, uninterrupted
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.selection.baselines import constant_baseline, linear_baseline
from flash_ansr.infer.selection.criteria import by_score, presented, ranked
from flash_ansr.infer.selection.noisy_choice import NoisyChoice
from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse
from simplipy.expression.operators import CONSTANT
from simplipy.fit.description_length import is_number

# seconds for all of this, and as a share of the time limit; the least there is after a late round
_SECONDS = 0.08
_SHARE = 0.035
_LEAST_SECONDS = 0.05
# of the limit, at most so much is kept from the search for it; of short limits a part comes after them
_MOST_KEPT = 0.1
# of that, for the numbers of the front
_TIDYING = 0.25
# seconds at most to fit the law to all of many rows
_REFINING = 0.5
# whole and half numbers up to half of this stay when a law is fitted to more rows
_LARGEST_SIMPLE = 24


def baselines_of(pipeline: Pipeline) -> list[Candidate]:
    """The linear function and the constant that a law must beat."""
    table, settings = pipeline.table, pipeline.settings
    return [make(table, settings.gamma, settings.loss) for make in (linear_baseline, constant_baseline)]


def reserve_of(time_limit: float | None, is_refined: bool = False) -> float:
    """Seconds of a time limit that the search leaves, so that its conclusion ends with the limit.

    Parameters
    ----------
    is_refined : bool
        Whether the law is then fitted to more rows.

    Examples
    --------
    >>> [round(reserve_of(limit), 3) for limit in (0.5, 10)]
    [0.05, 0.43]
    """
    if time_limit is None:
        return 0.0
    refining = min(_MOST_KEPT * time_limit, _REFINING) if is_refined else 0.0
    return refining + min(_seconds(time_limit), _MOST_KEPT * time_limit)


def conclude(
    pipeline: Pipeline,
    baselines: Sequence[Candidate],
    held_out: Table | None,
    selection: str,
    gamma: float,
    budget: Budget,
    stop: Stop,
) -> tuple[Stop, NoisyChoice]:
    """Why the search ended, and its candidates, the law first.

    Parameters
    ----------
    pipeline : Pipeline
        After its run.
    baselines : sequence of Candidate
        The last one is the law where there is nothing else.
    held_out : Table, optional
        Rows to choose by, with ``selection="validation"``.
    selection : str
    gamma : float
        As the user gave it.
    budget : Budget
    stop : Stop
        Why the run ended.
    """
    seconds = _seconds_left(budget)
    deadline = None if seconds is None else Budget(seconds, clock=budget.clock)
    try:
        if pipeline.settings.paper is None:
            pipeline.tidy(None if seconds is None else _TIDYING * seconds)
        choice = _choice(pipeline, _with_baselines(pipeline, baselines), held_out, selection, gamma, deadline)
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
        choice = uninterrupted(lambda: _as_they_are(pipeline, baselines))
    if not choice.candidates:
        choice = NoisyChoice([baselines[-1]], choice.noise, choice.kind)
    return stop, choice


def refined(
    choice: NoisyChoice, baselines: Sequence[Candidate], table: Table, loss: str, budget: Budget
) -> tuple[NoisyChoice, list[Candidate]]:
    """A choice made on some of the rows, with the law and then the baselines fitted to all of them, in time.

    Candidates before the first one that is defined on all rows are dropped.
    """
    candidates = [*choice.candidates, baselines[-1]]
    fvus = ((i, fvu_on(c.expression, table)) for i, c in enumerate(candidates))
    i, fvu = next((i, fvu) for i, fvu in fvus if math.isfinite(fvu))
    law = dataclasses.replace(candidates[i], fvu=max(fvu, exact_fvu(table)))
    if law.fvu > 10 * exact_fvu(table):
        law = _on_all_rows(law, table, loss, budget)
    fitted = [_on_all_rows(c, table, loss, budget) for c in baselines]
    return dataclasses.replace(choice, candidates=[law, *choice.candidates[i + 1 :]]), fitted


def _on_all_rows(candidate: Candidate, table: Table, loss: str, budget: Budget) -> Candidate:
    """The candidate with its numbers fitted to these rows; as it is without time."""
    left = None if budget.time_limit is None else budget.time_limit - budget.elapsed
    skeleton, numbers = _freed(candidate.expression)
    if not numbers or (left is not None and left <= 0):
        return candidate
    fit = refit(skeleton, numbers, table, loss, left)
    return dataclasses.replace(candidate, expression=fit.expression, fvu=fit.fvu) if fit.ok else candidate


def _freed(law: Expression) -> tuple[Expression, list[float]]:
    """The law with those of its numbers free that are not simple ones, and their values."""
    tokens, numbers = law.tokens, []
    for i, token in enumerate(tokens):
        if is_number(token) and (2 * abs(float(token)) > _LARGEST_SIMPLE or 2 * float(token) % 1):
            numbers.append(float(token))
            tokens[i] = CONSTANT
    return parse(tokens), numbers


def _seconds(time_limit: float) -> float:
    return _SECONDS + _SHARE * time_limit


def _seconds_left(budget: Budget) -> float | None:
    """What is left of the time for the conclusion, None without a limit."""
    if budget.time_limit is None:
        return None
    late = max(budget.elapsed + budget.reserve - budget.time_limit, 0.0)
    return max(_seconds(budget.time_limit) - late, _LEAST_SECONDS)


def _as_they_are(pipeline: Pipeline, baselines: Sequence[Candidate]) -> NoisyChoice:
    """By the paper's score, neither tidied nor simplified."""
    candidates = _with_baselines(pipeline, baselines)
    return NoisyChoice(ranked(candidates, pipeline.table, None, "score", pipeline.settings.gamma), None)


def _with_baselines(pipeline: Pipeline, baselines: Sequence[Candidate]) -> list[Candidate]:
    """What was found, and the baselines that the grammar allows; in the paper's mode only where nothing was found."""
    candidates = pipeline.archive.candidates()
    if candidates and pipeline.settings.paper is not None:
        return candidates
    return [*candidates, *(c for c in baselines if pipeline.grammar.allows(c.expression))]


def _choice(
    pipeline: Pipeline,
    candidates: list[Candidate],
    held_out: Table | None,
    selection: str,
    gamma: float,
    deadline: Budget | None,
) -> NoisyChoice:
    """The candidates as they are shown, the law first."""
    table, grammar, settings = pipeline.table, pipeline.grammar, pipeline.settings
    if settings.paper is not None:
        return NoisyChoice(ranked(candidates, table, held_out, selection, settings.gamma), None)
    if selection != "score":
        shown = presented(candidates, table, grammar, settings.gamma)
        return NoisyChoice(ranked(shown, table, held_out, selection, settings.gamma), None)
    return by_score(candidates, table, grammar, gamma, settings.gamma, settings.loss, deadline)
