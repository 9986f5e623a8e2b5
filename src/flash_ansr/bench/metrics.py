"""The metrics by name: what they are called, which way is better, and how rows become a number with its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from flash_ansr.bench.bootstrap import Estimate, Statistic, bootstrap
from flash_ansr.bench.rows import Row
from flash_ansr.bench.scoring import Scores

Better = Literal["up", "down", "zero"]
_ARROWS: dict[Better, str] = {"up": "↑", "down": "↓", "zero": "→ 0"}


@dataclass(frozen=True, slots=True)
class Metric:
    """How a field of ``Scores`` is shown.

    Attributes
    ----------
    field : str
        Of ``Scores``.
    title : str
    better : {"up", "down", "zero"}
        Where good values lie.
    percent : bool
        Whether the value is a fraction, shown as a percentage.
    statistic : {"mean", "median"}
        Over problems.
    """

    field: str
    title: str
    better: Better
    percent: bool = False
    statistic: Statistic = "mean"

    def __post_init__(self) -> None:
        if self.field not in Scores.__dataclass_fields__ and self.field != "relative_fit_time":
            raise ValueError(f"no metric {self.field!r}")

    @property
    def heading(self) -> str:
        """The title with an arrow to where good values lie."""
        return f"{self.title} {_ARROWS[self.better]}"

    def shown(self, value: float) -> float:
        """The value in the unit of the title."""
        return 100 * value if self.percent else value


METRICS = {
    m.field: m
    for m in (
        Metric("vnrr", "vNRR [%]", "up", percent=True),
        Metric("xnrr", "xNRR [%]", "up", percent=True),
        Metric("fnrr", "fNRR [%]", "up", percent=True),
        Metric("symbolic_recovery", "symbolic recovery [%]", "up", percent=True),
        Metric("srr", "SRR [%]", "up", percent=True),
        # a median: a prediction that is not finite has no mean
        Metric("log10_fvu", "log10 FVU of imperfect fits", "down", statistic="median"),
        Metric("length_ratio", "length ratio", "down"),
        Metric("length_ratio_simplified", "length ratio, both simplified", "down"),
        Metric("length_ratio_recovered", "length ratio, recovered", "down"),
        Metric("length_ratio_simplified_recovered", "length ratio, recovered, both simplified", "down"),
        Metric("f1", "F1 [%]", "up", percent=True),
        Metric("tree_distance", "tree edit distance", "down"),
        Metric("variable_recall", "variable identification [%]", "up", percent=True),
        Metric("excess_constants", "excess constants", "zero"),
        Metric("nestedness", "total nestedness", "down"),
        Metric("rewrite_fraction", "rewrite fraction [%]", "down", percent=True),
        Metric("bloat", "bloat [%]", "down", percent=True),
        Metric("log_prob", "log probability", "up"),
        Metric("fit_seconds", "fit time [s]", "down"),
        Metric("relative_fit_time", "relative fit time", "down"),
        Metric("fit_success", "fit success [%]", "up", percent=True),
    )
}


def estimate(
    metric: Metric, rows: Sequence[Row], scores: Sequence[Scores], reference_seconds: float | None = None
) -> Estimate:
    """A metric over rows, with its 95 % interval.

    Data sets of one problem are not independent: they are averaged first, and problems are what is resampled.

    Parameters
    ----------
    metric : Metric
    rows, scores : sequences of the same length
    reference_seconds : float, optional
        Mean fit time of the configuration that ``relative_fit_time`` compares with.
    """
    by_problem: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for row, found in zip(rows, scores, strict=True):
        by_problem[row.task.catalogue, row.task.problem].append(_value(metric, found, reference_seconds))
    return bootstrap([_mean_of_known(values) for values in by_problem.values()], metric.statistic)


def _value(metric: Metric, scores: Scores, reference_seconds: float | None) -> float:
    if metric.field != "relative_fit_time":
        return float(getattr(scores, metric.field))
    return scores.fit_seconds / reference_seconds if reference_seconds else float("nan")


def _mean_of_known(values: Iterable[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
