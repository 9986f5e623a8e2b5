"""The choice of the law among the candidates by a measure, or by what the rows are like."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import TOKEN_NATS, decades
from flash_ansr.infer.candidates.fitter import fvu_on
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.distinct import distinct
from flash_ansr.infer.selection.equal_values import each_once, function_numbers
from flash_ansr.infer.selection.noisy_choice import Choice, choose, is_credible
from flash_ansr.infer.selection.predictive_choice import FEW_ROWS, by_prediction
from flash_ansr.infer.selection.saturation import with_unsaturated
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy.fit.score import GAMMA, exact_fvu, is_exact, price_of_a_token, score

# that compare candidates by rows that they were not fitted to
PREDICTING = ("auto", "accuracy", "parsimony")
SELECTIONS = (*PREDICTING, "score", "validation", "bic")
# candidates that may be the law, beside the best of each length
_N_PROMISING = 250
# described candidates that are compared with each other and shown
_N_SHOWN = 80
# FVU of the mean of y, up to rounding: a worse law is no candidate
_OF_THE_MEAN = 1 + 1e-9


def ranked(
    candidates: Sequence[Candidate], rows: Table, held_out: Table | None, selection: str, price: float
) -> list[Candidate]:
    """Candidates by the chosen measure, which becomes their score, best first; the first is the law."""
    if selection == "validation" and held_out is not None:
        floor = exact_fvu(held_out.y)
        candidates = [_scored(c, score(fvu_on(c.expression, held_out), c.length, price, floor)) for c in candidates]
    elif selection == "bic":
        candidates = [_scored(c, _bic(c, rows.n_rows)) for c in candidates]
    return sorted((c for c in candidates if math.isfinite(c.score)), key=lambda c: c.rank)


def presented(candidates: Sequence[Candidate], rows: Table, grammar: Grammar, price: float) -> list[Candidate]:
    """The candidates to show: laws better than the mean of y, each once, as people write it, and all baselines."""
    shown = [c for c in candidates if c.fvu <= _OF_THE_MEAN or c.is_baseline]
    return distinct(shown, rows, grammar, price)


def automatic(
    candidates: Sequence[Candidate],
    rows: Table,
    grammar: Grammar,
    settings: Settings,
    aim: str = "auto",
    deadline: Budget | None = None,
) -> Choice:
    """Candidates, the law first, and the noise where there is some.

    An exact law comes first. Otherwise, with few rows or where the shortest description leaves noise and nothing
    predicts other rows clearly better, the shortest description does; else the cheapest of those that predict rows that
    they were not fitted to about as well as the best.

    Parameters
    ----------
    grammar : Grammar
        The grammar that tidied laws must keep to.
    aim : {"auto", "accuracy", "parsimony"}
        The end of the front that is wanted where no law is exact.
    deadline : Budget, optional
        Time that the choice may take.
    """
    price, floor = price_of_a_token(settings.gamma, rows.n_rows), exact_fvu(rows.y)
    promising = with_unsaturated(_promising(candidates, _N_PROMISING), rows, grammar, settings, deadline)
    by_paper = ranked(presented(promising, rows, grammar, price), rows, None, "score", price)
    numbers = function_numbers(by_paper, rows)
    once = [c for i, c in enumerate(by_paper) if c.is_baseline or numbers[i] not in numbers[:i]]
    if not by_paper or any(is_exact(c.fvu, floor) and is_credible(c, rows) for c in by_paper):
        return Choice(once, 0.0 if by_paper and is_exact(by_paper[0].fvu, floor) else None)
    # of all spellings: where numbers are rounded, another one may be the shortest description
    choice = choose(by_paper, rows, grammar, settings.gamma, settings.loss, _part(deadline, rows))
    shown = _promising(choice.candidates, _N_SHOWN)
    described = distinct(shown, rows, grammar, decades(TOKEN_NATS * settings.gamma / GAMMA, rows.n_rows))
    fitted = {c.key: number for c, number in zip(by_paper, numbers, strict=True)}
    choice = dataclasses.replace(choice, candidates=each_once(described, fitted, rows))
    return by_prediction(choice, once, rows, settings, aim, deadline)


def _promising(candidates: Sequence[Candidate], n: int) -> list[Candidate]:
    """The n best by their score, the best of each length, and the baselines: the rest would only cost time."""
    best_at: dict[int, Candidate] = {}
    for candidate in candidates:
        if candidate.length not in best_at or candidate.fvu < best_at[candidate.length].fvu:
            best_at[candidate.length] = candidate
    kept = {id(c) for c in (*sorted(candidates, key=lambda c: c.rank)[:n], *best_at.values())}
    return [c for c in candidates if id(c) in kept or c.is_baseline]


def _part(deadline: Budget | None, rows: Table) -> Budget | None:
    """Time for descriptions: they decide on few rows, and leave half of it for predictions on many."""
    seconds = None if deadline is None else deadline.seconds_left
    share = 0.8 if rows.n_rows < FEW_ROWS else 0.5
    return None if deadline is None or seconds is None else Budget(share * seconds, clock=deadline.clock)


def _bic(candidate: Candidate, n_rows: int) -> float:
    """N log(FVU) + k log(n): the likelihood of Gaussian errors and a price for every fitted number."""
    return n_rows * math.log(max(candidate.fvu, 1e-300)) + (candidate.n_constants + 1) * math.log(n_rows)


def _scored(candidate: Candidate, value: float) -> Candidate:
    return dataclasses.replace(candidate, score=value)
