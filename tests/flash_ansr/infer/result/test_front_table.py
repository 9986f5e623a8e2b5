"""The table of the front: rows of ``candidates_``, four significant digits, R2 on unseen rows where it is known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from flash_ansr import FlashANSR
from flash_ansr.infer.result.front_table import front_cells, shown_front
from simplipy import parse

FORMULAS = ["1.234567*x1", "2", "x1*x2"]
TABLE = pd.DataFrame({"expression": [parse(text) for text in FORMULAS]}).assign(
    length=[3, 1, 4],
    fvu=[0.0123456, 1.0, 4e-28],
    r2_cv=[0.98765432, -0.5, math.nan],
    score=[-2.0, -1.0, 0.0],
    price=[12.345, 0.69, 123.456],
    pareto=True,
)


def test_columns_and_digits() -> None:
    heads, lines = front_cells(shown_front(TABLE))
    assert heads == ["row", "formula", "size", "R2 on unseen rows", "price"]
    assert lines == [
        ["1", "2", "1", "-0.5000", "0.69"],
        ["0", "1.235*x1", "3", "0.9877", "12.35"],
        ["2", "x1*x2", "4", "FVU < 1e-15", "123.5"],
    ]


def test_without_unseen_rows_the_rows_of_the_fit_count() -> None:
    heads, lines = front_cells(shown_front(TABLE.assign(r2_cv=math.nan)))
    assert heads[3] == "FVU"
    assert [line[3] for line in lines] == ["1.000e+00", "1.235e-02", "< 1e-15"]


@pytest.mark.parametrize(("also", "rows"), [(None, [0, *range(2, 13)]), (19, [0, *range(2, 13), 19])])
def test_of_a_long_front_the_best_the_law_and_a_row_that_is_named(also: int | None, rows: list[int]) -> None:
    n = 20
    long = pd.DataFrame({"length": np.arange(n), "score": [0.5, 99.0, *range(2, n)], "pareto": True})
    assert shown_front(long, also).index.tolist() == rows


def test_the_law_is_shown_whatever_its_score() -> None:
    n = 20
    long = pd.DataFrame({"length": np.arange(n), "score": [99.0, *range(1, n)], "pareto": True})
    assert 0 in shown_front(long).index


def test_a_verbose_search_ends_with_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).uniform(1, 3, (30, 1))
    y = pd.Series(X[:, 0] ** 2, name="energy")
    options = {"n_samples": 100, "time_limit": None, "random_state": 0, "proposers": ["closed_form"]}
    FlashANSR(verbose=2, **options).fit(X, y)
    said = capsys.readouterr().err
    assert "candidates for energy" in said
    assert "→ │   0 │ x1^2" in said
    FlashANSR(verbose=1, **options).fit(X, y)
    assert "candidates for" not in capsys.readouterr().err
