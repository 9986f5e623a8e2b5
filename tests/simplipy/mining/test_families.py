"""Replacements with free constants: the forms that the search knows are all that three tokens can say."""

import itertools

import pytest

import simplipy
from simplipy import OPERATORS
from simplipy.expression.operators import CONSTANT, DEFAULT_OPERATORS

# what native/core/mine/join.cpp seeks as the member through a point
FORMS = [
    [CONSTANT],
    ["+", CONSTANT, "x1"],
    ["-", CONSTANT, "x1"],
    ["*", CONSTANT, "x1"],
    ["/", CONSTANT, "x1"],
    ["pow", "x1", CONSTANT],
    ["pow", CONSTANT, "x1"],
]
BINARY = [name for name in DEFAULT_OPERATORS if OPERATORS[name].arity == 2]
OF_THREE_TOKENS = [[op, *pair] for op in BINARY for pair in itertools.permutations(("x1", CONSTANT))]


@pytest.mark.parametrize("tokens", OF_THREE_TOKENS, ids=" ".join)
def test_every_family_of_three_tokens_with_a_metavariable_is_within_a_known_form(tokens):
    """Two free constants, or one below a unary operator, leave no token for the metavariable."""
    assert any(simplipy.equivalent(tokens, form).family in ("same", "b wider") for form in FORMS)
