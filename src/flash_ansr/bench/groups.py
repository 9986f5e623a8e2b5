"""Rows grouped by system, effort, points and noise, with an estimate of every metric for each group."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from flash_ansr.bench.black_box import BLACK_BOX
from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.rows import Row, Task
from flash_ansr.bench.scoring import Scored
from flash_ansr.catalogues import load

Item = TypeVar("Item")
Key = TypeVar("Key")

_USUAL_POINTS = 256
_EFFORT = ("catalogue", "system", "label", "budget", "settings", "n_threads")
_ASKED = (*_EFFORT, "points", "noise")


@dataclass(frozen=True)
class Group:
    """Rows that differ in problem and data set only.

    Attributes
    ----------
    catalogue, system, label : str
    budget, settings, points, noise, n_threads
        As in ``flash_ansr.bench.rows.Task``.
    rows : tuple of Row
    scores : DataFrame
        A line for each row, by the name of its problem: every metric, and ``fvu_validation``. On tables ``r2_test``,
        ``r2_cv``, ``size`` and ``n_test_rows``, NaN where a row has none.
    varied : tuple of str
        Settings that have several values among the groups of this label.
    curve : str
        The label, and whatever else distinguishes the curves of one figure.
    """

    catalogue: str
    system: str
    label: str
    budget: float | None
    settings: dict[str, Any]
    points: int
    noise: float
    n_threads: int
    rows: tuple[Row, ...]
    scores: pd.DataFrame = field(default_factory=pd.DataFrame)
    varied: tuple[str, ...] = ()
    curve: str = ""

    @property
    def is_on_tables(self) -> bool:
        """Whether its problems are tables without a known law, which have other metrics."""
        return self.catalogue == BLACK_BOX

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every metric of laws by its name."""
        return {name: metric.estimate(self.scores[name]) for name, metric in METRICS.items()}

    @property
    def effort(self) -> str:
        """The limits of the work as text: seconds, and settings that differ among the groups of the label."""
        limits = [] if self.budget is None else [f"{self.budget:g} s"]
        names = self.varied or (() if limits else sorted(self.settings))
        shown = [f"{name}={self.settings.get(name)}" for name in names]
        return " ".join(limits + [text for text in shown if text not in self.label]) or "-"

    @property
    def problems(self) -> frozenset[str]:
        """Their names."""
        return frozenset(self.scores.index)

    @property
    def seconds(self) -> float:
        """Mean measured time of a fit, of those that ended with a law where any did."""
        answered = [row.fit_seconds for row in self.rows if row.error is None]
        return float(np.mean(answered or [row.fit_seconds for row in self.rows]))

    def recovery_by_difficulty(self) -> dict[str, float]:
        """Recovery (vNRR) for each difficulty, in the order of the catalogue."""
        difficulty = {p.name: p.difficulty for p in load(self.catalogue) if p.difficulty is not None}
        found = self.scores["vnrr"].groupby(difficulty.get).mean()
        return {name: float(found[name]) for name in dict.fromkeys(difficulty.values()) if name in found}


def group_rows(rows: Iterable[Row], on_scored: Callable[[], None] = lambda: None) -> list[Group]:
    """Groups in the order of catalogue, label, noise, points and effort.

    Parameters
    ----------
    rows : iterable of Row
    on_scored : callable
        Called after each row, for a progress bar.
    """
    members = grouped(rows, lambda row: _key(row.task, _ASKED))
    groups = [
        Group(rows=tuple(found), **{name: getattr(found[0].task, name) for name in _ASKED})
        for found in members.values()
    ]
    references = _reference_seconds(groups)
    by_label = grouped(groups, lambda g: (g.catalogue, g.label))
    scored = [
        replace(
            _with_curve(g, by_label[g.catalogue, g.label]),
            scores=_table_scores(g.rows, on_scored)
            if g.is_on_tables
            else _scores(g.rows, references.get(_key(g, _EFFORT), math.nan), on_scored),
        )
        for g in groups
    ]
    return sorted(
        scored, key=lambda g: (g.catalogue, g.noise, g.points, g.label, g.budget or 0.0, g.n_threads, g.seconds)
    )


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by their keys, both in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _key(asked: Task | Group, names: Iterable[str]) -> tuple[object, ...]:
    """Values under these names, as a key: settings are compared as text."""
    values = (getattr(asked, name) for name in names)
    return tuple(json.dumps(value, sort_keys=True) if isinstance(value, dict) else value for value in values)


def _with_curve(group: Group, same_label: Sequence[Group]) -> Group:
    """The group with its name in figures, which distinguishes it from others of its label."""

    def differs(name: str) -> bool:
        return len({_key(g, [name]) for g in same_label}) > 1

    names = sorted({name for g in same_label for name in g.settings})
    varied = tuple(n for n in names if len({json.dumps(g.settings.get(n), sort_keys=True) for g in same_label}) > 1)
    curve = [group.label]
    curve += [group.system] if differs("system") else []
    curve += [f"{group.n_threads} cores"] if differs("n_threads") else []
    # without seconds the settings limit the work, and a curve runs along them
    curve += [f"{name}={group.settings.get(name)}" for name in varied if group.budget is not None]
    return replace(group, varied=varied, curve=", ".join(curve))


def _reference_seconds(groups: Sequence[Group]) -> dict[tuple[object, ...], float]:
    """By effort, the mean fit time on the most usual number of points without noise."""
    clean = Counter(g.points for g in groups if g.noise == 0)
    # of several equally usual numbers of points, the one nearest to the default of a run
    usual = max(clean, key=lambda points: (clean[points], -abs(math.log(points / _USUAL_POINTS))), default=None)
    return {_key(g, _EFFORT): g.seconds for g in groups if g.noise == 0 and g.points == usual}


def _scores(rows: Sequence[Row], reference_seconds: float, on_scored: Callable[[], None]) -> pd.DataFrame:
    """Every metric of rows; the data of a row are dropped once it is scored."""
    lines = []
    for row in rows:
        scored = Scored(row, reference_seconds)
        lines.append(
            {name: m.of(scored) for name, m in METRICS.items()} | {"fvu_validation": scored.fvus["validation"]}
        )
        on_scored()
    return pd.DataFrame(lines, index=[row.task.problem for row in rows])


def _table_scores(rows: Sequence[Row], on_scored: Callable[[], None]) -> pd.DataFrame:
    """Facts of rows on tables, which hold them already."""
    names = ("r2_test", "r2_cv", "size", "n_test_rows")
    lines = []
    for row in rows:
        lines.append({name: row.report.get(name) for name in names})
        on_scored()
    return pd.DataFrame(lines, index=[row.task.problem for row in rows], dtype=float)
