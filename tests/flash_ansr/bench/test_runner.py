"""The runner: order does not matter, a kill loses and repeats nothing, a failure is a row, Dask gives the same rows."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flash_ansr.bench import execute
from flash_ansr.bench.execute import run_task, seed_of
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.rows import BenchError, Row, Task, read_rows
from flash_ansr.bench.runner import run
from flash_ansr.bench.systems import SYSTEMS, Answer, Request, SystemMissingError
from flash_ansr.catalogues import load
from simplipy import parse
from tests.command_line import run_flash_ansr
from tests.needs import need

PLAN = Plan("nguyen", system="power_law", points=[32], datasets=2)


def run_quietly(plan: Plan, path: Path, **options: object):
    return run(plan.tasks(1), path, show_progress=False, **options)


def timeless(rows: list[Row]) -> list[str]:
    """Rows without what a clock says, in an order of their own."""
    same = {"fit_seconds": 0.0, "cpu_seconds": None, "started": ""}
    return sorted(dataclasses.replace(row, **same).to_json() for row in rows)


def test_rows_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    summary = run_quietly(PLAN, path)
    assert (summary.n_before, summary.n_added, summary.n_failed, summary.interrupted) == (0, 24, 0, False)
    rows = list(read_rows([path]))
    assert len({r.task.key for r in rows}) == 24
    row = rows[0]
    sample = load("nguyen")["Nguyen-1"].sample(32, 0)
    assert row.digests["fit"] == sample.digest
    assert set(row.digests) == {"fit", "validation", "widened", "problem", "prediction"}
    assert row.seed == seed_of(row.task)
    assert row.fit_seconds > 0
    assert {"python", "numpy"} <= set(row.versions)
    assert row.started.endswith("+00:00")


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    run_quietly(PLAN, path)
    before = path.read_bytes()
    summary = run_quietly(PLAN, path)
    assert (summary.n_before, summary.n_added) == (24, 0)
    assert path.read_bytes() == before


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    calls = 0

    def interrupted_after_five(task: Task) -> Row:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise KeyboardInterrupt
        return run_task(task)

    summary = run_quietly(PLAN, path, execute=interrupted_after_five)
    assert (summary.n_added, summary.interrupted) == (5, True)
    summary = run_quietly(PLAN, path)
    assert (summary.n_before, summary.n_added) == (5, 19)
    run_quietly(PLAN, tmp_path / "at-once.jsonl")
    assert timeless(list(read_rows([path]))) == timeless(list(read_rows([tmp_path / "at-once.jsonl"])))


def test_jobs_give_the_same_rows(tmp_path: Path) -> None:
    need("joblib")
    run_quietly(PLAN, tmp_path / "one.jsonl")
    run_quietly(PLAN, tmp_path / "two.jsonl", jobs=2)
    assert timeless(list(read_rows([tmp_path / "one.jsonl"]))) == timeless(list(read_rows([tmp_path / "two.jsonl"])))


KILLED = """
import sys, time
from pathlib import Path
from flash_ansr.bench.execute import run_task
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.runner import run

def slowly(task):
    time.sleep(0.02)
    return run_task(task)

run(Plan("nguyen", system="power_law", points=[32], datasets=40).tasks(1), Path(sys.argv[1]),
    show_progress=False, execute=slowly)
