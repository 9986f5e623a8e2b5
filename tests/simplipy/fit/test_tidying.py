"""Tidying: laws come back in the numbers they were made with, noise does not invent any, and the score holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simplipy
from simplipy import FitStatus, fit_constants, parse, tidy

RNG = np.random.default_rng(3)
X = RNG.uniform(0.5, 4, (200, 3))
NOISE = RNG.normal(size=200)
x1, x2, x3 = X.T


def score(fit: simplipy.Fit) -> float:
    return math.log10(max(fit.fvu, 1e-20)) + 0.05 * len(fit.expression)


@pytest.mark.parametrize(
    ("skeleton", "y", "expected"),
    [
        ("<constant>*x1^<constant> + <constant>*sin(x1)", np.pi * x1**2, "pi*x1^2"),
        ("<constant>*x1*x2/x3^<constant> + <constant>", x1 * x2 / x3**2 / 2, "x1*x2/x3^2/2"),
        ("<constant>*sin(<constant>*x1 + <constant>)", 3 * np.sin(2 * np.pi * x1), "3*sin(2*(pi*x1))"),
        ("<constant>*x1 + <constant>*x2 + <constant>", 5 * x1, "5*x1"),
        ("<constant>*x1 + <constant>*x2", 7 * x1 - 7 * x2, "7*(x1 - x2)"),
        ("x1 + <constant>", x1, "x1"),
        ("<constant>*exp(<constant>*x1)", math.e * np.exp(-x1), "exp(1 - x1)"),
    ],
)
def test_laws_come_back(skeleton: str, y: np.ndarray, expected: str) -> None:
    tidied = tidy(fit_constants(skeleton, X, y), X, y)
    assert simplipy.equivalent(tidied.expression, parse(expected)).equivalent
    assert len(tidied.expression) <= len(parse(expected))
    assert tidied.status is FitStatus.NO_CONSTANTS
    assert tidied.fvu < 1e-25
    assert tidied.steps
    assert tidied.steps[-1].expression == tidied.expression


def test_noise_does_not_hide_simple_numbers() -> None:
    y = 2 * x1**2 + 0.5 * x2 + 0.05 * NOISE
    fit = fit_constants("<constant>*x1^<constant> + <constant>*x2 + <constant>*x3", X, y)
    tidied = tidy(fit, X, y)
    assert simplipy.equivalent(tidied.expression, parse("2*x1^2 + x2/2")).equivalent
    assert tidied.fvu < 1.2 * fit.fvu


def test_numbers_that_the_data_tell_apart_stay() -> None:
    y = 2.0003 * x1 + 1.2345 * x2
    tidied = tidy(fit_constants("<constant>*x1 + <constant>*x2", X, y), X, y)
    assert sorted(tidied.constants) == pytest.approx([1.2345, 2.0003], rel=1e-9)
    assert tidied.steps == ()


@pytest.mark.parametrize("scale", [0.0, 0.01, 0.3])
def test_the_score_never_gets_much_worse(scale: float) -> None:
    y = 3 * np.exp(-x1 / 2) + 0.7 * np.sin(x2) + scale * NOISE
    fit = fit_constants("<constant>*exp(<constant>*x1) + <constant>*sin(<constant>*x2) + <constant>", X, y)
    tidied = tidy(fit, X, y)
    assert score(tidied) <= score(fit) + len(tidied.steps) * math.log10(1 + 4 / 190)
    for step in tidied.steps:
        assert step.action
        assert step.reason
        assert math.isfinite(step.fvu)


def test_parameters_are_tidied_too() -> None:
    fit = fit_constants("a*x1 + b*x2", X, 3 * x1 + 4 * x2, parameters={"a": 1.0, "b": 1.0})
    assert tidy(fit, X, 3 * x1 + 4 * x2).expression == parse("3*x1 + 4*x2")


def test_what_cannot_be_tidied_is_returned() -> None:
    for text in ("x1*x2", "log(-x1)*<constant>"):
        fit = fit_constants(text, X, x1)
        assert tidy(fit, X, x1) is fit
    with pytest.raises(simplipy.FitError, match="takes a Fit"):
        tidy(parse("x1"), X, x1)


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_exponents_are_snapped_together(noise: float) -> None:
    law = x1 * x2**3 / x3
    y = law + noise * law.std() * NOISE
    fit = fit_constants("<constant>*x1^<constant>*x2^<constant>*x3^<constant>", X, y)
    tidied = tidy(fit, X, y)
    assert simplipy.equivalent(tidied.expression.skeleton(), parse("<constant>*x1*x2^3/x3")).equivalent or (
        simplipy.equivalent(tidied.expression, parse("x1*x2^3/x3")).equivalent
    )


def test_the_base_of_a_power_is_an_exponential() -> None:
    y = 3 * np.exp(-x1 / 2) + 0.01 * NOISE
    fit = fit_constants("<constant>*<constant>^x1", X, y)
    assert simplipy.equivalent(tidy(fit, X, y).expression, parse("3*exp(-x1/2)")).equivalent


def test_terms_that_noise_does_not_hide_stay() -> None:
    y = 2 * x1 + 0.05 * np.sin(5 * x2) + 0.05 * NOISE
    tidied = tidy(fit_constants("<constant>*x1 + <constant>*sin(5*x2) + <constant>*x3", X, y), X, y)
    assert "sin" in tidied.expression.tokens
    assert "x3" not in tidied.expression.tokens


ARRHENIUS = RNG.uniform([500.0, 1e-20], [2000.0, 1e-19], (100, 2))


@pytest.mark.parametrize(
    ("skeleton", "start"),
    [
        ("<constant>*exp(<constant>/x2 + <constant>*(x2/x1))", [1e13, -1.5e-35, -7.24e22]),
        ("<constant>*<constant>^(<constant>*(x2/x1))", [1e13, 2e-300, 1.05e20]),
        ("<constant>*exp(<constant>*(x2/x1)) + <constant>*x1", [1e13, -7.24e22, 0.0]),
    ],
)
def test_terms_that_only_move_the_last_digits_are_dropped(skeleton: str, start: list[float]) -> None:
    y = 1e13 * np.exp(-ARRHENIUS[:, 1] / (1.380649e-23 * ARRHENIUS[:, 0]))
    fit = fit_constants(skeleton, ARRHENIUS, y, x0=start, n_restarts=0)
    assert fit.fvu < 1e-24
    tidied = tidy(fit, ARRHENIUS, y)
    assert len(tidied.expression) == 8
    assert tidied.expression.n_constants + len(tidied.constants) <= 2
    assert tidied.fvu < 1e-24


def test_terms_that_matter_stay_however_small() -> None:
    """A term of 1e-9 of y has an FVU of 1e-18, far above rounding."""
    X = RNG.uniform(1, 3, (100, 1))
    y = 3 * X[:, 0] ** 2 + 1e-8 * np.exp(X[:, 0])
    fit = fit_constants("<constant>*x1^2 + <constant>*exp(x1)", X, y)
    assert "exp" in tidy(fit, X, y).expression.tokens


def test_a_deadline_gives_what_is_reached_by_then() -> None:
    X = np.linspace(0.5, 4.0, 50).reshape(-1, 1)
    y = 3 * X[:, 0] ** 2
    fit = fit_constants("<constant>*x1^<constant>", X, y)
    assert tidy(fit, X, y, deadline=1e-9) is fit
    assert tidy(fit, X, y, deadline=60.0).expression == parse("3*x1^2")
