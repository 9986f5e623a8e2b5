"""The law among candidates of which none is exact: the shortest description of rows that are taken to have noise.

First the kind of noise is chosen, by the likelihood of the best candidates: one deviation for all rows, or one in
proportion to y. Then the most promising candidates are fitted and tidied once more, with every number free, and ranked
by description length. Whether what they leave is noise is tested: residuals of the right law can be predicted neither
from those of near rows nor by a polynomial in the columns. Where they can, the law was not found, and
``predictive_choice.py`` chooses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import (
    TOKEN_NATS,
    decades,
    description_nats,
    rough_nats,
    with_rare_numbers_free,
)
from flash_ansr.infer.candidates.fitter import fvu_on, refit, refit_all
from flash_ansr.infer.candidates.noise_models import NoiseKind, NoiseModel, noise_models, noise_of
from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.textbook_spellings import textbook_spellings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray, Rows, Table, split_rows
from simplipy import Expression, Fit, TokenBatch
from simplipy.fit import unexplained
from simplipy.fit.description_length import is_number, number_cost
from simplipy.fit.score import exact_fvu
from simplipy.fit.shorter_forms import reductions

# candidates that are fitted anew, and that are tried with other numbers
_N_FITTED, _N_POLISHED = 60, 40
# nats behind the shortest description from which other numbers do not help
_HOPELESS = 25.0
# candidates by which the kind of noise is chosen
_N_TRIED = 6
# of the time, the part for the tries with one kind
_PART_TO_TRY = 0.2
# candidates of which operands are left out
_N_REDUCED = 3
# rows that first estimates are made on
_MAX_ROWS = 1024
# nats that a law must gain on the baselines: the best of very many formulas fits noise better than one
_HEAD_START = 6.0
# with so few rows, each is left out once
_FEW_ROWS = 12
_N_SPLITS = 6


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates, and the noise that the first one leaves.

    Attributes
    ----------
    candidates : list of Candidate
        Best first; with noise, their scores are description lengths in decades of FVU.
    noise : float or None
        Deviation of the first one's residuals, relative to that of y or, where it is in proportion, to |y|; 0 for an
        exact law, None where residuals are no noise.
    kind : {"constant", "proportional"} or None
        Of the noise, None where there is none.
    """

    candidates: list[Candidate]
    noise: float | None = None
    kind: NoiseKind | None = None


def choose(
    candidates: Sequence[Candidate],
    table: Table,
    grammar: Grammar,
    gamma: float,
    loss: str,
    deadline: Budget | None = None,
) -> Choice:
    """Rank candidates by description length, and test whether the best leaves nothing but noise.

    Parameters
    ----------
    candidates : sequence of Candidate
        The baselines among them.
    table : Table
    grammar : Grammar
        The grammar that tidied laws must keep to.
    gamma : float
        Tokens cost more, or less, in proportion to it.
    loss : str
        Of the fits.
    deadline : Budget, optional
        Time for it; the most promising candidates come first.
    """
    describers = [Describer(table, grammar, gamma, loss, model, deadline) for model in noise_models(table, loss)]
    orders = [describer.roughly_ranked(candidates) for describer in describers]
    best = 0
    if len(describers) > 1:
        shortest, is_cut = [], False
        for describer, order in zip(describers, orders, strict=True):
            tried = describer.for_part_of_time()
            shortest.append(tried.shortest(order))
            is_cut |= tried.is_over
        if math.inf in shortest and is_cut:  # some were not tried
            shortest = [describer.shortest_roughly(order) for describer, order in zip(describers, orders, strict=True)]
        best = shortest.index(min(shortest))
    return describers[best].choice(orders[best])


