"""Structure in what a law leaves: pure noise is seldom called structured, and structure is found and told."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from flash_ansr.infer.result.law import Law
from flash_ansr.infer.result.residual_tests import ResidualTests
from flash_ansr.infer.result.residuals import Residuals
from flash_ansr.infer.table.table import Table
from simplipy import parse


def look(
    X: np.ndarray, y: np.ndarray, formula: str = "0*x1", kind: str = "constant", first_row: int = 1
) -> Residuals | None:
    law = Law(parse(formula), [f"x{k + 1}" for k in range(X.shape[1])])
    numbers = np.arange(len(y)) + first_row
    return ResidualTests(Table(X, y), numbers, [law], "squared", kind).look(law, n_constants=0)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(10, 1), (25, 3), (60, 10), (20, 100)])
def test_noise_is_called_structured_in_at_most_one_table_of_twenty(n_rows: int, n_columns: int) -> None:
    """With 300 tables more than 24 of them would be beyond chance at 5 %."""
    rng = np.random.default_rng(n_rows)
    found = [look(rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)) for _ in range(300)]
    assert sum(not f.is_random for f in found) <= 24
    assert sum(f.scatter is not None for f in found) <= 24
    assert sum(bool(f.outliers) for f in found) <= 24


def test_noise_with_long_tails_in_few_levels_is_random_too() -> None:
    rng = np.random.default_rng(0)
    found = [look(np.floor(2 * rng.normal(size=(40, 4))), rng.standard_t(2, size=40)) for _ in range(300)]
    assert sum(not f.is_random for f in found) <= 24


X = np.random.default_rng(0).uniform(1, 3, (120, 3))
NOISE = 0.05 * np.random.default_rng(1).normal(size=120)
BENT = (X[:, 0] - 2) ** 2
STRUCTURED = {
    "trend": (X, 0.1 * X[:, 1] + NOISE, "x1*0", "trend", "x2", "they follow column x2, which the law does not use, "),
    "bend": (X, BENT + NOISE, "x1*0", "bend", "x1", "they bend along column x1, most "),
    "runs": (X, np.sin(9 * X[:, 2]) + NOISE, "0*x3", "runs", "x3", "they keep their sign over stretches of column x3"),
    "order": (
        X,
        np.sin(np.arange(120) / 6) + NOISE,
        "0*x1",
        "runs",
        None,
        "keep their sign over stretches of rows",
    ),
    "products": (
        X,
        (X[:, 0] - 2) * (X[:, 1] - 2) + NOISE,
        "0*x1",
        "products",
        None,
        "a quadratic polynomial in",
    ),
}


@pytest.mark.parametrize("kind", STRUCTURED)
def test_structure_is_found_and_told(kind: str) -> None:
    rows, y, formula, structure, column, text = STRUCTURED[kind]
    found = look(rows, y, formula)
    assert found.is_random is False
    assert (found.structure, found.column) == (structure, column)
    assert text in found.text
    assert found.p_value < 0.05
    assert json.loads(json.dumps(found.to_json()))["text"] == found.text


def test_places_are_rows_in_the_users_table() -> None:
    x = np.arange(40.0)
    y = 0.01 * np.random.default_rng(0).normal(size=40)
    y[11:25] += 1
    found = look(x[:, None], y, first_row=101)
    assert (found.column, found.place) == ("x1", "in rows 112-125")
    mixed = np.random.default_rng(2).permutation(40)
    assert look(x[mixed, None], y[mixed]).place == "where x1 is 11 to 24"


def test_one_column_is_named_whatever_finds_it() -> None:
    x = np.linspace(0, 1, 25)
    line = np.polynomial.Polynomial.fit(x, np.tanh(9 * (x - 0.5)), 1)
    found = look(x[:, None], np.tanh(9 * (x - 0.5)) - line(x))
    assert found.is_random is False
    assert found.column == "x1"


def test_scatter_and_outliers() -> None:
    rng = np.random.default_rng(5)
    wide = look(X, X[:, 1] ** 3 * 0.1 * rng.normal(size=120))
    assert wide.is_random
    assert wide.text.startswith("The residuals look random. They scatter more where x2 is large.")
    relative = look(X, 10.0 + 0.1 * (4 - X[:, 0]) ** 2 * rng.normal(size=120), "10", kind="proportional")
    assert relative.scatter == "relative to the target where x1 is small"
    far = NOISE.copy()
    far[[4, 30]] = 9.0, -9.0
    assert look(X, far).outliers == (5, 31)
    assert look(X, far).text == "The residuals look random. 2 rows lie far off: rows 5, 31."


def test_many_outliers_are_counted() -> None:
    assert Residuals(True, outliers=tuple(range(1, 9))).text.endswith("8 rows lie far off: rows 1, 2, 3, 4, 5, ....")


def test_a_column_among_very_many_is_found() -> None:
    rng = np.random.default_rng(4)
    wide = rng.normal(size=(80, 2000))
    found = look(wide, wide[:, 1234] + 0.5 * rng.normal(size=80))
    assert (found.structure, found.column) == ("trend", "x1235")


def test_what_cannot_be_tested() -> None:
    assert look(X[:7], NOISE[:7]).is_random is None
    assert "too few rows" in look(X[:7], NOISE[:7]).text
    assert look(X, X[:, 0], "x1") is None
    assert look(X, X[:, 0], "log(x1 - 2)") is None


def test_rounding_is_not_called_noise() -> None:
    found = look(X, np.round(X[:, 0] ** 2, 2), "x1^2")
    assert found.is_random
    assert found.is_rounding
    assert found.text == "The residuals are rounding: the law gives every digit that the target has."


def test_rows_of_any_size() -> None:
    assert look(X, 1e300 * (BENT + NOISE)).structure == "bend"
    assert look(1e300 * X, 1e-300 * (BENT + NOISE)).structure == "bend"


def front(*laws: str, r2_cv: tuple[float, ...] | None = None) -> tuple[list[Law], pd.DataFrame]:
    made = [Law(parse(law), ["x1", "x2", "x3"]) for law in laws]
    numbers = [float("nan")] * len(laws) if r2_cv is None else list(r2_cv)
    facts = {"length": [len(law.expression) for law in made], "r2_cv": numbers, "n_constants": 0, "fvu": 0.1}
    return made, pd.DataFrame(facts).assign(pareto=True)


@pytest.mark.parametrize(
    ("r2_cv", "row"), [(None, 2), ((0.5, 0.6, 0.7, 0.8), 2), ((0.5, 0.6, 0.4, 0.8), 3), ((0.5, 0.6, 0.4, 0.4), None)]
)
def test_a_longer_formula_that_leaves_random_residuals_is_named(r2_cv: tuple[float, ...] | None, row: int) -> None:
    laws, candidates = front("x1", "x1 - 2", "(x1 - 2)^2", "(x1 - 2)^2 + x2/999", r2_cv=r2_cv)
    tests = ResidualTests(Table(X, BENT + NOISE), np.arange(120) + 1, laws, "squared", "constant")
    found = tests.of(laws, candidates)
    assert found.longer == row
    assert ("A longer formula with random residuals is in row" in found.text) == (row is not None)


def test_an_exact_law_leaves_nothing_to_test() -> None:
    laws, candidates = front("x1")
    tests = ResidualTests(Table(X, X[:, 0] * (1 + 1e-15)), np.arange(120) + 1, laws, "squared", None)
    assert tests.of(laws, candidates.assign(fvu=1e-30)) is None
