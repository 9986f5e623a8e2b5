"""How fits are ranked: the paper's score, and the fraction of variance that counts as exact."""

from __future__ import annotations

import math

import numpy as np

from flash_ansr.infer.table.table import Table
from simplipy.fit.unexplained import unit_of

# rounding of the values of a formula, relative to their size
_ROUNDING = 1e-15
# what a fit of constants to the last digits leaves
_SMALLEST = 1e-24
# where rounding alone leaves more, as in integers of 17 digits that differ in the last two, nothing is called exact
_LARGEST = 1e-6
_ROWS_OF_GAMMA = 60


def exact_fvu(table: Table) -> float:
    """Fraction of variance unexplained that is due to rounding alone: what is below it counts as equal to it."""
    y = table.y / unit_of(table.y)
    spread = float(np.std(y))
    size = float(np.sqrt(np.mean(np.square(y))))
    if spread == 0:
        return _SMALLEST
    return min(max(_SMALLEST, (_ROUNDING * size / spread) ** 2), _LARGEST)


def price_of_a_token(gamma: float, n_rows: int) -> float:
    """The paper's gamma, and more where rows are few.

    A decade of FVU on n rows is worth n log(10)/2 nats of likelihood, naming one of some thirty tokens costs log(30):
    at 60 rows that is the paper's 0.05 decades a token, with fewer rows it is more.

    Examples
    --------
    >>> price_of_a_token(0.05, 1000), price_of_a_token(0.05, 10)
    (0.05, 0.3)
    """
    return round(gamma * max(1.0, _ROWS_OF_GAMMA / n_rows), 12)


def score(fvu: float, length: int, gamma: float, floor: float = 0.0) -> float:
    """The paper's ``log10 FVU + gamma * length``; smaller is better, infinite for what is not finite.

    Rounded to six decimals: fits of one law in two spellings tie, and the earlier one stays.

    Examples
    --------
    >>> score(0.01, 10, gamma=0.05)
    -1.5
    >>> score(float("nan"), 3, gamma=0.05)
    inf
    """
    if not math.isfinite(fvu) or fvu < 0:
        return math.inf
    return round(math.log10(max(fvu, floor, 1e-300)) + gamma * length, 6)
