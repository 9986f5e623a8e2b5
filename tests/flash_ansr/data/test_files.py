"""Files of problems and of skeletons: layout, the same for any number of workers, early ends, resuming."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import simplipy
from flash_ansr.data import DataError, Generator, load_prior
from flash_ansr.data import corpus as corpus_module
from flash_ansr.data.corpus import make_file
from flash_ansr.data.sources.skeleton_file import read_skeletons
from flash_ansr.paper.sympy.skeletons import make_skeletons, sympy_simplified
from tests.needs import need


def generator() -> Generator:
    return Generator(load_prior("wide"))


def test_npz(tmp_path: Path) -> None:
    made = make_file(generator(), tmp_path / "a.npz", n=50, seed=4)
    assert (made.n_problems, made.stopped) == (50, None)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        arrays = dict(file)
    n_rows = arrays["n_rows"]
    assert arrays["X"].shape == (n_rows.sum(), 9)
    assert arrays["y"].shape == (n_rows.sum(),)
    assert (arrays["X"].dtype, arrays["y"].dtype, arrays["tokens"].dtype) == (np.float32, np.float32, np.int16)
    assert json.loads(str(arrays["metadata"])) == {"prior": "wide", "seed": 4, "n": 50}
    batch = generator().batch(seed=4, indices=range(50), detailed=True)
    starts = np.concatenate([[0], np.cumsum(n_rows)])
    constants = np.split(arrays["constants"], np.cumsum(arrays["n_constants"])[:-1])
    for i, ids in enumerate(arrays["tokens"]):
        tokens = [str(arrays["vocabulary"][k]) for k in ids if k >= 0]
        assert tokens == batch.tokens(i)
        assert np.array_equal(arrays["X"][starts[i] : starts[i + 1]], batch.X[i, : n_rows[i]])
        assert np.array_equal(arrays["y"][starts[i] : starts[i + 1]], batch.y[i, : n_rows[i]])
        assert simplipy.parse(tokens).with_constants(constants[i]) == batch.expression(i)
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_the_same_bytes_for_any_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_file(generator(), tmp_path / "one.npz", n=70)
    monkeypatch.setattr(corpus_module, "_CHUNK", 32)
    make_file(generator(), tmp_path / "four.npz", n=70, n_threads=4)
    with np.load(tmp_path / "one.npz") as one, np.load(tmp_path / "four.npz") as four:
        assert all(np.array_equal(one[name], four[name]) for name in one.files)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "four.npz").read_bytes()


def test_threads_compress_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together, deflated = Barrier(2), corpus_module._deflated
    sizes: list[int] = []

    def compress(block: memoryview) -> bytes:
        sizes.append(len(block))
        if len(sizes) <= 2:  # neither of the first two goes on without the other
            together.wait(timeout=60)
        return deflated(block)

    monkeypatch.setattr(corpus_module, "_BLOCK", 4096)
    monkeypatch.setattr(corpus_module, "_deflated", compress)
    make_file(generator(), tmp_path / "a.npz", n=50, n_threads=2)
    with np.load(tmp_path / "a.npz") as file:
        assert sum(sizes) > file["X"].nbytes > max(sizes)


def test_a_file_is_compressed(tmp_path: Path) -> None:
    make_file(generator(), tmp_path / "a.npz", n=50)
    with np.load(tmp_path / "a.npz") as file:
        size = sum(file[name].nbytes for name in file.files)
    assert (tmp_path / "a.npz").stat().st_size < 0.7 * size


def test_parquet(tmp_path: Path) -> None:
    parquet = need("pyarrow.parquet")
    make_file(generator(), tmp_path / "a.parquet", n=20, seed=4)
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.num_rows == 20
    batch = generator().batch(seed=4, indices=range(20))
    for i, row in enumerate(table.to_pylist()):
        assert row["tokens"] == batch.tokens(i)
        X = np.array(row["X"], dtype=np.float32).reshape(row["n_rows"], 9)
        assert np.array_equal(X, batch.X[i, : row["n_rows"]])
        assert np.array_equal(np.array(row["y"], dtype=np.float32), batch.y[i, : row["n_rows"]])


def stop_after(n: int) -> Callable[[int], None]:
    def progress(done: int) -> None:
        if done >= n:
            raise KeyboardInterrupt

    return progress


def test_an_interrupt_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "_CHUNK", 10)
    made = make_file(generator(), tmp_path / "a.npz", n=1000, progress=stop_after(20))
    assert (made.n_problems, made.stopped) == (20, "interrupted")
    with np.load(tmp_path / "a.npz") as file:
        assert len(file["n_rows"]) == 20


def test_a_time_limit_ends_the_run(tmp_path: Path) -> None:
    made = make_file(generator(), tmp_path / "a.npz", n=10**7, time_limit=0.2)
    assert 0 < made.n_problems < 10**7
    assert made.stopped == "time limit"


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must end in .npz or .parquet, got .*a.csv"):
        make_file(generator(), tmp_path / "a.csv", n=1)
    with pytest.raises(DataError, match="n must be >= 1"):
        make_file(generator(), tmp_path / "a.npz", n=0)
    with pytest.raises(DataError, match="flash-ansr data skeletons"):
        Generator("sympy_simplified")
    (tmp_path / "bad.jsonl").write_text('["x1"]\nnonsense\n')
    with pytest.raises(DataError, match="line 2 is no JSON"):
        read_skeletons(tmp_path / "bad.jsonl")


def test_a_corpus_of_skeletons(tmp_path: Path) -> None:
    path = tmp_path / "skeletons.jsonl"
    path.write_text('["*", "2.5", "x1"]\n{"index": 1, "tokens": ["+", "x2", "x3"]}\n{"index": 2, "tokens": null}\n')
    batch = Generator(load_prior(_sympy_prior(tmp_path, path)), holdouts=()).batch(
        seed=0, indices=range(60), detailed=True
    )
    found = {tuple(batch.tokens(i)) for i in range(60)}
    assert found == {("*", "<constant>", "x1"), ("+", "x2", "x3")}
    assert batch.details is not None
    constants = {float(c[0]) for c in batch.details.constants if len(c)}
    assert len(constants) > 20  # drawn fresh
    path.write_text('["x99"]\n')
    with pytest.raises(ValueError, match="skeleton 1 of the corpus must be finite, in the variables x1 to x17"):
        Generator(load_prior(_sympy_prior(tmp_path, path)), holdouts=())


def _sympy_prior(folder: Path, path: Path) -> Path:
    prior = folder / "fixed.yaml"
    prior.write_text(f"base: sympy_simplified\ncorpus: {path}\n")
    return prior


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the timer may ring in a callback
def test_skeletons_by_sympy() -> None:
    good = sympy_simplified(["+", "*", "<constant>", "x1", "*", "<constant>", "x1"], (0, 0), 20.0)
    assert good == {"tokens": ["*", "<constant>", "x1"], "reason": None}
    # with the exact form of a real root SymPy would answer by cases
    root = sympy_simplified(["*", "pow1_3", "x1", "+", "x2", "*", "<constant>", "pow1_5", "x1"], (0, 0), 20.0)
    assert root["reason"] is None
    assert {"pow1_3", "pow1_5"} <= set(root["tokens"])
    slow = sympy_simplified(["+", "x1", "sin", "x2"], (0, 0), 1e-6)
    assert slow == {"tokens": None, "reason": "time limit"}
    imaginary = sympy_simplified(["pow1_2", "neg", "abs", "<constant>"], (0, 0), 20.0)
    assert imaginary["tokens"] is None
    assert imaginary["reason"]


def test_making_skeletons_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "skeletons.jsonl"
    with pytest.raises(KeyboardInterrupt):
        make_skeletons(Generator("paper"), path, range(200), simplifier="none", progress=stop_after(48))
    assert len(path.read_text().splitlines()) == 48
    with path.open("a") as file:
        file.write('{"index": 48, "tok')  # cut off
    assert make_skeletons(Generator("paper"), path, range(200), simplifier="none") == 200
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(row["index"] for row in rows) == list(range(200))
    drawn = Generator("paper").skeletons(0, range(200), simplified=False)
    assert all(row["tokens"] == drawn[row["index"]] for row in rows)
    with pytest.raises(DataError, match="simplifier must be"):
        make_skeletons(Generator("paper"), path, range(1), simplifier="maple")


@pytest.mark.slow
def test_skeletons_by_sympy_in_processes(tmp_path: Path) -> None:
    path = tmp_path / "skeletons.jsonl"
    n_good = make_skeletons(Generator("paper"), path, range(24), n_workers=2, time_limit=0.5)
    assert 0 < n_good <= 24
    assert len(path.read_text().splitlines()) == 24
