"""The formulas that growth knows: the best few of each length, by the error that each row has when it is left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from flash_ansr.infer.proposers.growth.insertions import Skeleton, orthonormal
from flash_ansr.infer.table.table import FloatArray
from simplipy import Expression

# of each length
_N_KEPT = 3
# a longer formula may be worse than a shorter one by so much
_TOLERANCE = 1.1
# a row that decides on its own prediction
_MOST_LEVERAGE = 0.98
# two errors as close as this are those of one function
_SAME = 1e-9
# of the mean error of shorter formulas, a record leaves at most so much
_RECORD = 0.998


@dataclass(slots=True, eq=False)
class Member:
    """A fitted formula.

    Attributes
    ----------
    expression : Expression
        The skeleton.
    constants : array (n_constants,)
    error : float
        Mean square of the errors in rows that are left out, one by one.
    is_grown : bool
        Whether insertions into it were tried.
    is_known : bool
        Whether it was handed on, or came from another proposer.
    """

    expression: Expression
    constants: FloatArray
    error: float
    is_grown: bool = False
    is_known: bool = False

    @property
    def skeleton(self) -> Skeleton:
        """Tokens and constants."""
        return Skeleton(tuple(self.expression.tokens), tuple(self.constants.tolist()))


@dataclass(slots=True)
class Members:
    """Members by length.

    Attributes
    ----------
    by_length : dict of int to list of Member
        Best first.
    """

    by_length: dict[int, list[Member]] = field(default_factory=dict)

    def wants(self, length: int, error: float) -> bool:
        """Whether a formula of this length and error would be kept."""
        here = self.by_length.get(length, [])
        last = here[-1].error if len(here) >= _N_KEPT else math.inf
        shorter = min((own[0].error for n, own in self.by_length.items() if n <= length), default=math.inf)
        return error < min(last, _TOLERANCE * shorter)

    def add(self, member: Member) -> bool:
        """Take a member in, if it is good enough and new."""
        length = len(member.expression)
        here = self.by_length.get(length, [])
        is_old = any(abs(own.error - member.error) <= _SAME * own.error for own in here)
        if is_old or not self.wants(length, member.error):
            return False
        self.by_length[length] = sorted([*here, member], key=lambda own: own.error)[:_N_KEPT]
        return True

    def next_to_grow(self, price: float, n_rows: int) -> Member | None:
        """The member that describes the rows best at this price of a token, and has not grown."""
        pool = [own for members in self.by_length.values() for own in members if not own.is_grown]

        def nats(own: Member) -> float:
            return n_rows / 2 * math.log(max(own.error, 1e-300)) + price * len(own.expression)

        return min(pool, key=nats, default=None)

    def records(self) -> list[Member]:
        """Members with a clearly lower error than all shorter ones, the shortest first."""
        found: list[Member] = []
        lowest = math.inf
        for length in sorted(self.by_length):
            best = self.by_length[length][0]
            if best.error < _RECORD * lowest:
                lowest = best.error
                found.append(best)
        return found


def left_out_error(
    expression: Expression, constants: FloatArray, X: FloatArray, y: FloatArray, root_weights: FloatArray
) -> float:
    """Mean square of the errors in rows that are left out, by their leverage; infinite without derivatives."""
    with np.errstate(over="ignore", invalid="ignore"):
        residuals = (y - expression(X, constants=constants)) * root_weights
        if not len(constants):
            return float((residuals**2).mean()) if np.isfinite(residuals).all() else math.inf
        directions = expression.gradient(X, constants, wrt="constants") * root_weights[:, None]
    if not (np.isfinite(directions).all() and np.isfinite(residuals).all()):
        return math.inf
    leverage = np.minimum((orthonormal(directions) ** 2).sum(axis=1), _MOST_LEVERAGE)
    with np.errstate(over="ignore"):
        error = float(((residuals / (1 - leverage)) ** 2).mean())
    return error if math.isfinite(error) else math.inf
