"""Holdouts: what is found, by which entry, and agreement with a slow check written another way."""

from __future__ import annotations

import itertools
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given

import simplipy
from flash_ansr import catalogues
from flash_ansr.data import Generator, Holdout, load_prior
from simplipy import Expression
from tests.strategies import expressions

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from _slow_holdout import SlowHoldout, pruned


@cache
def fastsrb() -> Holdout:
    return Holdout(["fastsrb"], 4)


@pytest.mark.parametrize("problem", catalogues.load("fastsrb").problems, ids=lambda p: p.name)
def test_every_law_is_held_out_under_any_name(problem: catalogues.Problem) -> None:
    expression = problem.expression
    assert fastsrb().find(expression) is not None
    names = expression.variables
    turned = expression.rename(dict(zip(names, reversed(names), strict=True)))
    assert fastsrb().find(turned) is not None
    shifted = expression.rename({name: f"x{int(name[1:]) + 5}" for name in names})
    assert fastsrb().find(simplipy.simplify(shifted, mask_numbers=True)) is not None


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x3*sin(x1)", "symbolic"),
        ("1.5*x3*sin(x1 + 2) - 7", "symbolic"),
        ("x3*sin(x1)^2/sin(x1)", "numeric"),
        ("-x3*sin(x1)", "canonical"),
        ("1e9*x3*sin(2*x1)", "canonical"),
        ("x3*cos(x1)", None),
        ("x3*sin(x3)", None),
        ("x3 + sin(x1)", None),
        ("4.5", None),
    ],
)
def test_how_it_is_found(text: str, match: str | None) -> None:
    found = Holdout(["x1*sin(x2)"]).find(text)
    assert (found and found.match) == match


def test_entries_come_with_their_source(tmp_path: Path) -> None:
    holdout = Holdout(["nguyen", simplipy.parse("x1*sin(x2)"), "exp(x1*x2)*x3"])
    assert len(holdout) == len(catalogues.load("nguyen").problems) + 2
    assert str(holdout.find("2*sin(x1)*x2").entry).endswith(": x1*sin(x2)")
    assert holdout.find("exp(x3*x1)*x2").entry.source == "expression"
    assert holdout.find("x1^4 + x1^3 + x1^2 + x1").entry.source == "nguyen"


@given(expressions())
def test_an_entry_holds_itself_out(expression: Expression) -> None:
    """Whatever is held out is found again, scaled and shifted too."""
    if any(not name[1:].isdigit() or int(name[1:]) > 9 for name in expression.variables):
        return
    if not pruned(expression.tokens, scales=False):
        return
    holdout = Holdout([expression])
    assert holdout.find(expression) is not None
    assert holdout.find(["+", "<constant>", "*", "<constant>", *expression.tokens]) is not None


def test_agreement_with_the_slow_check() -> None:
    """All small skeletons of a prior, most of them found by some entry."""
    texts = ["x1*x2", "x1/x2", "x1 + x2^2", "x1*sin(x2)", "x1*(x2 + x3)", "exp(-x1^2)", "x1/(1 + x2*x3)", "sqrt(x1*x2)"]
    entries = [simplipy.parse(text) for text in texts]
    holdout = Holdout(entries)
    slow = [SlowHoldout(entries, scales) for scales in (False, True)]
    skeletons = [s for s in Generator("wide", holdouts=()).skeletons(0, range(6000)) if s is not None and len(s) <= 9]
    found = holdout.find_many(skeletons)
    n_found = 0
    for tokens, fast in zip(skeletons, found, strict=True):
        expected = any(check.find(tokens) is not None for check in slow)
        n_found += expected
        if expected:
            assert fast is not None, tokens
    assert n_found > 60


def test_nothing_held_out_is_accepted() -> None:
    generator = Generator("wide")
    slow = SlowHoldout([entry.expression for entry in generator.holdout.entries], max_variables=3)
    batch = generator.batch(seed=77, indices=range(1500))
    short = [batch.tokens(i) for i in range(len(batch)) if batch.lengths[i] <= 11]
    assert len(short) > 300
    assert not any(generator.holdout.find_many(short))
    assert [tokens for tokens in short if slow.find(tokens) is not None] == []


def test_pruning() -> None:
    """The rules of pruning, token by token."""
    for text, expected in {
        "<constant>/x1": "inv x1",
        "<constant> - x1": "neg x1",
        "x1 - <constant>": "x1",
        "x1/<constant>": "x1",
        "<constant>^x1": "x1",
        "sin(<constant>)*x1": "x1",
        "2*sin(x1) + <constant>": "mult2 sin x1",
    }.items():
        assert pruned(simplipy.parse(text).tokens, scales=False) == expected.split()
        found = Holdout([simplipy.parse(expected.split())]).find(text)
        assert found is not None
        assert found.match == "symbolic"


def test_an_entry_of_nine_variables() -> None:
    law = next(p for p in catalogues.load("feynman").problems if len(p.expression.variables) == 9)
    names = law.expression.variables
    holdout = Holdout([law.expression])
    for order in itertools.islice(itertools.permutations(names), 1000, 200_000, 40_000):
        assert holdout.find(law.expression.rename(dict(zip(names, order, strict=True)))) is not None


def test_the_prior_says_what_is_held_out() -> None:
    assert load_prior("wide").holdouts == ("fastsrb", "nguyen", "keijzer", "feynman", "strogatz")
    assert len(Generator("paper").holdout) == 120
