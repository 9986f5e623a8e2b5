"""The law where none is exact: hand-made candidates on tables of which the right choice is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import form_prices
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.baselines import constant_baseline, linear_baseline, power_law_baseline
from flash_ansr.infer.selection.criteria import automatic
from flash_ansr.infer.selection.held_out import HeldOut, held_out
from flash_ansr.infer.selection.noisy_choice import Choice
from flash_ansr.infer.selection.predictive_choice import FEW_ROWS, by_prediction
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from tests.flash_ansr.infer.selection.made import candidate

AIMS = ("auto", "accuracy", "parsimony")
SETTINGS = Settings(random_state=0)
PRICE = 0.05
# none of them is the law of ``bumpy``
FORMULAS = (
    "<constant>*x1 + <constant>",
    "<constant>*x1^2 + <constant>",
    "<constant>*x1^2 + <constant>*x1 + <constant>",
    "<constant>*x1^2 + <constant>*x2 + <constant>",
    "<constant>*x1*x2 + <constant>*x1^2 + <constant>",
    "<constant>*sin(<constant>*x1) + <constant>*x2 + <constant>*x1 + <constant>",
    "<constant>*exp(<constant>*x1) + <constant>*x2 + <constant>",
    "<constant>*log(x1) + <constant>",
    "<constant>*x2 + <constant>",
)


def table_of(n_rows: int, law: str, noise: float, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 4, (n_rows, 2))
    y = np.asarray(simplipy.parse(law)(X))
    return Table(X, y + noise * (y.std() or 1.0) * rng.normal(size=n_rows))


def bumpy(n_rows: int, seed: int = 0) -> Table:
    """A law that no candidate has, so that none leaves noise alone."""
    return table_of(n_rows, "sin(5*x1)*cos(4*x2) + x1^2/2 + x2*x1/4 + x2/3", 0.0, seed)


def candidates(table: Table, *formulas: str) -> list[Candidate]:
    made = [candidate(table, formula, drawn=i) for i, formula in enumerate(formulas)]
    return [*made, linear_baseline(table, PRICE), constant_baseline(table, PRICE)]


def chosen(table: Table, made: list[Candidate], aim: str = "auto") -> Candidate:
    return automatic(made, table, Grammar(), SETTINGS, aim).candidates[0]


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("n_rows", [40, 500])
def test_an_exact_law_is_taken_whatever_the_aim(n_rows: int, aim: str) -> None:
    table = table_of(n_rows, "3*x1^2/x2", 0.0)
    law = chosen(table, candidates(table, "<constant>*x1^2", "<constant>*x1^2/x2", "<constant>*x1"), aim)
    assert simplipy.equivalent(law.expression, "3*x1^2/x2", rtol=1e-6).equivalent


@pytest.mark.parametrize("n_rows", [40, FEW_ROWS - 1, 600])
def test_the_shortest_description_on_few_and_on_noisy_rows(n_rows: int) -> None:
    table = table_of(n_rows, "3*x1^2/x2", 0.05)
    made = candidates(table, "<constant>*x1^2/x2", "<constant>*x1^2/x2 + <constant>*sin(<constant>*x2)",
                      "<constant>*x1^<constant>/x2^<constant>", "<constant>*x1")  # fmt: skip
    choice = automatic(made, table, Grammar(), SETTINGS)
    assert simplipy.equivalent(choice.candidates[0].expression, "3*x1^2/x2", rtol=1e-6).equivalent
    assert choice.noise == pytest.approx(0.05, rel=0.3)
    assert [c.score for c in choice.candidates] == sorted(c.score for c in choice.candidates)


def excesses(tried: list[Candidate], table: Table) -> np.ndarray:
    """Standard errors by which each is worse than the best in other rows."""
    found = held_out(tried, table, SETTINGS.loss, SETTINGS.random_state, None)
    assert len(found.candidates) == len(tried)
    difference = found.losses - found.losses[found.losses.mean(axis=1).argmin()]
    errors = difference.std(axis=1) / np.sqrt(difference.shape[1])
    return difference.mean(axis=1) / np.where(errors > 0, errors, 1.0)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=6, unique=True), st.integers(0, 100))
def test_the_cheapest_of_those_that_predict_about_as_well_as_the_best(formulas: list[str], seed: int) -> None:
    table = bumpy(300, seed)
    choice = automatic(candidates(table, *formulas), table, Grammar(), SETTINGS)
    tried = [c for c in choice.candidates if np.isfinite(c.r2_cv)]
    excess = excesses(tried, table)
    assert choice.noise is None
    assert choice.candidates[0] is tried[0]
    best = max(c.r2_cv for c in tried)
    assert excess[0] <= 1 + 1e-6 or tried[0].r2_cv >= best - min(0.02, 0.15 * (1 - best)) - 1e-9
    prices = form_prices([c.expression for c in tried], 2).min(axis=1)
    near = [i for i, c in enumerate(tried) if excess[i] <= 1 - 1e-6 and c.expression.variables]
    assert prices[0] <= min(prices[near]) + 1e-9


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=6, unique=True), st.integers(0, 100))
def test_the_ends_of_the_front(formulas: list[str], seed: int) -> None:
    table = bumpy(300, seed)
    made = candidates(table, *formulas)
    accurate = automatic(made, table, Grammar(), SETTINGS, "accuracy").candidates
    best = np.nanmax([c.r2_cv for c in accurate])
    assert accurate[0].r2_cv == best
    parsimonious = automatic(made, table, Grammar(), SETTINGS, "parsimony").candidates
    assert parsimonious[0].r2_cv >= 0.9 * best
    enough = [c for c in parsimonious if c.r2_cv >= 0.9 * best and c.expression.variables]
    prices = form_prices([c.expression for c in enough], 2).min(axis=1)
    assert form_prices([parsimonious[0].expression], 2).min() == pytest.approx(prices.min())


def test_a_long_formula_that_is_clearly_better_is_worth_its_price() -> None:
    table = table_of(600, "sin(5*x1) + x2/3 + sin(7*x1*x2)/3", 0.0)
    long = "<constant>*sin(5*x1) + <constant>*x2 + <constant>"
    law = chosen(table, candidates(table, "<constant>*x1 + <constant>", long))
    assert "sin" in law.expression.tokens


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("n_rows", [60, 400])
def test_no_constant_where_a_baseline_explains_something(n_rows: int, aim: str) -> None:
    for seed in range(3):
        table = table_of(n_rows, "x1 + x2", 1.2, seed)
        made = [*candidates(table, "<constant>*sin(x1)"), power_law_baseline(table, PRICE)]
        assert chosen(table, made, aim).expression.variables


@pytest.mark.parametrize("aim", ["auto", "parsimony"])
@pytest.mark.parametrize("n_rows", [60, 400])
def test_a_constant_in_pure_noise(n_rows: int, aim: str) -> None:
    rng = np.random.default_rng(1)
    table = Table(rng.uniform(1, 4, (n_rows, 2)), 5 + rng.normal(size=n_rows))
    made = candidates(table, "<constant>*sin(<constant>*x1) + <constant>", "<constant>*x2^2 + <constant>")
    assert not chosen(table, made, aim).expression.variables


def test_a_constant_is_overruled_on_few_rows_too() -> None:
    table = table_of(80, "x1 + x2", 0.5)
    made = candidates(table)
    constant, line = made[-1], made[-2]
    choice = by_prediction(Choice([constant, line]), [constant, line], table, SETTINGS, "auto", None)
    assert choice.candidates[0].expression == line.expression


def test_a_shortest_description_that_is_refuted_gives_way_on_many_noisy_rows() -> None:
    table = table_of(500, "x1^2 + x2", 0.1)
    law, wrong = (candidate(table, f) for f in ("<constant>*x1^2 + <constant>*x2", "<constant>*x1"))
    for noise in (0.1, None):
        choice = by_prediction(Choice([wrong, law], noise), [law, wrong], table, SETTINGS, "auto", None)
        assert choice.candidates[0].expression == law.expression
        assert choice.noise is None
    kept = by_prediction(Choice([law, wrong], 0.1), [law, wrong], table, SETTINGS, "auto", None)
    assert kept.candidates[0].expression == law.expression
    assert kept.noise == 0.1


def test_scores_are_errors_in_other_rows_where_these_decide() -> None:
    table = bumpy(300)
    choice = automatic(candidates(table, *FORMULAS), table, Grammar(), SETTINGS, "accuracy")
    tried = [c for c in choice.candidates if np.isfinite(c.r2_cv)]
    assert [c.score for c in tried] == sorted(c.score for c in tried)
    np.testing.assert_allclose([10**c.score for c in tried], [1 - c.r2_cv for c in tried], rtol=1e-4)


@pytest.mark.parametrize("aim", AIMS)
def test_no_candidate_is_lost_or_doubled(aim: str) -> None:
    table = bumpy(300)
    found = {a: automatic(candidates(table, *FORMULAS), table, Grammar(), SETTINGS, a).candidates for a in AIMS}
    texts = [c.expression.infix(6) for c in found[aim]]
    assert len(set(texts)) == len(texts)
    assert sorted(texts) == sorted(c.expression.infix(6) for c in found["auto"])


def test_without_time_descriptions_decide() -> None:
    table = bumpy(300)
    described = Choice(candidates(table, *FORMULAS[:3]))
    assert by_prediction(described, described.candidates, table, SETTINGS, "auto", Budget(time_limit=-1.0)) is described


@pytest.mark.parametrize("n_rows", [80, 400])
def test_a_constant_yields_to_a_clear_baseline_beside_an_unclear_best(
    n_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best one is better than the constant by a mean that a few rows make; the line is, in every row."""
    table = table_of(n_rows, "x1 + x2", 0.5)
    made = candidates(table, "<constant>*sin(x1)")
    wave, line, constant = made
    losses = np.full((3, n_rows), 1.0)
    losses[1] = np.random.default_rng(0).uniform(0.8, 0.95, n_rows)
    losses[0, : n_rows // 4] = np.tile([-8.0, 10.0], n_rows // 8)
    losses[0] -= 0.3
    found = HeldOut([replace(c, r2_cv=0.1) for c in made], losses)
    assert found.best == 0
    assert found.excess(2, 0) < 2 < found.excess(2, 1)
    monkeypatch.setattr("flash_ansr.infer.selection.predictive_choice.held_out", lambda *_: found)
    choice = by_prediction(Choice([constant, line, wave], 0.5), made, table, SETTINGS, "auto", None)
    assert choice.candidates[0].expression.variables


def test_a_formula_that_may_fail_near_the_rows_must_be_clearly_better() -> None:
    """The square root ends just beyond the rows; a line predicts as well where y bends little, and never fails."""
    rng = np.random.default_rng(7)
    X = rng.uniform(0, 4, (500, 1))
    noise = 0.3 * np.sin(40 * X[:, 0]) + 0.2 * rng.normal(size=500)
    near, far = (Table(X, factor * np.sqrt(4.02 - X[:, 0]) + noise) for factor in (0.5, 20.0))
    formulas = ("<constant>*sqrt(4.02 - x1) + <constant>", "<constant>*x1 + <constant>")
    assert "sqrt" not in chosen(near, candidates(near, *formulas)).expression.infix()
    assert "sqrt" in chosen(far, candidates(far, *formulas)).expression.infix()


def test_a_formula_that_breaks_between_rows_leaves_its_place_to_the_next_of_its_length() -> None:
    """The one with the pole has the lower error on the rows, and its length is that of the other."""
    table = table_of(400, "sin(5*x1) + x1 + x2", 0.3)
    pole = float(0.5 * np.sum(np.sort(table.X[:, 0])[200:202]))
    broken = candidate(table, f"<constant>*cos(x1 - {pole!r})/(x1 - {pole!r}) + <constant>*x1 + <constant>*x2")
    whole = candidate(table, "<constant>*sin(5*x1 + 0*x2) + <constant>*x1 + <constant>*x2", drawn=1)
    made = [replace(broken, fvu=0.01), replace(whole, fvu=0.02, score=0.0), linear_baseline(table, PRICE)]
    law = chosen(table, made, "accuracy")
    assert "sin" in law.expression.infix()
