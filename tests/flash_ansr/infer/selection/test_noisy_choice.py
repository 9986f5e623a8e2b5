"""The choice among noisy candidates: the law in simple numbers, nothing in pure noise, the paper's score elsewhere."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simplipy
from flash_ansr import FlashANSR
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.noise_models import looks_like_noise, noise_models
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.baselines import constant_baseline, linear_baseline
from flash_ansr.infer.selection.criteria import automatic
from flash_ansr.infer.selection.distinct import distinct
from flash_ansr.infer.selection.noisy_choice import Describer, choose
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import fit_constants

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (300, 2))
NOISE = RNG.normal(size=300)


def candidates(table: Table, *formulas: str) -> list[Candidate]:
    made = []
    for i, formula in enumerate(formulas):
        fit = fit_constants(formula, table.X, table.y, n_threads=1)
        score = np.log10(max(fit.fvu, 1e-24)) + 0.05 * len(fit.expression)
        made.append(Candidate(fit.expression, b"", fit.fvu, score, len(fit.constants), np.nan, "test", i))
    return [*made, linear_baseline(table, 0.05), constant_baseline(table, 0.05)]


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_the_law_is_chosen_and_its_numbers_are_simple(noise: float) -> None:
    law = 3 * X[:, 0] ** 2 / X[:, 1] + 0.5 * X[:, 1]
    table = Table(X, law + noise * law.std() * NOISE)
    made = candidates(
        table,
        "<constant>*x1^2/x2",
        "<constant>*x1^<constant>/x2 + <constant>*x2",
        "<constant>*x1^2/x2 + <constant>*x2 + <constant>*sin(x1)",
    )
    choice = automatic(made, table, Grammar(), Settings())
    assert simplipy.equivalent(choice.candidates[0].expression, "3*x1^2/x2 + x2/2").equivalent
    assert choice.noise == pytest.approx(noise, rel=0.2)


def test_an_exact_law_is_chosen_by_the_papers_score() -> None:
    table = Table(X, 3 * X[:, 0] * X[:, 1])
    choice = automatic(candidates(table, "<constant>*x1*x2", "<constant>*x1"), table, Grammar(), Settings())
    assert choice.noise == 0.0
    assert len(choice.candidates[0].expression.variables) == 2


def test_what_is_no_noise_is_left_to_the_papers_score() -> None:
    table = Table(X, np.sin(3 * X[:, 0]) + X[:, 1])
    choice = automatic(candidates(table, "x2 + <constant>"), table, Grammar(), Settings())
    assert choice.noise is None


def test_tidied_laws_keep_to_the_grammar() -> None:
    table = Table(X, 2 * X[:, 0] ** 2 + 0.1 * NOISE)
    grammar = Grammar(operators=frozenset({"*", "+", "pow"}))
    for candidate in choose(candidates(table, "<constant>*x1^<constant>"), table, grammar, 0.05, "squared").candidates:
        assert candidate.proposer == "baseline" or "pow2" not in candidate.expression.tokens


def test_noise_is_told_from_structure() -> None:
    assert looks_like_noise(NOISE, X)
    assert looks_like_noise(RNG.standard_t(2, 300), X)
    assert not looks_like_noise(0.1 * NOISE + 0.2 * X[:, 0] * X[:, 1], X)
    assert not looks_like_noise(np.sin(3 * X[:, 0]) + 0.3 * NOISE, X)


def test_products_of_many_columns_are_not_made() -> None:
    rng = np.random.default_rng(0)
    tracemalloc.start()
    try:
        looks_like_noise(rng.normal(size=40), rng.normal(size=(40, 1000)))
        assert tracemalloc.get_traced_memory()[1] < 10e6  # half a million products take 160 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_rows", [10, 40, 300])
def test_pure_noise_gives_a_constant_or_a_line(n_rows: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.1, 5, (n_rows, 2))
        model = FlashANSR(n_samples=300, time_limit=None, proposers=["closed_form", "prior"], random_state=0, n_jobs=1)
        law = model.fit(X, rng.normal(size=n_rows)).expression_
        assert all(not law.diff(name).variables for name in law.variables)


def test_few_noisy_points_give_no_long_formula() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 5, (12, 3))
    y = 2 * X[:, 0] + rng.normal(0, 0.3, 12)
    model = FlashANSR(n_samples=400, time_limit=None, proposers=["closed_form", "prior"], random_state=0, n_jobs=1)
    assert len(model.fit(X, y).expression_) <= 7
    assert list(model.candidates_["proposer"]).count("baseline") >= 2


def test_the_same_law_for_any_number_of_threads() -> None:
    law = X[:, 0] * np.exp(-X[:, 1] / 2)
    y = law + 0.01 * law.std() * NOISE
    laws = [
        FlashANSR(
            n_samples=400, time_limit=None, proposers=["closed_form", "enumerate", "prior"], random_state=0, n_jobs=n
        )
        .fit(X, y)
        .expression_
        for n in (1, 2)
    ]
    assert laws[0] == laws[1]
    assert simplipy.equivalent(laws[0], "x1*exp(-x2/2)").equivalent


FORMULAS = (
    "x1",
    "2*x1",
    "<constant>*x1",
    "<constant>*x1 + <constant>",
    "x1 + x1 + 0.0001*x2",
    "<constant>*x1^<constant>",
    "<constant>*x1*exp(<constant>*x2)",
    "<constant>*sin(x2)",
    "<constant>/(x1 + x2)",
    "x1^2 + x2^2",
)


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from(FORMULAS), min_size=1, max_size=8, unique=True),
    st.sampled_from([3, 5, 12, 60]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.integers(0, 1000),
)
def test_candidates_come_best_first_and_each_once(formulas: list[str], n_rows: int, noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 4, (n_rows, 2))
    table = Table(X, 2 * X[:, 0] * np.exp(noise * rng.normal(size=n_rows)))
    chosen = automatic(candidates(table, *formulas), table, Grammar(), Settings()).candidates
    scores = [c.score for c in chosen]
    assert scores == sorted(scores)
    texts = [c.expression.infix(6) for c in chosen]
    assert len(set(texts)) == len(texts)
    assert all(c.fvu <= 1 + 1e-9 for c in chosen if c.expression.variables)


def fitted(X: np.ndarray, y: np.ndarray, **options: object) -> FlashANSR:
    quick = {"n_samples": 300, "time_limit": None, "proposers": ["closed_form", "prior"], "n_jobs": 1}
    return FlashANSR(**{**quick, "random_state": 0, **options}).fit(X, y)


def test_five_nearly_collinear_points_give_the_line() -> None:
    x = np.arange(1.0, 6.0)
    model = fitted(x[:, None], np.array([2.1, 3.9, 6.2, 7.8, 10.1]))
    assert model.expression_.infix() == "2*x1"
    assert model.report_["noise"] < 0.1


@pytest.mark.parametrize("n_rows", [3, 4, 5, 6, 8])
def test_few_noisy_rows_of_a_line_give_a_line(n_rows: int) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = np.arange(1.0, n_rows + 1)
        law = fitted(x[:, None], 2 * x + 0.1 * rng.normal(size=n_rows)).expression_
        np.testing.assert_allclose(law(x[:, None]), 2 * x, atol=0.5)
        assert len(law) <= 5


@pytest.mark.parametrize("n_rows", [5, 6, 8, 10])
def test_few_rows_of_a_decay_are_not_their_mean(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    x = np.linspace(1, 5, n_rows)
    y = 3 * np.exp(-x / 2)
    model = fitted(x[:, None], y * (1 + 0.01 * rng.normal(size=n_rows)))
    assert model.score(x[:, None], y) > 0.98
    assert len(model.expression_) <= 7


@pytest.mark.parametrize(("n_rows", "seed"), [(50, 5), (200, 7)])
def test_percent_noise_on_a_power_law(n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(1, 10, n_rows), rng.uniform(1, 10, n_rows), rng.uniform(0.5, 5, n_rows)])
    law = 6.674 * X[:, 0] * X[:, 1] / X[:, 2] ** 2
    model = fitted(X, law * (1 + 0.02 * rng.normal(size=n_rows)))
    np.testing.assert_allclose(model.predict(X) / law, 1, atol=0.01)
    assert len(model.expression_) <= 8
    assert model.report_["noise_kind"] == "proportional"
    assert 0.015 < model.report_["noise"] < 0.025


def test_percent_noise_over_many_decades() -> None:
    rng = np.random.default_rng(0)
    X = 10 ** rng.uniform(-9, -5, (150, 2))
    X = np.column_stack([X, 10 ** rng.uniform(-2, 0, 150)])
    law = 8.99e9 * X[:, 0] * X[:, 1] / X[:, 2] ** 2
    model = fitted(X, law * (1 + 0.01 * rng.normal(size=150)))
    np.testing.assert_allclose(model.predict(X) / law, 1, atol=0.01)
    assert len(model.expression_) <= 8


def test_constant_noise_is_told_from_percent_noise() -> None:
    law = 3 * X[:, 0] ** 3 / X[:, 1]
    made = ("<constant>*x1^3/x2", "<constant>*x1^2", "<constant>*x1^<constant>/x2")
    for kind, y in (("constant", law + 5 * NOISE), ("proportional", law * (1 + 0.05 * NOISE))):
        table = Table(X, y)
        choice = automatic(candidates(table, *made), table, Grammar(), Settings())
        assert choice.kind == kind
        assert choice.noise == pytest.approx(0.05 if kind == "proportional" else 5 / y.std(), rel=0.2)


def test_a_choice_without_time_fits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    law = 3 * X[:, 0] ** 2 / X[:, 1]
    table = Table(X, law + 0.1 * law.std() * NOISE)
    made = candidates(table, "<constant>*x1^2/x2", "<constant>*x1")
    calls = []
    for name in ("fit_constants", "tidy"):
        monkeypatch.setattr(
            f"flash_ansr.infer.selection.noisy_choice.simplipy.{name}", lambda *_, **__: calls.append(1)
        )
    choice = automatic(made, table, Grammar(), Settings(), deadline=Budget(time_limit=-1.0))
    assert not calls
    assert choice.candidates[0].expression.skeleton() == made[0].expression.skeleton()


def test_a_choice_stops_fitting_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock takes a second: of forty, some fits are made, and then no more."""
    ticks = iter(range(100_000))
    law = 3 * X[:, 0] ** 2 / X[:, 1]
    table = Table(X, law + 0.1 * law.std() * NOISE)
    made = candidates(table, *(f"<constant>*x1^{k}/x2" for k in range(2, 12)))
    n_fits = {}
    for limit in (40, 10_000):
        calls = []
        original = simplipy.fit_constants
        with monkeypatch.context() as patch:
            patch.setattr(
                "flash_ansr.infer.selection.noisy_choice.simplipy.fit_constants",
                lambda *a, original=original, calls=calls, **k: calls.append(1) or original(*a, **k),
            )
            automatic(made, table, Grammar(), Settings(), deadline=Budget(limit, clock=lambda: float(next(ticks))))
        n_fits[limit] = len(calls)
    assert 0 < n_fits[40] <= 40 < n_fits[10_000]


