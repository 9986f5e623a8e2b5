"""`flash-ansr fit` and `predict`: every kind of file, the run folder, messages without tracebacks."""

from __future__ import annotations

import json
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


def test_candidates_arrive_while_the_search_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there after the first round, and no result of an earlier run is."""
    folder, seen = tmp_path / "run", []
    data = written(tmp_path, ".csv")
    run("fit", str(data), *QUICK, "--out", str(folder))
    from flash_ansr.infer import saving

    original = saving.write_candidates

    def spy(where: Path, candidates: pd.DataFrame) -> None:
        original(where, candidates)
        seen.append(sorted(p.name for p in Path(where).iterdir()))

    monkeypatch.setattr(saving, "write_candidates", spy)
    run("fit", str(data), *QUICK, "--out", str(folder))
    assert seen[0] == ["candidates.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["data.xlsx"], "has none of the endings of tables"),
        (["broken.csv"], "broken.csv is no table"),
        (["broken.npz"], "broken.npz is no table"),
        (["empty.csv"], "empty.csv has no rows"),
        (["data.csv", "--target", "z"], "there is no column 'z'; columns are: force N, time, label, y"),
        (["data.csv", "--features", "time,speed"], "there is no column 'speed'"),
        (["data.csv", "--features", "y"], "is the target and cannot be a feature too"),
        (["data.csv", "--target", "label"], "the target 'label' must be a finite number in every row"),
        (["data.csv", "--time", "-1"], "time_limit must be > 0 seconds or None, got -1.0"),
        (["data.csv", "--samples", "0"], "n_samples must be >= 1 or None, got 0"),
        (["data.csv", "--operators", "sine"], "unknown operator 'sine'; did you mean 'sin"),
        (["data.csv", "--proposers", "magic"], "proposers must be 'auto' or a list of"),
        (["data.csv", "--out", "."], "exists and is no result; choose another folder"),
        (["holes.csv"], "NaN or infinity in the columns a"),
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
    done = run("fit", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_mistakes_of_predict(tmp_path: Path) -> None:
    data = written(tmp_path, ".csv")
    run("fit", str(data), *QUICK, "--out", str(tmp_path / "run"))
    (tmp_path / "other.csv").write_text("a\n1\n")
    for arguments, message in [
        ((str(tmp_path), str(data)), "is no result: it has no result.json"),
        ((str(tmp_path / "run"), str(tmp_path / "other.csv")), "lacks the column 'force N' of the fit; it has: a"),
        ((str(tmp_path / "run"), str(data), "--index", "99999"), "index must be a row of candidates_"),
    ]:
        done = run("predict", *arguments)
        assert done.returncode == 2
        assert message in done.stderr
