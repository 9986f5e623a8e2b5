"""Bootstrap intervals: against theory, and on lists where the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flash_ansr.bench.bootstrap import bootstrap


def test_mean_and_interval_of_a_normal_sample() -> None:
    """For 400 values the interval is the mean, plus and minus 1.96 standard errors."""
    values = np.random.default_rng(1).normal(5, 2, 400)
    found = bootstrap(values.tolist())
    assert found.value == pytest.approx(values.mean())
    error = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - error, abs=0.15 * error)
    assert found.high == pytest.approx(values.mean() + error, abs=0.15 * error)


def test_proportion() -> None:
    found = bootstrap([1.0] * 80 + [0.0] * 20)
    assert (found.value, found.n) == (0.8, 100)
    assert found.low == pytest.approx(0.72, abs=0.021)
    assert found.high == pytest.approx(0.88, abs=0.021)


def test_unknown_values_are_left_out() -> None:
    found = bootstrap([math.nan, 2.0, math.nan])
    assert (found.value, found.low, found.high, found.n) == (2.0, 2.0, 2.0, 1)
    nothing = bootstrap([math.nan])
    assert nothing.n == 0
    assert math.isnan(nothing.value)


def test_the_median_survives_infinities() -> None:
    found = bootstrap([-3.0, -2.0, -1.0, -1.0, math.inf], "median")
    assert found.value == -1.0
    assert found.low <= -1.0
    assert not math.isnan(found.high)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [0.0, 1.0, 4.0, 9.0]
    assert bootstrap(values, seed=3) == bootstrap(values, seed=3)
