"""`flash-ansr fit` and `predict`: every kind of file, the run folder, messages without tracebacks."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flash_ansr import FlashANSR
from tests.command_line import run_flash_ansr as run
from tests.needs import need

X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
TABLE = pd.DataFrame({"force N": X[:, 0], "time": X[:, 1], "label": "a", "y": 3 * X[:, 0] * X[:, 1]})
QUICK = ("--samples", "300", "--seed", "0", "--proposers", "closed_form,prior")


def written(folder: Path, ending: str) -> Path:
    path = folder / f"data{ending}"
    if ending == ".npz":
        np.savez(path, X=X, y=TABLE["y"])
    elif ending == ".parquet":
        need("pyarrow")
        TABLE.to_parquet(path)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npz"])
def test_every_kind_of_file(ending: str, tmp_path: Path) -> None:
    done = run("fit", str(written(tmp_path, ending)), *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["fvu"] < 1e-20
    assert facts["columns_left_out"] == ([] if ending == ".npz" else ["label"])
    assert facts["report"]["random_state"] == 0


def test_run_folder_and_predict(tmp_path: Path) -> None:
    data, folder = written(tmp_path, ".csv"), tmp_path / "run"
    done = run("fit", str(data), "--target", "y", "--features", "force N,time", *QUICK, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert "law    y = " in done.stdout
    assert "→" in done.stdout
    assert sorted(p.name for p in folder.iterdir()) == ["candidates.csv", "law.png", "result.json"]
    assert "`force N`" in json.loads((folder / "result.json").read_text())["law"]
    shuffled = TABLE[["time", "label", "force N"]]
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(folder), str(tmp_path / "new.csv"))
    head, *values = done.stdout.split()
    assert head == "prediction"
    np.testing.assert_allclose(np.array(values, dtype=float), TABLE["y"], rtol=1e-9)
    done = run("predict", str(folder), str(tmp_path / "new.csv"), "--out", str(tmp_path / "p.csv"), "--index", "1")
    assert done.returncode == 0
    table = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(table["prediction"], FlashANSR.load(folder).predict(TABLE[["force N", "time"]], 1))


def test_predictions_are_written_as_their_ending_says(tmp_path: Path) -> None:
    need("pyarrow")
    data, folder = written(tmp_path, ".csv"), tmp_path / "run"
    assert run("fit", str(data), *QUICK, "--out", str(folder)).returncode == 0
    TABLE.head(1).assign(prediction=9.0).to_csv(tmp_path / "new.csv", index=False)
    readers = {"p.parquet": pd.read_parquet, "p.tsv": lambda path: pd.read_csv(path, sep="\t")}
    for name, read in readers.items():
        done = run("predict", str(folder), str(tmp_path / "new.csv"), "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("1 row: ")
        assert "the column 'prediction' of" in done.stderr
        np.testing.assert_allclose(read(tmp_path / name)["prediction"], TABLE["y"][:1], rtol=1e-9)
    for out, message in ((tmp_path / "p.npz", "must end with one of"), (folder, "must end with one of")):
        assert message in run("predict", str(folder), str(tmp_path / "new.csv"), "--out", str(out)).stderr
    (tmp_path / "d.csv").mkdir()
    done = run("predict", str(folder), str(tmp_path / "new.csv"), "--out", str(tmp_path / "d.csv"))
    assert "d.csv is a folder; name a file" in done.stderr


def test_a_folder_with_files_of_our_names_is_not_ours(tmp_path: Path) -> None:
    data, folder = written(tmp_path, ".csv"), tmp_path / "mine"
    folder.mkdir()
    for name, text in (("candidates.csv", "my candidates"), ("result.json", '{"my": "own"}')):
        (folder / name).write_text(text)
        done = run("fit", str(data), *QUICK, "--out", str(folder))
        assert done.returncode == 2
        assert "exists and is no result; choose another folder" in done.stderr
        assert (folder / name).read_text() == text


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_best_so_far(number: signal.Signals, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": X[:, 0], "y": rng.normal(size=60)}).to_csv(tmp_path / "data.csv", index=False)
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "flash_ansr", "fit", "data.csv", "--time", "300", "--out", str(folder)]
    search = subprocess.Popen([*command, "--quiet"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        while search.poll() is None and not (folder / "candidates.csv").exists():
            time.sleep(0.05)
        search.send_signal(number)
        said, _ = search.communicate(timeout=120)
    finally:
        search.kill()
    assert search.returncode == 0
    assert "law    y = " in said
    assert (folder / "result.json").is_file()


def test_both_limits_count(tmp_path: Path) -> None:
    done = run("fit", str(written(tmp_path, ".csv")), "--samples", "10", "--time", "inf")
    assert "--time must be a finite number of seconds > 0, got inf" in done.stderr


def test_what_is_the_same_in_every_row_is_said(tmp_path: Path) -> None:
    pd.DataFrame({"idle": 1.0, "x": X[:, 0], "y": 7.0}).to_csv(tmp_path / "level.csv", index=False)
    said = run("fit", str(tmp_path / "level.csv"), *QUICK).stdout
    assert "note   y is the same in every row" in said
    assert "columns left out: idle (the same in every row)" in said


def test_candidates_arrive_while_the_search_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there after the first round, and no result of an earlier run is."""
    folder, seen = tmp_path / "run", []
    data = written(tmp_path, ".csv")
    run("fit", str(data), *QUICK, "--out", str(folder))
    from flash_ansr.infer.result import saving

    original = saving.write_candidates

    def spy(where: Path, candidates: pd.DataFrame) -> None:
        original(where, candidates)
        seen.append(sorted(p.name for p in Path(where).iterdir()))

    monkeypatch.setattr(saving, "write_candidates", spy)
    run("fit", str(data), *QUICK, "--out", str(folder))
    assert seen[0] == ["candidates.csv"]


