"""Formulas as people write them: the same formula, not longer."""

from __future__ import annotations

import pytest
from hypothesis import given

from flash_ansr.infer.selection.readable import readable
from simplipy import Expression, parse, simplify
from tests.strategies import expressions


# beyond exact arithmetic, minus a number is another number to the simplifier
@given(expressions(wild_numbers=False))
def test_the_same_formula_and_not_longer(expression: Expression) -> None:
    written = readable(expression)
    assert len(written) <= len(expression)
    assert simplify(written) == simplify(expression)
    spellings = {simplify(written, domain="preserve"), simplify(expression, domain="preserve")}
    # where the simplifier declines, as for 0^x, it leaves both spellings as they are
    assert len(spellings) == 1 or spellings == {written, expression}
    assert readable(written) == written


@pytest.mark.parametrize(
    ("spelled", "written"),
    [
        ("5*(x1/4)", "1.25*x1"),
        ("2*(5*x1)", "10*x1"),
        ("2*((2)*x1)", "4*x1"),
        ("x1/5/2", "0.1*x1"),
        ("x1/3/3", "x1/9"),
        ("3*(1/x1)", "3/x1"),
        ("2*(3*(1/x1))", "6/x1"),
        ("(x1^3)^2", "x1^6"),
        ("2.5*sqrt(x1)^3", "2.5*x1^1.5"),
        ("pow1_4(x1 + x2)^3", "(x1 + x2)^0.75"),
        ("8.314*(x1*(x2/x3))", "8.314*x1*x2/x3"),
        ("x1 + (x2 - x3)", "x1 + x2 - x3"),
        ("x1 - (x2 - x3)", "x1 - x2 + x3"),
        ("1.014 + -0.8423*x1", "1.014 - 0.8423*x1"),
        ("x1 - -2*(x2/x3)", "x1 + 2*x2/x3"),
        ("x1 + -3", "x1 - 3"),
    ],
)
def test_forms(spelled: str, written: str) -> None:
    assert readable(parse(spelled)).infix() == written


@pytest.mark.parametrize(
    "text",
    [
        "cbrt(x1)^2",
        "pow1_5(x1)^2",
        "sqrt(x1)",
        "2*(x1/3)",
        "x1/2",
        "5*x1",
        "sin(2*x1/3)",
        "x1^2",
        "-x1 + x2",
        "x1 - x2*x3",
    ],
)
def test_what_is_readable_stays(text: str) -> None:
    assert readable(parse(text)) == parse(text)


def test_deep_formulas_stay_as_they_are() -> None:
    deep = parse("sin(" * 1000 + "2*(5*x1)" + ")" * 1000)
    assert readable(deep) == deep
