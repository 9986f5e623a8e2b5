"""Whose turn it is: time goes to the proposers that improve the front. Knows nothing of formulas.

What can run out comes first, up to a share of the budget: it is the quickest where it works. From then on every proposer
earns credit by what it brought for what it cost, and the one with most credit is next. What a round costs is counted in
seconds, or in drawn formulas where the budget is one of formulas: then the order is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flash_ansr.infer.proposals import Proposer

# every proposer gets at least this share
_FLOOR = 0.05
# weight of the last round in the mean gain
_MEMORY = 0.3
# of the budget, for those that come first
_OPENING = 0.35


@dataclass(slots=True, eq=False)
class _Turn:
    proposer: Proposer
    rate: float | None = None  # gain for a unit of cost, None before the first round
    credit: float = 0.0


class Schedule:
    """The order of proposers.

    Parameters
    ----------
    proposers : sequence of Proposer
        Each that has an attribute ``opens`` which is true comes first.
    budget : float, optional
        Seconds or formulas in all.
    """

    def __init__(self, proposers: Sequence[Proposer], budget: float | None = None) -> None:
        self._turns = [_Turn(proposer) for proposer in proposers]
        self._budget = budget
        self._spent = 0.0

    def __bool__(self) -> bool:
        return bool(self._turns)

    def __len__(self) -> int:
        return len(self._turns)

    def next(self) -> Proposer:
        """The proposer to ask now."""
        if self._budget is None or self._spent < _OPENING * self._budget:
            for turn in self._turns:
                if getattr(turn.proposer, "opens", False):
                    return turn.proposer
        for turn in self._turns:  # each is tried once
            if turn.rate is None:
                return turn.proposer
        return max(self._turns, key=lambda turn: turn.credit).proposer

    def drop(self, proposer: Proposer) -> None:
        """The proposer has nothing more."""
        self._turns = [turn for turn in self._turns if turn.proposer is not proposer]

    def shares(self) -> dict[str, float]:
        """What part of what is left each proposer gets."""
        rates = [turn.rate or 0.0 for turn in self._turns]
        total = sum(rates)
        shares = [rate / total if total > 0 else 1.0 / len(rates) for rate in rates]
        floored = [max(share, _FLOOR) for share in shares]
        return {turn.proposer.name: share / sum(floored) for turn, share in zip(self._turns, floored, strict=True)}

    def record(self, proposer: Proposer, cost: float, gain: float) -> None:
        """A round of this proposer cost so much and improved the front by so much."""
        self._spent += cost
        cost = max(cost, 1e-6)
        for turn in self._turns:
            if turn.proposer is proposer:
                rate = gain / cost
                turn.rate = rate if turn.rate is None else (1 - _MEMORY) * turn.rate + _MEMORY * rate
                turn.credit -= cost
        shares = self.shares()
        for turn in self._turns:
            turn.credit += shares[turn.proposer.name] * cost
