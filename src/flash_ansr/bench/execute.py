"""One task, from its name to its row. Runs in the process that fits, which may be on another machine."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from flash_ansr.bench.datasets import catalogue_of, make_data_set
from flash_ansr.bench.rows import BenchError, Row, Task
from flash_ansr.bench.systems import Request, System, SystemMissingError, make_system
from flash_ansr.catalogues.streams import digest_of
from simplipy.errors import SimplipyError

_MAX_ERROR_LENGTH = 500


def run_task(task: Task) -> Row:
    """Draw the data, fit, and return the row. A failure of the system is a row too.

    Raises
    ------
    SystemMissingError
        When the system cannot run here at all.
    """
    data = make_data_set(catalogue_of(task.catalogue)[task.problem], task.dataset, task.points, task.noise)
    system = _system(task.system, _as_key(task.settings))
    versions = {"python": platform.python_version()} | system.versions()
    row = replace(failed_row(task), digests=data.digests, versions=versions, machine=machine())
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        answer = system.fit(Request(data.fit.X, data.y_fit, task.budget, row.seed, task.n_threads))
    except SystemMissingError:
        raise
    except Exception as error:  # any error of a system is its answer
        return replace(row, error=_reason(error), fit_seconds=time.perf_counter() - wall)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    try:
        prediction = np.asarray(answer.expression(data.validation.X), dtype=np.float64)
    except SimplipyError as error:  # a law in columns that are not there
        return replace(row, error=_reason(error), fit_seconds=wall)
    return replace(
        row,
        expression=answer.expression.infix(),
        error=None,
        fit_seconds=wall if answer.seconds is None else answer.seconds,
        # a system in a process of its own uses processor time that is not seen here
        cpu_seconds=cpu if answer.seconds is None else None,
        log_prob=answer.log_prob,
        digests=row.digests | {"prediction": digest_of(prediction)},
        report=answer.report,
        **({} if answer.candidates is None else asdict(answer.candidates)),
    )


def failed_row(task: Task, error: BaseException | None = None) -> Row:
    """A row without an answer, as of a task whose process was lost."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return Row(
        task, None, _reason(error) if error else None, 0.0, cpu_seconds=None, seed=seed_of(task), started=started
    )


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_ERROR_LENGTH]


def check_system(name: str, settings: dict[str, Any], here: bool = True) -> None:
    """Make sure, before a long run starts, that a system has these settings and, where it runs here, that it can."""
    system = _system(name, _as_key(settings))
    if here:
        system.versions()


def check_continues(rows: Iterable[Row], left: Iterable[Task], path: Path) -> None:
    """Make sure that rows which are there are of the same laws, and of the same network as those to come.

    Raises
    ------
    BenchError
        The rows would mix results that cannot be compared.
    """
    weights: dict[object, str] = {}
    for row in rows:
        task = row.task
        now = catalogue_of(task.catalogue)[task.problem].digest
        if row.digests.get("problem", now) != now:
            raise BenchError(
                f"{path} has a row of another {task.problem}: the law or its ranges in {task.catalogue} have changed "
                "since; name another folder by --out, or remove the file"
            )
        # of a search that was too short for the network, weights do not matter
        took_part = row.report.get("fit", {}).get("neural", "took part").startswith("took part")
        if "weights" in row.versions and took_part:
            weights[task.settings.get("checkpoint")] = row.versions["weights"]
    for key, settings in {_as_key(t.settings): t.settings for t in left if t.system == "ours"}.items():
        old, new = weights.get(settings.get("checkpoint")), _system("ours", key).versions().get("weights")
        if old is not None and old != new:
            raise BenchError(
                f"{path} has rows of a network with other weights ({old}, now {new}); name another folder by "
                "--out, or remove the file"
            )


def seed_of(task: Task) -> int:
    """The seed of a system for a data set: the same for all systems and budgets."""
    name = f"{task.catalogue_name} {task.problem} {task.dataset}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") >> 1


@functools.cache
def machine() -> str:
    """Processor and number of cores."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - a file of Linux only
            name = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


def _as_key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


@functools.lru_cache(maxsize=8)
def _system(name: str, settings: str) -> System:
    """A system for all tasks of this process, so that it loads its libraries and weights once."""
    system = make_system(name, json.loads(settings))
    atexit.register(system.close)
    return system
