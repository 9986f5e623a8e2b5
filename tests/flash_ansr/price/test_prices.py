"""Prices are those of a form: names, orders and spellings do not count, and laws are cheaper than imitations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flash_ansr
from flash_ansr.price import Prices, is_usual, plausibility, usual_prices
from flash_ansr.price.counts import n_cells
from simplipy import Expression, parse
from tests.flash_ansr.price.tables import form
from tests.strategies import EVERY_OPERATOR, expressions

COMMUTATIVE = ("+", "*", "min", "max")


def price(formula: Expression, n_columns: int = 0) -> float:
    return float(usual_prices().of([formula], n_columns)[0])


def swapped(tokens: list[str], rng: np.random.Generator) -> list[str]:
    """The same formula with the operands of sums and products in another order."""

    def read(i: int) -> tuple[list[str], int]:
        arity = len(OPERATORS_OF.get(tokens[i], ()))
        operands, end = [], i + 1
        for _ in range(arity):
            operand, end = read(end)
            operands.append(operand)
        if tokens[i] in COMMUTATIVE and rng.random() < 0.5:
            operands.reverse()
        return [tokens[i], *itertools.chain.from_iterable(operands)], end

    return read(0)[0]


OPERATORS_OF = {token: "ab" if token in ("+", "-", "*", "/", "pow", "min", "max") else "a" for token in EVERY_OPERATOR}


@given(expressions(max_leaves=8, names=False, operators=EVERY_OPERATOR), st.integers(0, 2**32))
def test_names_and_orders_do_not_count(formula: Expression, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = rng.permutation([f"x{k}" for k in range(1, 6)]).tolist()
    renamed = formula.rename(dict(zip(formula.variables, names, strict=False)))
    other = parse(swapped(renamed.tokens, rng))
    np.testing.assert_allclose(usual_prices().both([other], 5), usual_prices().both([formula], 5), rtol=1e-9)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("exp(-x/13.7)", "0.93^x"),
        ("log(60000*x^6.2)", "6.2*log(x) + 11.3"),
        ("sqrt(36.8*x)", "6.07*sqrt(x)"),
        ("sqrt(2*x)", "sqrt(2)*sqrt(x)"),
        ("3.1/(1 + 4.2/x)", "3.1*x/(x + 4.2)"),
        ("3.1*x/(0.27*x + 1)", "11.3*x/(x + 3.7)"),
        ("exp(3.1 - 0.27*x)", "22.2/exp(0.27*x)"),
        ("0.27*(x - 13.1)", "0.27*x - 3.54"),
        ("(x1/x2)^2", "x1^2/x2^2"),
        ("x1*x1", "x1^2"),
        ("exp(x1)*exp(x2)", "exp(x1 + x2)"),
        ("36.8*x1", "<constant>*x1"),
        ("36.8*(x1 + 0.27*x2)", "<constant>*x1 + <constant>*x2"),
        ("x1 + x1", "2*x1"),
    ],
)
def test_spellings_do_not_count(a: str, b: str) -> None:
    assert price(form(a)) == pytest.approx(price(form(b)))


def test_a_number_that_laws_write_out_costs_less_than_a_strange_one_with_its_digits() -> None:
    written, fitted = usual_prices().both([parse("x1^2/2"), parse("<constant>*x1^2")])[:, 0]
    assert written > fitted  # a coefficient is more often fitted than one half
    assert price(parse("x1^2/2")) == pytest.approx(fitted)
    assert is_usual(-0.5)
    assert is_usual(2 * math.pi)
    assert not is_usual(0.53)


def test_a_strange_formula_has_a_price() -> None:
    long = parse(" + ".join(f"sin({k}.37*x{k})^{k}" for k in range(1, 10)))
    assert price(long) < 4 * len(long) + 60  # nine terms: more than a sum has; the price is by length
    assert price(parse("asinh(atanh(erf(x1)))^x1^x1")) < 60


def test_a_column_of_more_costs_more() -> None:
    one, three = price(parse("sin(x1)"), 1), price(parse("sin(x1)"), 3)
    assert three - one == pytest.approx(math.log(3))
    with_two = price(parse("<constant>*x1*x2"), 2)
    # both columns may take either place
    assert price(parse("<constant>*x1*x2"), 9) > with_two + math.log(9 * 8 / 2) - 0.01


@pytest.mark.parametrize(
    ("law", "imitation"),
    [
        ("212*x/(0.35 + x)", "49*log(x) - x^4 + 159"),
        ("212*x/(0.35 + x)", "sqrt(32710*tanh(x))"),
        ("150/(1 + exp(-0.55*(t - 9)))", "8.3e-6*exp(-3.56*sqrt(x))*x^9.93"),
        ("5*exp(-(x - 3.1)^2/1.8)", "5*sin(0.355*x)^4"),
        ("14*(1 - exp(-t/3.2))", "2.2*cosh(atan(x))^3"),
        ("exp(-6200/T)*3.1e9", "x^15/3.1e37"),
    ],
)
def test_laws_are_more_plausible_than_imitations(law: str, imitation: str) -> None:
    assert plausibility(law) > plausibility(imitation) + 1


def test_plausibility_is_public() -> None:
    assert "plausibility" in flash_ansr.__all__
    assert flash_ansr.plausibility("3.1*speed^2") == plausibility(parse("7.7*x1^2")) <= 0


def test_a_table_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="a table has one value for each answer"):
        Prices(np.zeros(n_cells() - 1))