def test_a_fit_that_fails_leaves_the_old_result(tmp_path: Path) -> None:
    data, folder = written(tmp_path, ".csv"), tmp_path / "run"
    assert run("fit", str(data), *QUICK, "--out", str(folder)).returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(before) == ["candidates.csv", "law.png", "result.json"]
    for wrong in (["--time", "-1", "--proposers", "prior"], ["--operators", "sine"], ["--checkpoint", "nowhere"]):
        done = run("fit", str(data), *wrong, "--out", str(folder))
        assert done.returncode == 2
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_full_disk_leaves_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    data, folder = written(tmp_path, ".csv"), tmp_path / "run"
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    done = run("fit", str(data), *QUICK, "--out", str(folder))
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "law    y = " in done.stdout  # the search was not in vain
    assert "files  " not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


def test_candidates_on_the_way_have_the_names_of_their_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first column is constant and left out of the search."""
    from flash_ansr.infer.result import saving

    seen: list[str] = []
    monkeypatch.setattr(saving, "write_candidates", lambda _, table: seen.extend(map(str, table["expression"])))
    table = pd.DataFrame({"idle": 1.0, "mass": X[:, 0], "speed": X[:, 1], "y": 3 * X[:, 0] * X[:, 1]})
    table.to_csv(tmp_path / "data.csv", index=False)
    run("fit", str(tmp_path / "data.csv"), *QUICK, "--out", str(tmp_path / "run"))
    assert any("mass" in text and "speed" in text for text in seen)
    assert not any("idle" in text for text in seen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["data.doc"], "has none of the endings of tables"),
        (["broken.csv"], "broken.csv is no table"),
        (["broken.npz"], "broken.npz is no table"),
        (["empty.csv"], "empty.csv has no rows"),
        (["data.csv", "--target", "z"], "there is no column 'z'; columns are: force N, time, label, y"),
        (["data.csv", "--features", "time,speed"], "there is no column 'speed'"),
        (["data.csv", "--target", "Y"], "there is no column 'Y'; did you mean 'y'? columns are: force N"),
        (["data.csv", "--features", "y"], "is the target and cannot be a feature too"),
        (["data.csv", "--target", "label"], "the target 'label' must be numeric: 'a' in row 1 is no number"),
        (["data.csv", "--time", "-1"], "--time must be a finite number of seconds > 0, got -1.0"),
        (["data.csv", "--samples", "0"], "--samples must be a whole number >= 1, got 0"),
        (["data.csv", "--operators", "sine"], "unknown operator 'sine'; did you mean 'sin"),
        (["data.csv", "--operators", "phisics"], "unknown operator 'phisics'; did you mean the preset 'physics'"),
        (
            ["data.csv", "--proposers", "prior,magic"],
            "unknown proposer 'magic'; known are closed_form, textbook,",
        ),
        (["data.csv", "--out", "."], "exists and is no result; choose another folder"),
        (
            ["holes.csv"],
            "the table contains NaN (missing values) in 1 of 3 rows, columns 'a' (1 row, first row 2); "
            "--missing drop leaves these rows out, --missing median fills the gaps",
        ),
        (["gaps.csv"], "'y' is missing in 2 of 4 rows, first in row 2; fill them, or --missing drop leaves these rows"),
        (
            ["mixed.csv"],
            "column 'a' mixes numbers and texts: 'late' in row 2 is no number, and '1' in row 1 is one",
        ),
        (["twice.csv"], "error: column names must differ, got 'a' more than once; rename"),
        (["inf.csv"], "the table contains infinity in the columns 'a' (1 row, first row 2); correct these values"),
        (["empty_column.csv"], "in 3 of 3 rows, columns 'a' (3 rows, first row 1); --missing drop leaves"),
        (["data.csv", "--target", "time,y"], "--target must be one column, got 'time,y': a law gives one; run the"),
        (["data.csv", "--sheet", "2"], "data.csv has no sheets, only Excel files"),
        (["ragged.csv"], "ragged.csv is no table: line 3 has 3 fields, the lines above it have 2"),
        (["binary.csv"], "binary.csv is no table: it is binary, not text"),
        (["nothing.csv"], "nothing.csv is empty"),
        (["no_header.csv"], "name the target with --target; columns are: x1, x2"),
        (["data.csv", "--no-header"], "name the target with --target; columns are: x1, x2, x3, x4"),
        (["data.csv", "--sep", "none"], "the separator must be one character or one of comma, semicolon, tab, blank"),
        (["data.csv", "--sep", ",", "--decimal", ","], "a comma cannot both separate columns and begin decimals"),
        (["data.csv", "--decimal", "x"], "the decimal sign must be '.' or ',', got 'x'"),
        (["data.csv", "--proposers", ""], "--proposers must be names with commas between them, got ''"),
        (["data.csv", "--gamma", "inf"], "gamma must be a finite number >= 0, got inf"),
        (["data.csv", "--checkpoint", "nowhere"], "there is no checkpoint nowhere"),
        (["data.csv", "--checkpoint", "."], ". is no checkpoint: it has no checkpoint.json"),
        (["data.csv", "--checkpoint", "cut"], "is damaged: its header is cut off"),
        (["data.csv", "--out", "/no_such_folder/run"], "there is no folder /no_such_folder for run"),
        (["no_y.csv"], "name the target with --target; columns are: a, b"),
    ],
)
def test_mistakes(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, ".csv")
    Path("broken.csv").write_text('a,b\n1,2\n3,4,5,6\n"')
    Path("broken.npz").write_text("no zip")
    Path("empty.csv").write_text("a,y\n")
    Path("holes.csv").write_text("a,y\n1,2\n,3\n4,5\n")
    Path("no_y.csv").write_text("a,b\n1,2\n3,4\n")
    Path("gaps.csv").write_text("a,y\n1,2\n2,\n4,\n5,6\n")
    Path("ragged.csv").write_text("a,y\n1,2\n3,4,5\n")
    Path("binary.csv").write_bytes(b"a\x00b")
    Path("nothing.csv").write_text("# only a comment\n\n")
    Path("mixed.csv").write_text("a,y\n1,2\nlate,3\n5,6\n")
    Path("twice.csv").write_text("a,a,y\n1,2,3\n3,4,5\n")
    Path("inf.csv").write_text("a,y\n1,2\ninf,3\n5,6\n")
    Path("empty_column.csv").write_text("b,a,y\n1,,2\n2,,3\n5,,6\n")
    Path("no_header.csv").write_text("1,2\n3,4\n")
    Path("cut").mkdir()
    Path("cut/checkpoint.json").write_text('{"format": 1}')
    Path("cut/weights.safetensors").write_bytes(b"12345678")
    done = run("fit", *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_predict_needs_only_what_the_law_uses(tmp_path: Path) -> None:
    data, folder = tmp_path / "data.csv", tmp_path / "run"
    TABLE.assign(idle=np.arange(60) % 7).to_csv(data, index=False)
    assert run("fit", str(data), *QUICK, "--out", str(folder)).returncode == 0
    (tmp_path / "new.csv").write_text("time;force N\n2,5;1\n3,5;2\n")
    out = tmp_path / "deep" / "er" / "out.csv"
    done = run("predict", str(folder), str(tmp_path / "new.csv"), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "note: columns are separated by semicolons"
    np.testing.assert_allclose(pd.read_csv(out)["prediction"], [7.5, 21.0], rtol=1e-9)


def test_what_is_no_number_is_told(tmp_path: Path) -> None:
    data = written(tmp_path, ".csv")
    done = run("fit", str(data), *QUICK)
    assert "columns left out: label (the same in every row)" in done.stdout


def printed(tmp_path: Path, x: np.ndarray, y: np.ndarray, *options: str) -> str:
    pd.DataFrame({"x": x, "y": y}).to_csv(tmp_path / "data.csv", index=False)
    done = run("fit", str(tmp_path / "data.csv"), *QUICK, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_law_is_always_marked_and_notes_are_true(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, 40)
    noise = printed(tmp_path, x, rng.normal(size=40))
    assert "the law is a constant: no formula that was found tells enough more about y" in noise
    percent = printed(tmp_path, x, 3 * x**2 * (1 + 0.02 * rng.normal(size=40)))
    assert "% of its value" in percent
    assert "note" not in percent
    nothing = printed(tmp_path, -x, x, "--operators", "log", "--max-length", "2", "--proposers", "prior")
    assert "no formula was fitted, so that the law is a constant" in nothing
    for text in (noise, percent, nothing):
        assert text.count("→") == 2  # the row of the law, and what the arrow means
        assert "usual forms have a low price" in text
        assert re.search(r"row +┃ formula +┃ size ┃ +(R2 on unseen|FVU)", text)
        assert "end    all formulas of the budget were drawn" in text or "end    no proposer had" in text
        assert re.search(
            r"time   \d+\.\d s: \d+\.\d s of search, \d+\.\d s before it to load libraries and data\n", text
        )


def test_loss(tmp_path: Path) -> None:
    x = np.geomspace(0.01, 100, 40)
    y = 3 * x**2 * (1 + 0.02 * np.random.default_rng(0).normal(size=40))
    facts = json.loads(printed(tmp_path, x, y, "--loss", "relative", "--json"))
    assert facts["report"]["noise_kind"] == "proportional"
    assert facts["length"] <= 4


def test_mistakes_of_predict(tmp_path: Path) -> None:
    data = written(tmp_path, ".csv")
    run("fit", str(data), *QUICK, "--out", str(tmp_path / "run"))
    (tmp_path / "other.csv").write_text("a\n1\n")
    (tmp_path / "text.csv").write_text("force N,time\n1,2\n1,late\n")
    for arguments, message in [
        ((str(tmp_path), str(data)), "is no result: it has no result.json"),
        ((str(tmp_path / "run"), str(tmp_path / "other.csv")), "has no column 'force N'; columns are: a"),
        ((str(tmp_path / "run"), str(data), "--out", str(data)), "is the table itself; name another file"),
        (
            (str(tmp_path / "run"), str(tmp_path / "text.csv")),
            "text.csv is not numeric: 'late' in row 2 is no number; convert or drop it",
        ),
        ((str(tmp_path / "run"), str(data), "--index", "99999"), "--index must be a row of candidates.csv, 0 to "),
    ]:
        done = run("predict", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
