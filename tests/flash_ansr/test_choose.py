"""Another candidate of the same search as the law, and the columns that it is chosen by."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from flash_ansr import FlashANSR, plausibility
from flash_ansr.infer.result.search_report import chosen_row

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (300, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 / X[:, 0] + 0.3 * RNG.normal(size=300)


@pytest.fixture(scope="module")
def searched() -> FlashANSR:
    proposers = ["closed_form", "prior"]
    return FlashANSR(n_samples=300, time_limit=None, proposers=proposers, random_state=0, n_jobs=1).fit(X, Y)


@pytest.fixture
def model(searched: FlashANSR) -> FlashANSR:
    return copy.deepcopy(searched)


def test_the_table_tells_prediction_and_price(model: FlashANSR) -> None:
    table = model.candidates_
    tried = table[table.r2_cv.notna()]
    assert len(tried) >= 4
    assert (tried.r2_cv < 1).all()
    # rows that a formula was not fitted to are predicted no better than those that it was, but for chance
    assert (tried.r2_cv <= 1 - tried.fvu + 0.02).all()
    assert (table.price > 0).all()
    assert set(tried.proposer) >= {"baseline"}


def test_prices_are_those_of_forms(model: FlashANSR) -> None:
    """Of formulas with all columns: variables are chosen from as many as there are in plausibility."""
    table = model.candidates_
    both = table[[len(e.variables) == 2 for e in table.expression]]
    assert len(both)
    expected = [-plausibility(e) for e in both.expression]
    np.testing.assert_allclose(both.price, expected, atol=0.006)


def test_by_length_the_best_prediction(model: FlashANSR) -> None:
    table = model.candidates_
    longest = int(table.length.median())
    short = table[table.length <= longest]
    expected = short.expression[short.r2_cv.idxmax()]
    assert model.choose(max_length=longest) is model
    assert model.expression_ == expected == model.candidates_.expression[0]
    assert len(model.expression_) <= longest


def test_by_explained_variance_the_shortest(model: FlashANSR) -> None:
    table = model.candidates_
    least = 0.8 * float(table.r2_cv.max())
    good = table[table.r2_cv >= least]
    model.choose(min_r2=least)
    assert len(model.expression_) == good.length.min()
    assert model.candidates_.r2_cv[0] >= least


def test_by_row_and_all_that_follows(model: FlashANSR, tmp_path: Path) -> None:
    before, row = model.candidates_, 2
    model.choose(index=row)
    assert model.expression_ == before.expression[row]
    np.testing.assert_array_equal(model.predict(X), model.expression_(X))
    others = [i for i in range(len(before)) if i != row]
    pd.testing.assert_frame_equal(model.candidates_, before.iloc[[row, *others]].reset_index(drop=True))
    for i, expression in enumerate(model.candidates_.expression):
        np.testing.assert_array_equal(model.predict(X, index=i), expression(X))
    model.save(tmp_path / "result")
    read = FlashANSR.load(tmp_path / "result")
    assert read.expression_ == model.expression_
    assert read.choose(index=1).expression_ == model.candidates_.expression[1]


def test_the_law_itself_changes_nothing(model: FlashANSR) -> None:
    before = model.candidates_
    model.choose(index=0)
    pd.testing.assert_frame_equal(model.candidates_, before)


HAND = pd.DataFrame({"length": [5, 3, 1, 9], "r2_cv": [0.8, 0.6, math.nan, 0.9]})


@pytest.mark.parametrize(
    ("wish", "row"),
    [
        ({"max_length": 9}, 3),
        ({"max_length": 8}, 0),
        ({"max_length": 4}, 1),
        ({"max_length": 1}, 2),
        ({"min_r2": 0.5}, 1),
        ({"min_r2": 0.7}, 0),
        ({"min_r2": 0.85}, 3),
        ({"max_length": 5, "min_r2": 0.7}, 0),
        ({"index": 2}, 2),
    ],
)
def test_rows_of_a_table_by_hand(wish: dict[str, float], row: int) -> None:
    assert chosen_row(HAND, *(wish.get(name) for name in ("max_length", "min_r2", "index"))) == row


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({}, "give one of the two"),
        ({"index": 1, "max_length": 3}, "give one of the two"),
        ({"index": 4}, "index must be a row of candidates_, 0 to 3, got 4"),
        ({"index": -1}, "index must be a row of candidates_, 0 to 3, got -1"),
        ({"max_length": 0}, "no candidate has max_length 0 or less; the shortest has 1"),
        ({"min_r2": 0.95}, "no candidate has an r2_cv of 0.95 or more; the best has 0.9"),
        ({"min_r2": 0.7, "max_length": 3}, "no candidate has an r2_cv of 0.7 or more; the best has 0.6"),
    ],
)
def test_wishes_that_no_row_meets(wish: dict[str, float], message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        chosen_row(HAND, *(wish.get(name) for name in ("max_length", "min_r2", "index")))


@pytest.mark.parametrize(("wish", "row"), [({"max_length": 4}, 1), ({"min_r2": 0.7}, 0), ({"min_r2": 0.1}, 2)])
def test_where_no_candidate_was_tried_the_rows_of_the_fit_count(wish: dict[str, float], row: int) -> None:
    exact = HAND.assign(r2_cv=math.nan, fvu=[0.2, 0.6, 0.8, 1e-24])
    assert chosen_row(exact, *(wish.get(name) for name in ("max_length", "min_r2", "index"))) == row


def test_before_a_fit() -> None:
    with pytest.raises(NotFittedError):
        FlashANSR().choose(index=0)
