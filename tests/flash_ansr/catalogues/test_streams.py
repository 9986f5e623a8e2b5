"""Uniform streams: fixed for ever, independent by name."""

from __future__ import annotations

import numpy as np

from flash_ansr.catalogues.streams import UniformStream, digest_of

FIRST = [0.22553592649668253, 0.7400541306110615, 0.3769417306312962]
DIGEST = "79b9762676ce443b"


def test_the_first_draws_never_change() -> None:
    """Committed benchmark rows stand on these numbers."""
    assert UniformStream("fastsrb", "I.12.1", 0).draw(3).tolist() == FIRST
    assert digest_of(UniformStream("fastsrb", "I.12.1", 0).draw(1000)) == DIGEST


def test_draws_in_parts_are_the_draws_at_once() -> None:
    at_once = UniformStream("a").draw(12)
    stream = UniformStream("a")
    assert np.concatenate([stream.draw(2, 2).ravel(), stream.draw(8)]).tolist() == at_once.tolist()


def test_names_tell_streams_apart() -> None:
    names = [("ab", "c"), ("a", "bc"), ("abc",), ("1",), (1,), ("1", 1), (1, "1")]
    digests = {digest_of(UniformStream(*name).draw(8)) for name in names}
    assert len(digests) == len(names)


def test_draws_are_in_the_unit_interval_and_even() -> None:
    draws = UniformStream("even").draw(100_000)
    assert draws.min() >= 0
    assert draws.max() < 1
    counts, _ = np.histogram(draws, bins=100, range=(0, 1))
    assert abs(counts - 1000).max() < 6 * np.sqrt(1000)


def test_the_digest_sees_the_last_bit() -> None:
    draws = UniformStream("bit").draw(10)
    other = draws.copy()
    other[3] = np.nextafter(other[3], 1)
    assert digest_of(draws) != digest_of(other)
