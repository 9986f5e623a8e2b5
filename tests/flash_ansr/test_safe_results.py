"""What a result says of its law: whether it is safe where the rows lie, and where predictions leave them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flash_ansr import ExtrapolationWarning, FlashANSR
from flash_ansr.infer.result.search_report import unsafe_text
from simplipy import parse
from tests.command_line import run_flash_ansr as run

RNG = np.random.default_rng(3)
FEW = ("--samples", "400", "--seed", "0", "--proposers", "closed_form,prior", "--quiet")


def quick(**options: object) -> FlashANSR:
    return FlashANSR(**{"time_limit": None, "n_samples": 400, "random_state": 0, **options})


@pytest.fixture(scope="module")
def lens() -> FlashANSR:
    """1/(near - far) with near > far in every row, though the ranges overlap; a third column plays no part."""
    far = RNG.uniform(0.5, 3.0, 60)
    near = far + RNG.uniform(0.2, 2.0, 60)
    table = pd.DataFrame({"near": near, "idle": RNG.normal(size=60), "far": far})
    return quick().fit(table, 1 / (near - far))


def outside(model: FlashANSR, n: int = 3) -> pd.DataFrame:
    """Rows of which n lie above the range of the column near."""
    table = pd.DataFrame({"near": np.full(6, 2.0), "idle": np.full(6, 1e6), "far": np.full(6, 1.0)})
    table.loc[: n - 1, "near"] = 100.0
    return table


def test_an_exact_law_is_marked_and_stays(lens: FlashANSR) -> None:
    assert lens.expression_.infix() == "1/(near - far)"
    assert lens.report_["safe"] == lens.candidates_["safe"][0] == "disproved"
    assert set(lens.candidates_["safe"]) <= {"proved", "disproved", "unknown"}
    assert lens.report_["fails"]["how"] == "pole"
    point = lens.report_["fails"]["at"]
    assert point["near"] == pytest.approx(point["far"], rel=1e-12)
    assert list(point) == ["near", "far"]
    assert unsafe_text(lens.report_).startswith("the law has a pole inside the range of the data, near near = ")


def test_another_choice_has_its_own_safety(lens: FlashANSR, tmp_path: Path) -> None:
    lens.save(tmp_path / "run")
    model = FlashANSR.load(tmp_path / "run")
    row = int(np.argmax(model.candidates_["safe"] == "proved"))
    assert model.choose(index=row).report_["safe"] == "proved"
    model.choose(index=1)  # the law that was
    assert (model.report_["safe"], model.report_["fails"]) == ("disproved", None)
    assert unsafe_text(model.report_) == "the law fails at a point inside the range of the data"


def test_a_safe_law() -> None:
    x = np.linspace(0.5, 4.0, 50)[:, None]
    model = quick().fit(x, 2 * x[:, 0] / (3 + x[:, 0]))
    assert (model.report_["safe"], model.report_["fails"]) == ("proved", None)
    assert unsafe_text(model.report_) == ""


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ({"safe": "unknown"}, "could not be shown to be defined everywhere in the range of the data"),
        ({"safe": "disproved", "fails": {"how": "overflow", "at": {"t": 800.0}}}, "overflows inside .*, at t = 800"),
        ({"safe": "disproved", "fails": {"how": "undefined", "at": {"t": -1.0}}}, "is undefined inside .*, at t = -1"),
    ],
)
def test_sentences(report: dict[str, object], text: str) -> None:
    assert pd.Series([unsafe_text(report)]).str.contains(text)[0]


def test_a_warning_once(lens: FlashANSR) -> None:
    model = quick(n_samples=50).fit(pd.DataFrame({"near": [1.0, 2.0, 4.0], "b": [1.0, 5.0, 2.0]}), [2.0, 4.0, 8.0])
    assert model.expression_ == parse("2*near")
    rows = pd.DataFrame({"near": [0.5, 2.0, 9.0, 4.0], "b": [100.0] * 4})  # the law does not use b
    with pytest.warns(ExtrapolationWarning) as caught:
        np.testing.assert_array_equal(model.predict(rows), 2 * rows["near"])
    message = str(caught[0].message)
    assert message.startswith("2 of 4 rows lie outside the ranges of the fit")
    assert message.endswith("'near' went from 1 to 4")
    assert caught[0].filename == __file__
    model.predict(rows)  # warnings are errors here
    model.fit(rows, rows["near"] * 2)
    model.predict(rows)


def test_rows_inside_give_no_warning(lens: FlashANSR) -> None:
    model = quick(n_samples=50).fit([[1.0], [2.0], [4.0]], [2.0, 4.0, 8.0])
    model.predict([[1.0], [3.0], [4.0 + 1e-12]])
    model.score([[1.0], [30.0]], [2.0, 60.0])
    with pytest.warns(ExtrapolationWarning):
        model.predict([[30.0]])


def test_held_out_rows_count_as_seen() -> None:
    x = np.linspace(1, 5, 40)[:, None]
    quick(selection="validation").fit(x, 3 * x[:, 0]).predict(x)


def test_ranges_and_safety_are_saved(lens: FlashANSR, tmp_path: Path) -> None:
    lens.save(tmp_path / "run")
    again = FlashANSR.load(tmp_path / "run")
    assert again.report_["safe"] == "disproved"
    assert again.candidates_["safe"].tolist() == lens.candidates_["safe"].tolist()
    with pytest.warns(ExtrapolationWarning, match="3 of 6 rows lie outside .*'near' went from"):
        again.predict(outside(again))
    assert "safe" in (tmp_path / "run" / "candidates.csv").read_text().splitlines()[0].split(",")


def test_results_without_ranges_load(lens: FlashANSR, tmp_path: Path) -> None:
    """Those that were saved before ranges were."""
    lens.save(tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    content = json.loads(path.read_text())
    del content["ranges"]
    path.write_text(json.dumps(content))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FlashANSR.load(tmp_path / "run").predict(outside(lens)).shape == (6,)


def test_the_command_line_says_both(tmp_path: Path) -> None:
    far = RNG.uniform(0.5, 3.0, 60)
    near = far + RNG.uniform(0.2, 2.0, 60)
    table = pd.DataFrame({"near": near, "far": far, "y": 1 / (near - far)})
    table.to_csv(tmp_path / "data.csv", index=False)
    done = run("fit", str(tmp_path / "data.csv"), *FEW, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "note   the law has a pole inside the range of the data, near near = " in done.stdout
    table.assign(near=50.0).to_csv(tmp_path / "new.csv", index=False)
    done = run("predict", str(tmp_path / "run"), str(tmp_path / "new.csv"))
    assert done.stderr.startswith("note: 60 of 60 rows lie outside the ranges of the fit")
    assert done.stdout.split()[0] == "prediction"
