"""Enumeration: forms are what their tokens say, none comes twice, and laws are met up to constants."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr import _core
from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.enumeration import EnumerateProposer, costs_of_operators, enumerate_forms
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy.expression.operators import OPERATORS, by_id
from simplipy.expression.token_batch import FIRST_VARIABLE, SYMBOL_TOKENS
from tests.flash_ansr.infer.proposers.rows import bind

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 4, (200, 3))
x1, x2, x3 = X.T


def best_fvu(y: np.ndarray, columns: np.ndarray = X, operators: frozenset[str] = Grammar().operators) -> float:
    lowest = np.inf
    for batch in enumerate_forms(bind(columns, y, grammar=Grammar(operators))):
        for law in batch:
            assert {t for t in law.tokens if t in OPERATORS} <= operators
            lowest = min(lowest, float(np.mean((law(columns) - y) ** 2) / np.var(y)))
    return lowest


def spelled(forms: _core.Forms, form: int) -> list[str]:
    ids = forms.prefix(form, FIRST_VARIABLE)
    return ["1" if k < 0 else f"x{k - FIRST_VARIABLE + 1}" if k >= FIRST_VARIABLE else SYMBOL_TOKENS[k] for k in ids]


def test_values_are_those_of_the_tokens_and_costs_rise() -> None:
    costs = by_id(dict.fromkeys(("+", "-", "*", "/", "sin", "exp", "pow2"), 2), 0)
    rows = X[:16]
    forms = _core.Forms(np.ascontiguousarray(rows.T), costs, 2, 3, 3000)
    forms.grow(3000, 60.0)
    assert len(forms) == 3000
    assert forms.full
    texts = []
    for i in range(0, 3000, 37):
        tokens = spelled(forms, i)
        texts.append(tokens)
        if i == 3:  # the number 1
            continue
        values = simplipy.parse(tokens)(rows)
        hit = simplipy.parse(spelled(forms, forms.best(values, np.ones(16), 0.0, 1)[0]))
        assert abs(np.corrcoef(values, hit(rows))[0, 1]) > 1 - 1e-9
    assert len({tuple(tokens) for tokens in texts}) == len(texts)
    assert all(forms.cost(i) <= forms.cost(i + 1) for i in range(4, len(forms) - 1))


@pytest.mark.parametrize(
    "y",
    [
        3 - 2 * np.sqrt(x1 / x2),
        1 / (0.3 + 0.7 * x1 * x2),
        (x1 + x2) * (2 + 3 * np.sin(x3)),
        x1 / (x2 + x3**2) + 5,
        np.exp(0.2 - 0.4 * (x1 - x2) ** 2),
        (x1 * x2 + x3) / (x1 + x3),
        x1 * x2 + np.cos(x1 * x3),
    ],
)
def test_laws_are_met_exactly(y: np.ndarray) -> None:
    assert best_fvu(y) < 1e-20


def test_a_noisy_law_comes_to_its_noise() -> None:
    law = np.sqrt(x1**2 + x2 * x3)
    y = law + 0.05 * law.std() * np.random.default_rng(1).normal(size=200)
    assert best_fvu(y) < 1.1 * 0.05**2


def test_operators_that_are_not_allowed_do_not_occur() -> None:
    assert best_fvu(x1 * x2 + x3, operators=frozenset({"+", "*"})) < 1e-20


@pytest.mark.parametrize(
    ("operator", "y"),
    [
        ("erf", 2 * simplipy.parse("erf(x1 - 2)")(X) + 1),
        ("min", np.minimum(x1, x2)),
        ("max", 3 * np.maximum(x1, x2) - 1),
    ],
)
def test_operators_that_are_off_are_used_where_they_are_asked_for(operator: str, y: np.ndarray) -> None:
    assert best_fvu(y, operators=frozenset({"+", "-", "*", operator})) < 1e-20


def test_few_rows_and_constant_targets_give_nothing() -> None:
    assert list(enumerate_forms(bind(X[:5], x1[:5]))) == []
    assert list(enumerate_forms(bind(X, np.ones(200)))) == []


def test_the_proposer_is_deterministic_and_ends() -> None:
    y = x1 * np.tanh(x2 * x3) + 0.02 * RNG.normal(size=200)
    runs = []
    for _ in range(2):
        proposer = EnumerateProposer(ProposerContext(Table(X, y)))
        drawn = []
        while (proposals := proposer.propose(50, len(drawn))) is not None:
            assert len(proposals) <= 50
            drawn += [proposals.batch[i] for i in range(len(proposals))]
        runs.append(drawn)
    assert runs[0] == runs[1]
    assert runs[0]


def test_operators_cost_what_the_prior_says() -> None:
    costs = costs_of_operators()
    assert {costs[t] for t in "+-*/"} == {2}
    assert [costs[t] for t in ("pow2", "sin", "tanh", "cosh")] == [3, 4, 5, 6]
    assert not {"neg", "mult2", "div5"} & set(costs)
