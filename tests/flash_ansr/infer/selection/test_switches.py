"""Functions of columns of zeros and ones are written as multiples, with the same values on the rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.selection.switches import plain_switches, with_plain_switches
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import parse

X = np.array([[2.0, 0.0, 1.0], [3.0, 1.0, 0.0], [5.0, 1.0, 1.0], [7.0, 0.0, 0.0]])
SWITCHES = {"x2", "x3"}


@pytest.mark.parametrize(
    ("law", "plain"),
    [
        ("2*x1 + 3.565185317334364*sin(x2)", "2*x1 + 3*x2"),
        ("x1*sin(x2)*2.5", "2.1036774620197414*(x1*x2)"),
        ("x1*sqrt(x2)^3", "x1*x2"),
        ("x1 + exp(log(2)*x2) - 1", "x1 + x2"),
        ("x1*sin(x2) + tan(x3)/tan(1)", None),
        ("x1*2^x2", "x1*(x2 + 1)"),
        ("x1*exp(x2)", "x1*exp(x2)"),
        ("x1*(x2 + 1)", "x1*(x2 + 1)"),
        ("x1/x2", "x1/x2"),
        ("log(x2)*x1", "log(x2)*x1"),
        ("sin(x1)", "sin(x1)"),
        ("x1*pi + x2^2", "x1*pi + x2"),
        ("sin(x2*x3)", "sin(x2*x3)"),
    ],
)
def test_plain_switches(law: str, plain: str | None) -> None:
    before = parse(law)
    after = plain_switches(before, SWITCHES)
    np.testing.assert_allclose(after(X), before(X), rtol=1e-12)
    assert len(after) <= len(before)
    if plain is not None:
        np.testing.assert_allclose(after(X), parse(plain)(X), rtol=1e-12)
        assert len(after) == len(parse(plain)), after


def test_candidates_are_rewritten_where_that_fits_as_well() -> None:
    table = Table(X, 2 * X[:, 0] + 3 * X[:, 1])
    law = Candidate(parse("2*x1 + 3.565185317334364*sin(x2)"), b"", 1e-24, -20.0, 1, 0.0, "prior", 1)
    other = dataclasses.replace(law, expression=parse("sin(x1)"))
    price = 0.05
    written, kept = with_plain_switches([law, other], table, Grammar(), price)
    assert written.expression.infix() == "2*x1 + 3*x2"
    assert written.score == pytest.approx(-20.0 - price * 2)
    assert kept is other
    assert with_plain_switches([law], table, Grammar(frozenset({"+", "*", "sin", "mult2"})), price) == [law]
    no_switch = Table(X + 2.0, table.y)
    assert with_plain_switches([law], no_switch, Grammar(), price) == [law]
