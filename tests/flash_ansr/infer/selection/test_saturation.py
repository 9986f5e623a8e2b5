"""Saturated parts are replaced by what they amount to, and nothing else is."""

import numpy as np
import pytest

from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.selection.saturation import unsaturated
from flash_ansr.infer.table.table import Table
from simplipy import equivalent, parse
from simplipy.fit.score import exact_fvu, is_exact

RNG = np.random.default_rng(8)
X = RNG.uniform(0.2, 2.0, (120, 2))


def noisy(text, share=0.02, X=X):
    clean = parse(text)(X)
    return Table(X, clean + share * np.std(clean) * RNG.normal(size=len(X)))


def fitted(text, table):
    """The formula as a search would hand it over, its free constants fitted."""
    fit = refit(parse(text), np.ones(parse(text).n_constants), table, "squared")
    assert fit.ok
    return fit.expression


@pytest.mark.parametrize(
    ("candidate", "truth", "expected"),
    [
        ("C*atan(21.86 + x1^2) + C", "0.6*x1^2 + 3", "C + C*x1^2"),
        ("C*1.0000002^(x1*x2) + C", "0.2*x1*x2 + 1", "C + C*x1*x2"),
        ("C*exp(x1/5000) + C", "4*x1 + 1", "C + C*x1"),
        ("C + C/(9000 + x1)", "0.09*x1", "C + C*x1"),
        ("C*log(3000 + x1) + C", "0.23*x1 - 0.7", "C + C*x1"),
        ("C*(9000 + x1)^1.7 + C", "400*x1", "C + C*x1"),
        ("C*sqrt(x1 + 70000) + C*x2", "0.3*x1 + 2*x2 + 15", "C + C*x1 + C*x2"),
        ("C*x1*tanh(40 + x2)", "3.3*x1", "C*x1"),
        ("x2^2 + C*x1*atan(3e8*x2)", "x2^2 + 4.7*x1", "x2^2 + C*x1"),
        ("C*x1^2 + C*tanh(11 + x2)", "3.3*x1^2 + 500", "C + C*x1^2"),
    ],
)
def test_a_saturated_part(candidate, truth, expected):
    """C stands for a fitted constant."""
    candidate, expected = (text.replace("C", "<constant>") for text in (candidate, expected))
    table = noisy(truth)
    formula = fitted(candidate, table)
    found = unsaturated(formula, table)
    assert found is not None
    assert len(found) <= len(parse(expected)) < len(formula)
    assert equivalent(found.skeleton(), parse(expected).skeleton()).equivalent
    assert fvu_on(found, table) == pytest.approx(fvu_on(fitted(expected, table), table), rel=1e-6)
    assert fvu_on(found, table) <= fvu_on(formula, table) * 1.001


@pytest.mark.parametrize(
    "text",
    [
        "3*x1*tanh(x2)",
        "2*exp(-1.5*x1)",
        "4*log(1 + x1)",
        "2.5/(3.1 + x1)",
        "3*sin(2 + x1) + x2",
        "5*1.9^x1",
        "x1 + 0.2*sin(7*x2)",
        "2.1*x1*x2",
        "7.2",
    ],
)
def test_formulas_that_need_all_their_parts(text):
    table = noisy(text, 0.05) if "x" in text else Table(X, 7.2 + RNG.normal(size=len(X)))
    formula = parse(text)
    fit = refit(formula.skeleton(), numbers_of(formula), table, "squared")
    assert unsaturated(fit.expression, table) is None


def test_an_exact_law_stays_exact():
    """The rows tell atan(21.86 + x1^2) from its first-order term, however small the difference is."""
    law = parse("300*atan(21.86 + x1^2) - 450")
    table = Table(X, law(X))
    assert unsaturated(law, table) is None
    law = parse("x1*tanh(50 + x1)")
    table = Table(X, law(X))
    found = unsaturated(law, table)
    assert found == parse("x1")
    assert is_exact(fvu_on(found, table), exact_fvu(table.y))


def test_narrow_columns_alone_saturate_nothing():
    """Arrhenius' law between 295 and 300 K: no number of the formula hides the temperature."""
    T = RNG.uniform(295.0, 300.0, (200, 1))
    table = noisy("8e9*exp(-6000/x1)", 0.05, T)
    assert unsaturated(parse("8e9*exp(-6000/x1)"), table) is None


def test_two_saturated_parts():
    table = noisy("3*x1 + 2*x2")
    text = "<constant>*x1*tanh(30 + x2) + <constant>*atan(21000 + x2) + <constant>"
    found = unsaturated(fitted(text, table), table)
    assert equivalent(found.skeleton(), parse("<constant> + <constant>*x1 + <constant>*x2")).equivalent


def test_numbers_that_laws_write_out_stay():
    table = noisy("pi*x2/2 + 0.3*x1^2")
    found = unsaturated(fitted("pi*x2/2 + <constant>*atan(21.86 + x1^2) + <constant>", table), table)
    assert found is not None
    assert {"pi", "div2", "pow2"} <= set(found.tokens)


def test_many_rows_are_looked_at_in_part():
    X = RNG.uniform(0.2, 2.0, (20_000, 1))
    table = noisy("0.2*x1 + 1", X=X)
    found = unsaturated(fitted("<constant>*1.0000002^x1 + <constant>", table), table)
    assert len(found) == 5
