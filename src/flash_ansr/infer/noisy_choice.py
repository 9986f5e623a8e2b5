"""The law among candidates of which none is exact: the shortest description of rows that are taken to have noise.

The most promising candidates are fitted and tidied once more, with every number free, and ranked by description length.
Whether what they leave is noise is tested: residuals of the right law can be predicted neither from those of near rows
nor by a polynomial in the columns. Where they can, the law was not found, and the paper's score chooses.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import simplipy
from flash_ansr.infer.archive import Candidate
from flash_ansr.infer.budget import Budget
from flash_ansr.infer.proposals import FloatArray, Grammar, Table, numbers_of
from simplipy import Fit
from simplipy.description import TOKEN, data_cost, description_length

# candidates that are fitted anew
_N_POLISHED = 24
# gamma that the token's price in nats belongs to
_GAMMA = 0.05
# deviations from which residuals are no noise
_SIGNIFICANT = 4.0
_MAX_ROWS = 1024
# with fewer rows tokens cost more
_MANY_ROWS = 16
# nats that a law must gain on the baselines: the best of very many formulas fits noise better than one
_HEAD_START = 6.0
_ROWS_A_CONSTANT = 3
_N_SPLITS = 6
_TEST_SHARE = 0.25


@dataclasses.dataclass(frozen=True, slots=True)
class NoisyChoice:
    """Candidates by description length.

    Attributes
    ----------
    candidates : list of Candidate
        Best first; their scores are description lengths in decades of FVU.
    noise : float or None
        Deviation of the first one's residuals relative to that of y; None where they are no noise.
    """

    candidates: list[Candidate]
    noise: float | None


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
    priced = sorted(((_rough_length(c, table.n_rows, gamma), c) for c in candidates), key=lambda p: (p[0], p[1].rank))
    ranked = []
    for i, (length, candidate) in enumerate(priced):
        if i < _N_POLISHED and (deadline is None or deadline.spent() is None):
            polished = [p for p in _polished(candidate, table, gamma, loss) if grammar.allows(p[1].expression)]
            length, candidate = min(((length, candidate), *polished), key=lambda p: (p[0], p[1].rank))
        if candidate.proposer == "baseline":
            length -= _HEAD_START
        score = round(2 * length / (table.n_rows * math.log(10)), 6)
        ranked.append(dataclasses.replace(candidate, score=score))
    ranked = _distinct(sorted(ranked, key=lambda c: c.rank))
    ranked = _guarded(ranked, table)
    return NoisyChoice(ranked, noise_of(ranked[0], table))


def noise_of(candidate: Candidate, table: Table) -> float | None:
    """Deviation of the residuals relative to that of y, None where they can be predicted."""
    residuals = table.y - candidate.expression(table.X)
    if not np.isfinite(residuals).all() or not residuals.any():
        return None
    if not looks_like_noise(residuals, table.X, candidate.n_constants):
        return None
    freedom = max(table.n_rows - candidate.n_constants - 1, 1)
    return math.sqrt(candidate.fvu * table.n_rows / freedom)


def looks_like_noise(residuals: FloatArray, X: FloatArray, n_constants: int = 0) -> bool:
    """Whether neither near rows nor a quadratic polynomial in the ranks of the columns tell anything about residuals.

    Parameters
    ----------
    residuals : array (n_rows,)
    X : array (n_rows, n_columns)
    n_constants : int
        Fitted numbers of the law.
    """
    rows = np.linspace(0, len(residuals) - 1, min(len(residuals), _MAX_ROWS)).astype(np.int64)
    # ranks: a single large residual must not decide
    r = _ranks(residuals[rows])
    u = np.column_stack([_ranks(column) for column in X[rows].T])
    n = len(rows)
    if n < 8:
        return True
    distances = np.sum((u[:, None, :] - u[None, :, :]) ** 2, axis=2)
    np.fill_diagonal(distances, np.inf)
    near = distances.argmin(axis=1)
    # pairs that are nearest to each other count twice
    if float(r @ r[near]) / math.sqrt(1.6 * n) > _SIGNIFICANT:
        return False
    pairs = [(i, j) for i in range(u.shape[1]) for j in range(i, u.shape[1])]
    terms = np.column_stack([np.ones(n), u, *(u[:, i] * u[:, j] for i, j in pairs)])
    if terms.shape[1] + n_constants > n // 3:
        terms = terms[:, : u.shape[1] + 1]
    explained = np.linalg.lstsq(terms, r, rcond=None)[0] @ terms.T @ r / float(r @ r)
    k = terms.shape[1] - 1
    # of noise, k terms explain k/n on average
    return bool(explained * n < k + _SIGNIFICANT * math.sqrt(2 * k))


def _rough_length(candidate: Candidate, n_rows: int, gamma: float) -> float:
    """Description length of a candidate whose standard errors are not known."""
    numbers = candidate.n_constants * (0.5 * math.log(n_rows) + 1.5)
    data = data_cost(candidate.fvu, candidate.n_constants, n_rows)
    return data + TOKEN * _price(gamma, n_rows) * candidate.length + numbers


def _polished(candidate: Candidate, table: Table, gamma: float, loss: str) -> list[tuple[float, Candidate]]:
    """The candidate with all of its numbers fitted and tidied; nothing where it has none."""
    skeleton = candidate.expression.skeleton()
    options: dict[str, Any] = {"sample_weight": table.sample_weight, "loss": loss, "n_threads": 1}
    start = numbers_of(candidate.expression)
    fit = simplipy.fit_constants(skeleton, table.X, table.y, x0=start or None, n_restarts=0, **options)
    if not fit.ok:
        return []
    fits = [fit, simplipy.tidy(fit, table.X, table.y, **options)] if start else [fit]
    found = []
    for option in fits:
        if option.ok and len(option.constants) <= max(2, table.n_rows // _ROWS_A_CONSTANT):
            made = dataclasses.replace(
                candidate, expression=option.expression, fvu=option.fvu, n_constants=len(option.constants)
            )
            found.append((_length(option, table.n_rows, gamma), made))
    return found


def _length(fit: Fit, n_rows: int, gamma: float) -> float:
    return description_length(fit, n_rows) + TOKEN * (_price(gamma, n_rows) - 1) * len(fit.expression)


def _price(gamma: float, n_rows: int) -> float:
    """Of a token, relative to the usual; higher for few rows, which many a long formula meets by chance."""
    return gamma / _GAMMA * max(1.0, (_MANY_ROWS / n_rows) ** 2)


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Without laws that tidying made the same."""
    return list({c.expression.infix(6): c for c in reversed(candidates)}.values())[::-1]


