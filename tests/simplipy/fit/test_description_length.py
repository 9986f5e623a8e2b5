"""Description length: simple numbers are shorter than fitted ones, as long as the data do not tell them apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simplipy import fit_constants, parse
from simplipy.fit.description_length import description_length, free_cost, number_cost, roles_of_constants

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 4, (200, 2))
NOISE = RNG.normal(size=200)


def length(formula: str, y: np.ndarray) -> float:
    return description_length(fit_constants(formula, X, y, n_threads=1), len(y))


def test_numbers_cost_their_digits() -> None:
    costs = [number_cost(token) for token in ("1", "2", "12", "1.25", "3.142", "3.14159")]
    assert costs == sorted(costs)
    assert number_cost("-250") == number_cost("2.5") == number_cost("0.025")
    assert number_cost("0") == 0.0


def test_a_number_that_the_data_know_well_costs_more() -> None:
    assert free_cost(2.0, 1e-6) > free_cost(2.0, 1e-2) > free_cost(2.0, 1.0)
    assert np.isfinite(free_cost(2.0, np.nan))
    assert np.isfinite(free_cost(2.0, 0.0))


@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0])
def test_the_law_has_the_shortest_description(noise: float) -> None:
    y = 2 * X[:, 0] ** 2 / X[:, 1] + noise * NOISE
    law = length("2*x1^2/x2", y)
    for other in ("<constant>*x1^2/x2", "<constant>*x1^<constant>/x2", "2*x1^2/x2 + <constant>", "2.1*x1^2/x2 + 1"):
        assert law < length(other, y)


def test_a_term_that_matters_is_worth_its_tokens() -> None:
    y = X[:, 0] + 0.2 * np.sin(3 * X[:, 1]) + 0.1 * NOISE
    assert length("x1 + <constant>*sin(3*x2)", y) < length("x1", y)
    assert length("x1", X[:, 0] + 0.1 * NOISE) < length("x1 + <constant>*sin(3*x2)", X[:, 0] + 0.1 * NOISE)


@pytest.mark.parametrize("n_rows", [8, 200])
@pytest.mark.parametrize("noise", [1e-4, 0.01, 0.1])
def test_constants_that_do_the_work_of_one_are_not_cheaper(noise: float, n_rows: int) -> None:
    """Their standard errors are unknown, as each can be anything while the other follows."""
    x, y = X[:n_rows], (5.3 * np.sqrt(X[:, 0] ** 3) + noise * NOISE)[:n_rows]
    one, two = (
        fit_constants(formula, x, y, n_threads=1)
        for formula in ("sqrt(<constant>*x1^3)", "<constant>*sqrt(<constant>*x1^3)")
    )
    assert not np.isfinite(two.stderr).all()
    assert two.fvu == pytest.approx(one.fvu)
    assert description_length(one, n_rows) < description_length(two, n_rows)


def test_what_has_no_fit_has_no_description() -> None:
    assert length("log(-x1)", X[:, 0]) == np.inf


def test_a_fit_without_an_error_has_no_description() -> None:
    fit = fit_constants("<constant>*x1", X, X[:, 0], n_threads=1)
    lost = dataclasses.replace(fit, constants=np.zeros(1), covariance=np.full((1, 1), np.nan), fvu=np.inf)
    assert description_length(lost, len(X)) == np.inf


def test_roles() -> None:
    roles = roles_of_constants(parse("<constant>*(x1 + <constant>)^<constant> + <constant>^(<constant>*x2)"))
    assert roles == ["", "", "exponent", "base", ""]
