"""Formulas that describe few rows about as well as the law are counted and named."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from flash_ansr import FlashANSR
from flash_ansr.infer.result.rivals import rivals, rivals_text
from simplipy import parse

# two nats of 12 rows are 0.145 decades
TABLE = pd.DataFrame({"expression": [parse(t) for t in ("x1", "exp(x1)", "x1^2", "x1 + 1")]}).assign(
    score=[-1.0, -0.9, -0.86, -0.8], r2_cv=[0.9, 0.9, math.nan, 0.8], fvu=0.1
)


def test_two_nats_make_a_rival() -> None:
    assert rivals(TABLE.assign(r2_cv=0.9), 12) == ["exp(x1)", "x1^2"]
    assert rivals(TABLE.assign(r2_cv=0.9), 24) == []
    assert rivals(TABLE.assign(r2_cv=math.nan), 12) == ["exp(x1)", "x1^2"]


def test_the_same_formula_with_other_numbers_is_no_rival() -> None:
    near = TABLE.assign(r2_cv=0.9, score=-1.0)
    for texts, wanted in [
        (("x1^2", "3.1*x1^2.01", "x1^2 - 1", "x1^2 + 3"), ["x1^2 - 1"]),
        (("3*exp(-x1/2)", "pi*exp(-x1/1.93)", "exp(-x2)", "3/x1"), ["exp(-x2)", "3/x1"]),
    ]:
        assert rivals(near.assign(expression=[parse(text) for text in texts]), 12) == wanted


def test_scores_of_another_measure_do_not_count() -> None:
    assert rivals(TABLE, 12) == ["exp(x1)"]


def test_none_beside_an_exact_law_or_many_rows() -> None:
    assert rivals(TABLE.assign(fvu=1e-24), 12) == []
    assert rivals(TABLE.assign(score=-1.0), 200) == []


def test_sentences() -> None:
    assert rivals_text([]) == ""
    assert rivals_text(["a"]) == "another formula describes the rows about as well: a"
    assert rivals_text(["a", "b"]) == "2 other formulas describe the rows about as well, for example a"


@pytest.fixture(scope="module")
def line() -> FlashANSR:
    x = np.linspace(1, 6, 12)
    y = 2 * x + np.random.default_rng(0).normal(size=12)
    model = FlashANSR(n_samples=500, time_limit=None, random_state=0, proposers=["closed_form", "enumerate"])
    return model.fit(x[:, None], y)


def test_the_report_names_them(line: FlashANSR) -> None:
    decades = line.candidates_["score"] - line.candidates_["score"][0]
    near = [f.infix(precision=4) for f in line.candidates_["expression"][decades <= 4 / (12 * math.log(10))]]
    assert line.report_["rivals"]
    assert set(line.report_["rivals"]) < set(near)


def test_another_choice_has_its_own(line: FlashANSR) -> None:
    law = line.expression_.infix(precision=4)
    line.choose(index=1)
    assert law in line.report_["rivals"]
