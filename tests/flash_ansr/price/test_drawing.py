"""Drawn forms: as frequent as their price says, from the allowed operators alone, the same for a seed and an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from functools import cache
from typing import Any

import numpy as np
import pytest

from flash_ansr.price import Prices, usual_prices
from simplipy import Expression, TokenBatch
from simplipy.expression.operators import OPERATORS
from simplipy.expression.prefix import fold

N = 60_000


@cache
def by_answers() -> Prices:
    """The prices without those of known forms, which are not drawn for their own sake."""
    return Prices(usual_prices().log_probs)


def drawn(prices: Prices, n: int, n_columns: int, max_length: int = 40) -> list[Expression]:
    return prices.draw(7, np.arange(n), n_columns, max_length).expressions()


def in_any_order(form: Expression) -> Hashable:
    """The same for formulas that differ in the order of terms and factors alone."""
    return fold(form.tokens, lambda leaf: leaf, _joined)


def _joined(operator: str, operands: list[Any]) -> Hashable:
    kind = {"+": "sum", "*": "product", "/": "product"}.get(operator)
    if kind is None:
        return (operator, *operands)
    a, b = operands
    chain = list(a[1]) if isinstance(a, tuple) and a[0] == kind else [("", a)]
    return (kind, tuple(sorted([*chain, ("1/" if operator == "/" else "", b)], key=repr)))


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_forms_are_as_frequent_as_their_price_says(n_columns: int) -> None:
    counts: Counter[Hashable] = Counter()
    forms: dict[Hashable, Expression] = {}
    for form, n in Counter(drawn(by_answers(), N, n_columns)).most_common(500):
        counts[in_any_order(form)] += n
        forms.setdefault(in_any_order(form), form)
    frequent = [key for key, n in counts.items() if len(forms[key]) <= 8 and n > 120]
    assert len(frequent) >= 20
    observed = np.array([counts[key] for key in frequent], dtype=float)
    rate = observed * np.exp(by_answers().both([forms[key] for key in frequent], n_columns)[:, 0])
    # one rate for all: the share of draws that are not drawn again
    deviations = (rate / np.average(rate, weights=observed) - 1) * np.sqrt(observed)
    assert np.abs(deviations).max() < 4.5
    assert np.mean(deviations**2) < 2


def test_a_draw_depends_on_the_seed_and_its_index_alone() -> None:
    prices = usual_prices()
    whole = prices.draw(3, np.arange(50), 2)
    part = prices.draw(3, [17, 4], 2)
    assert [part[0], part[1]] == [whole[17], whole[4]]
    assert [prices.draw(4, np.arange(50), 2)[i] for i in range(50)] != [whole[i] for i in range(50)]


def test_drawn_forms_have_a_variable_and_keep_to_the_length() -> None:
    forms = drawn(usual_prices(), 2000, 2, max_length=9)
    assert max(len(form) for form in forms) <= 9
    assert all(set(form.variables) <= {"x1", "x2"} and form.variables for form in forms)


@pytest.mark.parametrize(
    "operators",
    [
        ("+", "-", "*", "/"),
        ("+", "*", "pow"),
        ("+", "*", "inv", "exp", "pow2"),
        ("*", "/", "neg", "log", "pow1_2", "pow3"),
        ("sin",),
    ],
)
def test_no_other_operators_are_drawn(operators: tuple[str, ...]) -> None:
    forms = drawn(usual_prices().within(operators), 3000, 2)
    met = {token for form in forms for token in form.tokens if token in OPERATORS}
    assert met <= set(operators)
    assert set(operators) - {"-"} <= met  # differences are sums with negative terms


def test_operators_that_are_off_by_default_are_drawn_where_they_are_asked_for() -> None:
    forms = drawn(usual_prices().within(("+", "*", "max", "erf")), 20_000, 2)
    met = Counter(token for form in forms for token in form.tokens if token in OPERATORS)
    assert {"+", "*", "erf"} <= met.keys() <= {"+", "*", "max", "erf"}
    assert met["erf"] < met["*"] / 10


def test_allowed_operators_share_all_probability() -> None:
    few = usual_prices().within(("+", "*", "/", "sin"))
    form = TokenBatch.from_expressions(drawn(few, 1, 1))
    assert few.of(form)[0] < Prices(usual_prices().log_probs).of(form)[0]
