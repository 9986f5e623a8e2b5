"""One task, from its name to its row. Runs in the process that fits, which may be on another machine."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from flash_ansr.bench.datasets import catalogue_of, make_data_set
from flash_ansr.bench.rows import BenchError, Row, Task
from flash_ansr.bench.systems import Request, System, SystemMissingError, Trees, make_system
from flash_ansr.bench.systems.base import FloatArray
from flash_ansr.catalogues.streams import digest_of
from simplipy import Expression
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
    row, law = fit(task, data.fit.X, data.y_fit, data.digests)
    if law is None:
        return row
    if isinstance(law, Trees):
        return without_law(row, BenchError(f"{task.system} has no formula, and runs on tables only: bench run pmlb"))
    try:
        prediction = np.asarray(law(data.validation.X), dtype=np.float64)
    except SimplipyError as error:  # a law in columns that are not there
        return without_law(row, error)
    return replace(row, digests=row.digests | {"prediction": digest_of(prediction)})


def fit(task: Task, X: FloatArray, y: FloatArray, digests: dict[str, str]) -> tuple[Row, Expression | Trees | None]:
    """The row of a fit, and what was found; None, and a row with the reason, where the system failed.

    Parameters
    ----------
    task : Task
    X : ndarray, shape (n, k)
    y : ndarray, shape (n,)
    digests : dict of str to str
        Of the data, for the row.
    """
    system = _system(task.system, _as_key(task.settings))
    versions = {"python": platform.python_version()} | system.versions()
    row = replace(failed_row(task), digests=digests, versions=versions, machine=machine())
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        answer = system.fit(Request(X, y, task.budget, row.seed, task.n_threads))
    except SystemMissingError:
        raise
    except Exception as error:  # any error of a system is its answer
        return replace(row, error=_reason(error), fit_seconds=time.perf_counter() - wall), None
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = answer.expression
    row = replace(
        row,
        expression=None if isinstance(found, Trees) else found.infix(),
        error=None,
        fit_seconds=wall if answer.seconds is None else answer.seconds,
        # a system in a process of its own uses processor time that is not seen here
        cpu_seconds=cpu if answer.seconds is None else None,
        log_prob=answer.log_prob,
        report=answer.report,
        **({} if answer.candidates is None else asdict(answer.candidates)),
    )
    return row, found


def without_law(row: Row, error: Exception) -> Row:
    """The row of a fit whose law cannot be used."""
    return replace(row, expression=None, error=_reason(error))


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


def law_digest(task: Task) -> str:
    """Of the law of a task and its ranges."""
    return catalogue_of(task.catalogue)[task.problem].digest


def check_continues(rows: Iterable[Row], left: Iterable[Task], path: Path, digest: Callable[[Task], str]) -> None:
    """Make sure that rows which are there are of the same problems, and of the same network as those to come.

    `digest` says of a task what its row must have as the digest of the problem.

    Raises
    ------
    BenchError
        The rows would mix results that cannot be compared.
    """
    weights: dict[object, str] = {}
    for row in rows:
        task = row.task
        now = digest(task)
        if row.digests.get("problem", now) != now:
            raise BenchError(
                f"{path} has a row of another {task.problem}: {task.catalogue} has changed since; name another folder "
                "by --out, or remove the file"
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
