"""The catalogues of the package: what they hold, that it can be drawn, and that sources agree."""

from __future__ import annotations

import importlib.resources
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import simplipy
from flash_ansr import catalogues
from flash_ansr.catalogues import Kind, Problem, Sign

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "catalogues.json").read_text(encoding="utf-8"))
# 1 - cos(1e-8) and exp(1e-12) - 1: one unit in the last place of cos or exp is a large part of the value
CANCELS = {"III.15.12", "I.41.16"}
# laws of science are corrected and added: their data are not golden
TABLES = [name for name in catalogues.names() if name != "science"]
ALL = [problem for name in TABLES for problem in catalogues.load(name)]
IDS = [f"{p.catalogue}-{p.name}" for p in ALL]


def test_how_many() -> None:
    assert {name: len(catalogues.load(name)) for name in TABLES} == {
        "fastsrb": 120,
        "feynman": 100,
        "keijzer": 14,
        "nguyen": 12,
        "strogatz": 14,
    }


def test_fastsrb_in_numbers() -> None:
    """The counts that the benchmark's paper and its file give."""
    fastsrb = catalogues.load("fastsrb")
    assert Counter(p.difficulty for p in fastsrb) == {"easy": 30, "medium": 40, "hard": 50}
    ranges = [v.range for p in fastsrb for v in p.variables]
    assert Counter((r.kind, r.sign) for r in ranges) == {
        (Kind.LOG, Sign.AS_DRAWN): 192,
        (Kind.LOG, Sign.BOTH): 135,
        (Kind.UNIFORM, Sign.AS_DRAWN): 37,
        (Kind.INTEGER, Sign.AS_DRAWN): 12,
    }


def test_the_exclusions_of_the_paper() -> None:
    fastsrb = catalogues.load("fastsrb")
    excluded = {p.name: p.excluded for p in fastsrb if p.excluded}
    assert set(excluded) == {"B4", "B7", "B17", "II.24.17", "III.14.14"}
    assert len(fastsrb.included) == 115
    for name, share in {"B4": 0.50, "B7": 0.41, "II.24.17": 0.87}.items():
        assert f"{share:.0%}".replace("%", " %") in excluded[name]
        sample = fastsrb[name].sample(4000, 0)
        assert sample.n_redrawn / (sample.n_redrawn + 4000) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_law_and_columns(problem: Problem) -> None:
    columns = [f"x{k}" for k in range(1, len(problem.variables) + 1)]
    assert problem.expression.n_constants == 0
    if problem.name == "van-der-pol-2":
        columns = ["x1"]  # the second column is there and does not matter
    assert list(problem.expression.variables) == columns


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_samples_are_finite_and_repeatable(problem: Problem) -> None:
    sample = problem.sample(64, seed=0)
    assert sample.X.shape == (64, len(problem.variables))
    assert sample.X.dtype == sample.y.dtype == np.float64
    assert np.isfinite(sample.X).all()
    assert np.isfinite(sample.y).all()
    assert np.ptp(sample.y) > 0
    longer = problem.sample(100, seed=0)
    assert (longer.X[:64] == sample.X).all()
    assert (longer.y[:64] == sample.y).all()


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_the_same_data_on_every_machine(problem: Problem) -> None:
    """Digests to the bit; values to what elementary functions differ by, which the law may magnify."""
    expected = GOLDEN[problem.catalogue][problem.name]
    sample = problem.sample(16, seed=0)
    assert sample.digest == expected["digest"]
    assert sample.X[0].tolist() == pytest.approx(expected["x"], rel=1e-14, abs=0)
    if problem.name not in CANCELS:
        assert sample.y[0] == pytest.approx(expected["y"], rel=1e-10, abs=0)


