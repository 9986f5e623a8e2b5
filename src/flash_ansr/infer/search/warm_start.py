"""A search that is over, kept for a plot and for a warm start, if another search may go on from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.archive import Archive
from flash_ansr.infer.candidates.model_probability import FormProbabilities
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table


@dataclass(frozen=True, eq=False)
class LastSearch:
    """A search that is over.

    Attributes
    ----------
    table : Table
        Its y is a copy: the estimator's may be the array of the user, who may write into it.
    grammar : Grammar
    settings : Settings
    archive, form_probabilities
        Empty where no search is to go on.
    n_rounds : int
    """

    table: Table
    grammar: Grammar
    settings: Settings
    archive: Archive
    form_probabilities: FormProbabilities
    n_rounds: int

    @classmethod
    def of(cls, pipeline: Pipeline, keep: bool) -> LastSearch:
        """The search of a pipeline; with its candidates where they are to be kept."""
        table = replace(pipeline.table, y=pipeline.table.y.copy())
        kept = (pipeline.archive, pipeline.form_probabilities) if keep else (Archive(), FormProbabilities())
        return cls(table, pipeline.grammar, pipeline.settings, *kept, pipeline.n_rounds)

    def hand_over(self, pipeline: Pipeline) -> None:
        """Let a new search go on from here where it would have fitted and ranked the same candidates alike."""
        a, b = self.table, pipeline.table
        same_rows = all(_equal(*pair) for pair in ((a.X, b.X), (a.y, b.y), (a.sample_weight, b.sample_weight)))
        same_settings = self.settings.treatment() == pipeline.settings.treatment()
        if same_rows and same_settings and self.grammar == pipeline.grammar:
            pipeline.go_on_from(self.archive, self.form_probabilities, self.n_rounds)


def _equal(a: npt.NDArray[np.float64] | None, b: npt.NDArray[np.float64] | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)
