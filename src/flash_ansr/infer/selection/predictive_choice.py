"""The law among candidates of which none is exact, by what they predict in rows that they were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import form_prices
from flash_ansr.infer.candidates.noise_models import noise_models
from flash_ansr.infer.candidates.safety import safety_of
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.held_out import HeldOut, held_out
from flash_ansr.infer.selection.noisy_choice import Choice
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.table import FloatArray, Table

# with fewer rows, few of them are left to predict: description lengths decide
FEW_ROWS = 200
# candidates that are tried: the shortest descriptions, and the front up to a length
_N_DESCRIBED = 12
# candidates of a length that are looked at, in case that the better ones break between rows
_N_SPARE = 4
_MOST_TOKENS = 60
# tokens that a law has at most where formulas are approximations
_LONGEST_LAW = 45
# standard errors of a paired difference: that a better candidate has, that a law may lose, that overrule a constant
_ONE, _TWO = 1.0, 2.0
# of the variance, what a formula must explain beyond others that may have no value near the rows
_RISK = 0.02
# differences of R2 that matter to nobody, at most this share of what is left
_SAME_R2, _SAME_SHARE = 0.02, 0.15
# of the variance that the best explains, a parsimonious candidate explains so much
_PARSIMONY = 0.9


def by_prediction(
    described: Choice, once: Sequence[Candidate], rows: Table, settings: Settings, aim: str, deadline: Budget | None
) -> Choice:
    """Candidates, the law first.

    Parameters
    ----------
    described : Choice
        By description length, each function once.
    once : sequence of Candidate
        By the paper's score, each function once.
    """
    looked_at = _looked_at(described.candidates, once)
    safeties = safety_of([c.expression for c in looked_at], rows, settings.n_threads)
    pairs = [(_identity(c), safety) for c, safety in zip(looked_at, safeties, strict=True)]
    broken = {name for name, safety in pairs if safety.breaks_between_rows}
    risky = {name for name, safety in pairs if not safety.holds_around}
    whole = _shortlist(described.candidates, once, broken)
    precisions = _precisions(described, rows, settings.loss)
    found = held_out(whole, rows, settings.loss, settings.random_state, deadline, precisions) if whole else None
    by_key = {} if found is None else {_identity(c): c for c in found.candidates}
    ranked = [by_key.get(_identity(c), c) for c in described.candidates]
    safe = [c for c in ranked if _identity(c) not in broken] or ranked
    if found is None or not found.candidates:
        return described if safe[0] is ranked[0] else replace(described, candidates=_with_first(safe[0], ranked))
    law, is_described = _law(_without_risks(found, risky), safe, rows, described.noise is not None, aim)
    if not is_described:
        return Choice(_with_first(law, _by_error(found, described.candidates)))
    return replace(described, candidates=_with_first(law, ranked))


def _precisions(described: Choice, rows: Table, loss: str) -> FloatArray | None:
    """Weights of rows where the noise is in proportion to y: otherwise the largest values alone would decide."""
    if described.kind != "proportional" or loss != "squared":
        return None
    (model,) = (model for model in noise_models(rows, loss) if model.kind == described.kind)
    return model.weights(rows)


def _without_risks(found: HeldOut, risky: set[str]) -> HeldOut:
    """Only candidates that have a value near the rows, unless another one is clearly better."""
    safe = [i for i, c in enumerate(found.candidates) if _identity(c) not in risky]
    if not safe:
        return found
    best, safest = found.best, safe[int(np.argmin(found.losses[safe].mean(axis=1)))]
    gain = found.candidates[best].r2_cv - found.candidates[safest].r2_cv
    is_clear = gain > _RISK and found.excess(safest, best) > _TWO
    return found if is_clear else HeldOut([found.candidates[i] for i in safe], found.losses[safe])


def _law(
    found: HeldOut, described: Sequence[Candidate], rows: Table, leaves_noise: bool, aim: str
) -> tuple[Candidate, bool]:
    """The candidate that is chosen, and whether it is the shortest description."""
    numbers = {_identity(c): i for i, c in enumerate(found.candidates)}
    best, shortest = found.best, described[0]
    if aim == "accuracy":
        return found.candidates[best], False
    if aim == "parsimony":
        enough = _PARSIMONY * found.candidates[best].r2_cv
        return _cheapest(found, rows, lambda i: found.candidates[i].r2_cv >= enough), False
    place = numbers.get(_identity(shortest))
    if rows.n_rows < FEW_ROWS:
        is_refuted = place is None or _is_refuted_constant(found, place)
        return (found.candidates[best], False) if is_refuted else (shortest, True)
    is_refuted = place is None or _is_refuted_constant(found, place) or found.excess(place, best) > _TWO
    if leaves_noise and not is_refuted:
        return shortest, True
    found = _readable(found)
    best, r2 = found.best, found.candidates[found.best].r2_cv
    enough = r2 - min(_SAME_R2, _SAME_SHARE * (1 - r2))
    law = _cheapest(found, rows, lambda i: found.excess(i, best) <= _ONE or found.candidates[i].r2_cv >= enough)
    return law, False


def _readable(found: HeldOut) -> HeldOut:
    """Only formulas that a person reads, if there are any; ``accuracy`` takes longer ones."""
    short = [i for i, c in enumerate(found.candidates) if c.length <= _LONGEST_LAW or c.is_baseline]
    return HeldOut([found.candidates[i] for i in short], found.losses[short]) if short else found


def _cheapest(found: HeldOut, rows: Table, is_good: Callable[[int], bool]) -> Candidate:
    """The cheapest of the good ones; a constant only where no baseline explains anything."""
    good = [i for i in range(len(found.candidates)) if is_good(i) and not _is_refuted_constant(found, i)]
    good = good or [found.best]
    prices = form_prices([found.candidates[i].expression for i in good], rows.n_columns).min(axis=1)
    return found.candidates[good[int(np.argmin(prices))]]


def _is_refuted_constant(found: HeldOut, i: int) -> bool:
    """Whether it is a constant where a baseline explains something."""
    is_beaten = (c.is_baseline and found.excess(i, k) > _TWO for k, c in enumerate(found.candidates))
    return not found.candidates[i].expression.variables and any(is_beaten)


def _looked_at(described: Sequence[Candidate], once: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that may be tried: the shortest descriptions, the best of each length, and the baselines."""
    looked_at = {_identity(c): c for c in described[: 2 * _N_DESCRIBED]}
    n_at: dict[int, int] = {}
    for candidate in sorted(once, key=lambda c: c.fvu):
        n_at[candidate.length] = n_at.get(candidate.length, 0) + 1
        if n_at[candidate.length] <= _N_SPARE or candidate.is_baseline:
            looked_at.setdefault(_identity(candidate), candidate)
    return list(looked_at.values())


