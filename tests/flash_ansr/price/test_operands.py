"""Operands of operators in known laws: probabilities, read from forms as trees."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr.price.known_forms import KnownForm, known_forms
from flash_ansr.price.operands import (
    PARENTS,
    STRENGTH,
    TOKENS,
    WHOLE,
    Tree,
    counted,
    operand_probabilities,
    plain,
    probabilities_of,
)
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS

ALL = frozenset(DEFAULT_OPERATORS)
FEW = frozenset({"+", "sin", "erf"})


@pytest.mark.parametrize("operators", [ALL, FEW, frozenset(OPERATORS)])
def test_operators_that_are_asked_for_and_no_others_are_possible_everywhere(operators: frozenset[str]) -> None:
    probabilities = operand_probabilities(operators)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1.0, rtol=1e-12)
    is_allowed = np.array([token in operators or token not in OPERATORS for token in TOKENS])
    assert (probabilities[..., ~is_allowed] == 0).all()
    assert (probabilities[..., is_allowed] > 0.004).all()


def probability(token: str, parent: str, side: int = 0) -> float:
    return float(operand_probabilities(ALL)[PARENTS.index(parent), side, TOKENS.index(token)])


def test_places_have_their_own_operands() -> None:
    assert probability("inv", "exp") > 2 * probability("inv", "*")
    assert probability("+", "/", 1) > 2 * probability("+", "/", 0)
    assert probability("1", "+", 0) > 10 * probability("1", "*", 0)
    assert probability("sin", "sin") < probability("cos", "*", 1)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("<constant> + <constant>*exp(x1)", "exp(x1)"),
        ("<constant>*<constant>^x1", "exp(x1)"),
        ("<constant>*x1/(<constant> + x1)", "x1/(1 + x1)"),
        ("<constant>/(<constant>*x1^2 - x2)", "inv(x1^2 - x2)"),
        ("x1*(<constant>*x2)^<constant>", "x1*x2"),
        ("sqrt(<constant> - 2*x1)", "sqrt(1 - x1)"),
    ],
)
def test_plain_forms_have_no_factors_and_outer_constants(form: str, expected: str) -> None:
    def shape(tree: Tree) -> list[str]:
        return [tree[0], *(token for operand in tree[1] for token in shape(operand))]

    tokens = simplipy.parse(expected).tokens
    assert shape(plain(simplipy.parse(form))) == ["variable" if token[0] == "x" else token for token in tokens]


def test_forms_count_as_often_as_laws_have_them() -> None:
    known = [KnownForm(simplipy.parse("<constant>*sin(x1)"), 3), KnownForm(simplipy.parse("<constant>^x1/x2"), 2)]
    counts = counted(known)
    places = {(PARENTS[i], side, TOKENS[k]): n for (i, side, k), n in np.ndenumerate(counts) if n > 0}
    assert places == {
        (WHOLE, 0, "sin"): 3,
        (WHOLE, 0, "/"): 2,
        ("sin", 0, "variable"): 3,
        ("/", 0, "exp"): 2,
        ("/", 1, "variable"): 2,
        ("exp", 0, "variable"): 2,
    }


def test_the_strength_of_smoothing_is_the_best_one() -> None:
    known = known_forms()
    parts = [counted(known[i::10]) for i in range(10)]
    total = np.sum(parts, axis=0)

    def cost(strength: float) -> float:
        learned = [probabilities_of(total - part, strength) for part in parts]
        return -sum(float(part[part > 0] @ np.log(p[part > 0])) for part, p in zip(parts, learned, strict=True))

    assert min((2.0**k for k in range(-2, 6)), key=cost) == STRENGTH
