"""Interval arithmetic on boxes: what it claims holds at points inside."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from simplipy import OPERATORS
from simplipy.mining.boxes import on_boxes

LEAVES = ("a", "b", "0", "1", "-1", "pi", "0.5")


@st.composite
def terms(draw, depth=4):
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return (draw(st.sampled_from(LEAVES)),)
    token = draw(st.sampled_from(sorted(OPERATORS)))
    operands = [draw(terms(depth=depth - 1)) for _ in range(OPERATORS[token].arity)]
    return (token, *(t for operand in operands for t in operand))


@given(terms(), st.integers(0, 10**6))
def test_bounds_and_definedness_hold_inside(tokens, seed):
    rng = np.random.default_rng(seed)
    n_boxes, n_inside = 40, 12
    centre = rng.uniform(-4, 4, (2, n_boxes))
    width = 10 ** rng.uniform(-4, 0.3, (2, n_boxes))
    boxes = {name: (centre[k], centre[k] + width[k]) for k, name in enumerate("ab")}
    found = on_boxes(tokens, boxes, n_boxes)
    inside = {name: (low + (high - low) * rng.random((n_inside, n_boxes))) for name, (low, high) in boxes.items()}
    data = {name: values.ravel() for name, values in inside.items()}
    values, defined = simplipy.evaluate_many([simplipy.parse(list(tokens))], data)
    values, defined = values[0].reshape(n_inside, n_boxes), defined[0].reshape(n_inside, n_boxes)
    finite = np.isfinite(values) & defined
    assert not (finite & found.nowhere).any()
    with np.errstate(invalid="ignore"):
        slack = 1e-6 * (1 + np.abs(values))
        assert ((values >= found.low - slack) & (values <= found.high + slack) | ~finite | (np.abs(values) > 1e6)).all()
    # doubles may overflow or round across a border, so only a clear contradiction counts
    assert not ((~defined).all(axis=0) & found.whole & (np.abs(found.low) < 1e6) & (np.abs(found.high) < 1e6)).any()


@pytest.mark.parametrize(
    ("text", "low", "high", "whole", "nowhere"),
    [
        ("log(a)", 0.5, 1.0, True, False),
        ("log(a)", -1.0, 1.0, False, False),
        ("log(a)", -1.0, -0.5, False, True),
        ("sqrt(1 - a^2)", -0.9, 0.9, True, False),
        ("acosh(cos(a)/2)", 0.0, 9.0, False, True),
        ("tan(a)", 1.0, 1.5, True, False),
        ("tan(a)", 1.5, 1.6, False, False),
        ("1/(a - a)", 1.0, 2.0, False, False),  # intervals do not see that both are the same
        ("nan + a", 1.0, 2.0, False, True),
    ],
)
def test_what_is_known_about_a_box(text, low, high, whole, nowhere):
    boxes = {"a": (np.array([low]), np.array([high]))}
    found = on_boxes(simplipy.parse(text).tokens, boxes, 1)
    assert (bool(found.whole[0]), bool(found.nowhere[0])) == (whole, nowhere)
