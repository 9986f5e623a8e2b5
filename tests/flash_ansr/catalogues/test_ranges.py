"""Ranges: notation, bounds, widening, and the distribution of what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flash_ansr.catalogues import CatalogueError, Kind, Range, Sign
from flash_ansr.catalogues.streams import UniformStream

scipy_stats = pytest.importorskip("scipy.stats")

BOUNDS = st.floats(1e-30, 1e30)


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    kind, sign = draw(st.sampled_from(Kind)), draw(st.sampled_from(Sign))
    low, high = sorted((draw(BOUNDS), draw(BOUNDS)))
    if kind is not Kind.LOG and draw(st.booleans()):
        low, high = -high, draw(st.sampled_from([-low, 0.0, low]))
    return Range(kind, low, high, sign)


@given(ranges())
def test_text_and_back(r: Range) -> None:
    assert Range.parse(str(r)) == r


@given(ranges(), st.integers(0, 2**32))
def test_values_lie_between_the_bounds(r: Range, seed: int) -> None:
    u = UniformStream("bounds", seed).draw(100, 2)
    magnitudes = r.values(u[:, 0], u[:, 1])
    if r.sign is Sign.NEGATIVE:
        magnitudes = -magnitudes
    elif r.sign is Sign.BOTH:
        magnitudes = np.where(u[:, 1] < 0.5, -magnitudes, magnitudes)
    slack = 0.5 if r.kind is Kind.INTEGER else 1e-12 * max(abs(r.low), abs(r.high))
    assert magnitudes.min() >= r.low - slack
    assert magnitudes.max() <= r.high + slack


@given(ranges())
def test_widened_contains_the_range_and_crosses_no_zero(r: Range) -> None:
    wide = r.widened()
    assert wide.low <= r.low
    assert r.high <= wide.high
    assert (r.low >= 0) <= (wide.low >= 0)
    assert (r.high <= 0) <= (wide.high <= 0)


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("log(0.3, 30)", "log(0.1, 90)"),
        ("+-log(3, 9)", "+-log(1, 27)"),
        ("uniform(-1, 1)", "uniform(-1.5, 1.5)"),
        ("uniform(0, 4)", "uniform(0, 5)"),
        ("uniform(10, 14)", "uniform(9, 15)"),
        ("uniform(-4, 0)", "uniform(-5, 0)"),
        ("integer(1, 101)", "integer(1, 126)"),
        ("integer(0, 8)", "integer(0, 10)"),
        ("integer(-8, -1)", "integer(-9.75, -1)"),
    ],
)
def test_widened_by_hand(text: str, wide: str) -> None:
    found, expected = Range.parse(text).widened(), Range.parse(wide)
    assert (found.kind, found.sign) == (expected.kind, expected.sign)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], rel=1e-15)


def drawn(text: str, n: int = 20_000) -> np.ndarray:
    u = UniformStream("distribution", text).draw(n, 2)
    return Range.parse(text).values(u[:, 0], u[:, 1])


def test_log_is_even_in_the_logarithm() -> None:
    decades = np.log10(drawn("log(1e-3, 1e3)"))
    assert scipy_stats.kstest(decades, scipy_stats.uniform(-3, 6).cdf).pvalue > 1e-3


def test_uniform_is_even() -> None:
    assert scipy_stats.kstest(drawn("uniform(-2, 5)"), scipy_stats.uniform(-2, 7).cdf).pvalue > 1e-3


def test_integers_are_rounded_so_that_the_ends_come_half_as_often() -> None:
    values, counts = np.unique(drawn("integer(1, 5)"), return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5]
    expected = 20_000 * np.array([1, 2, 2, 2, 1]) / 8
    assert scipy_stats.chisquare(counts, expected).pvalue > 1e-3


def test_signs() -> None:
    assert (drawn("log(1, 2)") > 0).all()
    assert (drawn("-log(1, 2)") < 0).all()
    assert abs((drawn("+-log(1, 2)") > 0).mean() - 0.5) < 0.02


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log(0, 1)", r"bounds of log must be > 0, got \(0, 1\); write -log"),
        ("log(-2, -1)", "must be > 0"),
        ("uniform(2, 1)", "lower bound must not be above the upper one, got .2, 1.; swap"),
        ("uniform(0, inf)", "must be finite"),
        ("uniform(a, 1)", r"two numbers, got 'uniform\(a, 1\)'"),
        ("normal(0, 1)", r"one of uniform\(low, high\), log\(low, high\), integer\(low, high\)"),
        ("uniform(1)", "a range must be"),
        ("", "a range must be"),
    ],
)
def test_what_is_no_range(text: str, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        Range.parse(text)
