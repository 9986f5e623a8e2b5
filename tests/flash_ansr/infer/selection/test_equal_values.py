"""Equal functions are listed once; forms that differ beyond the rows are not equal."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr import FlashANSR
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.selection.equal_values import each_once, function_numbers
from flash_ansr.infer.table.table import Table
from simplipy import parse

X = np.random.default_rng(0).uniform(1, 50, (60, 2))
NOISE = np.random.default_rng(1).normal(size=60)


def numbers_of(texts: list[str], y: np.ndarray, fvu: float) -> list[int]:
    made = [Candidate(parse(t), t.encode(), fvu, 0.0, 2, 0.0, "local", i) for i, t in enumerate(texts)]
    return function_numbers(made, Table(X, y, None))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("37.1*log(x1) + 37.1*log(280.6)", "37.1*log(280.6*x1)"),
        ("37.1*log(280.6*x1)", f"-37.1*log({1 / 280.6}/x1)"),
        ("0.15*1.3463776248420078^x1", f"0.15*exp({np.log(1.3463776248420078)}*x1)"),
        ("2.2*x1/x2", "2.2*abs(x1/x2)"),
        ("1 - sin(x1)^2", "cos(x1)^2"),
    ],
)
@pytest.mark.parametrize("fvu", [1e-2, 1e-24])
def test_spellings_of_a_function(a: str, b: str, fvu: float) -> None:
    assert numbers_of(["x1", a, b, "x2"], parse(a)(X), fvu) == [0, 1, 1, 3]


@pytest.mark.parametrize(
    ("a", "b"),
    [("37.1*log(280.6*x1)", "37.1*log(280.7*x1)"), ("x1", "x1 + 1e-7*x1^3"), ("x1", "x1 + 1e-17*exp(30/x1)")],
)
def test_other_functions(a: str, b: str) -> None:
    assert numbers_of([a, b], parse(a)(X), 1e-24) == [0, 1]


def test_rounded_numbers_are_the_same_form() -> None:
    y = parse("37.1*log(280.6*x1)")(X) + NOISE
    texts = ["37.1*log(x1) + 209", "37.11108*log(x1) + 209.18244", "30*log(x1) + 220", "37.11108*acosh(140*x1)"]
    made = [Candidate(parse(t), bytes([i]), 1e-3, 0.0, 2, 0.0, "local", i) for i, t in enumerate(texts)]
    kept = each_once(made, {}, Table(X, y, None))
    assert [c.drawn for c in kept] == [0, 2, 3]
    # by their fitted numbers, the last two were one function
    kept = each_once(made, {bytes([2]): 7, bytes([3]): 7}, Table(X, y, None))
    assert [c.drawn for c in kept] == [0, 2]


@pytest.mark.parametrize("selection", ["score", "bic"])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_table_of_candidates_has_no_function_twice(noise: float, selection: str) -> None:
    y = 37.1 * np.log(280.6 * X[:, 0]) + noise * NOISE
    model = FlashANSR(time_limit=None, n_samples=1000, random_state=0, selection=selection).fit(X[:, :1], y)
    table = model.candidates_
    values = [np.asarray(e({"x1": X[:, 0]})) for e in table["expression"]]
    # |log(x1)| is another function: x1 may be less than 1 elsewhere
    logarithms = [i for i, e in enumerate(table["expression"]) if "log" in e.tokens and "abs" not in e.tokens]
    left = np.sqrt(table["fvu"].to_numpy()) * np.std(y)
    assert logarithms
    for k, i in enumerate(logarithms):
        for j in logarithms[:k]:
            assert np.abs(values[i] - values[j]).max() > 1e-6 * left[i]


def test_nothing_is_nothing() -> None:
    assert each_once([], {}, Table(X, NOISE, None)) == []