def _shortlist(described: Sequence[Candidate], once: Sequence[Candidate], broken: set[str]) -> list[Candidate]:
    """The candidates that are tried, the most promising first, without broken ones."""
    chosen = {_identity(c): c for c in [c for c in described if _identity(c) not in broken][:_N_DESCRIBED]}
    best_at: dict[int, Candidate] = {}
    for candidate in [c for c in once if _identity(c) not in broken]:
        known = best_at.get(candidate.length)
        if candidate.length <= _MOST_TOKENS and (known is None or candidate.fvu < known.fvu):
            best_at[candidate.length] = candidate
    lowest = math.inf
    for _, candidate in sorted(best_at.items()):
        if candidate.fvu < lowest:
            lowest = candidate.fvu
            chosen.setdefault(_identity(candidate), candidate)
    for candidate in once:
        if candidate.is_baseline:
            chosen.setdefault(_identity(candidate), candidate)
    return list(chosen.values())


def _by_error(found: HeldOut, others: Sequence[Candidate]) -> list[Candidate]:
    """Those that were tried by their error in other rows, which becomes their score in decades; then the others."""
    tried = [replace(c, score=round(math.log10(max(1 - c.r2_cv, 1e-300)), 6)) for c in found.candidates]
    names = {_identity(c) for c in tried}
    return [*sorted(tried, key=lambda c: c.rank), *(c for c in others if _identity(c) not in names)]


def _with_first(law: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, this one first."""
    first = next((c for c in candidates if _identity(c) == _identity(law)), law)
    return [first, *(c for c in candidates if c is not first)]


def _identity(candidate: Candidate) -> str:
    return candidate.expression.infix()
