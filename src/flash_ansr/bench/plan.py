"""Which tasks a run consists of: a table of systems, seconds, settings, points and noise, from options or from YAML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from flash_ansr.bench.black_box import BLACK_BOX, MOST_ROWS, SETTINGS, TableFolder
from flash_ansr.bench.rows import BenchError, Task
from flash_ansr.catalogues import load
from simplipy.errors import did_you_mean

# settings of systems that end a fit without a clock
WORK_LIMITS = {"n_samples", "niterations", "generations", "max_evaluations", "beam_width"}
_POINTS = 256


@dataclass(frozen=True)
class Plan:
    """A sweep: every combination of the listed values, for every problem of a catalogue or every table of a folder.

    Attributes
    ----------
    catalogue : str
        Name or path; ``pmlb`` for tables.
    data : str, optional
        The folder of the tables, for ``pmlb`` only.
    system : str
    label : str
        Name of the curve; by default the system with its settings.
    settings : dict
        Of the system, the same for all tasks.
    sweep : dict of str to list
        Settings of the system that take several values.
    budget : list of float or None
        Seconds; [None] where settings limit the work.
    points : list of int
        Rows to fit, 256 by default; of tables at most so many, 10,000 by default.
    noise : list of float
    datasets, first_dataset : int
        Data sets for each problem, and the number of the first of them.
    problems : list of str
        Only these; all that are not excluded where empty.
    limit : int or None
        Only so many, spread evenly over the catalogue, which is ordered by difficulty where it has any.
    """

    catalogue: str
    data: str | None = None
    system: str = "ours"
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    sweep: dict[str, Any] = field(default_factory=dict)
    budget: list[float | None] = field(default_factory=lambda: [5.0])
    points: list[int] | None = None
    noise: list[float] = field(default_factory=lambda: [0.0])
    datasets: int = 1
    first_dataset: int = 0
    problems: list[str] = field(default_factory=list)
    limit: int | None = None

    def __post_init__(self) -> None:
        if (self.catalogue == BLACK_BOX) != (self.data is not None):
            raise BenchError(
                f"tables run as the catalogue {BLACK_BOX} with a folder, --data FOLDER, and laws without one; "
                f"got the catalogue {self.catalogue} and the folder {self.data}"
            )
        if self.points is None:
            object.__setattr__(self, "points", [_POINTS if self.data is None else MOST_ROWS])
        for name in ("budget", "points", "noise", "problems"):
            if not isinstance(getattr(self, name), list):
                object.__setattr__(self, name, [getattr(self, name)])
        for name, (is_good, constraint) in _CONSTRAINTS.items():
            values = getattr(self, name)
            if values == []:
                raise BenchError(f"{name} must be {constraint}, got an empty list")
            for value in values if isinstance(values, list) else [values]:
                if not is_good(value):
                    raise BenchError(f"{name} must be {constraint}, got {value!r}")
        if self.data is not None and self.noise != [0]:
            raise BenchError(f"noise must be 0 on tables, whose targets are measured, got {self.noise}")
        for name in ("settings", "sweep"):
            if not isinstance(getattr(self, name), dict):
                raise BenchError(f"{name} must be a mapping of the system's settings, got {getattr(self, name)!r}")
        for name, values in self.sweep.items():
            if not values or not isinstance(values, list):
                raise BenchError(f"sweep: {name} must be a list of values, got {values!r}")

    def tasks(self, n_threads: int) -> Iterator[Task]:
        """The tasks: problem by problem inside a data set, so that an early stop leaves whole data sets."""
        chosen = self._chosen()
        n_used = min(self.limit or len(chosen), len(chosen))
        chosen = [chosen[k * len(chosen) // n_used] for k in range(n_used)]
        settings = [
            self._usual_settings() | self.settings | dict(zip(self.sweep, values, strict=True))
            for values in itertools.product(*self.sweep.values())
        ]
        datasets = range(self.first_dataset, self.first_dataset + self.datasets)
        asked = itertools.product(settings, self.budget, self.points or [], self.noise, datasets, chosen)
        for changed, budget, points, noise, dataset, problem in asked:
            yield Task(
                *(self.catalogue, problem, dataset, points, float(noise), self.system),
                budget=None if budget is None else float(budget),
                settings=changed,
                label=self.label or Task.default_label(self.system, self.settings),
                n_threads=n_threads,
            )

    @property
    def tables(self) -> TableFolder | None:
        """The folder of the tables; None for a catalogue of laws."""
        return None if self.data is None else TableFolder(Path(self.data))

    def _chosen(self) -> list[str]:
        """Names of the problems that are asked for, before any limit."""
        if self.tables is not None:
            return self.tables.chosen(self.problems)
        catalogue = load(self.catalogue)
        return [problem.name for problem in [catalogue[name] for name in self.problems] or catalogue.included]

    def _usual_settings(self) -> dict[str, Any]:
        """Settings that a system has on tables."""
        return {} if self.data is None else SETTINGS.get(self.system, {})


def read_plans(path: Path) -> list[Plan]:
    """Plans of a YAML file: a mapping with the keys of ``Plan``, or a list of such under ``runs``.

    Keys beside ``runs`` hold for all of them.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BenchError(f"cannot read the sweep {path}: {error}") from error
    if not isinstance(content, dict):
        raise BenchError(f"{path}: a sweep must be a mapping of keys to values, got {content!r:.60}")
    common = {key: value for key, value in content.items() if key != "runs"}
    runs = content.get("runs", [{}])
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise BenchError(f"{path}: runs must be a list of mappings, got {runs!r:.60}")
    known = [f.name for f in fields(Plan)]
    plans = []
    for facts in (common | run for run in runs):
        if unknown := [key for key in facts if key not in known]:
            hint = did_you_mean(str(unknown[0]), known, f"known keys: {', '.join(known)}")
            raise BenchError(f"{path}: unknown key {unknown[0]!r}; {hint}")
        if "catalogue" not in facts:
            raise BenchError(f"{path}: the key 'catalogue' is missing")
        try:
            plans.append(Plan(**facts))
        except BenchError as error:
            raise BenchError(f"{path}: {error}") from None
    return plans


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 1


# of each value of a list
_CONSTRAINTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "budget": (lambda v: v is None or (_is_number(v) and v > 0), "seconds > 0, or null"),
    "points": (_is_count, "whole numbers >= 1"),
    "noise": (lambda v: _is_number(v) and v >= 0, "numbers >= 0"),
    "datasets": (_is_count, "a whole number >= 1"),
    "first_dataset": (lambda v: isinstance(v, int) and v >= 0, "a whole number >= 0"),
    "limit": (lambda v: v is None or _is_count(v), "a whole number >= 1"),
}
