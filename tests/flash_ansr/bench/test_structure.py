"""Symbolic metrics, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simplipy
from flash_ansr.bench.candidates import summarize_candidates
from flash_ansr.bench.structure import (
    in_units,
    is_recovered_symbolically,
    simplified_skeleton,
    token_f1,
    total_nestedness,
    variable_recall,
    without_offset,
)

parse = simplipy.parse


@pytest.mark.parametrize(
    ("prediction", "truth", "same"),
    [
        ("2.5*x1 + x2", "x2 + 3.7*x1", True),
        ("x1*x1", "x1^2", True),
        ("sin(x1)^2 + cos(x1)^2 + x2", "x2 + 1", True),
        ("2.5*x1 + x2", "2.5*x1 - x2*x1", False),
        ("x1^2", "x1^3", False),
        ("1.5*x1", "x1", False),
    ],
)
def test_same_skeleton(prediction: str, truth: str, same: bool) -> None:
    assert (simplified_skeleton(parse(prediction)) == simplified_skeleton(parse(truth))) is same


@pytest.mark.parametrize(
    ("prediction", "truth", "recovered"),
    [
        ("2.0000000001*x1", "2*x1", True),
        ("2.00001*x1", "2*x1", False),
        ("6.2831853*sqrt(x1/9.81)", "2*pi*sqrt(x1/9.81)", True),
        ("x1", "x1 + x2", False),
        ("exp(log(x1) + x2)", "x1*exp(x2)", True),
    ],
)
def test_symbolic_recovery(prediction: str, truth: str, recovered: bool) -> None:
    assert is_recovered_symbolically(parse(prediction), parse(truth), {}) is recovered


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x1*x2 + 1e-9", "x1*x2"),
        ("-1e-9 + 2*(x1/x2)", "2*(x1/x2)"),
        ("1e-9 - x1", "-x1"),
        ("x1 - (x2 + 1e-9)", "x1 - x2"),
        ("x1 + 0.6e-6 + 0.6e-6", "x1 + 0.6e-6 + 0.6e-6"),
        ("x1 + 0.6 - 0.6", "x1"),
        ("x1*(x2 + 1e-9)", "x1*(x2 + 1e-9)"),
        ("1e-9", "1e-9"),
        ("x1", "x1"),
    ],
)
def test_small_offsets_are_left_out(text: str, left: str) -> None:
    assert without_offset(parse(text), 1e-6) == parse(left)


def test_an_offset_that_is_nothing_does_not_hide_the_law() -> None:
    units = {"x1": 30.0, "x2": 30.0}
    found, law = parse("2e-8 + 5*x1/x2^2"), parse("5*x1/x2^2")
    assert not is_recovered_symbolically(found, law, units)
    assert is_recovered_symbolically(found, law, units, offset=1e-7)
    assert is_recovered_symbolically(parse("x1 + 1e-9"), parse("x1 + 1e-9"), units, offset=1e-7)
    assert not is_recovered_symbolically(parse("5.1*x1/x2^2 + 1e-8"), law, units, offset=1e-7)


def test_units_show_what_ordinary_points_hide() -> None:
    relativistic, classical = parse("x1/sqrt(1 - x2^2/299792458^2)"), parse("x1")
    assert is_recovered_symbolically(classical, relativistic, {})
    assert not is_recovered_symbolically(classical, relativistic, {"x2": 1e8})
    assert is_recovered_symbolically(parse("x1/sqrt(1 - x2^2/89875517873681764)"), relativistic, {"x2": 1e8})
    assert in_units(parse("x1*x2"), {"x1": 5.0})(np.array([[2.0, 3.0]])).tolist() == [30.0]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("+ x1 x2", "+ x1 x2", 1.0),
        ("+ x2 x1", "+ x1 x2", 1.0),
        ("sin x1", "cos x2", 0.0),
        ("+ x1 x1", "* x1 x2", 2 * 1 / 6),
        ("+ x1 * x1 x2", "+ x1 x1", 2 * 3 / 8),
    ],
)
def test_f1(a: str, b: str, expected: float) -> None:
    assert token_f1(a.split(), b.split()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "truth", "expected"),
    [
        ("x1 + x2", "x1*x2", 1.0),
        ("x1", "x1*x2", 0.5),
        ("x3", "x1*x2", 0.0),
        ("x1 + x2 - x2", "x1*x2", 0.5),
        ("x1*x2*x3", "x1*x2*x4 - x2*x4*x1 + x3", 1.0),
        ("x1", "2", 1.0),
    ],
)
def test_variables(prediction: str, truth: str, expected: float) -> None:
    assert variable_recall(simplified_skeleton(parse(prediction)), simplified_skeleton(parse(truth))) == expected


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ("sin log acosh x1", 2),  # the paper's examples
        ("sin log + x1 <constant>", 1),
        ("x1", 0),
        ("+ sin x1 cos x2", 0),
        ("* sin exp x1 log neg x2", 2),
        ("sin + exp x1 x2", 0),
    ],
)
def test_nestedness(tokens: str, expected: int) -> None:
    assert total_nestedness(tokens.split()) == expected


def test_candidates() -> None:
    """Lengths 3, 2, 5, 2 over simplified lengths 2, 2, 3, 2: the first two are rewrites of each other."""
    candidates = ["+ x1 x1", "mult2 x1", "+ x1 + x2 0", "sin x1"]
    found = summarize_candidates([c.split() for c in candidates])
    assert found.n_candidates == 4
    assert found.rewrite_fraction == pytest.approx(1 - 3 / 4)
    lengths = [len(simplipy.simplify(c.split(), mask_numbers=True)) for c in candidates]
    assert lengths[:2] == [2, 2]
    assert found.bloat == pytest.approx((3 / 2 + 2 / 2 + 5 / lengths[2] + 2 / 2) / 4 - 1)


def test_no_candidates() -> None:
    found = summarize_candidates([])
    assert found.n_candidates == 0
    assert math.isnan(found.bloat)
