"""Saturated parts are replaced by what they amount to, and nothing else is."""

import numpy as np
import pytest

from flash_ansr.infer.candidates.archive import BASELINE, Candidate
from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms
from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.selection.criteria import automatic, ranked
from flash_ansr.infer.selection.plain_parts import KINDS
from flash_ansr.infer.selection.saturation import unsaturated, with_unsaturated
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch, equivalent, parse
from simplipy.fit.score import exact_fvu, is_exact, score

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
        ("C*sin(0.00001*x1) + C*x2", "2*x1 + x2", "C*x1 + C*x2"),
        ("C*tan(x1*x2/20000)", "2*x1*x2", "C*x1*x2"),
        ("C*cos(0.001*x1) + C", "2*x1^2 + 1", "C + C*x1^2"),
        ("C*cos(1.2 + 0.00001*x1) + C", "2*x1 + 1", "C + C*x1"),
        ("C*x1^0.0000003 + C", "0.4*log(x1) - 2", "C + C*log(x1)"),
        ("C/x1^0.000001 + C*x2 + C", "3 - 0.4*log(x1) + x2", "C + C*log(x1) + C*x2"),
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
        "4*x1^0.3 + x2",
        "3*sin(1.7*x1)",
        "3*cos(0.9*x1) + 7",
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


@pytest.mark.parametrize(
    ("candidate", "law", "expected"),
    [
        ("1000000000*sin(x1/1000000000)", "x1", "x1"),
        ("16403000/x1^2.6e-8 - 16403000", "-0.426478*log(x1)", "-0.426478*log(x1)"),
        ("3.5*tan(0.0001*x1)", "0.00035*x1", "0.00035*x1"),
    ],
)
def test_what_cancels_in_an_exact_law(candidate, law, expected):
    table = Table(X, parse(law)(X))
    found = unsaturated(parse(candidate), table)
    assert found is not None
    assert equivalent(found.skeleton(), parse(expected).skeleton()).equivalent
    np.testing.assert_allclose(found(X), table.y, rtol=1e-12)


K = np.column_stack([np.arange(1.0, 81.0), RNG.uniform(0.2, 2.0, 80)])


@pytest.mark.parametrize("text", ["cos(366.5*x1)", "2.1*sin(x1*366.5 - 0.3) + x2", "cos(0.4 - 366.5*x1)"])
def test_waves_on_integers_have_the_smallest_frequency(text):
    law = parse(text)
    found = unsaturated(law, Table(K, law(K)))
    assert found is not None
    assert len(found) == len(law)
    assert max(abs(number) for number in numbers_of(found)) < np.pi
    np.testing.assert_allclose(found(K), law(K), rtol=1e-8)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("cos(366.5*x2) + x1", K), ("cos(7*x1)", K), ("cos(3.1*x1)", K), ("cos(366.5*x1)", K / 2), ("cos(366.5*x1^2)", K)],
)
def test_other_waves_stay(text, columns):
    law = parse(text)
    assert unsaturated(law, Table(columns, law(columns))) is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_does_what_its_example_says(kind):
    candidate, expected = (parse(text.replace("C", "<constant>")) for text in (kind.before, kind.after))
    table = noisy(kind.after.replace("C", "2.5"))
    found = unsaturated(fitted(str(candidate), table), table)
    assert equivalent(found.skeleton(), expected.skeleton()).equivalent


def candidate_of(text, table, number=0, proposer="local"):
    law = parse(text)
    fvu = fvu_on(law, table)
    return Candidate(law, b"", fvu, score(fvu, len(law)), 2, 0.0, proposer, number)


def test_candidates_are_replaced_with_what_is_known_of_them():
    table = noisy("3*x1 + 2")
    texts = ["30000*sin(0.0001*x1) + 2", "x1*tanh(40 + x2)", "x2"]
    candidates = [candidate_of(text, table, i) for i, text in enumerate(texts)]
    candidates.append(candidate_of("x1*tanh(40 + x2)", table, 3, BASELINE))
    written = with_unsaturated(candidates, table, Grammar(), Settings())
    assert [c.expression.skeleton().infix() for c in written[:3]] == ["<constant>*x1 + <constant>", "x1", "x2"]
    assert written[2:] == candidates[2:]
    first = written[0]
    assert (first.drawn, first.proposer, first.n_constants) == (0, "local", 1)
    assert first.fvu == pytest.approx(fvu_on(first.expression, table))
    assert first.score == pytest.approx(score(first.fvu, len(first.expression)))
    assert first.key == form_keys(normal_forms(TokenBatch.from_expressions([first.expression.skeleton()])))[0]


@pytest.mark.parametrize(
    "text", ["x1 + log(-x2)^0.0001", "sin(1e-9*x1^1e9)", "1e300*x1*(1e300*cos(1e-200*x1))", "1e-300*x1"]
)
def test_strange_formulas_stay(text):
    assert unsaturated(parse(text), noisy("3*x1 + 2")) is None


def test_candidates_keep_to_the_grammar():
    table = noisy("0.4*log(x1) - 2")
    (candidate,) = [candidate_of("400000*x1^0.000001 - 400002", table)]
    (written,) = with_unsaturated([candidate], table, Grammar(), Settings())
    assert "log" in written.expression.tokens
    without = Grammar(operators=frozenset(Grammar().operators - {"log"}))
    assert with_unsaturated([candidate], table, without, Settings()) == [candidate]


def test_without_time_candidates_stay():
    table = noisy("3*x1 + 2")
    candidates = [candidate_of("30000*sin(0.0001*x1) + 2", table)]
    ticks = iter(range(1000))
    assert (
        with_unsaturated(candidates, table, Grammar(), Settings(), Budget(1, clock=lambda: next(ticks))) == candidates
    )


def test_the_choice_of_the_law_replaces_and_the_score_does_not():
    table = noisy("3*x1 + 2")
    candidates = [candidate_of("30000*sin(0.0001*x1) + 2", table), candidate_of("x2", table, 1)]
    (law, *_) = automatic(candidates, table, Grammar(), Settings()).candidates
    assert "sin" not in law.expression.tokens
    assert ranked(candidates, table, None, "score", 0.05)[0] == candidates[0]


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
