"""The order of proposers: time goes to those that improve the front. Knows nothing of formulas.

Proposers with a finite supply run first, up to a share of the budget: where they work they are the quickest. From then
on every proposer earns credit, half by its weight and half by its gains for their cost, and the one with most credit is
next. The cost of a round is counted in seconds, or in drawn formulas where the budget is one of formulas: then the
order is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flash_ansr.infer.proposers.base import Proposer

# of the budget, for those that come first
_OPENING = 0.2
# of the budget: gains that lie further back count less and less
_MEMORY = 0.1
# how much of the share is by weight, whatever a proposer brings
_BY_WEIGHT = 0.5
# memory of gains without a budget, in seconds or formulas
_UNLIMITED = 1.0


@dataclass(slots=True, eq=False)
class _Turn:
    proposer: Proposer
    gain: float = 0.0
    cost: float = 0.0
    credit: float = 0.0


class Schedule:
    """The order of proposers.

    Parameters
    ----------
    proposers : sequence of Proposer
        Those whose ``opens`` is true come first; ``weight`` says how much time one gets apart from its gains. One
        that is not ready is passed over, and earns no credit meanwhile.
    budget : float, optional
        Seconds or formulas in all.
    """

    def __init__(self, proposers: Sequence[Proposer], budget: float | None = None) -> None:
        self._turns = [_Turn(proposer) for proposer in proposers]
        self._budget = budget
        self._memory = _MEMORY * budget if budget is not None else _UNLIMITED
        self._spent = 0.0

    def __bool__(self) -> bool:
        return bool(self._turns)

    def next(self) -> Proposer | None:
        """The proposer to ask now, None while none is ready."""
        ready = self._ready()
        if self._budget is None or self._spent < _OPENING * self._budget:
            for turn in ready:
                if turn.proposer.opens:
                    return turn.proposer
        # who has spent nothing yet has been heard of least
        return max(ready, key=lambda turn: (turn.cost == 0, turn.credit)).proposer if ready else None

    def drop(self, proposer: Proposer) -> None:
        """The proposer has nothing more."""
        self._turns = [turn for turn in self._turns if turn.proposer is not proposer]

    def shares(self) -> dict[str, float]:
        """The part of the remaining budget that each proposer gets that is ready."""
        ready = self._ready()
        weights = [turn.proposer.weight for turn in ready]
        # a round that was lucky is not a rate: every proposer counts as having spent a little for nothing
        rates = [turn.gain / (turn.cost + 0.5 * self._memory) for turn in ready]
        by_weight = [weight / sum(weights) for weight in weights]
        by_gain = [rate / sum(rates) for rate in rates] if sum(rates) > 0 else by_weight
        names = [turn.proposer.name for turn in ready]
        pairs = zip(names, by_weight, by_gain, strict=True)
        return {name: _BY_WEIGHT * w + (1 - _BY_WEIGHT) * g for name, w, g in pairs}

    def record(self, proposer: Proposer, cost: float, gain: float) -> None:
        """A round of this proposer cost so much and improved the front by so much."""
        self._spent += cost
        fading = math.exp(-cost / self._memory)
        for turn in self._turns:
            turn.gain, turn.cost = fading * turn.gain, fading * turn.cost
            if turn.proposer is proposer:
                turn.gain, turn.cost, turn.credit = turn.gain + gain, turn.cost + cost, turn.credit - cost
        shares = self.shares()
        for turn in self._turns:
            turn.credit += shares.get(turn.proposer.name, 0.0) * cost

    def _ready(self) -> list[_Turn]:
        return [turn for turn in self._turns if turn.proposer.is_ready]
