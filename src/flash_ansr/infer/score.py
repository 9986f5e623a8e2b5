"""How fits are ranked: the paper's score, and the fraction of variance that counts as exact."""

from __future__ import annotations

import math

import numpy as np

from flash_ansr.infer.proposals import Table

# rounding of the values of a formula, relative to their size
_ROUNDING = 1e-15
# what a fit of constants to the last digits leaves
_SMALLEST = 1e-24


def exact_fvu(table: Table) -> float:
    """Fraction of variance unexplained that is due to rounding alone: what is below it counts as equal to it."""
    spread = float(np.std(table.y))
    size = float(np.sqrt(np.mean(np.square(table.y)))) if spread > 0 else 0.0
    if spread == 0 or not math.isfinite(size):
        return _SMALLEST
    return max(_SMALLEST, (_ROUNDING * size / spread) ** 2)


def score(fvu: float, length: int, gamma: float, floor: float = 0.0) -> float:
    """The paper's ``log10 FVU + gamma * length``; smaller is better, infinite for what is not finite.

    Examples
    --------
    >>> score(0.01, 10, gamma=0.05)
    -1.5
    >>> score(float("nan"), 3, gamma=0.05)
    inf
    """
    if not math.isfinite(fvu) or fvu < 0:
        return math.inf
    return math.log10(max(fvu, floor, 1e-300)) + gamma * length
