"""Ordinary tables through the estimator: gaps, texts, categories, copies, and bad input with its remedy."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simplipy
from flash_ansr import FlashANSR
from simplipy.expression.indicators import indicator_parts

RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 5.0, (60, 2))
COLOUR = RNG.choice(["red", "green", "blue"], 60)
FRAME = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "colour": COLOUR})
Y = 2 * X[:, 0] + X[:, 1]
N = np.nan

# rows that were left out may lie outside the others
pytestmark = pytest.mark.filterwarnings("ignore::flash_ansr.infer.result.extrapolation.ExtrapolationWarning")


def quick(**options: Any) -> FlashANSR:
    return FlashANSR(
        **{"time_limit": None, "n_samples": 300, "random_state": 0, "proposers": ["closed_form", "prior"], **options}
    )


def is_law(model: FlashANSR, text: str) -> bool:
    return simplipy.equivalent(model.expression_, text, rtol=1e-6).equivalent


@pytest.mark.parametrize("kind", ["texts", "categories", "objects"])
def test_texts_are_indicators(kind: str, tmp_path: Path) -> None:
    cells = {"texts": COLOUR, "categories": pd.Categorical(COLOUR), "objects": COLOUR.astype(object)}[kind]
    frame = FRAME.assign(colour=cells)
    y = 2 * X[:, 0] + 3 * (COLOUR == "red")
    model = quick().fit(frame, y)
    assert model.expression_.infix(precision=6) == '2*x + 3*(colour == "red")'
    assert simplipy.parse(model.expression_.infix()) == model.expression_
    assert model.latex() == r"2 x + 3 [\mathrm{colour} = \text{red}]"
    assert model.columns_used() == ["x", "colour"]
    assert list(model.feature_names_in_) == ["x", "z", "colour"]
    assert model.n_features_in_ == 3
    np.testing.assert_allclose(model.predict(frame), y)
    np.testing.assert_allclose(model.expression_(frame), y)
    model.save(tmp_path / "run")
    again = FlashANSR.load(tmp_path / "run")
    assert again.expression_ == model.expression_
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.columns_used() == ["x", "colour"]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(again.predict(frame.to_numpy(dtype=object)), model.predict(frame))


def test_levels_that_the_fit_did_not_see() -> None:
    model = quick().fit(FRAME, 2 * X[:, 0] + 3 * (COLOUR == "red"))
    new = FRAME.head(3).assign(colour=["red", "pink", "mauve"])
    with pytest.warns(
        UserWarning, match="column 'colour' has levels that the fit did not see: 'mauve', 'pink'"
    ) as told:
        values = model.predict(new)
    assert {warning.filename for warning in told if "levels" in str(warning.message)} == {__file__}
    np.testing.assert_allclose(values, 2 * X[:3, 0] + [3, 0, 0])
    unused = quick().fit(FRAME, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(unused.predict(new), Y[:3])


def test_truth_values_and_ordered_categories_stay_one_column() -> None:
    size = pd.Categorical(RNG.choice(["S", "M", "L"], 60), categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"x": X[:, 0], "big": X[:, 1] > 3, "size": size})
    model = quick().fit(frame, X[:, 0] + 2 * (X[:, 1] > 3) + 5 * size.codes)
    assert is_law(model, "x + 2*big + 5*size")
    assert model.report_["columns"] == ["x", "big", "size"]


@pytest.mark.parametrize("bad", [None, N, pd.NA])
def test_gaps_are_refused_with_the_remedy(bad: object) -> None:
    frame = FRAME.astype(object)
    frame.iloc[[4, 7], 0] = bad
    frame.iloc[7, 2] = bad
    message = (
        r"NaN \(missing values\) in 2 of 60 rows, columns 'x' \(2 rows, first row 5\), 'colour' .*first row 8\).*; "
        'missing="drop" leaves these rows out, missing="median" fills the gaps'
    )
    with pytest.raises(ValueError, match=message):
        quick().fit(frame, Y)


@pytest.mark.parametrize("as_array", [False, True])
def test_missing_drop(as_array: bool, tmp_path: Path) -> None:
    gaps = FRAME[["x", "z"]].assign(idle=np.arange(60.0) % 7)
    gaps.iloc[3, 0] = gaps.iloc[5, 2] = N
    y = np.where(np.arange(60) == 9, N, Y)
    table = gaps.to_numpy() if as_array else gaps
    model = quick(missing="drop").fit(table, y)
    assert is_law(model, "2*x1 + x2" if as_array else "2*x + z")
    assert model.report_["rows"] == 57
    assert model.report_["left_out_rows"] == 3
    predicted = model.predict(table)
    assert np.flatnonzero(np.isnan(predicted)).tolist() == [3]  # the law does not use the column that lacks row 5
    np.testing.assert_allclose(np.delete(predicted, 3), np.delete(Y, 3))
    assert model.score(table, y) == pytest.approx(1.0)
    model.save(tmp_path / "run")
    np.testing.assert_array_equal(FlashANSR.load(tmp_path / "run").predict(table), predicted)


def test_missing_median(tmp_path: Path) -> None:
    gaps = FRAME.assign(colour=np.where(COLOUR == "blue", "red", COLOUR))
    y = X[:, 0] + 4 * (gaps["colour"] == "red")
    gaps.iloc[3, 0], gaps.iloc[5, 2] = N, None
    model = quick(missing="median", selection="bic").fit(gaps, y)
    assert model.report_["rows"] == 60
    assert model.columns_used() == ["x", "colour"]
    model.save(tmp_path / "run")
    new = pd.DataFrame({"x": [N, 2.0, N], "z": 1.0, "colour": ["green", None, None]})
    filled = pd.DataFrame(
        {"x": [gaps["x"].median(), 2.0, gaps["x"].median()], "z": 1.0, "colour": ["green", "red", "red"]}
    )
    for estimator in (model, FlashANSR.load(tmp_path / "run")):
        np.testing.assert_array_equal(estimator.predict(new), model.predict(filled))


def test_how_gaps_are_treated_can_be_changed_after_the_fit() -> None:
    model = quick().fit(X, Y)
    gap = [[N, 1.0], [2.0, 1.0]]
    message = (
        r"in 1 of 2 rows, columns 'x1' .*; set_params\(missing=\"drop\"\) predicts NaN there, set_params\(missing="
    )
    with pytest.raises(ValueError, match=message):
        model.predict(gap)
    np.testing.assert_allclose(model.set_params(missing="drop").predict(gap), [N, 5.0])
    np.testing.assert_allclose(model.set_params(missing="median").predict(gap), [2 * np.median(X[:, 0]) + 1, 5.0])
    assert np.isnan(model.predict([[np.inf, 1.0]]))[0]  # as every law is there
    with pytest.raises(ValueError, match="X contains infinity in the columns 'x1'"):
        model.set_params(missing="error").predict([[np.inf, 1.0]])


def test_results_without_an_encoding_are_read(tmp_path: Path) -> None:
    """As versions wrote them that knew columns of numbers only, each of which could be a variable."""
    frame = FRAME[["z", "x"]].assign(idle=1.0)[["idle", "z", "x"]]
    model = quick().fit(frame[["z", "x"]], Y)
    model.save(tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    content = json.loads(path.read_text())
    del content["encoding"], content["parameters"]["missing"]
    content["columns"], content["selected"] = ["idle", "z", "x"], [1, 2]
    path.write_text(json.dumps(content))
    np.testing.assert_allclose(FlashANSR.load(tmp_path / "run").predict(frame), Y)


def test_constants_and_copies_are_left_out_and_told() -> None:
    frame = FRAME.assign(level=3, copy=FRAME["x"], label=[f"id{k}" for k in range(60)])
    model = quick().fit(frame, Y)
    assert is_law(model, "2*x + z")
    left_out = model.report_["left_out_columns"]
    assert left_out["level"] == "the same in every row"
    assert left_out["copy"] == "equal to x in every row"
    assert left_out["label"] == "its texts all differ"
    assert not {"copy", "label", "level"} & set(model.report_["columns"])


@pytest.mark.parametrize("width", [1e-8, 1e-10, 1e-13])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_columns_that_are_almost_copies(width: float, noise: float) -> None:
    """Both are searched; no law and no baseline has huge numbers that cancel."""
    rng = np.random.default_rng(1)
    frame = FRAME[["x", "z"]].assign(w=X[:, 0] * (1 + width * rng.normal(size=60)))
    y = Y + noise * rng.normal(size=60)
    model = quick(proposers=["closed_form", "enumerate", "local", "prior"], n_samples=500).fit(frame, y)
    assert len({"x", "w"} & set(model.expression_.variables)) == 1
    assert "z" in model.expression_.variables
    assert max(abs(float(t)) for t in model.baseline_.tokens if t not in simplipy.OPERATORS and not t.isalpha()) < 10
    np.testing.assert_allclose(model.baseline_(frame), model.baseline_(frame.assign(w=frame["x"])), rtol=1e-4)


def test_numbers_as_texts() -> None:
    frame = pd.DataFrame({"x": [f"{1000 * v:,.6f}" for v in X[:, 0]], "z": [str(v) for v in X[:, 1]]})
    model = quick().fit(frame, 2000 * X[:, 0] + X[:, 1])
    assert is_law(model, "2*x + z")
    first = frame["x"][0]
    assert model.report_["input_notes"] == [f"column 'x' was read as numbers: {first!r} as {first.replace(',', '')}"]
    np.testing.assert_allclose(model.predict(frame), 2000 * X[:, 0] + X[:, 1])


def test_targets_of_every_kind() -> None:
    classes = (Y > 9).astype(int)
    for y in (classes, classes.astype(bool), [str(c) for c in classes], pd.Series(classes, dtype="Int64")):
        model = quick(n_samples=64).fit(X, y)
        assert model.score(X, classes) > 0.3
    with pytest.warns(match="column-vector y was passed"):
        assert is_law(quick().fit(X, Y[:, None]), "2*x1 + x2")


@pytest.mark.parametrize("with_law", [True, False])
def test_ten_rows_and_five_thousand_columns(with_law: bool) -> None:
    wide = np.random.default_rng(3).uniform(1, 3, (10, 5000))
    y = 3 * wide[:, 17] ** 2 if with_law else np.random.default_rng(5).normal(size=10)
    model = quick().fit(wide, y)
    assert np.isfinite(model.predict(wide)).all()
    if with_law:
        assert is_law(model, "3*x18^2")


BAD = {
    "mixed": (FRAME.assign(x=["late", *X[1:, 0]]), Y, "column 'x' of X mixes numbers and texts: 'late' in row 1 is no"),
    "mixed texts": (FRAME.assign(colour=["7", *COLOUR[1:]]), Y, "'7' in row 1 is one; correct or empty such cells"),
    "infinity": (
        FRAME.assign(x=[np.inf, *X[1:, 0]]),
        Y,
        r"infinity in the columns 'x' \(1 row, first row 1\); correct",
    ),
    "infinity in an array": (
        np.where(X[4, 1] == X, -np.inf, X),
        Y,
        r"infinity in the columns 'x2' \(1 row, first row 5",
    ),
    "empty column": (FRAME.assign(x=N), Y, r"in 60 of 60 rows, columns 'x' \(60 rows, first row 1\); missing=\"drop\""),
    "two targets": (
        X,
        np.column_stack([Y, Y]),
        r"got the shape \(60, 2\): a law gives one target; fit an estimator for",
    ),
    "target with a gap": (X, [N, *Y[1:]], 'y contains NaN: 1 row, first row 1 of 60; missing="drop" leaves these rows'),
    "infinite target": (X, [np.inf, *Y[1:]], "y contains infinity: 1 row, first row 1 of 60; correct these values"),
    "target of texts": (
        X,
        np.where(Y > 9, "yes", "no"),
        "y is not numeric: '(yes|no)' in row 1 .*; for two classes, pass",
    ),
    "names twice": (
        FRAME.set_axis(["a", "b", "a"], axis=1),
        Y,
        "names of X must differ, got 'a' more than once; rename",
    ),
    "array of texts": (
        np.array([["a", "b"]] * 60),
        Y,
        "X has text, .*'a'; pass a DataFrame: its columns of texts become",
    ),
    "lists": (FRAME.assign(x=[[1]] * 60), Y, "column 'x' of X is not numeric: row 1 has a list"),
    "only labels": (pd.DataFrame({"a": [f"i{k}" for k in range(60)]}), Y, "X has no column that a law could use: 'a'"),
    "one row": (FRAME[:1], Y[:1], r"X must have at least 2 rows and one column, got the shape \(1, 3\)"),
    "no column": (FRAME[[]], Y, r"at least 2 rows and one column, got the shape \(60, 0\)"),
    "lengths differ": (FRAME, Y[:5], r"inconsistent numbers of samples: \[60, 5\]"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_a_typed_error_with_a_remedy(kind: str) -> None:
    table, y, message = BAD[kind]
    with pytest.raises(ValueError, match=message):
        quick().fit(table, y)


def test_a_bad_way_of_gaps() -> None:
    with pytest.raises(ValueError, match="missing must be one of 'error', 'drop', 'median', got 'mean'"):
        quick(missing="mean").fit(X, Y)


def test_new_rows_that_are_no_numbers() -> None:
    model = quick().fit(FRAME[["x", "z"]], Y)
    with pytest.raises(
        ValueError, match="column 'x' of X is not numeric: 'late' in row 2 is no number; convert or drop"
    ):
        model.predict(pd.DataFrame({"x": ["1.5", "late"], "z": [1.0, 2.0]}))
    np.testing.assert_allclose(model.predict(pd.DataFrame({"x": ["1.5", "2"], "z": [1.0, 2.0]})), [4.0, 6.0])


def test_names_of_indicators_in_all_results() -> None:
    model = quick().fit(FRAME, X[:, 0] * (COLOUR == "red") + 0.1 * RNG.normal(size=60))
    names = {name for e in [*model.candidates_["expression"], model.baseline_] for name in e.variables}
    levels = {parts[1] for name in names if (parts := indicator_parts(name)) is not None}
    assert levels == {"red", "green", "blue"}
    assert names - {"x", "z"} == {f'(colour == "{level}")' for level in levels}
