"""The end of a search: its numbers tidied, the law chosen; Ctrl-C gives what is there as it is."""

from __future__ import annotations

from collections.abc import Sequence

from flash_ansr.infer.archive import Candidate
from flash_ansr.infer.baseline import constant_baseline, linear_baseline
from flash_ansr.infer.budget import Budget, Stop, uninterrupted
from flash_ansr.infer.noisy_choice import NoisyChoice
from flash_ansr.infer.pipeline import Pipeline
from flash_ansr.infer.proposals import Table
from flash_ansr.infer.selection import by_score, presented, ranked

# seconds for all of this, and as a share of the time limit; the least there is after a late round
_SECONDS = 0.08
_SHARE = 0.035
_LEAST_SECONDS = 0.05
# of the limit, at most so much is kept from the search for it; of short limits a part comes after them
_MOST_KEPT = 0.1
# of that, for the numbers of the front
_TIDYING = 0.25


def baselines_of(pipeline: Pipeline) -> list[Candidate]:
    """The linear function and the constant that a law must beat."""
    table, settings = pipeline.table, pipeline.settings
    return [make(table, settings.gamma, settings.loss) for make in (linear_baseline, constant_baseline)]


def reserve_of(time_limit: float | None) -> float:
    """Seconds of a time limit that the search leaves, so that its conclusion ends with the limit.

    Examples
    --------
    >>> [round(reserve_of(limit), 3) for limit in (0.5, 10)]
    [0.05, 0.43]
    """
    return 0.0 if time_limit is None else min(_seconds(time_limit), _MOST_KEPT * time_limit)


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
