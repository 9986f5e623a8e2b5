"""The end of a search: numbers tidied, the law chosen and fitted to all rows; Ctrl-C gives what is there as it is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.candidates.noise_models import NoiseKind
from flash_ansr.infer.search.budget import Budget, Stop, uninterrupted
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.selection.baselines import (
    constant_baseline,
    linear_baseline,
    power_law_baseline,
    stepwise_baseline,
)
from flash_ansr.infer.selection.criteria import PREDICTING, automatic, presented, ranked
from flash_ansr.infer.selection.equal_values import each_once
from flash_ansr.infer.selection.noisy_choice import Choice
from flash_ansr.infer.selection.spelling import spelled
from flash_ansr.infer.selection.switches import with_plain_switches
from flash_ansr.infer.table.sampling import sampled
from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse
from simplipy.expression.operators import CONSTANT
from simplipy.fit.description_length import is_number
from simplipy.fit.score import exact_fvu, is_exact

# of the time to conclude, for the numbers of the front
_TIDYING = 0.25
# by constants and rows, of a fit to all rows: they are what takes memory
_MOST_DERIVATIVES = 6_000_000
# in the rows of a linear baseline
_MOST_NUMBERS = 2_000_000
# whole and half numbers up to half of this stay when a law is fitted to more rows
_LARGEST_SIMPLE = 24


@dataclasses.dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    stop : Stop
        Why it ended.
    candidates : list of Candidate
        The law first; at least one.
    baseline : Candidate
        The linear one.
    noise, noise_kind
        Of what the law leaves, as in ``Choice``.
    """

    stop: Stop
    candidates: list[Candidate]
    baseline: Candidate
    noise: float | None
    noise_kind: NoiseKind | None

    @property
    def law(self) -> Candidate:
        """The candidate that was chosen."""
        return self.candidates[0]


def conclude(
    pipeline: Pipeline, stop: Stop, budget: Budget, rows: Table, held_out: Table | None, selection: str
) -> SearchResult:
    """The result of a search.

    Parameters
    ----------
    pipeline : Pipeline
        After its run.
    stop : Stop
        Why the run ended.
    budget : Budget
        Of the run.
    rows : Table
        All rows that the law is fitted to; of very many, the pipeline has seen some.
    held_out : Table, optional
        Rows to choose by, with ``selection="validation"``.
    selection : str
    """
    table, loss = pipeline.table, pipeline.settings.loss
    makers = [linear_baseline, constant_baseline]
    if pipeline.settings.pipeline.presents:
        makers[1:1] = [stepwise_baseline, power_law_baseline]
    # short work is done again, so that one more Ctrl-C loses nothing
    baselines = uninterrupted(lambda: _each_once([make(table, pipeline.price, loss) for make in makers]))
    seconds = budget.seconds_to_conclude
    deadline = None if seconds is None else Budget(seconds, clock=budget.clock)
    try:
        if pipeline.settings.pipeline.tidies:
            pipeline.tidy(None if seconds is None else _TIDYING * seconds)
        choice = _choice(pipeline, _competing(pipeline, baselines), held_out, selection, deadline)
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
        choice = uninterrupted(
            lambda: Choice(ranked(_competing(pipeline, baselines), table, None, "score", pipeline.price))
        )
    # the constant is the law where there is nothing else
    candidates = choice.candidates or [baselines[-1]]
    if rows is not table:
        candidates = _law_on_all_rows([*candidates, baselines[-1]], rows, loss, budget)
        baselines[0] = _linear_on_more_rows(baselines[0], rows, pipeline.price, loss, budget)
    if pipeline.settings.pipeline.presents:
        candidates = uninterrupted(lambda: spelled(candidates, rows, pipeline.grammar))
        baselines = uninterrupted(lambda: spelled(baselines[:1], table, pipeline.grammar))
    return SearchResult(stop, candidates, baselines[0], choice.noise, choice.kind)


def _each_once(baselines: Sequence[Candidate]) -> list[Candidate]:
    return list({c.expression: c for c in baselines}.values())


def _competing(pipeline: Pipeline, baselines: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that were found, and the baselines that the grammar allows."""
    found = pipeline.archive.candidates()
    if found and not pipeline.settings.pipeline.presents:
        return found
    found = with_plain_switches(found, pipeline.table, pipeline.grammar, pipeline.price)
    return [*found, *(c for c in baselines if pipeline.grammar.allows(c.expression))]


def _choice(
    pipeline: Pipeline, candidates: list[Candidate], held_out: Table | None, selection: str, deadline: Budget | None
) -> Choice:
    """The candidates as they are shown, the law first."""
    table, grammar, settings = pipeline.table, pipeline.grammar, pipeline.settings
    if settings.pipeline.presents and selection in PREDICTING:
        return automatic(candidates, table, grammar, settings, selection, deadline)
    if settings.pipeline.presents:
        candidates = presented(candidates, table, grammar, pipeline.price)
    candidates = ranked(candidates, table, held_out, selection, pipeline.price)
    return Choice(each_once(candidates, {}, table) if settings.pipeline.presents else candidates)


def _law_on_all_rows(candidates: Sequence[Candidate], rows: Table, loss: str, budget: Budget) -> list[Candidate]:
    """The candidates from the first one on that is defined on all rows; that one fitted to them, in time.

    The last one, a constant, is there for its definedness alone.
    """
    fvus = ((i, fvu_on(c.expression, rows)) for i, c in enumerate(candidates))
    i, fvu = next((i, fvu) for i, fvu in fvus if math.isfinite(fvu))
    floor = exact_fvu(rows.y)
    law = dataclasses.replace(candidates[i], fvu=max(fvu, floor))
    if not is_exact(law.fvu, floor):
        law = _on_all_rows(law, rows, loss, budget)
    return [law, *candidates[i + 1 : -1]]


def _on_all_rows(candidate: Candidate, rows: Table, loss: str, budget: Budget) -> Candidate:
    """The candidate with its numbers fitted to these rows, of which a long one gets some; as it is without time."""
    left = budget.seconds_to_refine
    skeleton, numbers = _freed(candidate.expression)
    if not numbers or (left is not None and left <= 0):
        return candidate
    some = sampled(rows, _MOST_DERIVATIVES // len(numbers), 0)
    fit = refit(skeleton, numbers, some, loss, left)
    if not fit.ok:
        return candidate
    fvu = fit.fvu if some is rows else fvu_on(fit.expression, rows)
    return dataclasses.replace(candidate, expression=fit.expression, fvu=fvu) if math.isfinite(fvu) else candidate


def _linear_on_more_rows(baseline: Candidate, rows: Table, price: float, loss: str, budget: Budget) -> Candidate:
    """The linear baseline of all rows, or of as many as fit into memory several times; as it is without time."""
    left = budget.seconds_to_refine
    if left is not None and left <= 0:
        return baseline
    return linear_baseline(sampled(rows, _MOST_NUMBERS // rows.n_columns, 0), price, loss)


def _freed(law: Expression) -> tuple[Expression, list[float]]:
    """The law with those of its numbers free that are not simple ones, and their values."""
    tokens, numbers = law.tokens, []
    for i, token in enumerate(tokens):
        if is_number(token) and (2 * abs(float(token)) > _LARGEST_SIMPLE or 2 * float(token) % 1):
            numbers.append(float(token))
            tokens[i] = CONSTANT
    return parse(tokens), numbers
