"""`flash-ansr fit` and `predict` on ordinary tables: gaps, texts, units, Excel, many columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.command_line import Done
from tests.command_line import run_flash_ansr as run
from tests.needs import need

RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 5.0, (60, 2))
COLOUR = RNG.choice(["red", "green", "blue"], 60)
TABLE = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "colour": COLOUR, "y": 2 * X[:, 0] + 3 * (COLOUR == "red")})
QUICK = ("--samples", "300", "--seed", "0", "--proposers", "closed_form,prior")


def fitted(folder: Path, table: pd.DataFrame, *options: str) -> str:
    table.to_csv(folder / "data.csv", index=False)
    done = run("fit", str(folder / "data.csv"), *QUICK, "--out", str(folder / "run"), *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def notes_of(done: Done) -> list[str]:
    """Lines on stderr but the one on rows outside the ranges, which has tests of its own."""
    return [line for line in done.stderr.splitlines() if "outside the ranges" not in line]


def test_texts_are_indicators(tmp_path: Path) -> None:
    said = fitted(tmp_path, TABLE)
    assert 'law    y = 2*x + 3*(colour == "red")\n' in said
    assert r"LaTeX  2 x + 3 [\mathrm{colour} = \text{red}]" in said
    assert '(colour == ""red"")' in (tmp_path / "run" / "candidates.csv").read_text()
    new = pd.DataFrame({"colour": ["red", "pink", None, "green"], "x": [1.0, 2.0, 3.0, None], "z": ["?", 1, [2], ""]})
    new.to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(tmp_path / "run"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv"))
    assert done.returncode == 0, done.stderr
    assert notes_of(done) == [
        "note: column 'colour' has levels that the fit did not see: 'pink'",
        "note: 2 of 4 rows have no prediction: a gap in a column that the law uses, first in row 3",
    ]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["prediction"], [5, 4, np.nan, np.nan])
    assert (tmp_path / "out.csv").read_text().splitlines()[3].endswith(",")
    values = run("predict", str(tmp_path / "run"), str(tmp_path / "new.csv")).stdout.split()
    assert values[-1] == "nan"


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_missing(missing: str, tmp_path: Path) -> None:
    table = TABLE.assign(idle=np.arange(60) % 7)[["x", "colour", "idle", "y"]]
    table.loc[[3, 9], "idle"] = np.nan
    table.loc[5, "y"] = np.nan
    said = fitted(tmp_path, table, "--missing", missing)
    assert 'y = 2*x + 3*(colour == "red")\n' in said
    assert f"note   rows left out for their gaps: {3 if missing == 'drop' else 1}\n" in said
    table.loc[3, "x"] = np.nan
    table.to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(tmp_path / "run"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv"))
    how = "have no prediction" if missing == "drop" else "are filled"
    assert done.stderr == f"note: 1 of 60 rows {how}: a gap in a column that the law uses, first in row 4\n"
    predicted = pd.read_csv(tmp_path / "out.csv")["prediction"]
    assert predicted.isna().tolist() == [missing == "drop" and k == 3 for k in range(60)]
    np.testing.assert_allclose(predicted.drop(3), TABLE["y"].drop(3))


def test_rows_where_the_law_is_undefined_are_counted_apart(tmp_path: Path) -> None:
    fitted(tmp_path, pd.DataFrame({"x": X[:, 0], "y": np.log(X[:, 0])}))
    (tmp_path / "new.csv").write_text("x\n1\n-1\n\n2\n".replace("\n\n", "\nNA\n"))
    done = run("predict", str(tmp_path / "run"), str(tmp_path / "new.csv"))
    assert notes_of(done) == [
        "note: 1 of 4 rows have no prediction: a gap in a column that the law uses, first in row 3",
        "note: 1 of 4 rows have no prediction: the law is undefined there, first in row 2",
    ]


def test_columns_left_out_are_told_with_reasons(tmp_path: Path) -> None:
    table = TABLE.assign(
        label=[f"id{k}" for k in range(60)],
        copy=TABLE["x"],
        day=pd.date_range("2020", periods=60).astype(str),
        level="a",
        **{f"k{k}": float(k) for k in range(12)},
    )
    said = fitted(tmp_path, table)
    line = next(line for line in said.splitlines() if line.startswith("note   columns left out: "))
    assert "label (its texts all differ)" in line
    assert "copy (equal to x in every row)" in line
    assert "day (its values are dates; convert them to a number such as days since the first)" in line
    assert "level, k0, k1, k2, k3, k4, k5, k6 and 5 more (the same in every row)" in line
    facts = json.loads(run("fit", str(tmp_path / "data.csv"), *QUICK, "--json").stdout)
    assert {"label", "copy", "day", "level", "k11"} <= set(facts["columns_left_out"])
    assert facts["report"]["left_out_columns"]["copy"] == "equal to x in every row"


def test_units_and_a_broken_header(tmp_path: Path) -> None:
    rows = "\n".join(f"{a};{b};{2 * a}" for a, b in X)
    (tmp_path / "data.csv").write_text(f'"length\n(mm)";speed [m/s];y\nm;;kg\n{rows}\n')
    done = run("fit", str(tmp_path / "data.csv"), *QUICK)
    assert done.returncode == 0, done.stderr
    assert "y = 2*`length (mm)`\n" in done.stdout
    assert "units  length (mm): m, speed [m/s]: m/s, y: kg\n" in done.stdout
    facts = json.loads(run("fit", str(tmp_path / "data.csv"), *QUICK, "--json").stdout)
    assert facts["units"] == {"length (mm)": "m", "speed [m/s]": "m/s", "y": "kg"}


def test_excel(tmp_path: Path) -> None:
    need("openpyxl")
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1, 2]}).to_excel(book, sheet_name="notes", index=False)
        TABLE.to_excel(book, sheet_name="data", index=False)
    done = run("fit", str(path), *QUICK, "--sheet", "data", "--out", str(tmp_path / "run"))
    assert 'y = 2*x + 3*(colour == "red")\n' in done.stdout, done.stderr
    done = run("predict", str(tmp_path / "run"), str(path), "--sheet", "2")
    np.testing.assert_allclose([float(v) for v in done.stdout.split()[1:]], TABLE["y"])
    done = run("fit", str(path), *QUICK)
    assert done.returncode == 2
    assert "note: the file has the sheets 'notes', 'data'; the first was read, and --sheet names another" in done.stderr
    assert "name the target with --target; columns are: a" in done.stderr
    done = run("fit", str(path), "--sheet", "dat")
    assert "has no sheet 'dat'; did you mean 'data'? sheets are: 'notes', 'data', or their numbers" in done.stderr


def test_ten_rows_and_two_thousand_columns(tmp_path: Path) -> None:
    wide = (
        pd.DataFrame(np.random.default_rng(3).uniform(1, 3, (10, 2000)))
        .add_prefix("c")
        .assign(y=lambda t: 3 * t["c17"] ** 2)
    )
    said = fitted(tmp_path, wide)
    assert "law    y = 3*c17^2\n" in said
    assert max(map(len, said.splitlines())) < 600
