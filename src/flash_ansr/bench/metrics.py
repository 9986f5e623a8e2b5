"""The metrics: one row each in ``METRICS``, which tables, figures and reports ask. A new metric is a new row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from flash_ansr.bench.bootstrap import Estimate, Statistic, bootstrap
from flash_ansr.bench.numeric import is_perfect, log10_imperfect
from flash_ansr.bench.scoring import Scored
from flash_ansr.bench.structure import CONSTANT, token_f1, total_nestedness, variable_recall
from flash_ansr.bench.tree_distance import tree_distance

Better = Literal["up", "down", "zero"]
Unit = Literal["number", "ratio", "share", "rate", "percent"]
ShownIn = Literal["full", "summary", "figure"]
_ARROWS: dict[Better, str] = {"up": "↑", "down": "↓", "zero": "→ 0"}


@dataclass(frozen=True, slots=True)
class Metric:
    """How a row becomes a number, and how the number is shown.

    Attributes
    ----------
    name, title : str
    better : {"up", "down", "zero"}
        Where good values lie.
    value : callable
        Of a row with a formula; None counts as NaN, which estimates leave out.
    unit : {"number", "ratio", "share", "rate", "percent"}
        A ratio is compared with 1. A share lies between 0 and 1. A rate is a share of all rows: one without a formula
        counts as 0. Both are shown in per cent, and so is "percent", a fraction without bounds.
    shown_in : {"full", "summary", "figure"}
        In the table and figure of all metrics, also in the short table, or in the short figure too.
    statistic : {"mean", "median"}
        Over problems.
    """

    name: str
    title: str
    better: Better
    value: Callable[[Scored], float | None]
    unit: Unit = "number"
    shown_in: ShownIn = "full"
    statistic: Statistic = "mean"

    @property
    def heading(self) -> str:
        """The title with an arrow to where good values lie."""
        return f"{self.title} {_ARROWS[self.better]}"

    @property
    def percent(self) -> bool:
        """Whether the value is shown in per cent."""
        return self.unit in ("share", "rate", "percent")

    def shown(self, found: Estimate) -> Estimate:
        """The estimate in the unit of the title."""
        factor = 100 if self.percent else 1
        return Estimate(factor * found.value, factor * found.low, factor * found.high, found.n)

    def of(self, scored: Scored) -> float:
        """The value of a row."""
        if not scored.has_formula:
            return 0.0 if self.unit == "rate" else math.nan
        value = self.value(scored)
        return math.nan if value is None else float(value)

    def estimate(self, values: pd.Series[float]) -> Estimate:
        """The metric over rows with its 95 % interval.

        Data sets of one problem are not independent: they are averaged first, and problems are resampled.

        Parameters
        ----------
        values : Series
            Values of rows, by the names of their problems.
        """
        return bootstrap(values.groupby(level=0, sort=False).mean().tolist(), self.statistic)


def _length_ratio(s: Scored) -> float:
    return len(s.skeleton) / len(s.truth)


def _simplified_ratio(s: Scored) -> float:
    return len(s.short_skeleton) / len(s.truth)


def _recovered_ratio(s: Scored) -> float | None:
    return _length_ratio(s) if s.is_recovered else None


def _log10_fvu(s: Scored) -> float:
    return log10_imperfect(s.fvus["validation"])


def _variable_recall(s: Scored) -> float:
    return variable_recall(s.short_skeleton, s.truth)


def _excess_constants(s: Scored) -> int:
    return s.skeleton.count(CONSTANT) - s.truth.n_constants


METRICS = {
    m.name: m
    for m in (
        Metric("vnrr", "vNRR [%]", "up", lambda s: s.is_recovered, "rate", "figure"),
        Metric("xnrr", "xNRR [%]", "up", lambda s: s.is_recovered and is_perfect(s.fvus["widened"]), "rate", "figure"),
        Metric("fnrr", "fNRR [%]", "up", lambda s: is_perfect(s.fvus["fit"]), "rate"),
        Metric("symbolic_recovery", "symbolic recovery [%]", "up", lambda s: s.is_same_formula, "rate", "summary"),
        Metric("same_form", "same form [%]", "up", lambda s: s.has_same_form, "rate"),
        Metric("srr", "SRR [%]", "up", lambda s: s.short_skeleton == s.truth, "rate"),
        # a median: a prediction that is not finite has no mean
        Metric("log10_fvu", "log10 FVU of imperfect fits", "down", _log10_fvu, statistic="median"),
        Metric("length_ratio", "length ratio", "down", _length_ratio, "ratio"),
        Metric("length_ratio_simplified", "length ratio, both simplified", "down", _simplified_ratio, "ratio"),
        Metric("length_ratio_recovered", "length ratio, recovered", "down", _recovered_ratio, "ratio", "summary"),
        Metric(
            "length_ratio_simplified_recovered",
            "length ratio, recovered, both simplified",
            "down",
            lambda s: _simplified_ratio(s) if s.is_recovered else None,
            "ratio",
            "figure",
        ),
        Metric("f1", "F1 [%]", "up", lambda s: token_f1(s.skeleton, s.truth.tokens), "share"),
        Metric("tree_distance", "tree edit distance", "down", lambda s: tree_distance(s.skeleton, s.truth.tokens)),
        Metric("variable_recall", "variable identification [%]", "up", _variable_recall, "share"),
        Metric("excess_constants", "excess constants", "zero", _excess_constants),
        Metric("nestedness", "total nestedness", "down", lambda s: total_nestedness(s.skeleton)),
        Metric("rewrite_fraction", "rewrite fraction [%]", "down", lambda s: s.row.rewrite_fraction, "share"),
        Metric("bloat", "bloat [%]", "down", lambda s: s.row.bloat, "percent"),
        Metric("log_prob", "log probability", "up", lambda s: s.row.log_prob),
        Metric("fit_seconds", "fit time [s]", "down", lambda s: s.row.fit_seconds),
        Metric("relative_fit_time", "relative fit time", "down", lambda s: s.row.fit_seconds / s.reference_seconds),
        Metric("fit_success", "fit success [%]", "up", lambda s: s.has_formula, "rate"),
    )
}
