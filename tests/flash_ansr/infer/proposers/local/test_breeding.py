"""The core's generation: children are formulas of the grammar, screened as least squares says, on any threads."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import simplipy
from flash_ansr import _core
from flash_ansr.infer.proposers.local.evolution import Evolution, EvolutionSettings
from flash_ansr.infer.proposers.local.population import Member
from flash_ansr.infer.proposers.local.views import View, views_of
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, TokenBatch, parse

RNG = np.random.default_rng(3)
X = RNG.uniform(0.5, 3.0, (60, 3))
Y = X[:, 0] * np.sin(2 * X[:, 1]) + X[:, 2] ** 2 / (X[:, 0] + X[:, 1])
TABLE = Table(X, Y)
FORMS = ["x1", "x2*x3", "sin(x2)*x1", "x3^2/(x1 + x2)", "exp(<constant>*x1) + x2", "sin(<constant>*x2)/x3"]
CONSTANTS = [np.empty(0)] * 4 + [np.array([0.3]), np.array([1.9])]


def ids_of(texts: list[str]) -> list[np.ndarray]:
    batch = TokenBatch.from_expressions(map(parse, texts))
    return np.split(batch.ids, batch.offsets[1:-1])


def evolution(grammar: Grammar | None = None, **settings: object) -> Evolution:
    grammar = grammar or Grammar()
    made = Evolution(views_of(TABLE, grammar)[0], grammar, 3, EvolutionSettings(**settings))
    forms = [(ids, c) for ids, c in zip(ids_of(FORMS), CONSTANTS, strict=True)]
    made.seed(forms, -1.0)
    return made


def expression_of(member: Member) -> Expression:
    skeleton = TokenBatch(member.ids, np.array([0, len(member.ids)])).expressions()[0]
    return skeleton.with_constants(member.constants)


def facts(made: Evolution) -> list[tuple[bytes, bytes, float, float]]:
    return [(m.ids.tobytes(), m.constants.tobytes(), m.cost, m.rank_correlation) for m in made.population.members]


def test_a_generation_is_the_same_on_any_number_of_threads() -> None:
    results = []
    for n_threads in (1, 2, 3):
        made = evolution(n_threads=n_threads)
        for seed in range(4):
            made.step(200, seed, -1.0)
        results.append((facts(made), dataclasses.astuple(made.counts)))
    assert results[0] == results[1] == results[2]
    assert results[0][1][1] > 300


def test_other_seeds_give_other_children() -> None:
    first, second = evolution(), evolution()
    first.step(200, 1, -1.0)
    second.step(200, 2, -1.0)
    assert facts(first) != facts(second)


def test_the_cost_is_that_of_the_formula_with_its_numbers() -> None:
    made = evolution()
    for seed in range(5):
        made.step(300, seed, -1.0)
    assert len(made.population.members) > 50
    for member in made.population.members:
        values = expression_of(member)(X)
        fvu = np.mean((Y - values) ** 2) / np.var(Y)
        assert fvu == pytest.approx(member.cost, rel=1e-5, abs=1e-12)


def test_linear_constants_are_those_of_least_squares() -> None:
    made = evolution()
    made.population._islands.clear()
    made.seed([(ids_of(["x1*x2 + <constant>*x3^2"])[0], np.array([7.0]))], -1.0)
    (member,) = made.population.members
    basis = np.column_stack([np.ones(60), X[:, 0] * X[:, 1], X[:, 2] ** 2])
    rest = Y - basis @ np.linalg.lstsq(basis, Y, rcond=None)[0]
    assert member.cost == pytest.approx(np.mean(rest**2) / np.var(Y), rel=1e-9)


def test_rank_correlation_is_spearmans() -> None:
    from scipy.stats import spearmanr

    made = evolution()
    made.step(300, 0, -1.0)
    n_compared = 0
    for member in made.population.members:
        values = expression_of(member)(X)
        if np.diff(np.sort(values)).min() > 1e-9 * np.ptp(values):  # rounding makes and breaks ties
            n_compared += 1
            assert member.rank_correlation == pytest.approx(spearmanr(values, Y).statistic, abs=1e-12)
    assert n_compared > 20


def test_children_keep_to_the_grammar() -> None:
    operators = frozenset({"+", "-", "*", "/", "sin", "pow2"})
    made = evolution(Grammar(operators), max_length=21)
    for seed in range(6):
        made.step(300, seed, -1.0)
    members = made.population.members
    assert len(members) > 30
    for member in members:
        tokens = set(expression_of(member).skeleton().tokens)
        assert {t for t in tokens if t in simplipy.OPERATORS} <= operators
        assert member.length <= 21


def test_what_is_undefined_on_a_row_is_not_kept() -> None:
    made = evolution()
    made.population._islands.clear()
    made.seed([(ids, np.empty(0)) for ids in ids_of(["log(x1 - x2)", "asin(x1)", "x1 + x2"])], -1.0)
    assert [expression_of(m).skeleton() for m in made.population.members] == [
        parse("<constant> + <constant>*(x1 + x2)")
    ]


def test_an_equivalent_form_is_never_screened_again() -> None:
    made = evolution()
    before = dataclasses.astuple(made.counts)
    again = ["<constant>*x1 + <constant>", "x3*x2", "x2*x3*<constant>", "x1*sin(x2)"]
    starts = [np.array([1.0, 2.0]), np.empty(0), np.array([2.0]), np.empty(0)]
    made.seed(list(zip(ids_of(again), starts, strict=True)), -1.0)
    drawn, new, screened, _ = (a - b for a, b in zip(dataclasses.astuple(made.counts), before, strict=True))
    assert (drawn, new, screened) == (4, 0, 0)


def test_each_form_is_new_once_over_many_generations() -> None:
    made = evolution()
    for seed in range(5):
        made.step(300, seed, -1.0)
    keys = [m.ids.tobytes() for m in made.population.members]
    assert len(set(keys)) == len(keys)
    assert made.counts.new == made._breeder.n_seen


def test_a_deadline_ends_a_generation() -> None:
    made = evolution()
    made.step(2000, 0, 0.0)
    assert made.counts.new <= len(FORMS) + 1


def test_the_constants_of_a_parent_are_starts() -> None:
    x = np.linspace(0, 10, 64).reshape(-1, 1)
    screen = _core.Screen(np.ascontiguousarray(x.T), np.sin(3.2 * x[:, 0]), np.ones(64), np.ones(64))
    for start, exact in ((3.15, True), (0.2, False)):
        made = Evolution(View("y", screen), Grammar(), 1, EvolutionSettings(n_steps=30))
        made.seed([(ids_of(["sin(<constant>*x1)"])[0], np.array([start]))], -1.0)
        assert (made.population.members[0].cost < 1e-20) is exact
