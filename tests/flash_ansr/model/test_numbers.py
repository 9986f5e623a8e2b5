"""Numbers as features: exact bits, and bounded real features over the whole range of float32."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from flash_ansr.model.config import NUMBER_WIDTHS
from flash_ansr.model.numbers import encode, real_features

VALUES = [0.0, 1.0, -1.0, 0.1, 3.5, -2.25e-3, 1e-38, -1e-38, 1e-45, 1e38, -3.4e38, 65504.0, 6e-5, 12.0]


def encoded(values: list[float], numbers: str) -> torch.Tensor:
    """Features of a table with one column, (rows, width)."""
    table = torch.tensor(values, dtype=torch.float32)[None, :, None]
    return encode(table, torch.ones(1, len(values), dtype=torch.bool), numbers)[0]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_bits_are_those_of_ieee_754(values: list[float]) -> None:
    words = np.array(values, dtype=np.float32).view(np.uint32)
    expected = [[int(bit) for bit in f"{word:032b}"] for word in words]
    assert encoded(values, "bits32").tolist() == expected


@given(st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_bits_of_half_precision(values: list[float]) -> None:
    words = np.array(values, dtype=np.float16).view(np.uint16)
    assert encoded(values, "bits16").tolist() == [[int(bit) for bit in f"{word:016b}"] for word in words]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_real_features_are_bounded(values: list[float]) -> None:
    for numbers in ("real", "hybrid"):
        features = encoded(values, numbers)
        assert features.shape == (len(values), NUMBER_WIDTHS[numbers])
        assert features.isfinite().all()
        assert features.abs().max() <= 2.5


@pytest.mark.parametrize("numbers", ["real", "hybrid"])
def test_zero_beside_the_smallest_number(numbers: str) -> None:
    """Half of the largest value of the column is zero there."""
    assert encoded([0.0, 1e-45, -0.0], numbers).isfinite().all()


@pytest.mark.parametrize("numbers", ["bits32", "real", "hybrid"])
def test_every_magnitude_is_visible(numbers: str) -> None:
    """A factor of two anywhere between 1e-38 and 1e38 changes the features of a single row, by a lot."""
    for value in np.geomspace(1e-38, 1e38, 77):
        one, two = (encoded([v], numbers)[0] for v in (value, 2 * value))
        assert (one - two).abs().max() > 1e-2, value


@pytest.mark.parametrize("numbers", list(NUMBER_WIDTHS))
def test_dropped_rows_change_nothing(numbers: str) -> None:
    table = torch.tensor(VALUES, dtype=torch.float32)[None, :, None].repeat(1, 1, 2)
    mask = torch.arange(len(VALUES))[None] < 9
    alone = encode(table[:, :9], mask[:, :9], numbers)
    table[:, 9:] = float("nan")
    together = encode(table, mask, numbers)
    assert torch.equal(alone, together[:, :9])
    assert not together[:, 9:].any()


def test_an_absent_column_says_nothing() -> None:
    for numbers in NUMBER_WIDTHS:
        assert not encoded([0.0, 0.0], numbers).any()


def test_a_zero_has_its_place_in_its_column() -> None:
    """In the column 0, 5, 10 the zero is the lowest value, not one in the middle."""
    values = torch.tensor([[[0.0], [5.0], [10.0]]])
    features = real_features(values, torch.ones(1, 3, dtype=torch.bool))
    assert any(column.tolist() == [-1.0, 0.0, 1.0] for column in features[0].T)


def test_power_laws_are_straight_lines_in_a_feature_that_is_large_enough_to_see() -> None:
    x = torch.logspace(-3, 3, 7)
    features = real_features(torch.stack([x, x**1.5], -1)[None], torch.ones(1, 7, dtype=torch.bool))[0]
    pairs = [(a, b) for a, b in features.T.reshape(-1, 2, 7) if a[-1] - a[0] > 2.0]
    assert any(torch.allclose(b, 1.5 * a, atol=1e-4) for a, b in pairs)
