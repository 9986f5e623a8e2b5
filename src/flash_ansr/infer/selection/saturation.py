"""Saturated parts of formulas, replaced by what they amount to on the rows. Chooses no law.

A part is saturated where a number hides the variables beside it: tanh(50 + x1) is 1, a*atan(21.86 + x1^2) moves by so
little that only its first-order term is left, and so does 1.0000002^x1. Such a formula is a shorter one with constants
that cancel each other. ``plain_parts.py`` knows the kinds of such parts; here the shorter formulas are fitted, and
compared with the formula as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import rough_nats, with_rare_numbers_free
from flash_ansr.infer.candidates.fitter import fvu_on, refit_all
from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.plain_parts import replacements
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, Fit, TokenBatch
from simplipy.fit.score import GAMMA, exact_fvu, is_exact, price_of_a_token, score
from simplipy.fit.shorter_forms import shortened

# of the FVU: refits end so close to each other
_SAME_FVU = 1e-9
_MAX_ROWS = 2048
_MOST_ROUNDS = 4
# candidates that are looked at beside the front, and forms that are fitted in a round, the most promising first
_N_LOOKED_AT = 60
_MOST_FORMS = 200
# of the time to conclude
_SHARE = 0.05
_LEAST_SECONDS = 1e-3


def unsaturated(expression: Expression, table: Table, loss: str = "squared") -> Expression | None:
    """The formula without saturated parts, None where it has none that the rows allow to replace.

    Parameters
    ----------
    expression : Expression
        In x1, x2, ..., with its numbers.
    table : Table
        The rows that it was fitted to.
    loss : str
        Of the fits.

    Returns
    -------
    Expression or None
        Not longer, and with the same unexplained variance or a shorter description of the rows; exact where the formula
        is exact. Numbers that laws do not write out are fitted anew.

    Examples
    --------
    >>> from simplipy import parse
    >>> x = np.linspace(0, 1, 20)
    >>> print(unsaturated(parse("x1*tanh(50 + x1)"), Table(x[:, None], x)))
    x1
    """
    (found,) = _all_unsaturated([expression], table, loss, GAMMA)
    return found if found != expression else None


def with_unsaturated(
    candidates: Sequence[Candidate], table: Table, grammar: Grammar, settings: Settings, deadline: Budget | None = None
) -> list[Candidate]:
    """The candidates; those on the front and the best ones without saturated parts, as far as time allows.

    Parameters
    ----------
    deadline : Budget, optional
        Time to conclude, of which a small part is taken.
    """
    seconds = None if deadline is None else deadline.seconds_left
    own = None if deadline is None or seconds is None else Budget(_SHARE * seconds, clock=deadline.clock)
    places = _looked_at(candidates)
    formulas = [candidates[i].expression for i in places]
    found = _all_unsaturated(formulas, table, settings.loss, settings.gamma, own)
    written = list(candidates)
    price, floor = price_of_a_token(settings.gamma, table.n_rows), exact_fvu(table.y)
    for i, form in zip(places, found, strict=True):
        fvu = max(fvu_on(form, table), floor)
        if form != candidates[i].expression and grammar.allows(form):
            (key,) = form_keys(normal_forms(TokenBatch.from_expressions([form.skeleton()]), n_threads=1))
            n_constants = len(with_rare_numbers_free(form)[1])
            its_score = score(fvu, len(form), price, floor)
            written[i] = replace(
                candidates[i], expression=form, key=key, fvu=fvu, score=its_score, n_constants=n_constants
            )
    return written


def _looked_at(candidates: Sequence[Candidate]) -> list[int]:
    """Places of the best candidates, and of those that no shorter one fits as well as; no baselines."""
    places = [i for i, c in enumerate(candidates) if not c.is_baseline]
    chosen = set(sorted(places, key=lambda i: candidates[i].rank)[:_N_LOOKED_AT])
    lowest = math.inf
    for i in sorted(places, key=lambda i: (candidates[i].length, candidates[i].fvu)):
        if candidates[i].fvu < lowest:
            lowest = candidates[i].fvu
            chosen.add(i)
    return sorted(chosen, key=lambda i: candidates[i].rank)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Which of two formulas describes the rows in fewer nats."""

    rows: Table
    gamma: float
    floor: float

    def nats(self, formulas: Sequence[Expression], fvus: Sequence[float]) -> list[float]:
        """Description lengths, as far as they are known without standard errors."""
        counts = [len(numbers_of(formula)) for formula in formulas]
        rows = self.rows
        lengths = rough_nats(formulas, fvus, counts, rows.n_rows, rows.n_columns, self.gamma, self.floor)
        return [float(length) for length in lengths]

    def is_as_good(self, form: Expression, fvu: float, formula: Expression, its_fvu: float) -> bool:
        """Whether a form, with its FVU, can stand for a formula with its own."""
        if len(form) > len(formula) or not math.isfinite(fvu):
            return False
        if is_exact(its_fvu, self.floor):
            return is_exact(fvu, self.floor)
        if fvu <= its_fvu * (1 + _SAME_FVU):
            return True
        nats, its_nats = self.nats([form, formula], [fvu, its_fvu])
        return nats < its_nats


