"""Rows grouped by what was asked of the system, with an estimate of every metric for each group."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.bench.metrics import METRICS, estimate
from flash_ansr.bench.rows import Row
from flash_ansr.bench.scoring import Scores, score
from flash_ansr.catalogues import load

_POINTS = 256


@dataclass(frozen=True)
class Group:
    """Rows that differ in problem and data set only.

    Attributes
    ----------
    catalogue, system, label : str
    budget, settings, points, noise, n_threads
        As in ``flash_ansr.bench.rows.Task``.
    rows, scores : tuples of the same length
    reference_seconds : float or None
        Mean fit time of the same effort on the most usual data without noise.
    varied : tuple of str
        Settings that have several values among the groups of this label.
    curve : str
        The label, and what else tells curves of one figure apart.
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
    scores: tuple[Scores, ...]
    reference_seconds: float | None = None
    varied: tuple[str, ...] = ()
    curve: str = ""

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Every metric by the name of its field."""
        return {name: estimate(m, self.rows, self.scores, self.reference_seconds) for name, m in METRICS.items()}

    @property
    def effort(self) -> str:
        """What limited the work, as text: seconds, and settings that differ among the groups of the label."""
        limits = [] if self.budget is None else [f"{self.budget:g} s"]
        names = self.varied or (() if limits else sorted(self.settings))
        shown = {name: f"{name}={self.settings.get(name)}" for name in names}
        limits += [text for text in shown.values() if text not in self.label]
        return " ".join(limits) or "-"

    @property
    def problems(self) -> frozenset[str]:
        """Their names."""
        return frozenset(row.task.problem for row in self.rows)

    @property
    def seconds(self) -> float:
        """Mean measured time of a fit, of those that ended with a law where any did."""
        answered = [row.fit_seconds for row in self.rows if row.error is None]
        return float(np.mean(answered or [row.fit_seconds for row in self.rows]))

    def recovery_by_difficulty(self) -> dict[str, float]:
        """Recovery (vNRR) for each difficulty, in the order of the catalogue."""
        difficulty = {p.name: p.difficulty for p in load(self.catalogue)}
        values: defaultdict[str, list[float]] = defaultdict(list)
        for row, scores in zip(self.rows, self.scores, strict=True):
            if (name := difficulty[row.task.problem]) is not None:
                values[name].append(scores.vnrr)
        order = list(dict.fromkeys(d for d in difficulty.values() if d is not None))
        return {name: float(np.mean(values[name])) for name in order if values[name]}


def group_rows(rows: Iterable[Row], on_scored: Callable[[], None] = lambda: None) -> list[Group]:
    """Groups in the order of catalogue, label, noise, points and effort.

    Parameters
    ----------
    rows : iterable of Row
    on_scored : callable
        Called after each row, for a progress bar.
    """
    members: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        task = row.task
        settings = json.dumps(task.settings, sort_keys=True)
        effort = (task.budget, settings, task.points, task.noise, task.n_threads)
        members[task.catalogue, task.system, task.label, *effort].append(row)
    groups = []
    for (catalogue, system, label, budget, settings, points, noise, n_threads), found in members.items():
        scores = []
        for row in found:
            scores.append(score(row))
            on_scored()
        facts = json.loads(settings)
        fixed = (budget, facts, points, noise, n_threads)
        groups.append(Group(catalogue, system, label, *fixed, tuple(found), tuple(scores)))
    return sorted(_with_references(_with_curves(groups)), key=_order)


def _with_curves(groups: Sequence[Group]) -> list[Group]:
    """Groups that know what tells them apart from others of their label."""
    by_label: defaultdict[tuple[str, str], list[Group]] = defaultdict(list)
    for g in groups:
        by_label[g.catalogue, g.label].append(g)
    found = []
    for members in by_label.values():
        names = sorted({name for g in members for name in g.settings})
        varied = tuple(n for n in names if len({json.dumps(g.settings.get(n), sort_keys=True) for g in members}) > 1)
        several_systems = len({g.system for g in members}) > 1
        several_cores = len({g.n_threads for g in members}) > 1
        for g in members:
            curve = [g.label]
            curve += [g.system] if several_systems else []
            curve += [f"{g.n_threads} cores"] if several_cores else []
            # without seconds the settings limit the work, and are what a curve runs along
            curve += [f"{name}={g.settings.get(name)}" for name in varied if g.budget is not None]
            found.append(replace(g, varied=varied, curve=", ".join(curve)))
    return found


def _with_references(groups: Sequence[Group]) -> list[Group]:
    """Groups that know the fit time of the same effort on the most usual data without noise."""
    clean = Counter(g.points for g in groups if g.noise == 0)
    # where all numbers of points are as usual, the one that a run has by default
    usual = max(clean, key=lambda points: (clean[points], -abs(math.log(points / _POINTS))), default=None)
    reference = {_effort_key(g): g.seconds for g in groups if g.noise == 0 and g.points == usual}
    return [replace(g, reference_seconds=reference.get(_effort_key(g))) for g in groups]


def _effort_key(group: Group) -> tuple[Any, ...]:
    settings = json.dumps(group.settings, sort_keys=True)
    return group.catalogue, group.system, group.label, group.budget, settings, group.n_threads


def _order(group: Group) -> tuple[Any, ...]:
    effort = (group.budget or 0.0, group.n_threads, group.seconds)
    return group.catalogue, group.noise, group.points, group.label, *effort
