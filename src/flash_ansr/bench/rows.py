"""Rows: a task for a system, and its answer. Stored as JSON lines; everything else is derived from them.

A file only grows, by whole lines, each forced to the disk before the next. A line that a killed process left unfinished
is cut off before anything is added. One process at a time writes to a file.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_parent


class BenchError(SimplipyError):
    """A benchmark that cannot be run or read; the message names the thing and the remedy."""


@dataclass(frozen=True)
class Task:
    """One fit: which data, which system, with which settings.

    Attributes
    ----------
    catalogue, problem : str
        Name or path of a catalogue, and a problem in it.
    dataset, points, noise : int, int, float
        As in ``flash_ansr.bench.datasets.make_data_set``.
    system : str
        Name of a system.
    budget : float or None
        Seconds; None where the settings limit the work.
    settings : dict
        Other settings of the system.
    label : str
        The curve that the row belongs to in figures and tables.
    n_threads : int
        Cores that the system may use.
    """

    catalogue: str
    problem: str
    dataset: int
    points: int
    noise: float
    system: str
    budget: float | None
    settings: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    n_threads: int = 1

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.default_label(self.system, self.settings))

    @staticmethod
    def default_label(system: str, settings: dict[str, Any]) -> str:
        """A system with its settings as text."""
        return " ".join([system, *(f"{name}={value}" for name, value in sorted(settings.items()))])

    @property
    def key(self) -> str:
        """The text that identifies the task; the label and the folder of a catalogue are no part of it."""
        facts = dataclasses.asdict(self) | {"catalogue": self.catalogue_name}
        del facts["label"]
        return json.dumps(facts, sort_keys=True)

    @property
    def catalogue_name(self) -> str:
        """The catalogue without its folder."""
        return Path(self.catalogue).stem


@dataclass(frozen=True)
class Row:
    """A task and its outcome.

    Attributes
    ----------
    task : Task
    expression : str or None
        The predicted law in x1, ..., xk; None after a failure, and of trees.
    error : str or None
        Why there is no answer.
    fit_seconds, cpu_seconds : float
        Measured around the system's fit: wall clock, and processor time where the system runs in this process.
    log_prob : float or None
        Of the generated sequence, where the system has one.
    n_candidates, rewrite_fraction, bloat
        Summary of the system's raw candidates, where it gives them.
    digests : dict of str to str
        Of the uniform draws behind `fit`, `validation`, `widened` and `noise`, of law and ranges (`problem`), and of
        the `prediction` on the validation rows.
    seed : int
        Seed of the system.
    versions : dict of str to str
        Of Python and packages.
    machine, started : str
        Processor, and UTC time at the start.
    report : dict
        Other facts that the system gives about the fit.
    """

    task: Task
    expression: str | None
    error: str | None
    fit_seconds: float
    cpu_seconds: float | None
    seed: int
    log_prob: float | None = None
    n_candidates: int | None = None
    rewrite_fraction: float | None = None
    bloat: float | None = None
    digests: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ""
    started: str = ""
    report: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line."""
        facts = dataclasses.asdict(self)
        return json.dumps(finite(facts.pop("task") | facts), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Row:
        """The row of the content of a line."""
        of_task = {f.name for f in dataclasses.fields(Task)}
        task = Task(**{name: value for name, value in facts.items() if name in of_task})
        return cls(task=task, **{name: value for name, value in facts.items() if name not in of_task})


class JsonLines:
    """A file of JSON lines, open for adding; a context manager.

    Raises
    ------
    BenchError
        When another process has it open.
    """

    def __init__(self, path: Path) -> None:
        make_parent(path)
        self.path = path
        self._file = path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise BenchError(
                f"another run is writing to {path}; wait for it, or name another folder by --out"
            ) from None
        self._file.seek(0)
        content = self._file.read()
        self._file.truncate(content.rfind(b"\n") + 1)  # without a line that was not finished

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def append(self, line: str) -> None:
        """Add a line, safe on the disk when this returns."""
        self._file.write((line + "\n").encode())
        self._file.flush()
        os.fsync(self._file.fileno())


class RowFile(JsonLines):
    """A file of rows, open for adding; a context manager.

    Parameters
    ----------
    path : Path
    retry : bool
        Rows of failures may be added once more; the later one counts.

    Attributes
    ----------
    rows : dict of str to Row
        By the keys of their tasks.
    n_failures : int
        Of those, tasks that failed.

    Raises
    ------
    BenchError
        When another process has it open, or a line is no row.
    """

    def __init__(self, path: Path, retry: bool = False) -> None:
        super().__init__(path)
        self.rows = {r.task.key: r for r in read_rows([path]) if not (retry and r.error is not None)}
        self.n_failures = sum(row.error is not None for row in self.rows.values())

    def add(self, row: Row) -> None:
        """Add a row. A row of a task that is already there is refused."""
        if row.task.key in self.rows:
            raise BenchError(f"{self.path} already has a row of {row.task.key}")
        self.append(row.to_json())
        self.rows[row.task.key] = row


def read_rows(paths: Iterable[Path]) -> Iterator[Row]:
    """Rows of files, and of the files *.jsonl in folders that have rows; an unfinished last line is no row.

    Of a task that failed and was tried again the last row counts; of one that is in several files, as sweeps overlap,
    the one that was started last.

    Raises
    ------
    BenchError
        When a line is no row.
    """
    rows: dict[str, Row] = {}
    for path in paths:
        found = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        if not found:
            raise BenchError(f"no *.jsonl in {path}; make rows there by: flash-ansr bench run CATALOGUE --out {path}")
        for file in found:
            for key, row in _rows_of(file, may_be_other=path.is_dir()).items():
                if key not in rows or row.started >= rows[key].started:
                    rows[key] = row
    yield from rows.values()


def _rows_of(file: Path, may_be_other: bool) -> dict[str, Row]:
    """Rows of a file by the keys of their tasks; none of a file of something else, where that may be."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BenchError(f"cannot read rows from {file}: {error.strerror}") from error
    rows: dict[str, Row] = {}
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            facts = json.loads(line)
            if number == 1 and may_be_other and not {"catalogue", "system"} <= set(facts):
                return {}
            row = Row.from_facts(facts)
        except (ValueError, TypeError, AttributeError) as error:
            raise BenchError(f"{file}: line {number} is no benchmark row: {error}") from error
        before = rows.get(row.task.key)
        if before is not None and before.error is None:
            raise BenchError(f"{file}: line {number} is a second row of {row.task.key}; remove one of them")
        rows[row.task.key] = row
    return rows


def finite(thing: Any) -> Any:
    """The same thing with null for numbers that JSON does not have."""
    if isinstance(thing, dict):
        return {key: finite(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [finite(value) for value in thing]
    return None if isinstance(thing, float) and not math.isfinite(thing) else thing
