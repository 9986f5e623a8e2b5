"""Uniform draws that are the same on every machine and in every version of NumPy.

Only the raw 64-bit words of PCG64 and the hashing of SeedSequence are used: NumPy promises both for ever, and promises
nothing of the kind about its distributions. A stream is named by words, so that data sets do not depend on the order in
which they are made.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

_MANTISSA_BITS = 53


class UniformStream:
    """Uniform numbers in [0, 1), one after the other.

    Parameters
    ----------
    *name : str or int
        Purpose of the draws; streams of different names are independent.
    """

    def __init__(self, *name: str | int) -> None:
        # repr keeps ("ab", "c") and ("a", "bc"), "1" and 1 apart
        digest = hashlib.sha256(repr(name).encode()).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()
        self._bits = np.random.PCG64(np.random.SeedSequence(words))

    def draw(self, *shape: int) -> NDArray[np.float64]:
        """The next numbers, in an array of this shape."""
        words = self._bits.random_raw(int(np.prod(shape)))
        numbers = (words >> np.uint64(64 - _MANTISSA_BITS)).astype(np.float64)
        return numbers.reshape(shape) * 2.0**-_MANTISSA_BITS


def digest_of(draws: NDArray[np.float64]) -> str:
    """16 hexadecimal digits that say whether two arrays of draws are equal to the last bit."""
    return hashlib.sha256(np.ascontiguousarray(draws, dtype="<f8").tobytes()).hexdigest()[:16]
