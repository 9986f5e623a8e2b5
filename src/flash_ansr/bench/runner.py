"""Runs tasks and stores their rows: in this process, in several, or on a Dask cluster.

Only this process writes. A task that has a row is not run again, so that a run goes on where it stopped, however it was
stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flash_ansr.bench.execute import check_system, failed_row, run_task
from flash_ansr.bench.rows import BenchError, Row, RowFile, Task
from flash_ansr.progress_bar import progress_bar

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did: rows that were there and failures among them, rows added, failures among these, the first."""

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
        What turns a task into a row.
    """
    if dask is not None:
        import distributed  # noqa: F401 - before a file is made
    with RowFile(path, retry) as file:
        wanted = list(tasks)
        left = [task for task in wanted if task.key not in file.keys]
        n_before = len(wanted) - len(left)
        for system, settings in {(t.system, str(t.settings)): (t.system, t.settings) for t in left}.values():
            check_system(system, settings, here=dask is None)
        n_added = n_failed = 0
        first_error = None
        interrupted = False
        rows = _rows(left, jobs, dask, execute)
        with progress_bar("starting", len(wanted), n_before, show_progress) as bar:
            try:
                for row in rows:
                    file.add(row)
                    n_added += 1
                    n_failed += row.error is not None
                    first_error = first_error or row.error
                    failures = f", {n_failed} failed" if n_failed else ""
                    bar.advance(f"{row.task.label} {row.task.problem}{failures}")
            except KeyboardInterrupt:
                interrupted = True
            finally:
                rows.close()
    return Summary(n_before, file.n_failures, n_added, n_failed, interrupted, first_error)


def _rows(tasks: Sequence[Task], jobs: int, dask: str | None, execute: Callable[[Task], Row]) -> Generator[Row]:
    """Rows as they are finished; a generator, so that closing it ends what it started."""
    if dask is not None:
        yield from _on_cluster(tasks, dask, execute)
    elif jobs > 1:
        import joblib

        yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)(
            joblib.delayed(execute)(task) for task in tasks
        )
    else:
        yield from map(execute, tasks)


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