@pytest.mark.parametrize("problem", catalogues.load("fastsrb").included, ids=lambda p: p.name)
def test_widened_rows_leave_the_ranges(problem: Problem) -> None:
    wide = problem.sample(512, seed=0, widened=True)
    assert np.isfinite(wide.y).all()
    for k, variable in enumerate(problem.variables):
        r = variable.range
        magnitude = np.abs(wide.X[:, k]) if r.sign is Sign.BOTH else wide.X[:, k]
        outside = (magnitude < r.low) | (magnitude > r.high)
        assert outside.any(), variable
        assert outside.mean() < 0.9, variable


def test_splits_and_data_sets_differ() -> None:
    law = catalogues.load("fastsrb")["I.12.1"]
    samples = [
        law.sample(8, 0),
        law.sample(8, 1),
        law.sample(8, 0, split="validation"),
        law.sample(8, 0, widened=True),
        law.sample(8, 0, widened=True, split="validation"),
        catalogues.load("feynman")["I.12.1"].sample(8, 0),
    ]
    assert len({s.digest for s in samples}) == len(samples)


def test_feynman_and_fastsrb_agree() -> None:
    """The same laws, written twice: one holds the constants of nature as variables, the other as numbers."""
    feynman, fastsrb = catalogues.load("feynman"), catalogues.load("fastsrb")
    assert {p.name for p in feynman} == {p.name for p in fastsrb if not p.name.startswith("B")}
    aliases = {"kb": "k_B", "epsilon": "epsilon_0"}
    rng = np.random.default_rng(0)
    for law in feynman:
        if law.name in ("I.26.2", "I.30.5"):
            continue  # FastSRB solves these for another variable
        twin = simplipy.parse(fastsrb[law.name].formula)
        names = aliases | ({"mom": "mu_B"} if law.name == "II.34.29b" else {})
        ours = simplipy.parse(law.formula).rename({k: v for k, v in names.items() if k in law.formula})
        assert set(ours.variables) == set(twin.variables), law.name
        data = {name: rng.uniform(0.5, 20, 200) for name in twin.variables}
        a, b = ours(data), twin(data)
        assert np.isfinite(a).any(), law.name
        assert np.allclose(a, b, rtol=1e-12, atol=0, equal_nan=True), law.name


def test_the_tables_are_in_the_package() -> None:
    folder = importlib.resources.files("flash_ansr.catalogues") / "tables"
    assert sorted(f.name for f in folder.iterdir()) == [f"{name}.yaml" for name in sorted(TABLES)]


def test_a_problem_that_is_not_there() -> None:
    with pytest.raises(
        catalogues.CatalogueError, match=r"fastsrb has no problem 'I\.12\.111'; did you mean 'I\.12\.11'\?"
    ):
        catalogues.load("fastsrb")["I.12.111"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0, "seed": 0}, "n must be >= 1 rows, got 0"),
        ({"n": 1, "seed": -1}, "seed must be >= 0, got -1"),
        ({"n": 1, "seed": 0, "split": "test"}, "split must be 'fit' or 'validation', got 'test'"),
    ],
)
def test_bad_arguments(arguments: dict, message: str) -> None:
    with pytest.raises(catalogues.CatalogueError, match=message):
        ALL[0].sample(**arguments)


def test_our_table_is_the_original(request: pytest.FixtureRequest) -> None:
    path = request.config.getoption("--fastsrb")
    if path is None:
        pytest.skip("needs --fastsrb FILE")
    original, ours = catalogues.load(path), catalogues.load("fastsrb")
    assert {p.name for p in original} == {p.name for p in ours}
    for law in original:
        twin = ours[law.name]
        assert law.difficulty == twin.difficulty
        assert law.variables == twin.variables
        a, b = law.sample(256, 0), twin.sample(256, 0)
        assert a.digest == b.digest, law.name
        # the original writes pi with 14 digits; B7 is a difference of nearly equal numbers
        assert np.allclose(a.y, b.y, rtol=1e-7 if law.name == "B7" else 1e-9, atol=0), law.name
