"""The facts about a row that metrics use: its data are drawn again by seed, the rest follows from its formula."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import simplipy
from flash_ansr.bench.datasets import DataSet, catalogue_of, deviation, make_data_set
from flash_ansr.bench.numeric import EPSILON_32, fvu, is_perfect
from flash_ansr.bench.rows import BenchError, Row
from flash_ansr.bench.structure import is_recovered_symbolically, simplified_skeleton
from flash_ansr.catalogues import Problem
from flash_ansr.infer.candidates.numbers import free_multipliers, numbers_of
from simplipy import Expression, TokenBatch

# of the right form, once its numbers are fitted to clean rows
_FVU_OF_FORM = 1e-10
# whole numbers up to it belong to a form, larger ones are values of its constants
_LARGEST_FIXED = 2


@dataclass(frozen=True)
class Scored:
    """A row beside its problem and data; each fact is worked out when it is asked for first.

    Attributes
    ----------
    row : Row
    reference_seconds : float
        Mean fit time to compare with; NaN where there is none.
    """

    row: Row
    reference_seconds: float = math.nan

    @property
    def has_formula(self) -> bool:
        """Whether the system found any formula. All that follows needs one, but for FVUs, which are infinite then."""
        return self.row.expression is not None

    @cached_property
    def prediction(self) -> Expression:
        """The formula that was found."""
        assert self.row.expression is not None
        return simplipy.parse(self.row.expression)

    @cached_property
    def skeleton(self) -> list[str]:
        """Tokens of the formula with its numbers masked."""
        return self.prediction.skeleton().tokens

    @cached_property
    def short_skeleton(self) -> Expression:
        """The simplified skeleton of the formula."""
        return simplified_skeleton(self.prediction)

    @cached_property
    def problem(self) -> Problem:
        """The problem, with the true law."""
        return catalogue_of(self.row.task.catalogue)[self.row.task.problem]

    @cached_property
    def truth(self) -> Expression:
        """The simplified skeleton of the law."""
        return simplified_skeleton(self.problem.expression)

    @cached_property
    def data(self) -> DataSet:
        """The data of the row, drawn again.

        Raises
        ------
        BenchError
            When they are not the data of the row: the catalogue has changed since.
        """
        task, stored = self.row.task, self.row.digests
        data = _data_set(task.catalogue, task.problem, task.dataset, task.points, task.noise)
        for name, digest in data.digests.items():
            if stored.get(name, digest) != digest:
                what = "law and ranges" if name == "problem" else f"{name} rows"
                raise BenchError(
                    f"{task.catalogue} {task.problem}, data set {task.dataset}: the {what} of now ({digest}) are not "
                    f"those of the stored row ({stored[name]}); the catalogue has changed since: run it again"
                )
        return data

    @cached_property
    def fvus(self) -> dict[str, float]:
        """By kind of rows: "fit", with its clean targets, "validation" and "widened"; infinite without a formula."""
        if not self.has_formula:
            return dict.fromkeys(("fit", "validation", "widened"), math.inf)
        samples = {"fit": self.data.fit, "validation": self.data.validation, "widened": self.data.widened}
        return {kind: fvu(sample.y, self.prediction(sample.X)) for kind, sample in samples.items()}

    @property
    def is_recovered(self) -> bool:
        """Whether the formula is right on the validation rows."""
        return is_perfect(self.fvus["validation"])

    @property
    def has_same_form(self) -> bool:
        """Whether the formula, with numbers of its own, is the law: no more of them, and all clean rows met."""
        if not self.has_formula:
            return False
        # 5*x counts as <constant>*x, in the law too
        freed, law = free_multipliers(
            TokenBatch.from_expressions([self.prediction.skeleton(), self.truth])
        ).expressions()
        n_written = sum(not number.is_integer() for number in numbers_of(self.prediction))
        n_of_law = sum(abs(number) > _LARGEST_FIXED for number in numbers_of(self.problem.expression))
        if min(n_written, self.short_skeleton.n_constants) > max(n_of_law, law.n_constants):
            return False
        rows = self.data.validation
        starts = [None, np.array(numbers_of(self.prediction))]
        forms = [freed, self.prediction.skeleton()]
        fits = simplipy.fit_constants(forms, rows.X, rows.y, x0=starts, n_threads=1)
        return min(fit.fvu for fit in fits) < _FVU_OF_FORM

    @property
    def is_same_formula(self) -> bool:
        """Whether the formula is equivalent to the law, and right on the validation rows.

        A formula that is wrong there is not the law, whatever the tolerance in its numbers excuses.
        """
        offset = math.sqrt(EPSILON_32) * deviation(self.data.validation.y)
        ranges = [v.range for v in self.problem.variables]
        units = {f"x{k}": max(abs(r.low), abs(r.high)) or 1.0 for k, r in enumerate(ranges, start=1)}
        return self.is_recovered and is_recovered_symbolically(self.prediction, self.problem.expression, units, offset)


@functools.lru_cache(maxsize=512)
def _data_set(catalogue: str, problem: str, dataset: int, points: int, noise: float) -> DataSet:
    return make_data_set(catalogue_of(catalogue)[problem], dataset, points, noise)
