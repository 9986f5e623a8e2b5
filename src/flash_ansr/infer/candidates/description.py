"""The price of a formula in a description of the rows, in nats and in decades of FVU."""

from __future__ import annotations

import math

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.numbers import numbers_of
from simplipy.fit.description_length import data_cost
from simplipy.fit.score import GAMMA

# the choice of one of some thirty tokens; for the choice among all formulas, while tidying compares spellings of one
TOKEN_NATS = math.log(30)


def token_nats(gamma: float) -> float:
    """Price of a token in nats; at the paper's gamma it is ``TOKEN_NATS``."""
    return TOKEN_NATS * gamma / GAMMA


def decades(nats: float, n_rows: int) -> float:
    """A description length as decades of FVU on so many rows."""
    return round(2 * nats / (n_rows * math.log(10)), 6)


def rough_length(candidate: Candidate, fvu: float, n_rows: int, gamma: float, floor: float) -> float:
    """Description length in nats, as far as it is known without standard errors."""
    numbers = len(numbers_of(candidate.expression)) * (0.5 * math.log(n_rows) + 1.5)
    return data_cost(fvu, candidate.n_constants, n_rows, floor) + token_nats(gamma) * candidate.length + numbers
