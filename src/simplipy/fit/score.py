"""The paper's score of a fitted formula, the price of a token in it, and which errors are rounding alone.

Errors are fractions of variance unexplained (FVU). Every module that ranks formulas or asks whether one is exact takes
its answer from here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simplipy.fit.unexplained import Floats

# the paper's price of a token, in decades of FVU
GAMMA = 0.05
# FVU of the right formula: with its constants to the last digits, with them nearly so, and before they were tidied
ROUNDING_FVU = 1e-24
EXACT_FVU = 1e-20
NEARLY_EXACT_FVU = 1e-16
# rounding of the values of a formula, relative to their size
_ROUNDING = 1e-15
# where rounding alone leaves more, as in integers of 17 digits that differ in the last two, nothing is called exact
_LARGEST = 1e-6
_ROWS_OF_GAMMA = 60


def score(fvu: float, length: int, gamma: float = GAMMA, floor: float = 0.0) -> float:
    """The paper's ``log10 FVU + gamma * length``; smaller is better, infinite for what is not finite.

    FVUs below ``floor`` count as equal to it. Rounded to six decimals, so that fits of one law in two spellings tie.

    Examples
    --------
    >>> score(0.01, 10)
    -1.5
    >>> score(float("nan"), 3)
    inf
    """
    if not math.isfinite(fvu) or fvu < 0:
        return math.inf
    return round(math.log10(max(fvu, floor, 1e-300)) + gamma * length, 6)


def fvu_at(score: float, length: int, gamma: float = GAMMA) -> float:
    """The FVU at which a formula of this length has this score.

    Examples
    --------
    >>> fvu_at(-1.5, 10)
    0.01
    """
    return float(10.0 ** min(score - gamma * length, 300.0))


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


def exact_fvu(y: Floats) -> float:
    """The FVU that rounding alone leaves of a target: lower ones count as equal to it."""
    # here, because command lines take GAMMA from this module, and do not need NumPy for their help
    import numpy as np

    from simplipy.fit.unexplained import unit_of

    y = y / unit_of(y)
    spread = float(np.std(y))
    size = float(np.sqrt(np.mean(np.square(y))))
    if spread == 0:
        return ROUNDING_FVU
    return min(max(ROUNDING_FVU, (_ROUNDING * size / spread) ** 2), _LARGEST)


def is_exact(fvu: float, floor: float) -> bool:
    """Whether an error is about that of rounding; the floor is ``exact_fvu`` of the target.

    Examples
    --------
    >>> is_exact(3e-24, 1e-24), is_exact(3e-22, 1e-24)
    (True, False)
    """
    return fvu <= 10 * floor


def is_nearly_exact(fvu: float, floor: float) -> bool:
    """Whether a formula with this error may become exact when its numbers are tidied."""
    return fvu <= max(NEARLY_EXACT_FVU, 100 * floor)
