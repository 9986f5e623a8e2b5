"""Tables of many rows: a search with a time limit works on some of them, and its law is fitted to all."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import simplipy
from flash_ansr import FlashANSR
from flash_ansr.infer.search.progress import Progress
from flash_ansr.infer.table.sampling import sampled
from flash_ansr.infer.table.table import Table

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (24_000, 2))
Y = 2.7 * X[:, 0] * X[:, 1] + RNG.normal(0, 0.3, len(X))


def quick(**options: object) -> FlashANSR:
    return FlashANSR(**{"time_limit": 1.0, "n_samples": 50, "proposers": ["closed_form"], "random_state": 0, **options})


def test_work_on_all_rows_is_one_fit_of_the_law_and_the_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    fit_constants = simplipy.fit_constants

    def spy(formula: object, X: np.ndarray, *arguments: object, **options: object) -> object:
        sizes.append(len(X))
        return fit_constants(formula, X, *arguments, **options)

    monkeypatch.setattr(simplipy, "fit_constants", spy)
    model = quick(n_samples=200, time_limit=1.5).fit(X, Y)
    assert model.report_["rows"] == len(X)
    assert model.report_["searched_rows"] == 10_000
    assert sizes.count(len(X)) <= 3
    assert set(sizes[:-3]) <= {10_000, *range(7501)}


def test_the_law_is_fitted_to_all_rows() -> None:
    model = quick(time_limit=1.5, operators=["*", "+"]).fit(X, Y)
    skeleton = simplipy.parse("<constant>*x1*x2")
    wanted = simplipy.fit_constants(skeleton, X, Y)
    law = model.expression_
    assert simplipy.equivalent(law, wanted.expression, rtol=1e-6).equivalent
    assert model.candidates_["fvu"][0] == pytest.approx(wanted.fvu)
    linear = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), Y, rcond=None)[0]
    assert model.baseline_(X) == pytest.approx(linear[0] + X @ linear[1:], abs=1e-6)


def test_a_law_that_is_undefined_on_one_row_is_not_the_law() -> None:
    rows = X.copy()
    rows[12_001, 0] = -1.0  # not among the rows of the search
    y = np.log(np.abs(rows[:, 0]))
    y[12_001] = 0.0
    model = quick(time_limit=1.0, operators=["log", "*", "+", "abs"]).fit(rows, y)
    assert np.isfinite(model.predict(rows)).all()
    assert np.isfinite(model.candidates_["fvu"][0])


def test_without_a_clock_all_rows_are_searched() -> None:
    model = quick(time_limit=None).fit(X[:12_000], Y[:12_000])
    assert model.report_["searched_rows"] == 12_000


def test_blas_has_one_thread_in_a_search() -> None:
    threads: set[int] = set()

    def look(_: Progress) -> None:
        threads.update(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    quick(callback=look).fit(X[:50], Y[:50])
    assert threads == {1}


def test_a_law_of_some_rows_alone_makes_the_search_go_on_with_more() -> None:
    """The law holds on all but a few rows, which 10,000 rows do not have."""
    rows = np.random.default_rng(3).uniform(0.5, 3.0, (120_000, 2))
    y = 2.5 * rows[:, 0] * rows[:, 1]
    middle = np.flatnonzero(np.abs(y - np.median(y)) < 0.5)[6:10]
    y[middle] *= 1.001
    assert not np.isin(y[middle], sampled(Table(rows, y), 10_000, 0).y).any()
    model = quick(time_limit=60.0, n_samples=400, operators=["*", "+"]).fit(rows, y)
    assert model.report_["searched_rows"] == 40_000


def test_an_exact_law_of_all_rows_needs_no_more() -> None:
    rows = np.random.default_rng(3).uniform(0.5, 3.0, (40_000, 2))
    model = quick(time_limit=60.0, n_samples=400).fit(rows, 2.5 * rows[:, 0] * rows[:, 1])
    assert model.report_["searched_rows"] == 10_000
    assert str(model.expression_) in ("2.5*x1*x2", "5/2*x1*x2", "5*x1*x2/2", "2.5*(x1*x2)")
