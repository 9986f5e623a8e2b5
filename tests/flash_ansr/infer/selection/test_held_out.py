"""Losses in rows that constants were not fitted to: against least squares by NumPy, and comparisons by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flash_ansr.infer.candidates.archive import BASELINE
from flash_ansr.infer.candidates.description import form_prices
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.held_out import HeldOut, held_out
from flash_ansr.infer.table.table import Table
from tests.flash_ansr.infer.selection.made import candidate

# linear formulas, and the columns of their design
LINEAR = {
    "<constant>": lambda X: [X[:, 0] ** 0],
    "<constant>*x1": lambda X: [X[:, 0]],
    "<constant>*x1 + <constant>": lambda X: [X[:, 0], X[:, 0] ** 0],
    "<constant>*x1*x2 + <constant>*sin(x2)": lambda X: [X[:, 0] * X[:, 1], np.sin(X[:, 1])],
}


def noisy(n_rows: int, seed: int, weighted: bool = False) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 4, (n_rows, 2))
    weights = rng.uniform(0.2, 3, n_rows) if weighted else None
    return Table(X, 1.7 * X[:, 0] + 0.6 * X[:, 1] + rng.normal(0, 0.5, n_rows), weights)


def left_out_errors(design: np.ndarray, table: Table) -> np.ndarray:
    """Squares of errors at each row, by weighted least squares in the others."""
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    errors = np.empty(table.n_rows)
    for i in range(table.n_rows):
        others = np.arange(table.n_rows) != i
        root = np.sqrt(weights[others])
        values = np.linalg.lstsq(design[others] * root[:, None], table.y[others] * root, rcond=None)[0]
        errors[i] = (design[i] @ values - table.y[i]) ** 2
    return errors * weights / weights.mean()


@settings(max_examples=25)
@given(st.sampled_from(sorted(LINEAR)), st.integers(6, 20), st.integers(0, 10_000), st.booleans())
def test_few_rows_are_each_predicted_by_least_squares_in_the_others(
    formula: str, n_rows: int, seed: int, weighted: bool
) -> None:
    table = noisy(n_rows, seed, weighted)
    found = held_out([candidate(table, formula, BASELINE)], table, "squared", seed, None)
    expected = left_out_errors(np.column_stack(LINEAR[formula](table.X)), table)
    # losses are in a unit of y and in the order of the folds
    shares = [np.sort(values) / values.sum() for values in (found.losses[0], expected)]
    np.testing.assert_allclose(*shares, rtol=1e-5, atol=1e-9)
    of_mean = left_out_errors(np.ones((n_rows, 1)), table).mean()
    assert found.candidates[0].r2_cv == pytest.approx(1 - expected.mean() / of_mean, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("n_rows", "part"), [(40, 0.5), (400, 0.25)])
def test_a_form_is_charged_a_part_of_its_price_unless_it_is_a_baseline(n_rows: int, part: float) -> None:
    table = noisy(n_rows, 0)
    formula = "<constant>*x1 + <constant>"
    free, charged = (candidate(table, formula, proposer) for proposer in (BASELINE, "test"))
    found = held_out([free, charged], table, "squared", 0, None)
    price = form_prices([charged.expression], 2).min()
    np.testing.assert_allclose(found.losses[1] / found.losses[0], math.exp(2 * part * price / n_rows), rtol=1e-9)
    assert found.candidates[1].r2_cv < found.candidates[0].r2_cv


@settings(max_examples=25)
@given(st.integers(3, 200), st.integers(0, 10_000))
def test_each_row_is_predicted_once(n_rows: int, seed: int) -> None:
    """x1 has no number to fit: its losses are its errors, in any order."""
    table = noisy(n_rows, seed)
    found = held_out([candidate(table, "x1", BASELINE)], table, "squared", seed, None)
    errors = np.sort((table.X[:, 0] - table.y) ** 2)
    np.testing.assert_allclose(np.sort(found.losses[0]) * errors[-1], errors * found.losses[0].max(), rtol=1e-9)


def test_of_many_rows_some_are_predicted_each_once() -> None:
    table = noisy(5000, 1)
    found = held_out([candidate(table, "x1", BASELINE)], table, "squared", 0, None)
    assert found.losses.shape == (1, 1500)
    assert len(np.unique(found.losses)) == 1500


def test_rows_of_a_fold_do_not_enter_its_fit() -> None:
    """A formula with as many numbers as rows but one meets all rows that it is fitted to, and misses others."""
    rng = np.random.default_rng(3)
    table = Table(rng.uniform(-1, 1, (5, 1)), rng.normal(size=5))
    cubic = candidate(table, "<constant> + <constant>*x1 + <constant>*x1^2 + <constant>*x1^3", BASELINE)
    quartic = cubic.expression(table.X)
    assert np.mean((quartic - table.y) ** 2) < table.y.var()
    assert held_out([cubic], table, "squared", 0, None).candidates[0].r2_cv < 0


@pytest.mark.parametrize("n_rows", [15, 60, 300])
def test_forms_searched_in_noise_explain_nothing(n_rows: int) -> None:
    """The best in the sample of many forms of ten columns that have nothing to do with y."""
    shapes = ("<constant>*{} + <constant>", "<constant>*sin({}) + <constant>", "<constant>*{}^2 + <constant>")
    explained = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = Table(rng.uniform(-2, 2, (n_rows, 10)), rng.normal(size=n_rows))
        made = [candidate(table, shape.format(f"x{k}")) for shape in shapes for k in range(1, 11)]
        best = min(made, key=lambda c: c.fvu)
        assert best.fvu < 1
        explained.append(held_out([best], table, "squared", seed, None).candidates[0].r2_cv)
    assert np.mean(explained) < 0
    assert max(explained) < 0.05


def test_a_law_explains_other_rows_too() -> None:
    table = noisy(300, 5)
    found = held_out([candidate(table, f) for f in ("<constant>*x1 + <constant>*x2", "<constant>*x2^2")], table,
                     "squared", 0, None)  # fmt: skip
    law, other = found.candidates
    assert law.r2_cv == pytest.approx(1 - 0.25 / table.y.var(), abs=0.03)
    assert found.best == 0
    assert found.excess(1, 0) > 5
    assert other.r2_cv < law.r2_cv


def test_a_unit_of_y_does_not_count() -> None:
    table = noisy(50, 2)
    for size in (1e-200, 1e-30, 1e30, 1e200):
        scaled = Table(table.X, table.y * size)
        r2 = [held_out([candidate(t, "<constant>*x1 + <constant>")], t, "squared", 0, None).candidates[0].r2_cv
              for t in (table, scaled)]  # fmt: skip
        assert r2[0] == pytest.approx(r2[1], rel=1e-6)


def test_formulas_that_are_undefined_on_a_row_are_left_out() -> None:
    table = Table(np.linspace(-1, 5, 30)[:, None], np.linspace(0, 3, 30) ** 2 + 0.01 * np.cos(np.arange(30)))
    made = [candidate(table, "<constant>*x1"), candidate(table, "<constant>*x1^2")]
    undefined = candidate(Table(table.X[10:], table.y[10:]), "<constant>*log(x1)")
    found = held_out([made[0], undefined, made[1]], table, "squared", 0, None)
    assert [c.expression for c in found.candidates] == [c.expression for c in made]
    assert len(found.losses) == 2


def test_a_spent_deadline_gives_nothing() -> None:
    table = noisy(50, 2)
    found = held_out([candidate(table, "<constant>*x1")], table, "squared", 0, Budget(time_limit=-1.0))
    assert found.candidates == []
    assert found.losses.size == 0


def test_the_folds_depend_on_the_seed_alone() -> None:
    table = noisy(60, 2)
    made = [candidate(table, "<constant>*x1 + <constant>")]
    losses = [held_out(made, table, "squared", seed, None).losses for seed in (0, 0, 1)]
    np.testing.assert_array_equal(losses[0], losses[1])
    assert not np.array_equal(losses[0], losses[2])


def test_the_excess_of_a_loss_is_its_paired_difference_in_standard_errors() -> None:
    """Differences 1, 3, 2, 2: their mean is 2, their deviation sqrt(1/2), of the mean sqrt(1/8)."""
    found = HeldOut([], np.array([[2.0, 5.0, 3.0, 9.0], [1.0, 2.0, 1.0, 7.0]]))
    assert found.best == 1
    assert found.excess(0, 1) == pytest.approx(2 / math.sqrt(1 / 8))
    assert found.excess(1, 0) == pytest.approx(-2 / math.sqrt(1 / 8))
    assert found.excess(0, 0) == found.excess(1, 1) == 0


def test_differences_that_are_all_equal_are_certain() -> None:
    found = HeldOut([], np.array([[2.0, 3.0], [1.0, 2.0], [1.0, 2.0]]))
    assert found.excess(0, 1) == math.inf
    assert found.excess(1, 0) == -math.inf
    assert found.excess(1, 2) == 0


def test_one_wild_row_does_not_decide() -> None:
    """The first one is better by 1 in each of 99 rows, and has one error of any size."""
    rng = np.random.default_rng(0)
    wild = rng.uniform(0.5, 1.0, 100)
    plain = wild + 1.0
    small, large = wild.copy(), wild.copy()
    small[0], large[0] = 1e3, 1e9
    values = [HeldOut([], np.array([losses, plain])).excess(0, 1) for losses in (small, large)]
    assert values[0] == pytest.approx(values[1])
    assert abs(values[0]) < 2


def test_precisions_weigh_losses_and_fits_but_not_the_share_of_the_variance() -> None:
    """One wild row of no precision decides nothing, and spoils the share of the variance that is told to users."""
    table = noisy(100, 0)
    wild = Table(table.X, np.where(np.arange(100) == 17, table.y + 50 * table.y.std(), table.y))
    precisions = np.where(np.arange(100) == 17, 1e-9, 1.0)
    made = [candidate(wild, form) for form in ("<constant>*x1 + <constant>", "<constant>")]
    found = held_out(made, wild, "squared", 0, None, precisions)
    plain = held_out(made, wild, "squared", 0, None)
    assert found.losses[0].max() < 1e-3 * plain.losses[0].max()
    assert found.candidates[0].r2_cv < 0.1
