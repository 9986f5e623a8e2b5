"""From drafts to expressions: parse, refine the numbers inside, evaluate, rank, and never say the same twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import Data, FloatArray, relative_weight
from flash_ansr.infer.table.grammar import Grammar
from simplipy import Expression, evaluate_many, fit_constants, parse_many

# below this root mean square of relative errors a law counts as found
_EXACT = 1e-8
# drafts of a batch whose constants are refined
_MAX_REFINED = 16
# unexplained variances below this are rounding errors, and the shorter law is the better one
_ROUNDING = 1e-26


@dataclass(frozen=True, slots=True)
class Draft:
    """Infix text; where it has free constants, values to start from."""

    text: str
    start: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A proposal with its values on the rows of the search."""

    expression: Expression
    values: FloatArray
    fvu: float
    score: float


@dataclass
class Candidates:
    """What was proposed so far.

    Attributes
    ----------
    data : Data
    grammar : Grammar
        What expressions must keep to.
    gamma : float
        The paper's parsimony: a token is worth this many decades of unexplained variance.
    exact : bool
        Whether a proposal explains every row up to rounding.
    best : Found or None
        The proposal with the least score.
    """

    data: Data
    grammar: Grammar = field(default_factory=Grammar)
    gamma: float = 0.05
    exact: bool = False
    best_fvu: float = np.inf
    best: Found | None = None
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        y, w = self.data.y, self.data.root_weight**2
        self._weight = w / w.sum()
        self._variance = float(self._weight @ (y - self._weight @ y) ** 2)
        self._relative = relative_weight(y)

    def ranked(self, drafts: Iterable[Draft], limit: int = 32, n_refined: int = _MAX_REFINED) -> list[Expression]:
        """Expressions of new drafts that are defined on all rows, best first, at most ``limit``."""
        fresh = []
        for draft in drafts:
            if draft.text not in self._seen or draft.start:
                self._seen.add(draft.text)
                fresh.append(draft)
        parsed = zip(parse_many([d.text for d in fresh]), fresh, strict=True)
        allowed = [(e, d) for e, d in parsed if self.grammar.allows(e)]
        expressions = [e for e, d in allowed if not d.start]
        expressions += self._refined([(e, d) for e, d in allowed if d.start], n_refined)
        if not expressions:
            return []
        values, defined = evaluate_many(expressions, self.data.X, n_threads=1)
        scored = []
        for i, expression in enumerate(expressions):
            if defined[i].all() and np.isfinite(values[i]).all():
                scored.append((self._score(values[i], expression), i))
        return [expressions[i] for _, i in sorted(scored)[:limit]]

    def _refined(self, drafts: list[tuple[Expression, Draft]], n: int) -> list[Expression]:
        """The n drafts with free constants that start best, with refined constants."""
        if not drafts:
            return []
        values, _ = evaluate_many([e for e, _ in drafts], self.data.X, [d.start for _, d in drafts], n_threads=1)
        weight = self.data.weight
        scale = 1 / np.sqrt(max(self._variance, 1e-300)) if self.data.noise else self._relative
        errors = np.mean(np.minimum(np.abs((values - self.data.y) * scale), 10.0) ** 2, axis=1)
        order = np.argsort(np.where(np.isfinite(errors), errors, np.inf), kind="stable")[:n]
        best = [drafts[i] for i in order if np.isfinite(errors[i])]
        fits = fit_constants(
            [e for e, _ in best],
            self.data.X,
            self.data.y,
            sample_weight=(weight / weight.max()) ** 2,
            x0=[d.start for _, d in best],
            n_restarts=0,
            deadline=self.data.clock.remaining(),
            n_threads=1,
        )
        return [f.expression for f in fits if np.isfinite(f.constants).all()]

    def fvu(self, values: FloatArray) -> float:
        """Fraction of variance unexplained on the rows of the search."""
        with np.errstate(over="ignore"):
            return float(self._weight @ (values - self.data.y) ** 2) / max(self._variance, 1e-300)

    def _score(self, values: FloatArray, expression: Expression) -> float:
        fvu = self.fvu(values)
        self.best_fvu = min(self.best_fvu, fvu)
        error = (values - self.data.y) * self._relative
        if fvu < 1e-14 and float(np.sqrt(np.mean(error**2))) < _EXACT:
            self.exact = True
        score = float(np.log10(max(fvu, _ROUNDING))) + self.gamma * len(expression)
        if self.best is None or score < self.best.score:
            self.best = Found(expression, values, fvu, score)
        return score
