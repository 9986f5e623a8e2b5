"""Threads: the same bits for any number of them, the GIL released, none left behind, use from many at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests.strategies import examples, expressions

parse = simplipy.parse
LAWS = [
    "x1*sin(x2) + exp(-x3^2)",
    "log(x1)/x2",
    "pow(abs(x1), x2)",
    "atan(1/x3)",
    "x1",
    "2.5",
    "sqrt(x1) - tanh(x2*x3)",
    "pow1_3(x1)^2",
    "tan(x1)/x1",
]


def table(n: int) -> np.ndarray:
    X = np.random.default_rng(3).normal(scale=3, size=(n, 5))
    X[::17, 0] = 0.0
    X[5::101, 2] = np.nan
    return X


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("n_rows", [1, 100, 10_007])
@pytest.mark.parametrize("n_threads", [2, 3, 8, None])
def test_any_number_of_threads_gives_the_same_bits(n_rows: int, n_threads: int | None) -> None:
    batch = [parse(text) for text in LAWS] * 3
    one = simplipy.evaluate_many(batch, table(n_rows), n_threads=1)
    many = simplipy.evaluate_many(batch, table(n_rows), n_threads=n_threads)
    assert same_bits(one[0], many[0])
    assert same_bits(one[1], many[1])


@examples(30)
@given(st.lists(expressions(8, names=False, constants=False), min_size=1, max_size=12), st.integers(2, 7))
def test_random_batches_give_the_same_bits(batch: list[simplipy.Expression], n_threads: int) -> None:
    X = table(300)
    one = simplipy.evaluate_many(batch, X, n_threads=1)
    many = simplipy.evaluate_many(batch, X, n_threads=n_threads)
    assert same_bits(one[0], many[0])
    assert same_bits(one[1], many[1])


def test_one_expression_over_many_rows() -> None:
    X = table(100_003)
    one = simplipy.evaluate_many([parse(LAWS[0])], X, n_threads=1)
    many = simplipy.evaluate_many([parse(LAWS[0])], X, n_threads=2)
    assert same_bits(one[0], many[0])
    assert same_bits(one[1], many[1])


def test_twice_is_the_same() -> None:
    batch = [parse(text) for text in LAWS]
    first, second = (simplipy.evaluate_many(batch, table(5000)) for _ in range(2))
    assert same_bits(first[0], second[0])
    e = parse("<constant>*sin(<constant>*x1)")
    slopes = [e.gradient(table(5000), [2.0, 3.0]) for _ in range(2)]
    assert same_bits(*slopes)


def test_more_threads_than_work() -> None:
    values, defined = simplipy.evaluate_many([parse("x1 + 1")], np.ones((1, 1)), n_threads=64)
    assert values.tolist() == [[2.0]]
    assert defined.tolist() == [[True]]


def test_the_gil_is_released() -> None:
    """While one thread evaluates, this one goes on."""
    X = table(200_000)
    batch = [parse(LAWS[0])] * 20
    for _ in range(6):  # until the call is long enough to tell
        started = time.perf_counter()
        simplipy.evaluate_many(batch, X, n_threads=1)
        seconds = time.perf_counter() - started
        if seconds > 0.3:
            break
        batch = batch * 2
    worker = threading.Thread(target=simplipy.evaluate_many, args=(batch, X), kwargs={"n_threads": 1})
    n_ticks = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.005)
        n_ticks += 1
    assert n_ticks >= 5, f"{n_ticks} ticks during a call of about {seconds:.2f} s"


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_thread_outlives_a_call() -> None:
    batch = [parse(text) for text in LAWS]
    tasks = Path("/proc/self/task")
    before = len(list(tasks.iterdir()))
    for _ in range(5):
        simplipy.evaluate_many(batch, table(20_000), n_threads=4)
    for _ in range(100):  # the kernel takes a moment to remove a joined thread
        if len(list(tasks.iterdir())) <= before:
            break
        time.sleep(0.01)
    assert len(list(tasks.iterdir())) <= before


def test_use_from_many_python_threads() -> None:
    X = table(2000)
    batch = [parse(text) for text in LAWS]
    expected = [e(X).tobytes() for e in batch]

    def job(k: int) -> bool:
        e = parse(LAWS[k % len(LAWS)])
        again = parse(e.infix())
        e.gradient(X, wrt="variables")
        return again == e and hash(again) == hash(e) and e(X).tobytes() == expected[k % len(LAWS)] and bool(e.latex())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(job, range(400)))


def test_one_expression_shared_by_many_threads() -> None:
    e = parse(LAWS[0])
    X = table(3000)
    expected = e(X).tobytes()
    with ThreadPoolExecutor(8) as pool:
        assert all(result == expected for result in pool.map(lambda _: e(X).tobytes(), range(100)))


def test_names_are_interned_safely() -> None:
    """Many threads meet many new names at the same time."""

    def job(k: int) -> bool:
        names = [f"t{k % 5}_{j}" for j in range(50)]
        e = parse(" + ".join(names))
        return set(e.variables) == set(names) and float(e({n: np.array([1.0]) for n in names})[0]) == 50.0

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(job, range(200)))


def test_an_error_in_a_batch_leaves_no_thread_hanging() -> None:
    batch = [parse("x1")] * 50 + [parse("x9")] + [parse("x1")] * 50
    with pytest.raises(simplipy.EvaluationError, match="x9"):
        simplipy.evaluate_many(batch, np.ones((1000, 1)), n_threads=4)
    values, _ = simplipy.evaluate_many(batch[:3], np.ones((10, 1)), n_threads=4)
    assert (values == 1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_evaluation_works_after_a_fork() -> None:
    code = """
import os, numpy as np, simplipy
batch = [simplipy.parse("sin(x1)")] * 8
simplipy.evaluate_many(batch, np.ones((5000, 1)), n_threads=4)
pid = os.fork()
if pid == 0:
    simplipy.evaluate_many(batch, np.ones((5000, 1)), n_threads=4)
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=False).returncode == 0