@dataclass(frozen=True, slots=True)
class Describer:
    """Description lengths of a table's rows under a model of their noise; the other attributes are as in ``choose``."""

    table: Table
    grammar: Grammar
    gamma: float
    loss: str
    model: NoiseModel
    deadline: Budget | None = None

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        return self.deadline is not None and self.deadline.spent() is not None

    @property
    def _seconds(self) -> float | None:
        return None if self.deadline is None else self.deadline.seconds_left

    def for_part_of_time(self) -> Describer:
        """The same with a part of the time, so that most of it is left when the kind of noise is known."""
        seconds = self._seconds
        if self.deadline is None or seconds is None:
            return self
        return replace(self, deadline=Budget(_PART_TO_TRY * seconds, clock=self.deadline.clock))

    def roughly_ranked(self, candidates: Sequence[Candidate]) -> list[tuple[float, Candidate]]:
        """Candidates with their lengths, as far as they are known without standard errors, shortest first."""
        table = self.table
        rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _MAX_ROWS)).astype(np.int64)
        values, _ = simplipy.evaluate_many([c.expression for c in candidates], table.X[rows])
        weights, floor = self.model.weights(table)[rows], exact_fvu(table.y)
        fvus = [unexplained.fvu(table.y[rows], predicted, weights) for predicted in values]

        def nats_of(formulas: Sequence[Expression], of: Sequence[int], counts: Sequence[int]) -> FloatArray:
            errors = [fvus[i] for i in of]
            return rough_nats(formulas, errors, counts, table.n_rows, table.n_columns, self.gamma, floor)

        formulas = [c.expression for c in candidates]
        nats = nats_of(formulas, range(len(formulas)), [c.n_constants for c in candidates])
        spellings = textbook_spellings([formula.skeleton() for formula in formulas])
        pairs = [(i, spelling) for i, own in enumerate(spellings) for spelling in own]
        if pairs:
            written, of = [spelling for _, spelling in pairs], [i for i, _ in pairs]
            np.minimum.at(nats, of, nats_of(written, of, [spelling.n_constants for spelling in written]))
        priced = zip((nats + self.model.offset).tolist(), candidates, strict=True)
        return sorted((p for p in priced if math.isfinite(p[0])), key=lambda p: (p[0], p[1].rank))

    def shortest(self, order: Sequence[tuple[float, Candidate]]) -> float:
        """The shortest description, as far as time allows."""
        lengths = [math.inf]
        for _, candidate in order[:_N_TRIED]:
            if self.is_over:
                break
            fit = self._refitted(candidate, self.table)
            if fit.ok and self.model.may_hold(fit.expression, len(fit.constants), self.table):
                lengths.append(self._length(fit))
        return min(lengths)

    def shortest_roughly(self, order: Sequence[tuple[float, Candidate]]) -> float:
        """The shortest description as far as it is known without a fit."""
        table = self.table
        tried = ((length, c) for length, c in order[:_N_TRIED])
        return next((n for n, c in tried if self.model.may_hold(c.expression, c.n_constants, table)), math.inf)

    def choice(self, order: Sequence[tuple[float, Candidate]]) -> Choice:
        """Candidates by description length, the most promising ones fitted anew and without what they do not need."""
        found: list[Candidate] = []
        fitted, rest = self._fitted_anew(order)
        hopeless = min((c.score for c, _ in fitted), default=0.0) + decades(_HOPELESS, self.table.n_rows)
        for candidate, fit in fitted:
            is_tried = len(found) < _N_POLISHED and candidate.score < hopeless and not self.is_over
            found.append(min([candidate, *(self._options(candidate, fit) if is_tried else [])], key=lambda c: c.rank))
        for candidate in sorted(found, key=lambda c: c.rank)[:_N_REDUCED]:
            found += self._reduced(candidate)
        # rough lengths may be too short: those that have no other come behind
        worst = max((c.score for c in found), default=-math.inf)
        found += [replace(c, score=max(c.score, worst)) for c in rest]
        found = self.guarded(sorted(found, key=lambda c: c.rank))
        noise = noise_of(found[0], self.table, self.model)
        return Choice(found, noise, None if noise is None else self.model.kind)

    def _fitted_anew(
        self, order: Sequence[tuple[float, Candidate]]
    ) -> tuple[list[tuple[Candidate, Fit]], list[Candidate]]:
        """The most promising candidates with all numbers fitted, shortest first, and the others as they are."""
        left = dict.fromkeys(range(len(order)))
        chosen = [i for i, (_, c) in enumerate(order) if i < _N_FITTED or c.is_baseline]
        seconds = None if self._seconds is None else self._seconds / 2
        skeletons = [order[i][1].expression.skeleton() for i in chosen]
        numbers = [numbers_of(order[i][1].expression) for i in chosen]
        made = [] if self.is_over else refit_all(skeletons, numbers, self.table, self.model.loss, seconds)
        fitted: list[tuple[Candidate, Fit]] = []
        for i, fit in zip(chosen, made, strict=False):
            candidate = self._as_fitted(order[i][1], fit)
            if candidate is not None:
                fitted.append((candidate, fit))
                del left[i]
        fitted.sort(key=lambda pair: pair[0].rank)
        return fitted, [self._scored(order[i][1], order[i][0]) for i in left]

    def _scored(self, candidate: Candidate, length: float) -> Candidate:
        """The candidate with its score by a description length in nats."""
        head_start = _HEAD_START if candidate.is_linear_baseline else 0.0
        return replace(candidate, score=decades(length - head_start, self.table.n_rows))

    def _refitted(self, candidate: Candidate, rows: Table) -> Fit:
        """The candidate with all of its numbers free."""
        expression = candidate.expression
        return refit(expression.skeleton(), numbers_of(expression), rows, self.model.loss, self._seconds)

    def _polished(self, candidate: Candidate) -> list[Candidate]:
        """The candidate with all of its numbers fitted and, in time, tidied; where both are allowed."""
        fit = self._refitted(candidate, self.table)
        made = self._as_fitted(candidate, fit)
        return self._options(candidate, fit) + ([] if made is None else [made]) if fit.ok else []

    def _as_fitted(self, candidate: Candidate, fit: Fit) -> Candidate | None:
        """The candidate as this fit, with its description length; None where it is refused, or worse than the mean."""
        table = self.table
        if not fit.ok or len(fit.constants) > table.most_constants:
            return None
        fvu = fit.fvu if self.model.loss == self.loss else fvu_on(fit.expression, table)
        if not (fvu <= 1 or not fit.expression.variables) or not self.grammar.allows(fit.expression):
            return None
        made = replace(candidate, expression=fit.expression, fvu=fvu, n_constants=len(fit.constants))
        return self._scored(made, self._length(fit))

    def _options(self, candidate: Candidate, fit: Fit) -> list[Candidate]:
        """The candidate with other numbers than those of this fit: usual, tidied and written ones."""
        table, model = self.table, self.model
        usual, values = with_rare_numbers_free(candidate.expression)
        fits = []
        if usual != fit.skeleton:
            fits.append(refit(usual, values, table, model.loss, self._seconds))
        # a baseline is what it is: with its slopes taken for zero, the linear one would be the constant
        if len(fit.constants) and not candidate.is_linear_baseline and not self.is_over:
            fits += [self._with_usual_numbers(fit), *self._as_in_textbooks(fit)]
        made = [self._as_fitted(candidate, option) for option in fits]
        return [c for c in made if c is not None]

    def _with_usual_numbers(self, fit: Fit) -> Fit:
        """The fit in simple numbers, as far as the rows do not tell them apart from fitted ones; the rest is free."""
        table, loss = self.table, self.model.loss
        tidied = simplipy.tidy(
            fit, table.X, table.y, sample_weight=table.sample_weight, deadline=self._seconds, loss=loss, n_threads=1
        )
        skeleton, values = with_rare_numbers_free(tidied.expression)
        return refit(skeleton, values, table, loss, self._seconds)

    def _as_in_textbooks(self, fit: Fit) -> list[Fit]:
        """The form with the numbers that known laws write out."""
        (spellings,) = textbook_spellings([fit.skeleton])
        return refit_all(spellings, None, self.table, self.model.loss, self._seconds) if spellings else []

    def _reduced(self, candidate: Candidate) -> list[Candidate]:
        """Formulas without one of its operands that are better."""
        if candidate.is_linear_baseline:
            return []
        numbers = np.array(numbers_of(candidate.expression))
        found = []
        for reduction in reductions(candidate.expression.skeleton(), numbers):
            if self.is_over:
                break
            filled = reduction.skeleton.with_constants(reduction.start) if len(reduction.start) else reduction.skeleton
            (key,) = form_keys(normal_forms(TokenBatch.from_expressions([reduction.skeleton]), n_threads=1))
            found += self._polished(replace(candidate, expression=filled, key=key))
        return [c for c in found if c.score < candidate.score]

    def _length(self, fit: Fit) -> float:
        """Description length of the rows in nats."""
        table = self.table
        floor = exact_fvu(table.y)
        return description_nats(fit, table.n_rows, table.n_columns, self.gamma, floor) + self.model.offset

    def guarded(self, candidates: list[Candidate]) -> list[Candidate]:
        """Candidates that predict held-out rows worse than an equally short baseline get at best the baseline's score.

        Once one does, those after it must prove themselves too: a candidate that is not tried, for want of time or as
        one of too many, gets no better score than the baselines either.
        """
        guarded = list(candidates)
        if self.is_over:
            return guarded
        splits = _splits(self.table.n_rows)
        baselines = [(c, self.held_out_error(c, splits)) for c in candidates if c.is_baseline]
        one_failed = False
        for i, candidate in enumerate(candidates):
            rivals = [(c, error) for c, error in baselines if c.length <= candidate.length]
            if candidate.is_baseline or not rivals:
                break
            is_tried = i < _N_POLISHED and not self.is_over
            error = self.held_out_error(candidate, splits) if is_tried else math.inf
            if not is_tried or self.is_over:  # half an error says nothing
                if not one_failed:
                    break
                error = math.inf
            better = [c.score for c, its_error in rivals if its_error <= error]
            if not better:
                break
            one_failed = True
            guarded[i] = replace(candidate, score=max(candidate.score, round(min(better) + 1e-6, 6)))
        return sorted(guarded, key=lambda c: c.rank)

    def held_out_error(self, candidate: Candidate, splits: Sequence[tuple[Rows, Rows]]) -> float:
        """Mean square on the rows that a fit has not seen; numbers of a law that has none fitted stay."""
        table, total, count = self.table, 0.0, 0
        weights, unit = self.model.weights(table), unexplained.unit_of(table.y)
        for train, test in splits:
            if self.is_over:
                break
            law = candidate.expression
            if candidate.n_constants:
                fit = self._refitted(candidate, table.at(train))
                law = fit.expression if fit.ok else law
            with np.errstate(over="ignore"):
                errors = (law(table.X[test]) / unit - table.y[test] / unit) ** 2 * weights[test]
            total += float(errors.sum()) if np.isfinite(errors).all() else math.inf
            count += len(test)
        return total / max(count, 1)


def is_credible(candidate: Candidate, table: Table) -> bool:
    """Whether exact rows hold more than it takes to write the formula: two numbers meet any two rows exactly."""
    nats_a_row = -0.5 * math.log(exact_fvu(table.y))
    tokens = candidate.expression.tokens
    numbers = sum(min(number_cost(token), nats_a_row) for token in tokens if is_number(token))
    return TOKEN_NATS * len(tokens) + numbers < nats_a_row * table.n_rows


def _splits(n_rows: int) -> list[tuple[Rows, Rows]]:
    """Rows to fit to and rows to predict: each row once where there are few, else a random quarter some times."""
    if n_rows <= _FEW_ROWS:
        return [(np.delete(np.arange(n_rows), i), np.array([i])) for i in range(n_rows)]
    return [split_rows(n_rows, seed) for seed in range(_N_SPLITS)]
