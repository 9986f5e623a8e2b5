"""What a law leaves is in the report, is saved, follows another choice, and is printed by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flash_ansr import FlashANSR
from tests.command_line import run_flash_ansr as run

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 3, (80, 2))
Y = X[:, 0] ** 2 + 0.1 * RNG.normal(size=80)
PROPOSERS = ["closed_form", "prior"]


def quick(**options: object) -> FlashANSR:
    return FlashANSR(n_samples=300, time_limit=None, random_state=0, n_jobs=1, proposers=PROPOSERS, **options)


@pytest.fixture(scope="module")
def noisy() -> FlashANSR:
    return quick().fit(X, Y)


def test_random_residuals(noisy: FlashANSR) -> None:
    left = noisy.report_["residuals"]
    assert left["is_random"]
    assert left["text"].startswith("The residuals look random.")
    json.dumps(noisy.report_)


def test_an_exact_law_leaves_nothing() -> None:
    assert quick().fit(X, X[:, 0] ** 2).report_["residuals"] is None


def test_rows_are_those_of_the_users_table() -> None:
    """Two rows with gaps come first."""
    gaps = np.vstack([[[np.nan, 1.0], [1.0, np.nan]], X])
    y = np.concatenate([[1.0, 1.0], Y])
    y[12] += 50
    model = quick(missing="drop").fit(gaps, y)
    assert 13 in model.report_["residuals"]["outliers"]


def test_another_choice_leaves_something_else(noisy: FlashANSR, tmp_path: Path) -> None:
    model = quick().fit(X, Y)
    model.choose(max_length=1)
    left = model.report_["residuals"]
    assert left["is_random"] is False
    assert left["column"] == "x1"
    longer = model.candidates_.iloc[left["longer"]]
    assert longer["length"] > 1
    assert longer["pareto"]
    model.save(tmp_path / "run")
    again = FlashANSR.load(tmp_path / "run")
    assert again.report_["residuals"] == left
    again.choose(index=left["longer"])
    assert again.report_["residuals"] is None  # its rows are not saved


def test_the_command_line_says_it(tmp_path: Path) -> None:
    frame = pd.DataFrame({"V": X[:, 0], "y": Y})
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = ("--samples", "300", "--seed", "0", "--proposers", "closed_form,prior")
    done = run("fit", str(tmp_path / "data.csv"), *options)
    assert "left   The residuals look random." in done.stdout
    done = run("fit", str(tmp_path / "data.csv"), *options, "--max-length", "1")
    assert "left   The residuals are not random: they follow column V, " in done.stdout
    frame.assign(y=X[:, 0] ** 2).to_csv(tmp_path / "data.csv", index=False)
    assert "left   " not in run("fit", str(tmp_path / "data.csv"), *options).stdout


def test_the_command_line_names_rivals(tmp_path: Path) -> None:
    x = np.linspace(1, 6, 12)
    y = 2 * x + np.random.default_rng(0).normal(size=12)
    pd.DataFrame({"t": x, "y": y}).to_csv(tmp_path / "data.csv", index=False)
    options = ("--samples", "500", "--seed", "0", "--proposers", "closed_form,enumerate")
    assert " the rows about as well" in run("fit", str(tmp_path / "data.csv"), *options).stdout
