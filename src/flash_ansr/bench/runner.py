"""Runs tasks and stores their rows: in this process, in several, or on a Dask cluster.

Only this process writes. A task that has a row is not run again, so that a run goes on where it stopped, however it was
stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from flash_ansr.bench.execute import check_continues, check_system, failed_row, law_digest, run_task
from flash_ansr.bench.rows import BenchError, Row, RowFile, Task
from flash_ansr.progress_bar import progress_bar

_CONNECT_SECONDS = 10.0
# fits that crash do so every time; a user may kill a run once or twice during the same fit
_MAX_CRASHES = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of a run: rows that were there, failures among them, rows added, failures among these, and the first."""

    n_before: int
    n_failed_before: int
    n_added: int
    n_failed: int
    interrupted: bool
    first_error: str | None = None


def run(
    tasks: Iterable[Task],
    path: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    retry: bool = False,
    show_progress: bool = True,
    execute: Callable[[Task], Row] = run_task,
    digest: Callable[[Task], str] = law_digest,
) -> Summary:
    """Run the tasks that have no row in the file yet.

    Parameters
    ----------
    tasks : iterable of Task
    path : Path
        File of rows; made, or continued.
    jobs : int
        Processes on this machine.
    dask : str, optional
        Address of a Dask scheduler, as in ``tcp://host:8786``; its workers need this package, and one thread each.
    retry : bool
        Run tasks that failed once more.
    show_progress : bool
        A bar with the remaining time on stderr.
    execute : callable
        Turns a task into a row.
    digest : callable
        Of the problem of a task: rows of another problem are not continued.
    """
    if dask is not None:
        import distributed  # noqa: F401 - before a file is made
    with RowFile(path, retry) as file:
        wanted = list(tasks)
        left = [task for task in wanted if task.key not in file.rows]
        n_before = len(wanted) - len(left)
        for system, settings in {(t.system, str(t.settings)): (t.system, t.settings) for t in left}.values():
            check_system(system, settings, here=dask is None)
        there = [file.rows[task.key] for task in wanted if task.key in file.rows]
        check_continues(there, left if dask is None else [], path, digest)
        added: list[Row] = []
        errors: list[str] = []
        interrupted = False
        rows = _rows(left, jobs, dask, execute, path.with_suffix(".running"))
        with progress_bar("starting", len(wanted), n_before, show_progress) as bar, closing(rows):
            try:
                for row in rows:
                    file.add(row)
                    added.append(row)
                    errors += [row.error] if row.error is not None else []
                    failures = f", {len(errors)} failed" if errors else ""
                    bar.advance(f"{row.task.label} {row.task.problem}{failures}")
            except KeyboardInterrupt:
                interrupted = True
    return Summary(n_before, file.n_failures, len(added), len(errors), interrupted, next(iter(errors), None))


def _rows(
    tasks: Sequence[Task], jobs: int, dask: str | None, execute: Callable[[Task], Row], marker: Path
) -> Generator[Row]:
    """Rows as they are finished; a generator, so that closing it ends its processes."""
    if dask is not None:
        yield from _on_cluster(tasks, dask, execute)
    elif jobs > 1:
        import joblib
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        try:
            yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)(
                joblib.delayed(execute)(task) for task in tasks
            )
        except TerminatedWorkerError as error:
            raise BenchError(
                "a process died during a fit, by a crash or for want of memory; the same command goes on, and with "
                f"--jobs 1 a fit that ends its process {_MAX_CRASHES} times becomes a failed row"
            ) from error
    else:
        yield from _one_by_one(tasks, execute, marker)


def _one_by_one(tasks: Sequence[Task], execute: Callable[[Task], Row], marker: Path) -> Iterator[Row]:
    """Rows of fits in this process; one that has ended it several times is not tried again, but fails.

    The marker is a file that names the fit under way. Where one is found, the process before ended during that fit.
    """
    last = json.loads(marker.read_text(encoding="utf-8") or "{}") if marker.exists() else {}
    try:
        for task in tasks:
            n_ended = last.get("n_ended", 0) if last.get("task") == task.key else 0
            if n_ended >= _MAX_CRASHES:
                yield failed_row(task, RuntimeError(f"its process ended {n_ended} times during this fit"))
                continue
            marker.write_text(json.dumps({"task": task.key, "n_ended": n_ended + 1}), encoding="utf-8")
            yield execute(task)
    finally:
        marker.unlink(missing_ok=True)


def _on_cluster(tasks: Sequence[Task], address: str, execute: Callable[[Task], Row]) -> Iterator[Row]:
    from distributed import Client, KilledWorker, as_completed

    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise BenchError(
            f"no Dask scheduler answers at {address}: {error}; start one by `dask scheduler` and "
            "`dask worker ADDRESS --nthreads 1`"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except TimeoutError as error:
            raise BenchError(
                f"the Dask scheduler at {address} has no workers; start some by `dask worker {address} --nthreads 1`"
            ) from error
        crowded = [worker for worker, n in client.nthreads().items() if n > 1]  # type: ignore[no-untyped-call]
        if crowded:
            raise BenchError(
                f"the Dask worker {crowded[0]} would run several fits at a time, which share its cores; "
                "start workers by `dask worker ADDRESS --nthreads 1`"
            )
        # pure=False: a timed fit is not a function of its arguments
        futures = dict(zip(client.map(execute, tasks, pure=False), tasks, strict=True))
        for future in as_completed(list(futures), loop=client.loop):  # type: ignore[no-untyped-call]
            try:
                yield future.result()
            except KilledWorker as error:  # a crash of the system is its answer
                yield failed_row(futures[future], error)
