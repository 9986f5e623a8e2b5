"""What the commands of simplipy say about ranges, long inputs, rules, and formulas in other spellings."""

from __future__ import annotations

import json

import numpy as np
import pytest

import simplipy
from tests.command_line import run


def test_a_range_needs_its_variable() -> None:
    done = run("simplify", "abs(x1)", "--range", "q=0:1")
    assert done.returncode == 2
    assert done.stderr == "error: --range q=...: the formula has no variable 'q'; it has: x1\n"


def test_what_is_too_long_is_said_to_be_so() -> None:
    """The limit of the message is that of the simplifier."""
    short, long = (" + ".join(["x1", *["x1"] * n]) for n in (9_999, 10_000))
    assert run("simplify", short).stderr == ""
    done = run("simplify", long)
    assert done.returncode == 0
    assert done.stderr == "note: the input has more than 20,000 tokens and is returned as it is\n"


def test_names_of_rules_are_wrapped_between_names() -> None:
    formula = "sin(x)^2 + cos(x)^2 + (x1^2 - x2^2)/(x1 - x2) + exp(log(x3))*abs(-x4)/sqrt(x5)^2"
    lines = run("simplify", formula, "--explain").stdout.splitlines()
    rules = [line for line in lines if line.startswith("   ")]
    assert max(map(len, rules)) <= 76
    steps = json.loads(run("simplify", formula, "--explain", "--json").stdout)["steps"]
    shown = [name for line in rules for name in line.strip().removeprefix("by ").rstrip(",").split(", ")]
    assert shown == [name for step in steps for name in step["rules"]]
    assert len(rules) > len(steps)


def test_numbers_that_differ() -> None:
    done = run("equivalent", "2*pi", "6.283185307179586")
    assert done.returncode == 1
    assert "  as exact numbers; --rtol 1e-9 allows for rounding\n" in done.stdout


def test_operators() -> None:
    done = run("operators")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) >= len(simplipy.OPERATORS) + 2
    assert len(json.loads(run("operators", "--json").stdout)) == len(simplipy.OPERATORS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log10(x)", "unknown function 'log10'; log10(x) is log(x)/log(10)"),
        ("ln(x)", "unknown function 'ln'; ln(x) is log(x)"),
        ("foobar(x)", "unknown function 'foobar'; known are sqrt cbrt pow abs"),
        ("2*π*x", "position 3: 'π' is written pi"),
        ("x²", "position 2: '²' is written ^2"),
        ("x⁵", "position 2: '⁵' is written ^5"),
        ("x×y", "'×' is written *"),
        ("x − y", "'−' is written -"),
        ("−y", "'−' is written -"),
        ("√x", "'√' is written sqrt(...)"),
    ],
)
def test_other_spellings_are_named(text: str, message: str) -> None:
    done = run("simplify", text)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("text", ["`π`*x", "x*`x⁴`"])
def test_such_names_are_variables_in_backquotes(text: str) -> None:
    e = simplipy.parse(text)
    assert simplipy.parse(e.infix()) == e
    assert simplipy.parse(e.tokens) == e


@pytest.mark.parametrize(
    ("hint", "ours"),
    [("log10(x)", "log(x)/log(10)"), ("expm1(x)", "exp(x) - 1")],
)
def test_the_other_spelling_means_the_same(hint: str, ours: str) -> None:
    functions = {"log10(x)": np.log10, "expm1(x)": np.expm1}
    done = run("show", hint)
    assert f"; {hint} is {ours}\n" in done.stderr
    columns = {"x": np.linspace(0.5, 3, 7), "y": np.linspace(2, 1, 7)}
    e = simplipy.parse(ours)
    expected = functions[hint](*(columns[name] for name in e.variables))
    np.testing.assert_allclose(e(columns), expected, rtol=1e-12)
