"""The metric same_form: the formula with numbers of its own is the law."""

from __future__ import annotations

import pytest

from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.rows import Row, Task
from flash_ansr.bench.scoring import Scored
from flash_ansr.catalogues import load


def same_form(expression: str | None, problem: str, catalogue: str = "fastsrb") -> bool:
    task = Task(catalogue, problem, 0, points=64, noise=0.1, system="hand", budget=1.0)
    row = Row(task=task, expression=expression, error=None, fit_seconds=1.0, cpu_seconds=1.0, seed=0)
    scored = Scored(row)
    assert METRICS["same_form"].of(scored) == scored.has_same_form
    return scored.has_same_form


@pytest.mark.parametrize(
    "found",
    ["x1*x2", "x2*x1", "exp(log(x1) + log(x2))", "x1/(1/x2)", "2*x1*x2", "1.0*x1*x2 + 0.0"],
)
def test_spellings_of_a_product(found: str) -> None:
    assert same_form(found, "I.12.1")


@pytest.mark.parametrize(
    "found",
    [None, "x1", "x1 + x2", "x1*x2^2", "sin(x1)*x2", "1.53*x1*x2", "x1*x2 + 0.01*x1", "x1^1.01*x2", "x1*x2 + 0.1"],
)
def test_other_forms_and_numbers_that_the_law_has_not(found: str | None) -> None:
    assert not same_form(found, "I.12.1")


@pytest.mark.parametrize("found", ["x1/299792458", "3.34e-9*x1", "0.5*x1", "x1/2.5e8"])
def test_numbers_of_the_law_may_be_wrong(found: str) -> None:
    """I.29.4 is x1/c."""
    assert same_form(found, "I.29.4")


@pytest.mark.parametrize("found", ["3.34e-9*x1 + 0.5", "3.34e-9*x1^2", "3.34e-9*x1^1.0001", "0.7*tanh(4.77e-9*x1)"])
def test_more_numbers_or_another_shape_are_another_form(found: str) -> None:
    assert not same_form(found, "I.29.4")


def test_laws_of_science_have_their_own_form() -> None:
    for problem in load("science").problems[:40]:
        assert same_form(problem.expression.infix(), problem.name, "science"), problem.name
