"""What is kept of a search for a plot and for a warm start, and whether another search may go on from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.archive import Archive
from flash_ansr.infer.candidates.model_probability import Evidence
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
    archive : Archive
        Empty where nobody is to go on.
    evidence : Evidence
        As the archive.
    n_rounds : int
    """

    table: Table
    grammar: Grammar
    settings: Settings
    archive: Archive
    evidence: Evidence
    n_rounds: int

    @classmethod
    def of(cls, pipeline: Pipeline, keep: bool) -> LastSearch:
        """What is left of a pipeline; its candidates where they are to be kept."""
        table = replace(pipeline.table, y=pipeline.table.y.copy())
        archive, evidence = (pipeline.archive, pipeline.evidence) if keep else (Archive(), Evidence())
        return cls(table, pipeline.grammar, pipeline.settings, archive, evidence, pipeline.n_rounds)

    def hand_over(self, pipeline: Pipeline) -> None:
        """Let a new search go on from here where it would have fitted and ranked the same candidates alike."""
        if self._is_alike(pipeline):
            pipeline.go_on_from(self.archive, self.evidence, self.n_rounds)

    def _is_alike(self, pipeline: Pipeline) -> bool:
        a, b = self.table, pipeline.table
        pairs = ((a.X, b.X), (a.y, b.y), (a.sample_weight, b.sample_weight))
        return (
            all(_equal(*pair) for pair in pairs)
            and self.grammar == pipeline.grammar
            and _treatment(self.settings) == _treatment(pipeline.settings)
        )


def _treatment(settings: Settings) -> Settings:
    """The settings without those that change what is looked for, and not what becomes of it."""
    usual = Settings()
    return replace(
        settings,
        target_fvu=usual.target_fvu,
        random_state=usual.random_state,
        n_threads=usual.n_threads,
        full=usual.full,
    )


def _equal(a: npt.NDArray[np.float64] | None, b: npt.NDArray[np.float64] | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)
