"""The law among candidates of which none is exact: the shortest description of rows that are taken to have noise.

First the kind of noise is chosen, by the likelihood of the best candidates: one deviation for all rows, or one in
proportion to y. Then the most promising candidates are fitted and tidied once more, with every number free, and ranked
by description length. Whether what they leave is noise is tested: residuals of the right law can be predicted neither
from those of near rows nor by a polynomial in the columns. Where they can, the law was not found, and the paper's score
chooses.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import TOKEN_NATS, decades, rough_length, token_nats
from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.candidates.noise_models import NoiseKind, NoiseModel, noise_models, noise_of
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.candidates.score import exact_fvu
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Fit
from simplipy.fit import unexplained
from simplipy.fit.description_length import TOKEN, description_length, is_number, number_cost
from simplipy.fit.shorter_forms import reductions

# candidates that are fitted anew
_N_POLISHED = 24
# candidates by which the kind of noise is chosen
_N_TRIED = 6
# candidates of which operands are left out
_N_REDUCED = 3
# rows that first estimates are made on
_MAX_ROWS = 1024
# nats that a law must gain on the baselines: the best of very many formulas fits noise better than one
_HEAD_START = 6.0
_ROWS_A_CONSTANT = 3
# with so few rows, each is left out once
_FEW_ROWS = 12
_N_SPLITS = 6
_TEST_SHARE = 0.25

Rows = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class NoisyChoice:
    """Candidates by description length.

    Attributes
    ----------
    candidates : list of Candidate
        Best first; their scores are description lengths in decades of FVU.
    noise : float or None
        Deviation of the first one's residuals, relative to that of y or, where it is in proportion, to |y|; 0 for an
        exact law, None where residuals are no noise.
    kind : {"constant", "proportional"} or None
        Of the noise, None where there is none.
    """

    candidates: list[Candidate]
    noise: float | None
    kind: NoiseKind | None = None


def choose(
    candidates: Sequence[Candidate],
    table: Table,
    grammar: Grammar,
    gamma: float,
    loss: str,
    deadline: Budget | None = None,
) -> NoisyChoice:
    """Rank candidates by description length and tell whether the best leaves nothing but noise.

    Parameters
    ----------
    candidates : sequence of Candidate
        The baselines among them.
    table : Table
    grammar : Grammar
        What tidied laws must keep to.
    gamma : float
        Tokens cost more, or less, in proportion to it; 0.05 is the middle.
    loss : str
        Of the fits.
    deadline : Budget, optional
        Time for it; the most promising candidates come first.
    """
    models = noise_models(table, loss)
    orders = [_roughly_ranked(candidates, table, gamma, model) for model in models]
    model, priced = models[0], orders[0]
    if len(models) > 1:
        tried = [_shortest(order, table, gamma, m, deadline) for m, order in zip(models, orders, strict=True)]
        best = tried.index(min(tried))
        model, priced = models[best], orders[best]

    def reduced(candidate: Candidate) -> list[Candidate]:
        if candidate.proposer == "baseline" or _is_over(deadline):
            return []
        shorter = _reduced(candidate, table, gamma, model, loss, deadline)
        return [c for c in shorter if c.score < candidate.score and grammar.allows(c.expression)]

    ranked = []
    for i, (length, candidate) in enumerate(priced):
        if i < _N_POLISHED and not _is_over(deadline):
            polished = _polished(candidate, table, gamma, model, loss, deadline)
            polished = [p for p in polished if grammar.allows(p[1].expression)]
            length, candidate = min(polished or [(length, candidate)], key=lambda p: (p[0], p[1].rank))
        if candidate.proposer == "baseline":
            length -= _HEAD_START
        ranked.append(dataclasses.replace(candidate, score=decades(length, table.n_rows)))
    ranked += [c for best in sorted(ranked, key=lambda c: c.rank)[:_N_REDUCED] for c in reduced(best)]
    ranked = _guarded(sorted(ranked, key=lambda c: c.rank), table, model, deadline)
    noise = noise_of(ranked[0], table, model)
    return NoisyChoice(ranked, noise, None if noise is None else model.kind)


def _roughly_ranked(
    candidates: Sequence[Candidate], table: Table, gamma: float, model: NoiseModel
) -> list[tuple[float, Candidate]]:
    """Candidates with their description lengths, as far as they are known without standard errors, shortest first."""
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _MAX_ROWS)).astype(np.int64)
    values, _ = simplipy.evaluate_many([c.expression for c in candidates], table.X[rows])
    weights, floor = model.weights(table)[rows], exact_fvu(table)
    priced = []
    for candidate, predicted in zip(candidates, values, strict=True):
        fvu = unexplained.fvu(table.y[rows], predicted, weights)
        length = rough_length(candidate, fvu, table.n_rows, gamma, floor) + model.offset
        if math.isfinite(length):
            priced.append((length, candidate))
    return sorted(priced, key=lambda p: (p[0], p[1].rank))


def _is_over(deadline: Budget | None) -> bool:
    return deadline is not None and deadline.spent() is not None


def _seconds(deadline: Budget | None) -> float | None:
    """What is left, for a fit that is begun."""
    left = None if deadline is None else deadline.seconds_left
    return None if left is None else max(left, 1e-3)


def _shortest(
    order: Sequence[tuple[float, Candidate]], table: Table, gamma: float, model: NoiseModel, deadline: Budget | None
) -> float:
    """The shortest description under a model of the noise, as far as time allows."""
    lengths = [math.inf]
    for _, candidate in order[:_N_TRIED]:
        if _is_over(deadline):
            break
        fit = _refitted(candidate, table, model, deadline)
        if fit.ok and model.may_hold(fit, table):
            lengths.append(_length(fit, table, gamma, model))
    return min(lengths)


def _refitted(candidate: Candidate, table: Table, model: NoiseModel, deadline: Budget | None) -> Fit:
    """The candidate with all of its numbers free."""
    expression = candidate.expression
    return refit(expression.skeleton(), numbers_of(expression), table, model.loss, _seconds(deadline))


def _polished(
    candidate: Candidate, table: Table, gamma: float, model: NoiseModel, loss: str, deadline: Budget | None
) -> list[tuple[float, Candidate]]:
    """The candidate with all of its numbers fitted and, in time, tidied."""
    options: dict[str, Any] = {"sample_weight": table.sample_weight, "loss": model.loss, "n_threads": 1}
    fit = _refitted(candidate, table, model, deadline)
    if not fit.ok:
        return []
    fits = [fit]
    # a baseline is what it is: with its slopes taken for zero, the linear one would be the constant
    if len(fit.constants) and candidate.proposer != "baseline" and not _is_over(deadline):
        fits.append(simplipy.tidy(fit, table.X, table.y, deadline=_seconds(deadline), **options))
    found = []
    for option in fits:
        if not option.ok or len(option.constants) > max(2, table.n_rows // _ROWS_A_CONSTANT):
            continue
        fvu = option.fvu if model.loss == loss else fvu_on(option.expression, table)
        if fvu <= 1 or not option.expression.variables:
            made = dataclasses.replace(
                candidate, expression=option.expression, fvu=fvu, n_constants=len(option.constants)
            )
            found.append((_length(option, table, gamma, model), made))
    return found


def _reduced(
    candidate: Candidate, table: Table, gamma: float, model: NoiseModel, loss: str, deadline: Budget | None
) -> list[Candidate]:
    """The candidate without one of its operands, with the scores that it then has."""
    numbers = np.array(numbers_of(candidate.expression))
    found = []
    for reduction in reductions(candidate.expression.skeleton(), numbers):
        if _is_over(deadline):
            break
        filled = reduction.skeleton.with_constants(reduction.start) if len(reduction.start) else reduction.skeleton
        polished = _polished(dataclasses.replace(candidate, expression=filled), table, gamma, model, loss, deadline)
        found += [dataclasses.replace(c, score=decades(length, table.n_rows)) for length, c in polished]
    return found


def _length(fit: Fit, table: Table, gamma: float, model: NoiseModel) -> float:
    """Description length of the rows under a model of their noise."""
    tokens = (token_nats(gamma) - TOKEN) * len(fit.expression)
    return description_length(fit, table.n_rows, exact_fvu(table)) + model.offset + tokens


def is_credible(candidate: Candidate, table: Table) -> bool:
    """Whether exact rows tell more than it takes to write the formula: two numbers meet any two rows exactly."""
    nats_a_row = -0.5 * math.log(exact_fvu(table))
    tokens = candidate.expression.tokens
    numbers = sum(min(number_cost(token), nats_a_row) for token in tokens if is_number(token))
    return TOKEN_NATS * len(tokens) + numbers < nats_a_row * table.n_rows


def _guarded(candidates: list[Candidate], table: Table, model: NoiseModel, deadline: Budget | None) -> list[Candidate]:
    """What predicts rows that it was not fitted to worse than a baseline that is no longer scores no better than it.

    Once one does, those after it must prove themselves too: what is not tried, for want of time or as one of too many,
    scores no better than the baselines either.
    """
    guarded = list(candidates)
    if _is_over(deadline):
        return guarded
    splits = _splits(table.n_rows)
    known = [c for c in candidates if c.proposer == "baseline"]
    baselines = [(c, _held_out_error(c, table, splits, model, deadline)) for c in known]
    one_failed = False
    for i, candidate in enumerate(candidates):
        rivals = [(c, error) for c, error in baselines if c.length <= candidate.length]
        if candidate.proposer == "baseline" or not rivals:
            break
        error = None
        if i < _N_POLISHED and not _is_over(deadline):
            error = _held_out_error(candidate, table, splits, model, deadline)
        if error is None or _is_over(deadline):  # half an error says nothing
            if not one_failed:
                break
            error = math.inf
        better = [c.score for c, its_error in rivals if its_error <= error]
        if not better:
            break
        one_failed = True
        guarded[i] = dataclasses.replace(candidate, score=max(candidate.score, round(min(better) + 1e-6, 6)))
    return sorted(guarded, key=lambda c: c.rank)


def _held_out_error(
    candidate: Candidate,
    table: Table,
    splits: Sequence[tuple[Rows, Rows]],
    model: NoiseModel,
    deadline: Budget | None,
) -> float:
    """Mean square on the rows that a fit has not seen; numbers of a law that has none fitted stay."""
    total, count = 0.0, 0
    weights = model.weights(table)
    y = table.y / unexplained.unit_of(table.y)
    for train, test in splits:
        if _is_over(deadline):
            break
        law = candidate.expression
        if candidate.n_constants:
            fit = _refitted(candidate, table.at(train), model, deadline)
            law = fit.expression if fit.ok else law
        with np.errstate(over="ignore"):
            errors = (law(table.X[test]) / unexplained.unit_of(table.y) - y[test]) ** 2 * weights[test]
        total += float(errors.sum()) if np.isfinite(errors).all() else math.inf
        count += len(test)
    return total / max(count, 1)


def _splits(n_rows: int) -> list[tuple[Rows, Rows]]:
    """Rows to fit and rows to predict: each row once where there are few, else a random quarter some times."""
    if n_rows <= _FEW_ROWS:
        return [(np.delete(np.arange(n_rows), i), np.array([i])) for i in range(n_rows)]
    n_test = max(1, int(_TEST_SHARE * n_rows))
    orders = [np.random.default_rng(seed).permutation(n_rows) for seed in range(_N_SPLITS)]
    return [(np.sort(order[n_test:]), np.sort(order[:n_test])) for order in orders]
