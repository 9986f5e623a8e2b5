"""Exponents to small rationals."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import FloatArray


def to_grid(exponents: FloatArray, denominator: int) -> FloatArray:
    """Nearest multiples of 1/denominator."""
    return np.asarray(np.round(exponents * denominator) / denominator)


def snapped(exponents: FloatArray, tolerance: float) -> FloatArray:
    """Each exponent as the simplest rational within the tolerance: integers, then halves, thirds, ... tenths.

    What is near none of them stays as it is.
    """
    result, open_ = exponents.copy(), np.ones(len(exponents), dtype=bool)
    for denominator in (1, 2, 3, 4, 5, 6, 10):
        rounded = to_grid(exponents, denominator)
        # finer grids are nearer to anything, so they must come closer
        hit = open_ & (np.abs(rounded - exponents) <= tolerance / denominator)
        result[hit], open_ = rounded[hit], open_ & ~hit
    return result


def variants(exponents: FloatArray) -> list[FloatArray]:
    """Ways to read fitted exponents, the strictest first, without repetition."""
    ways = [snapped(exponents, 1e-6), snapped(exponents, 0.03), to_grid(exponents, 1), to_grid(exponents, 2)]
    ways.append(snapped(exponents, 0.12))
    distinct: dict[bytes, FloatArray] = {}
    for way in ways:
        distinct.setdefault((np.round(way, 9) + 0.0).tobytes(), way)
    return list(distinct.values())
