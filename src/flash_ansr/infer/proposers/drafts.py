"""From drafts to expressions: parse, refine the numbers inside, evaluate, rank, and never say the same twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.candidates.fitter import refit_all
from flash_ansr.infer.proposers.data import Clock, Data, DeadlineError, FloatArray, relative_weight
from flash_ansr.infer.table.table import Table
from simplipy import Expression, evaluate_many, parse, parse_many
from simplipy.fit.score import ROUNDING_FVU, score
from simplipy.fit.unexplained import fvu

# a law counts as found below this unexplained variance and this root mean square of relative errors
_EXACT_FVU = 1e-14
_EXACT_ERROR = 1e-8
# drafts of a batch whose constants are refined
_MAX_REFINED = 16


@dataclass(frozen=True, slots=True)
class Draft:
    """Infix text; where it has free constants, values to start from."""

    text: str
    start: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RankedLaw:
    """A proposal with its values on the rows of the search."""

    expression: Expression
    values: FloatArray
    fvu: float
    score: float


class Ranking:
    """The proposals so far.

    Attributes
    ----------
    data : Data
    exact : bool
        Whether a proposal explains every row up to rounding.
    best_fvu : float
    best : RankedLaw or None
        The proposal with the least score.
    """

    def __init__(self, data: Data) -> None:
        self.data, self.exact, self.best_fvu = data, False, np.inf
        self.best: RankedLaw | None = None
        self._seen: set[str] = set()
        self._relative = relative_weight(data.y)

    def ranked(self, drafts: Iterable[Draft], limit: int = 32, n_refined: int = _MAX_REFINED) -> list[Expression]:
        """Expressions of new drafts that are defined on all rows, best first, at most ``limit``."""
        fresh = []
        for draft in drafts:
            if draft.text not in self._seen or draft.start:
                self._seen.add(draft.text)
                fresh.append(draft)
        operators = self.data.grammar.operators
        spelled = [_without_multipliers(e, operators) for e in parse_many([d.text for d in fresh])]
        allowed = [(e, d) for e, d in zip(spelled, fresh, strict=True) if self.data.grammar.allows(e)]
        expressions = [e for e, d in allowed if not d.start]
        expressions += self._refined([(e, d) for e, d in allowed if d.start], n_refined)
        if not expressions:
            return []
        values, defined = evaluate_many(expressions, self.data.X, n_threads=1)
        laws = [
            self.law(expression, values[i])
            for i, expression in enumerate(expressions)
            if defined[i].all() and np.isfinite(values[i]).all()
        ]
        for law in laws:
            self.best_fvu = min(self.best_fvu, law.fvu)
            self.exact = self.exact or self._is_exact(law)
            if self.best is None or law.score < self.best.score:
                self.best = law
        return [law.expression for law in sorted(laws, key=lambda law: law.score)[:limit]]

    def law(self, expression: Expression, values: FloatArray) -> RankedLaw:
        """An expression with its score, from its values on the rows of the search."""
        unexplained = fvu(self.data.y, values, self.data.root_weight**2)
        value = score(unexplained, len(expression), self.data.gamma, ROUNDING_FVU)
        return RankedLaw(expression, values, unexplained, value)

    def _is_exact(self, law: RankedLaw) -> bool:
        errors = (law.values - self.data.y) * self._relative
        return law.fvu < _EXACT_FVU and float(np.sqrt(np.mean(errors**2))) < _EXACT_ERROR

    def _refined(self, drafts: list[tuple[Expression, Draft]], n: int) -> list[Expression]:
        """The n drafts with free constants that start best, with refined constants."""
        if not drafts:
            return []
        data = self.data
        values, _ = evaluate_many([e for e, _ in drafts], data.X, [d.start for _, d in drafts], n_threads=1)
        scale = 1 / data.deviation if data.noise else self._relative
        errors = np.mean(np.minimum(np.abs((values - data.y) * scale), 10.0) ** 2, axis=1)
        order = np.argsort(np.where(np.isfinite(errors), errors, np.inf), kind="stable")[:n]
        best = [drafts[i] for i in order if np.isfinite(errors[i])]
        rows = Table(data.X, data.y, (data.weight / data.weight.max()) ** 2)
        fits = refit_all([e for e, _ in best], [d.start for _, d in best], rows, seconds=data.clock.remaining())
        return [f.expression for f in fits if np.isfinite(f.constants).all()]


def _without_multipliers(expression: Expression, operators: Collection[str]) -> Expression:
    """2*u as a product where it is parsed as an operator that is not among these: a fitted number may be 2 exactly."""
    tokens = expression.tokens
    unwanted = {t for t in tokens if t.startswith("mult") and t not in operators}
    if not unwanted:
        return expression
    return parse([part for t in tokens for part in (("*", t.removeprefix("mult")) if t in unwanted else (t,))])


def until_exact(
    steps: Iterator[list[Expression]], clock: Clock, rankings: Collection[Ranking]
) -> Iterator[list[Expression]]:
    """Batches that are not empty, to the end, the deadline, or the first that holds a law without residual."""
    while not any(ranking.exact for ranking in rankings):
        try:
            clock.check()
            # not around a yield: the caller's error state stays the caller's
            with np.errstate(all="ignore"):
                batch = next(steps, None)
        except (DeadlineError, np.linalg.LinAlgError):
            return
        if batch is None:
            return
        if batch:
            yield batch
