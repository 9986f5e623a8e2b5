"""Enumeration: forms are what their tokens say, none comes twice, and laws are met up to constants."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr import _core
from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.drafts import Draft, Ranking
from flash_ansr.infer.proposers.enumeration import EnumerateProposer, TokenCosts, enumerate_forms, token_costs
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


def forms_on(rows: np.ndarray, costs: TokenCosts, n_forms: int) -> _core.Forms:
    forms = _core.Forms(
        np.ascontiguousarray(rows.T), costs.operators, costs.operands, costs.variable, costs.one, n_forms
    )
    forms.grow(n_forms, 60.0)
    return forms


def cost_of(tokens: list[str], costs: TokenCosts) -> int:
    """The sum over the tokens in their places."""
    total = 0
    places: list[int | None] = [None]
    for token in tokens:
        place = places.pop()
        row = OPERATORS.get(token)
        column = row.id if row else FIRST_VARIABLE + (token == "1")
        total += costs.operators[column] if row else costs.one if token == "1" else costs.variable
        total += int(costs.operands[place, column]) if place is not None else 0
        places += [2 * row.id + k for k in reversed(range(row.arity))] if row else []
    return total


def test_values_are_those_of_the_tokens_and_costs_rise() -> None:
    costs = by_id(dict.fromkeys(("+", "-", "*", "/", "sin", "exp", "pow2"), 2), 0)
    rows = X[:16]
    flat = np.zeros((2 * FIRST_VARIABLE, FIRST_VARIABLE + 2), dtype=np.int32)
    forms = _core.Forms(np.ascontiguousarray(rows.T), costs, flat, 2, 3, 3000)
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


def test_a_factor_of_two_needs_no_operator_of_its_own() -> None:
    (law,) = Ranking(bind(X, 2 * x1 + 3, grammar=Grammar(frozenset({"+", "*"})))).ranked([Draft("2*(x1) + 3")])
    assert law.tokens == ["+", "*", "2", "x1", "3"]


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


def test_a_form_costs_what_its_tokens_cost_in_their_places() -> None:
    costs = token_costs(Grammar().operators)
    forms = forms_on(X[:64], costs, 5000)
    assert len(forms) == 5000
    for form in range(0, 5000, 41):
        assert forms.cost(form) == cost_of(spelled(forms, form), costs)
    assert all(forms.cost(i) <= forms.cost(i + 1) for i in range(4, 4999))


@pytest.mark.parametrize(
    ("law", "imitation"),
    [
        ("x1/(x1 + x2)", "x1/tanh(x2)"),
        ("x1*x2/x3", "x1^(x2/x3)"),
        ("exp(x1^2)", "abs(x1^2)^x1"),
        ("log(x1/x2)", "tan(x1/x2)"),
        ("sqrt(x1^2 + x2^2)", "asin(x1/(x2 + 9))"),
    ],
)
def test_what_laws_have_comes_before_what_they_have_not(law: str, imitation: str) -> None:
    costs = token_costs(Grammar().operators)
    assert cost_of(simplipy.parse(law).tokens, costs) < cost_of(simplipy.parse(imitation).tokens, costs)


def test_forms_of_laws_are_among_the_first() -> None:
    forms = forms_on(X[:64], token_costs(Grammar().operators), 4000)
    for law in ("x1*x2/x3", "x1/(x2 + x3)", "exp(x1/x2)", "sqrt(x1/x2)", "1/(1 + x1)"):
        values = simplipy.parse(law)(X[:64])
        (form,) = forms.best(values, np.ones(64), 0.0, 1)
        hit = simplipy.parse(spelled(forms, form))(X[:64])
        assert abs(np.corrcoef(values, hit)[0, 1]) > 1 - 1e-12, law


def test_every_operator_has_a_cost_and_those_that_are_not_asked_for_have_none() -> None:
    costs = token_costs(frozenset({"+", "*", "erf", "min"}))
    made = {token for token, row in OPERATORS.items() if costs.operators[row.id] > 0}
    assert made == {"+", "*", "erf", "min"}
    # no law has min, which is dear, and not impossible
    assert costs.operators[OPERATORS["*"].id] < costs.operators[OPERATORS["min"].id] < 15
    assert (costs.operands >= 0).all()


def test_operands_that_may_change_places_cost_the_same() -> None:
    operands = token_costs(Grammar().operators).operands
    for token in ("+", "-", "*"):
        first = 2 * OPERATORS[token].id
        assert (operands[first] == operands[first + 1]).all()
    divided = 2 * OPERATORS["/"].id
    assert (operands[divided] != operands[divided + 1]).any()