"""


def test_kill_9(tmp_path: Path) -> None:
    """Killed in the middle, several times: every row once, none lost, none torn."""
    path = tmp_path / "rows.jsonl"
    seen: list[str] = []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
        try:
            deadline = time.monotonic() + 60
            while _n_lines(path) < len(seen) + 5 and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.01)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        keys = [row.task.key for row in read_rows([path])]
        assert keys[: len(seen)] == seen
        assert len(keys) >= len(seen) + 5
        seen = keys
    plan = Plan("nguyen", system="power_law", points=[32], datasets=10)
    run_quietly(plan, path)
    keys = [row.task.key for row in read_rows([path])]
    assert len(keys) == len(set(keys))
    assert {task.key for task in plan.tasks(1)} <= set(keys)


def _n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


class Moody:
    """A system with bad days."""

    def versions(self) -> dict[str, str]:
        return {"moody": "1"}

    def fit(self, request: Request) -> Answer:
        if request.seed % 2:
            raise ArithmeticError("not today")
        return SYSTEMS["linear"]().fit(request)

    def close(self) -> None:
        pass


class Lost(Moody):
    def fit(self, request: Request) -> Answer:
        return Answer(parse("x1 + x9"))


class Absent(Moody):
    def versions(self) -> dict[str, str]:
        raise SystemMissingError("buy it first")


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "moody", Moody)
    monkeypatch.setitem(SYSTEMS, "absent", Absent)
    monkeypatch.setitem(SYSTEMS, "lost", Lost)
    execute._system.cache_clear()


@pytest.mark.usefixtures("moody")
def test_a_failure_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    summary = run_quietly(Plan("nguyen", system="moody", points=[32]), path)
    rows = list(read_rows([path]))
    failed = [row for row in rows if row.error]
    assert len(rows) == 12
    assert 0 < len(failed) == summary.n_failed < 12
    assert {row.error for row in failed} == {"ArithmeticError: not today"}
    assert all(row.expression is None and row.digests["fit"] for row in failed)


@pytest.mark.usefixtures("moody")
def test_a_law_that_cannot_be_evaluated_is_a_failure() -> None:
    row = run_task(Task("nguyen", "Nguyen-1", 0, 8, 0.0, "lost", 1.0))
    assert row.expression is None
    assert "x9" in row.error


@pytest.mark.usefixtures("moody")
def test_a_system_that_is_not_there_leaves_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(SystemMissingError, match="buy it first"):
        run_quietly(Plan("nguyen", system="absent"), path)
    assert path.read_bytes() == b""


def test_the_same_seed_for_all_systems() -> None:
    a = Task("nguyen", "Nguyen-1", 0, 64, 0.0, "linear", 1.0)
    assert seed_of(a) == seed_of(dataclasses.replace(a, system="operon", budget=5.0, points=8))
    assert seed_of(a) != seed_of(dataclasses.replace(a, dataset=1))


def test_rows_of_another_law_are_not_continued(tmp_path: Path) -> None:
    text = 'name: mine\ntitle: mine\nproblems:\n  a: {formula: LAW, variables: {x: "uniform(1, 2)"}}\n'
    catalogue = tmp_path / "mine.yaml"
    catalogue.write_text(text.replace("LAW", "x^2"))
    plan = Plan(str(catalogue), system="power_law", points=[32])
    run_quietly(plan, tmp_path / "rows.jsonl")
    run_quietly(plan, tmp_path / "rows.jsonl")
    execute.catalogue_of.cache_clear()
    catalogue.write_text(text.replace("LAW", "x^3"))
    with pytest.raises(BenchError, match=r"has a row of another a: .*mine\.yaml has changed"):
        run_quietly(plan, tmp_path / "rows.jsonl")


def test_rows_of_other_weights_are_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stub:
        weights = "one"

        def __init__(self, **settings: object) -> None:
            pass

        def versions(self) -> dict[str, str]:
            return {"weights": self.weights}

        def fit(self, request: Request) -> Answer:
            return Answer(parse("x1"))

        def close(self) -> None:
            pass

    monkeypatch.setitem(SYSTEMS, "ours", Stub)
    execute._system.cache_clear()
    path = tmp_path / "rows.jsonl"
    run_quietly(Plan("nguyen", limit=2), path)
    monkeypatch.setattr(Stub, "weights", "other")
    assert run_quietly(Plan("nguyen", limit=2), path).n_added == 0
    with pytest.raises(BenchError, match=r"has rows of a network with other weights \(one, now other\); name another"):
        run_quietly(Plan("nguyen", limit=4), path)
    assert run_quietly(Plan("nguyen", limit=4, settings={"checkpoint": "elsewhere"}), path).n_added == 4
    execute._system.cache_clear()


def test_a_fit_that_ends_its_process_each_time_becomes_a_failure(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from flash_ansr.bench.execute import run_task\n"
        "from flash_ansr.bench.plan import Plan\n"
        "from flash_ansr.bench.runner import run\n"
        "def execute(task):\n"
        "    if task.problem == 'Nguyen-2':\n"
        "        os._exit(9)\n"
        "    return run_task(task)\n"
        "plan = Plan('nguyen', system='power_law', problems=['Nguyen-1', 'Nguyen-2', 'Nguyen-3'])\n"
        "run(plan.tasks(1), Path(sys.argv[1]), show_progress=False, execute=execute)\n"
    )
    path = tmp_path / "rows.jsonl"
    codes = [subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode for _ in range(4)]
    assert codes == [9, 9, 9, 0]
    found = {row.task.problem: row.error for row in read_rows([path])}
    error = "RuntimeError: its process ended 3 times during this fit"
    assert found == {"Nguyen-1": None, "Nguyen-2": error, "Nguyen-3": None}
    assert not path.with_suffix(".running").exists()


def test_on_a_dask_cluster(tmp_path: Path) -> None:
    """A scheduler and a worker of their own, as on a real cluster."""
    need("distributed")
    scheduler_file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*dask, "--port", "0", "--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(scheduler_file)],
        **quiet,
    )
    worker = None
    try:
        deadline = time.monotonic() + 60
        while not scheduler_file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = json.loads(scheduler_file.read_text())["address"]
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "distributed.cli.dask_worker", address),
                *("--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"),
            ],
            **quiet,
        )
        run_quietly(PLAN, tmp_path / "dask.jsonl", dask=address)
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.terminate()
                process.wait(30)
    run_quietly(PLAN, tmp_path / "here.jsonl")
    assert timeless(list(read_rows([tmp_path / "dask.jsonl"]))) == timeless(list(read_rows([tmp_path / "here.jsonl"])))


def test_no_dask_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("distributed")
    monkeypatch.setattr("flash_ansr.bench.runner._CONNECT_SECONDS", 0.5)
    with pytest.raises(BenchError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1: .*; start one by"):
        run_quietly(PLAN, tmp_path / "rows.jsonl", dask="tcp://127.0.0.1:1")


def test_a_dask_cluster_needs_a_number_of_cores(tmp_path: Path) -> None:
    run_on = ("--dask", "tcp://127.0.0.1:1", "--out", str(tmp_path))
    done = run_flash_ansr("bench", "run", "nguyen", "--system", "linear", *run_on)
    assert done.returncode != 0
    assert "with --dask say by --threads how many cores a fit may use on a worker" in done.stderr
