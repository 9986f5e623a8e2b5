"""Roots as people write them: the same values on the rows, names that NumPy and SymPy know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from flash_ansr.infer.selection.roots import plain_roots
from simplipy import Expression, parse
from tests.strategies import expressions

POSITIVE = np.random.default_rng(0).uniform(0.1, 5, (50, 5))
SIGNED = np.random.default_rng(1).normal(size=(50, 5))


@pytest.mark.parametrize(
    ("spelled", "written"),
    [
        ("2^(x1^0.07*pow1_4(x2)*x3)", "2^(x1^0.07*x2^0.25*x3)"),
        ("sqrt(pow1_5(x1))", "x1^0.1"),
        ("sqrt(pow1_4(x1))", "x1^0.125"),
        ("pow1_5(x1)^2", "x1^0.4"),
        ("pow1_4(x1)^3", "x1^0.75"),
        ("pow1_4(x1^3)", "x1^0.75"),
        ("sqrt(x1^3)", "x1^1.5"),
        ("sqrt(133360*x1^3)", "365.184884682*x1^1.5"),
        ("sqrt(4*x1^3)", "2*x1^1.5"),
        ("sqrt(2*x1^3)", "sqrt(2)*x1^1.5"),
        ("pow1_4(7*x1^3)", "7^0.25*x1^0.75"),
        ("pow1_4(7*x1)", "(7*x1)^0.25"),
        ("sqrt(3.7712*x1^2.5)", "1.94195777503*x1^1.25"),
        ("pow1_5(x1 + pow1_4(x2))", "(x1 + x2^0.25)^0.2"),
    ],
)
def test_forms(spelled: str, written: str) -> None:
    assert plain_roots(parse(spelled), POSITIVE).infix(12) == written
    np.testing.assert_allclose(parse(written)(POSITIVE), parse(spelled)(POSITIVE), rtol=1e-10)


@pytest.mark.parametrize(
    "text", ["sqrt(x1)", "cbrt(x1)", "sqrt(3*x1)", "sqrt(3*x1^2)", "sqrt(-3*x1^3)", "sqrt(x1 + 1)", "x1^0.25"]
)
def test_what_others_know_stays(text: str) -> None:
    assert plain_roots(parse(text), POSITIVE) == parse(text)


def test_fifth_roots_of_negative_numbers_stay() -> None:
    e = parse("pow1_5(x1)^2 + pow1_5(x2^2)")
    assert plain_roots(e, SIGNED).infix() == "pow1_5(x1)^2 + (x2^2)^0.2"


@given(expressions(wild_numbers=False))
def test_values_stay_on_the_rows(expression: Expression) -> None:
    for X in (POSITIVE, SIGNED):
        names = sorted(expression.variables)
        columns = dict(zip(names, X.T, strict=False))
        if expression.n_constants or not names or len(names) > X.shape[1]:
            return
        plain = plain_roots(expression.rename({n: f"x{k}" for k, n in enumerate(names, 1)}), X)
        old, new = expression(columns), plain(X)
        both = np.isfinite(old)
        np.testing.assert_allclose(new[both], old[both], rtol=1e-6)
        assert plain_roots(plain, X) == plain