def _guarded(candidates: list[Candidate], table: Table) -> list[Candidate]:
    """The first candidate that predicts rows of repeated splits better than shorter baselines do comes first."""
    splits = [_split(table.n_rows, seed) for seed in range(_N_SPLITS)]
    baselines = [(c.length, _held_out_error(c, table, splits)) for c in candidates if c.proposer == "baseline"]
    for i, candidate in enumerate(candidates[:_N_POLISHED]):
        least = min((error for length, error in baselines if length < candidate.length), default=math.inf)
        if candidate.proposer == "baseline" or least == math.inf or _held_out_error(candidate, table, splits) < least:
            return [candidate, *candidates[:i], *candidates[i + 1 :]]
    return candidates


def _held_out_error(candidate: Candidate, table: Table, splits: list[tuple[FloatArray, FloatArray]]) -> float:
    """Mean square on the rows that a fit has not seen; numbers of a law that has none fitted stay."""
    total, count = 0.0, 0
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    skeleton, start = candidate.expression.skeleton(), numbers_of(candidate.expression)
    for train, test in splits:
        law = candidate.expression
        if candidate.n_constants and start:
            fit = simplipy.fit_constants(
                skeleton, table.X[train], table.y[train], weights[train], x0=start, n_restarts=0, n_threads=1
            )
            law = fit.expression if fit.ok else law
        errors = (law(table.X[test]) - table.y[test]) ** 2 * weights[test]
        total += float(errors.sum()) if np.isfinite(errors).all() else math.inf
        count += len(test)
    return total / count


def _split(n_rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = max(1, int(_TEST_SHARE * n_rows))
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks as numbers of mean 0 and variance 1."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    return np.asarray((ranks - ranks.mean()) / max(float(ranks.std()), 1e-300))
