"""The priors that prices are compared with are distributions over formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from flash_ansr.price.counts import questions
from flash_ansr.price.token_priors import TokenPrior, log_totals, tokens_of
from simplipy import parse
from simplipy.expression.operators import OPERATORS

FORMS = [parse(text) for text in ("<constant>*x1", "x1*x2/2", "sin(<constant>*x1) + x2", "x1/(<constant> + x1)", "pi")]


def test_totals_are_sums_over_all_formulas() -> None:
    weights = {0: 0.5, 1: 0.2, 2: 0.3}
    for n in range(1, 7):
        total = 0.0
        for arities in itertools.product(weights, repeat=n):
            need = list(itertools.accumulate((a - 1 for a in arities), initial=1))
            if need[-1] == 0 and min(need[:-1]) > 0:  # a formula ends where nothing more is needed
                total += math.prod(weights[a] for a in arities)
        assert log_totals(0.5, 0.2, 0.3)[n] == pytest.approx(math.log(total))


@pytest.mark.parametrize("by_frequency", [True, False])
def test_formulas_of_a_length_share_its_probability(by_frequency: bool) -> None:
    prior = TokenPrior(FORMS, by_frequency)
    (numbers,) = (question.answers for question in questions() if question.name == "number")
    leaves = [parse(text) for text in ("x1", "<constant>", *numbers)]
    of_one = sum(math.exp(-prior.nats(leaf)) for leaf in leaves)
    of_two = sum(math.exp(-prior.nats(parse([t, "x1"]))) for t, row in OPERATORS.items() if row.arity == 1)
    assert of_one == pytest.approx(1.0 / 5.5 + 0.5 / 5.5 / np.mean([3, 4, 6, 5, 1]), rel=0.05)
    assert 0 < of_two < 1


def test_frequent_operators_are_cheaper_by_frequency_alone() -> None:
    even, frequent = TokenPrior(FORMS, False), TokenPrior(FORMS, True)
    assert even.nats(parse("sin(x1)")) == pytest.approx(even.nats(parse("cos(x1)")))
    assert frequent.nats(parse("sin(x1)")) < frequent.nats(parse("cos(x1)")) - 0.5


def test_numbers_are_one_token() -> None:
    assert tokens_of(parse("3*x1/(4*pi)")) == ["/", "mult3", "x1", pytest.approx(4 * math.pi)]
    assert tokens_of(parse("36.8*x1")) == ["*", "<constant>", "x1"]
