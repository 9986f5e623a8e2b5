"""Tables and files that are wrong, or odd: each gives a law, or an error with the thing, the limit and the remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flash_ansr import FlashANSR
from tests.command_line import run_flash_ansr as run

X = np.random.default_rng(0).uniform(1, 3, (40, 2))
Y = 2 * X[:, 0] + X[:, 1]
FRAME = pd.DataFrame(X, columns=["a", "b"])
N = np.nan


def quick(**options: object) -> FlashANSR:
    return FlashANSR(n_samples=60, time_limit=None, random_state=0, n_jobs=1, proposers=["closed_form"], **options)


WRONG = {
    "infinity, rows with gaps dropped": (FRAME.assign(a=[np.inf, *X[1:, 0]]), Y, "drop", r"infinity .* 'a' \(1 row, f"),
    "infinity, gaps filled": (FRAME.assign(a=[-np.inf, *X[1:, 0]]), Y, "median", "or empty them as missing"),
    "infinity as text": (FRAME.assign(a=["inf", *map(str, X[1:, 0])]), Y, "error", "infinity in the columns 'a'"),
    "empty column": (FRAME.assign(a=N), Y, "error", "fills the gaps; both leave columns without any value out"),
    "only empty columns": (FRAME * N, Y, "drop", r"'a' \(no value in any row\), .*; add a column of numbers"),
    "empty target": (X, Y * N, "drop", "only 0 of 40 rows are complete, a law needs 2: y has gaps in 40 rows"),
    "two targets": (X, pd.DataFrame({"p": Y, "q": Y}), "error", "a law gives one target; fit an estimator for each"),
    "the name 1 twice": (
        FRAME.set_axis(["1", 1], axis=1),
        Y,
        "error",
        "names of X must differ, got '1' more than once",
    ),
    "truth values and texts": (FRAME.assign(a=[True, "x"] * 20), Y, "error", "'x' in row 2 is no number, and True in"),
    "too large for a double": (FRAME.assign(a=[10**400] * 40), Y, "error", "column 'a' of X .* in row 1"),
    "a target too large": (X, [10**400, *Y[1:]], "error", "y is not numeric: .* in row 1 is no number"),
    "no rows": (FRAME[:0], Y[:0], "error", r"at least 2 rows and one column, got the shape \(0, 2\); add rows"),
    "no columns": (FRAME[[]], Y, "error", r"got the shape \(40, 0\); add columns"),
    "one row": (X[:1], Y[:1], "error", r"1 sample\(s\) .* a minimum of 2 is required by FlashANSR; add rows"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_tables(kind: str) -> None:
    table, y, missing, message = WRONG[kind]
    with pytest.raises(ValueError, match=message):
        quick(missing=missing).fit(table, y)


@pytest.mark.parametrize("table", [X.astype(str), [[str(v) for v in row] for row in X], FRAME.astype(str)])
def test_numbers_as_texts_are_numbers(table: object) -> None:
    model = quick().fit(table, Y)
    np.testing.assert_allclose(model.predict(table), Y)


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_an_empty_column_is_left_out_where_gaps_are_allowed(missing: str) -> None:
    model = quick(missing=missing).fit(FRAME.assign(idle=N), Y)
    assert model.report_["left_out_columns"] == {"idle": "no value in any row"}
    assert model.report_["left_out_rows"] == 0
    assert model.score(FRAME.assign(idle=N), Y) > 0.999


def test_a_target_with_two_values() -> None:
    classes = (Y > 6).astype(int)
    model = quick().fit(X, classes)
    assert model.score(X, classes) > 0.3


def written(name: str, content: object) -> str:
    if isinstance(content, pd.DataFrame):
        content.to_csv(name, index=False)
    else:
        Path(name).write_text(str(content))
    return name


DATA = FRAME.assign(y=Y)
WRONG_FILES = {
    "a target twice": ("a,y,y\n1,2,3\n2,3,4\n", [], "column 'y' is there more than once; rename one of them"),
    "a feature twice": ("a,a,y\n1,2,3\n2,3,4\n", ["--features", "a"], "column 'a' is there more than once; rename"),
    "infinite target": (DATA.assign(y=[np.inf, *Y[1:]]), ["--missing", "drop"], "'y' is infinite in 1 of 40 rows, fi"),
    "infinity": (DATA.assign(a=[np.inf, *X[1:, 0]]), ["--missing", "median"], "the table contains infinity in the col"),
    "empty column": (DATA.assign(a=N), [], "--missing median fills the gaps; both leave columns without any value out"),
    "empty target": (DATA.assign(y=N), ["--missing", "drop"], "only 0 of 40 rows are complete, a law needs 2"),
    "text in the target": (DATA.assign(y=["late", *Y[1:]]), [], "the target 'y' must be numeric: 'late' in row 1 is n"),
    "two classes as texts": (DATA.assign(y=np.where(Y > 6, "yes", "no")), [], "such as 0 and 1 for two classes"),
    "header only": ("a,y\n", [], "data.csv has no rows of data; add at least 2"),
    "one row": ("a,y\n1,2\n", [], "the table must have at least 2 rows and one column, got the shape (1, 1); add rows"),
    "no feature": ("y\n1\n2\n", [], "beside the target 'y' there is no column that a law could use"),
}


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_wrong_files(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, options, message = WRONG_FILES[kind]
    monkeypatch.chdir(tmp_path)
    done = run("fit", written("data.csv", content), *options)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert message in done.stderr


RNG = np.random.default_rng(1)
ODD_FILES = {
    "thousands": (DATA.assign(a=[f"{1000 * v:,.3f}" for v in X[:, 0]]), [], "column 'a' was read as numbers"),
    "two classes": (DATA.assign(y=(Y > 6).astype(int)), [], "law    y = "),
    "truth values": (DATA.assign(y=Y > 6), [], "law    y = "),
    "empty column": (DATA.assign(idle=N), ["--missing", "drop"], "columns left out: idle (no value in any row)"),
    "an unused column twice": ("a,b,b,y\n1,5,5,1\n2,7,7,2\n3,6,6,3\n", ["--features", "a"], "law    y = a"),
    "two rows": ("a,y\n1,2\n2,4\n", [], "law    y = 2*a"),
    "more columns than rows": (
        pd.DataFrame(RNG.normal(size=(10, 5000))).rename(columns="c{}".format).assign(y=RNG.normal(size=10)),
        [],
        "law    y = ",
    ),
}


@pytest.mark.parametrize("kind", ODD_FILES)
def test_odd_files_have_a_law(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, options, text = ODD_FILES[kind]
    monkeypatch.chdir(tmp_path)
    search = ("--samples", "60", "--seed", "0", "--proposers", "closed_form")
    done = run("fit", written("data.csv", content), *options, *search)
    assert done.returncode == 0, done.stderr
    assert text in done.stdout + done.stderr
