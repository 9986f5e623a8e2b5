"""The choice of the law among the candidates: by score, on held-out rows, or by the information criterion.

By score means: by the paper's where a law is exact or none is found, by description length where the best leaves noise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import token_price
from flash_ansr.infer.candidates.fitter import fvu_on
from flash_ansr.infer.candidates.score import exact_fvu, score
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.distinct import distinct
from flash_ansr.infer.selection.noisy_choice import NoisyChoice, choose, is_credible
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table

SELECTIONS = ("score", "validation", "bic")
_VALIDATION_SHARE = 0.25
# FVU of the mean of y, up to rounding: what is worse is no candidate
_OF_THE_MEAN = 1 + 1e-9


def ranked(
    candidates: Sequence[Candidate], rows: Table, held_out: Table | None, selection: str, gamma: float
) -> list[Candidate]:
    """Candidates by the chosen measure, which becomes their score, best first; the first is the law."""
    if selection == "validation" and held_out is not None:
        floor = exact_fvu(held_out)
        candidates = [_scored(c, score(fvu_on(c.expression, held_out), c.length, gamma, floor)) for c in candidates]
    elif selection == "bic":
        candidates = [_scored(c, _bic(c, rows.n_rows)) for c in candidates]
    return sorted((c for c in candidates if math.isfinite(c.score)), key=lambda c: c.rank)


def presented(candidates: Sequence[Candidate], rows: Table, grammar: Grammar, price: float) -> list[Candidate]:
    """What is worth showing: no law that is worse than the mean of y, each once, as people write it; all baselines."""
    shown = [c for c in candidates if c.fvu <= _OF_THE_MEAN or c.proposer == "baseline"]
    return distinct(shown, rows, grammar, price)


def by_score(
    candidates: Sequence[Candidate],
    rows: Table,
    grammar: Grammar,
    gamma: float,
    price: float,
    loss: str = "squared",
    deadline: Budget | None = None,
) -> NoisyChoice:
    """Candidates by the paper's score or by description length, best first, and the noise where there is some.

    Parameters
    ----------
    grammar : Grammar
        What tidied laws must keep to.
    gamma : float
        As the user gave it.
    price : float
        What a token costs in the paper's score on these rows.
    loss : str
        Of the fits.
    deadline : Budget, optional
        Time that the choice may take.
    """
    by_paper = ranked(presented(candidates, rows, grammar, price), rows, None, "score", price)
    exact = 10 * exact_fvu(rows)
    if not by_paper or any(c.fvu <= exact and is_credible(c, rows) for c in by_paper):
        return NoisyChoice(by_paper, 0.0 if by_paper and by_paper[0].fvu <= exact else None)
    choice = choose(by_paper, rows, grammar, gamma, loss, deadline)
    if choice.noise is None:
        return NoisyChoice(by_paper, None)
    described = distinct(choice.candidates, rows, grammar, token_price(gamma, rows.n_rows))
    return dataclasses.replace(choice, candidates=described)


def split_rows(table: Table, seed: int) -> tuple[Table, Table]:
    """Rows to fit on, and a quarter of the rows to choose by."""
    order = np.random.default_rng(seed).permutation(table.n_rows)
    n_held = max(1, int(_VALIDATION_SHARE * table.n_rows))
    return table.at(np.sort(order[n_held:])), table.at(np.sort(order[:n_held]))


def _bic(candidate: Candidate, n_rows: int) -> float:
    """N log(FVU) + k log(n): the likelihood of Gaussian errors and a price for every fitted number."""
    return n_rows * math.log(max(candidate.fvu, 1e-300)) + (candidate.n_constants + 1) * math.log(n_rows)


def _scored(candidate: Candidate, value: float) -> Candidate:
    return dataclasses.replace(candidate, score=value)
