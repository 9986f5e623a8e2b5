"""FVU and recovery, by hand and against the definition in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flash_ansr.bench.numeric import EPSILON_32, fvu, is_perfect, log10_imperfect


@pytest.mark.parametrize(
    ("y", "prediction", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 0.0),
        ([1, 2, 3], [2, 2, 2], 1.0),
        ([1, 2, 3], [1, 2, 4], 0.5),
        ([0, 0, 3], [0, 1, 3], 1 / 6),
        ([1, 2, 3], [1, 2, math.nan], math.inf),
        ([1, 2, 3], [1, 2, -math.inf], math.inf),
        ([5], [5], 0.0),
        ([5], [6], math.inf),
        ([0, 0], [0, 0], 0.0),
        ([1e-320, 2e-320, 3e-320], [1e-320, 2e-320, 3e-320], 0.0),
        ([1e300, 2e300, 3e300], [2e300, 2e300, 2e300], 1.0),
        ([1e-200, 2e-200, 3e-200], [2e-200, 2e-200, 2e-200], 1.0),
        ([1, 2, 3], [1e300, 2, 3], math.inf),
    ],
)
def test_by_hand(y: list[float], prediction: list[float], expected: float) -> None:
    assert fvu(y, prediction) == pytest.approx(expected, rel=1e-12)


NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=20))
def test_against_exact_arithmetic(pairs: list[tuple[float, float]]) -> None:
    y, p = zip(*pairs, strict=True)
    exact_y, exact_p = [Fraction(v) for v in y], [Fraction(v) for v in p]
    mean = sum(exact_y) / len(y)
    variance = sum((v - mean) ** 2 for v in exact_y)
    error = sum((a - b) ** 2 for a, b in zip(exact_y, exact_p, strict=True))
    if variance <= max(map(abs, exact_y)) ** 2 / 10**6:
        return  # cancellation: no double tells
    assert fvu(y, p) == pytest.approx(float(error / variance), rel=1e-9, abs=1e-300)


@given(st.lists(NUMBERS, min_size=3, max_size=20), st.integers(-250, 250))
def test_units_do_not_matter(values: list[float], exponent: int) -> None:
    y = np.array(values)
    p = y + np.linspace(-1, 1, len(y))
    unit = 2.0**exponent  # exact
    assert fvu(y * unit, p * unit) == pytest.approx(fvu(y, p), rel=1e-9)


def test_threshold() -> None:
    assert pytest.approx(1.1920929e-07) == EPSILON_32
    assert is_perfect(EPSILON_32)
    assert not is_perfect(np.nextafter(EPSILON_32, 1))
    assert not is_perfect(math.inf)
    assert not is_perfect(math.nan)


def test_logarithm_of_imperfect_fits() -> None:
    assert math.isnan(log10_imperfect(1e-8))
    assert log10_imperfect(1e-3) == pytest.approx(-3)
    assert log10_imperfect(math.inf) == math.inf


@pytest.mark.parametrize(
    ("y", "prediction", "message"),
    [([1, 2], [1], "equal length"), ([], [], "equal length"), ([1, math.nan], [1, 1], "y must be finite, got nan")],
)
def test_mistakes(y: list[float], prediction: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fvu(y, prediction)