def test_many_rows_are_looked_at_in_part() -> None:
    """A formula that is undefined on a few of very many rows may pass; the work does not grow with the rows."""
    x = np.linspace(1, 2, 100_000)[:, None]
    seen = []

    class Watched(np.ndarray):
        def __getitem__(self, rows: object) -> np.ndarray:
            part = np.asarray(self)[rows]
            seen.append(len(part))
            return part

    table = Table(x.view(Watched), 2 * x[:, 0])
    made = candidates(Table(x[:50], 2 * x[:50, 0]), "x1 + x1")
    assert distinct(made[:1], table, Grammar(), 0.05)[0].expression.infix() == "2*x1"
    assert seen == [1024]


def guarded(scores: dict[str, float], errors: dict[str, float | None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of candidates after the guard; an error of None is one that the clock cuts short."""
    table = Table(X, NOISE)
    now = [0.0]
    budget = Budget(1.0, clock=lambda: now[0])

    def error_of(_: object, candidate: Candidate, *__: object) -> float:
        found = errors[names[id(candidate)]]
        now[0] += 2.0 if found is None else 0.0
        return 0.0 if found is None else found

    made = [
        Candidate(
            simplipy.parse("x1" if name == "base" else "x1 + x2"),
            *(b"", 0.5, score, 1, np.nan),
            "baseline" if name == "base" else "test",
            0,
        )
        for name, score in scores.items()
    ]
    names = {id(c): name for c, name in zip(made, scores, strict=True)}
    monkeypatch.setattr(Describer, "held_out_error", error_of)
    model = noise_models(table, "squared")[0]
    found = Describer(table, Grammar(), 0.05, "squared", model, budget).guarded(made)
    by_score = {round(score, 3): name for name, score in scores.items()}
    return ["base" if c.proposer == "baseline" else by_score.get(round(c.score, 3), "demoted") for c in found]


def test_what_the_guard_did_not_try_is_not_promoted(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"c{i}": -9.0 + i / 100 for i in range(30)} | {"base": -1.0}
    bad: dict[str, float | None] = dict.fromkeys(many, 2.0) | {"base": 1.0}
    # all that is tried fails: nothing beyond that is the law
    assert guarded(many, bad, monkeypatch)[0] == "base"
    # the second one passes
    assert guarded(many, bad | {"c1": 0.5}, monkeypatch)[0] == "c1"
    # time is over after the first failure
    assert guarded(many, bad | {"c1": None}, monkeypatch)[0] == "base"
    # time is over before anything is known
    assert guarded(many, bad | {"c0": None}, monkeypatch)[0] == "c0"


def test_without_time_the_kind_of_noise_is_chosen_roughly() -> None:
    """Relative noise is told from constant noise although no candidate can be fitted anew."""
    rng = np.random.default_rng(0)
    columns = rng.uniform(1, 5, (3000, 3))
    y = 6.67 * columns[:, 0] * columns[:, 1] / columns[:, 2] ** 2 * (1 + 0.01 * rng.normal(size=3000))
    table = Table(columns, y)
    forms = ("<constant>*x1*x2/x3^2", "<constant>*x1*x2/x3 + <constant>", "<constant>*x1^3")
    over = Budget(1.0, clock=iter([0.0, *[9.0] * 1000]).__next__)
    choice = choose(candidates(table, *forms), table, Grammar(), 0.05, "squared", over)
    assert choice.kind == "proportional"
    assert choice.noise == pytest.approx(0.01, rel=0.1)
    assert choice.candidates[0].expression.skeleton() == simplipy.parse("<constant>*x1*x2/x3^2")