def _all_unsaturated(
    formulas: Sequence[Expression], table: Table, loss: str, gamma: float, deadline: Budget | None = None
) -> list[Expression]:
    """The formulas without saturated parts; those without any stay."""
    rows = table.thinned(_MAX_ROWS)
    judge = _Judge(rows, gamma, exact_fvu(rows.y))
    found, places = list(formulas), list(range(len(formulas)))
    for _ in range(_MOST_ROUNDS):
        forms = replacements([found[i] for i in places], rows.X)
        pairs = [(i, form) for i, own in zip(places, forms, strict=True) for form in own if form != found[i]]
        pairs = pairs[:_MOST_FORMS]
        if not pairs or (deadline is not None and deadline.spent() is not None):
            break
        fits = _fitted([form for _, form in pairs], rows, loss, deadline)
        places = []
        for i in dict(pairs):
            fvu = fvu_on(found[i], rows)
            own = [fit.expression for (k, _), fit in zip(pairs, fits, strict=True) if k == i and fit.ok]
            options = [(len(form), fvu_on(form, rows), form) for form in own]
            for _, its_fvu, form in sorted(options, key=lambda option: option[:2]):
                if form != found[i] and judge.is_as_good(form, its_fvu, found[i], fvu):
                    found[i] = form
                    places.append(i)
                    break
    changed = [i for i, formula in enumerate(formulas) if found[i] != formula]
    fits = _fitted([found[i] for i in changed], table, loss, deadline) if changed else []
    for i, fit in zip(changed, fits, strict=True):
        found[i] = _settled(fit, formulas[i], _Judge(table, gamma, exact_fvu(table.y)), loss, deadline)
    return found


def _settled(fit: Fit, formula: Expression, judge: _Judge, loss: str, deadline: Budget | None) -> Expression:
    """The fitted form, an exact one in simple numbers; the formula where the form is worse on all rows."""
    rows = judge.rows
    if is_exact(fit.fvu, judge.floor):
        left = None if deadline is None else deadline.seconds_left
        seconds = None if left is None else max(left, _LEAST_SECONDS)
        weights = rows.sample_weight
        fit = simplipy.tidy(fit, rows.X, rows.y, sample_weight=weights, deadline=seconds, loss=loss, n_threads=1)
    form = fit.expression
    is_kept = fit.ok and judge.is_as_good(form, fvu_on(form, rows), formula, fvu_on(formula, rows))
    return form if is_kept else formula


def _fitted(forms: Sequence[Expression], rows: Table, loss: str, deadline: Budget | None) -> list[Fit]:
    """The forms, simplified, with their rare numbers fitted."""
    skeletons, numbers = [], []
    for form in forms:
        skeleton, own = with_rare_numbers_free(form)
        skeleton, start = shortened(skeleton, np.array(own))
        skeletons.append(skeleton)
        numbers.append(start)
    return refit_all(skeletons, numbers, rows, loss, None if deadline is None else deadline.seconds_left)
