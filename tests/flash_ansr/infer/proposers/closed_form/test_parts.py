"""The parts against brute force and against the evaluator."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from flash_ansr.infer.proposers.closed_form.families import EXPM1, ONE_PLUS, SIN
from flash_ansr.infer.proposers.closed_form.library import arguments, library, sum_arguments
from flash_ansr.infer.proposers.closed_form.linear_algebra import (
    best_pairs,
    best_triples,
    orthonormal,
    project_out,
    pursue,
    solve,
    solve_pruned,
)
from flash_ansr.infer.proposers.closed_form.monomials import (
    Features,
    monomial_text,
    monomials,
    number_text,
    snapped,
    variants,
)
from flash_ansr.infer.proposers.closed_form.order import _beyond_the_best
from flash_ansr.infer.proposers.closed_form.scan import Unexplained, scan
from flash_ansr.infer.proposers.closed_form.screening import addends, common_factor, relevant
from flash_ansr.infer.proposers.closed_form.targets import targets
from flash_ansr.infer.proposers.data import Clock, Data, DeadlineError
from flash_ansr.infer.proposers.drafts import Ranking
from flash_ansr.infer.table.grammar import Grammar
from tests.flash_ansr.infer.proposers.rows import bind

NEVER = Clock(None)


def make(n_rows: int = 60, n_columns: int = 3, seed: int = 0, signed: bool = False) -> Data:
    rng = np.random.default_rng(seed)
    X = 10 ** rng.uniform(-1, 1, (n_rows, n_columns))
    if signed:
        X[:, 0] *= rng.choice([-1, 1], n_rows)
    return bind(X, X @ np.arange(1.0, n_columns + 1))


def unit_rows(n: int, n_rows: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, n_rows))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def explained(rows: np.ndarray, target: np.ndarray) -> float:
    c, *_ = np.linalg.lstsq(rows.T, target, rcond=None)
    return 1 - float(np.sum((target - c @ rows) ** 2))


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    "grow",
    [
        lambda d: library(d, 400),
        lambda d: arguments(d, 80, 5),
        lambda d: sum_arguments(d, 6, 6),
    ],
)
def test_the_text_of_a_feature_has_its_values(grow, signed) -> None:
    data = make(signed=signed)
    features: Features = grow(data)
    assert len(features) > 60
    assert len(set(features.texts)) == len(features)
    values, defined = simplipy.evaluate_many(simplipy.parse_many(features.texts), data.X)
    assert defined.all()
    np.testing.assert_allclose(features.values, values, rtol=1e-9, atol=1e-12 * np.abs(values).max())


def test_columns_with_zeros_and_signs_get_no_roots_and_inverses() -> None:
    X = np.array([[0.0, -1.0], [1.0, 2.0], [2.0, -3.0], [3.0, 4.0]])
    found = monomials(bind(X, X[:, 0]), 200)
    assert (found.exponents[:, 0] >= 0).all()
    assert (found.exponents[:, 1] == np.round(found.exponents[:, 1])).all()
    assert np.isfinite(found.values).all()


def test_monomials_over_sixty_decades() -> None:
    rng = np.random.default_rng(0)
    X = 10 ** rng.uniform(-30, 30, (40, 2))
    found = monomials(bind(X, X[:, 0]), 100)
    values, _ = simplipy.evaluate_many(simplipy.parse_many(found.texts), X)
    np.testing.assert_allclose(found.values, values, rtol=1e-12)


@given(st.lists(st.sampled_from([-3, -2, -1, -0.5, -1 / 3, 0, 0.5, 2 / 3, 1, 1.5, 2]), min_size=1, max_size=4))
def test_monomial_text(exponents: list[float]) -> None:
    x = np.array([1.3, 0.7, 2.1, 0.4])[: len(exponents)]
    value = simplipy.parse(monomial_text(exponents))(x[None])[0]
    assert value == pytest.approx(np.prod(x ** np.array(exponents)), rel=1e-12)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_text_reads_back(number: float) -> None:
    assert float(number_text(number)) == number


def test_snapping() -> None:
    np.testing.assert_array_equal(snapped(np.array([0.998, 0.501, 0.334, 0.7654]), 0.03), [1, 0.5, 1 / 3, 0.7654])
    exact = np.array([2.0, -0.75])
    np.testing.assert_array_equal(variants(exact + 1e-9)[0], exact)
    assert len(variants(np.array([1.0, 2.0]))) == 1


def test_solve_equals_numpy_and_prunes() -> None:
    data = make()
    terms = np.stack([np.ones(60), data.columns[0] * 1e20, data.columns[1] * 1e-20, data.columns[2]])
    target = 3 * data.columns[0] - 2 * data.columns[1]
    kept, coefficients, unexplained = solve_pruned(terms, target, np.ones(60))
    assert kept == [1, 2]
    np.testing.assert_allclose(coefficients, [3e-20, -2e20], rtol=1e-13)
    assert unexplained < 1e-28
    weight = np.linspace(0.1, 2, 60)
    noisy = target + np.sin(np.arange(60))
    expected, *_ = np.linalg.lstsq((terms[[0, 3]] * weight).T, noisy * weight, rcond=None)
    np.testing.assert_allclose(solve(terms[[0, 3]], noisy, weight)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_best_pairs_against_brute_force(seed: int) -> None:
    rows, target = unit_rows(70, 12, seed), unit_rows(1, 12, seed + 5000)[0]
    every = sorted(
        ((explained(rows[[i, j]], target), i, j) for i, j in itertools.combinations(range(70), 2)), reverse=True
    )
    found = best_pairs(rows, target, 5, NEVER)
    assert [(i, j) for i, j, _ in found] == [(i, j) for _, i, j in every[:5]]
    np.testing.assert_allclose([r2 for *_, r2 in found], [r2 for r2, *_ in every[:5]], rtol=1e-9)


def test_best_cross_pairs_against_brute_force() -> None:
    left, right, target = unit_rows(80, 15, 1), unit_rows(9, 15, 2), unit_rows(1, 15, 3)[0]
    best = max(((explained(np.stack([a, b]), target), i, j) for i, a in enumerate(left) for j, b in enumerate(right)))
    assert best_pairs(left, target, 3, NEVER, right)[0] == (best[1], best[2], pytest.approx(best[0]))


def test_best_triples_against_brute_force() -> None:
    rows, target = unit_rows(14, 10, 4), unit_rows(1, 10, 5)[0]
    best = max((explained(rows[list(t)], target), t) for t in itertools.combinations(range(14), 3))
    *triple, r2 = best_triples(rows, target, list(range(14)), 1, NEVER)[0]
    assert tuple(sorted(triple)) == best[1]
    assert r2 == pytest.approx(best[0])


def test_a_feature_twice_is_no_pair() -> None:
    rows = unit_rows(3, 20, 0)
    rows[2] = rows[0]
    target = rows[0] * 0.6 + rows[1] * 0.8
    i, j, r2 = best_pairs(rows, target / np.linalg.norm(target), 1, NEVER)[0]
    assert {i, j} in ({0, 1}, {1, 2})
    assert r2 == pytest.approx(1)


def test_pursuit_finds_a_planted_sum() -> None:
    rows = unit_rows(200, 60, 7)
    target = rows[[3, 50, 120, 7]].T @ [1.0, -2.0, 0.5, 1.5]
    supports = list(pursue(rows, target / np.linalg.norm(target), 5, 6, NEVER))
    assert [3, 7, 50, 120] in supports


@pytest.mark.parametrize(
    ("family", "c", "logarithm"),
    [(ONE_PLUS, 7.3, True), (ONE_PLUS, -0.09, True), (EXPM1, 0.37, True), (SIN, 1.9, False)],
)
def test_scan_finds_the_constant_inside(family, c: float, logarithm: bool) -> None:
    u = np.random.default_rng(1).uniform(0.1, 5, (6, 80))
    weight = np.ones(80)
    term = family.value(c * u[4])
    target = 2 + 3 * (np.log(np.abs(term)) if logarithm else term)
    basis = orthonormal(np.ones((1, 80)))
    left = project_out(target[None], basis)[0]
    hit = scan(Unexplained(basis, left / np.linalg.norm(left), weight, logarithm), u, [family], NEVER)[0]
    assert hit.argument == 4
    assert hit.c == pytest.approx(c, rel=1e-9)
    assert hit.r2 == pytest.approx(1, abs=1e-12)


def test_targets_invert() -> None:
    rng = np.random.default_rng(0)
    for y in (rng.uniform(0.1, 0.9, 30), -rng.uniform(1, 1e3, 30), rng.normal(0, 1e20, 30)):
        data = bind(rng.uniform(1, 2, (30, 1)), y)
        every = targets(data)
        for target in every:
            inverse = simplipy.parse(target.inverse.format(f"{target.unit!r}*x1"))
            np.testing.assert_allclose(inverse(target.values[:, None]), y, rtol=1e-9, err_msg=target.name)
    assert len(every) == 2


def test_operators_limit_targets_and_features() -> None:
    data = replace(make(), grammar=Grammar(frozenset({"+", "-", "*", "/", "inv", "pow2", "sin"})))
    assert {t.name for t in targets(data)} <= {"y", "1/y", "sqrt y", "1/sqrt y"}
    texts = " ".join(library(data, 300).texts)
    assert "sin(" in texts
    assert not any(f"{name}(" in texts for name in ("cos", "exp", "log", "tanh"))


def test_screening() -> None:
    rng = np.random.default_rng(3)
    X = 10 ** rng.uniform(-1, 1, (200, 4))
    y = 5 * X[:, 0] ** 2 * np.sqrt(X[:, 2]) / (X[:, 1] + 1)
    data = bind(X, y)
    assert relevant(data) == (0, 1, 2)
    factor = common_factor(data)
    assert (factor.text, factor.others) == ("x1^2*sqrt(x3)", (1,))
    np.testing.assert_allclose(factor.values, X[:, 0] ** 2 * np.sqrt(X[:, 2]))


def test_the_clock() -> None:
    with pytest.raises(DeadlineError):
        Clock(0.0).check()
    Clock(None).check()


@pytest.mark.parametrize(
    ("law", "terms"),
    [
        ("3.1*x1^2 + x2*exp(-0.4*x3)", {"x1^2": 3.1}),
        ("2.5*x1*x2 - 1.7*x3*sin(2.3*x4)", {"x1*x2": 2.5}),
        ("x3*tanh(x2) - 0.4*log(x1)", {"log(x1)": -0.4}),
        # a column that y does not depend on is no term, nor is one that occurs elsewhere too
        ("x1*sin(x2)", {}),
        ("x1^2 + x1*exp(-x2)", {}),
    ],
)
def test_terms_with_columns_of_their_own(law: str, terms: dict[str, float]) -> None:
    X = np.random.default_rng(5).uniform(0.5, 3.0, (256, 4))
    found = addends(bind(X, simplipy.parse(law)(X)))
    assert {a.text: a.coefficient for a in found} == pytest.approx(terms, rel=0.02)
    for addend in found:
        used = {k for k in range(4) if f"x{k + 1}" in addend.text}
        assert set(addend.others) == set(range(4)) - used


def test_columns_that_do_not_matter_are_told() -> None:
    X = np.random.default_rng(3).uniform(1, 3, (256, 6))
    y = X[:, 1] * X[:, 4] + X[:, 4] ** 2
    assert relevant(bind(X, y)) == (1, 4)
    # a sharper look keeps some by chance, but drops none that matters
    assert {1, 4} <= set(relevant(bind(X, y), 1.03, most_left=0.01)) < set(range(6))
    # what a polynomial does not describe may need any column
    waves = bind(X, np.sin(20 * X[:, 0]) * np.sin(15 * X[:, 2]))
    assert relevant(waves, 1.03, most_left=0.01) == waves.active


def test_what_was_found_is_divided_and_subtracted() -> None:
    """Beyond the best law so far is a problem of its own, whose answer goes on with the law's own numbers."""
    X = np.random.default_rng(5).uniform(1, 3, (200, 3))
    law = "(3*x1^1.5 + 0.4*x2^2.5)*x3^2.5/(1 + x1/x3)"
    data = bind(X, simplipy.parse(law)(X))
    ranking = Ranking(data)
    first = simplipy.parse("1.7*x1^1.5*x3^2.5 + 0.25*x2^2.5*x3^2.5")
    values = np.asarray(first(X), dtype=np.float64)
    ranking.best = ranking.law(first, values)
    found = [e for stage in _beyond_the_best(data, ranking) for e in ranking.ranked(list(stage()))]
    assert any(simplipy.equivalent(e, law, rtol=1e-6).equivalent for e in found)
