"""Islands by length: for every length the forms that fit best, so that the population is a thick Pareto front.

Members are drawn as parents by tournaments at random prices of a token: every part of the front has children. A member
that had many children without being replaced is tired: it is drawn less and less, and leaves unless it leads its
island.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.table import FloatArray
from simplipy.fit.score import ROUNDING_FVU

Ids = npt.NDArray[np.int16]
# two members of one length whose costs agree to this are taken for one
_SAME = 1e-9


@dataclass(slots=True, eq=False)
class Member:
    """A form with its numbers.

    Attributes
    ----------
    ids : int16 array (length,)
        Skeleton in prefix order.
    constants : float64 array (n_constants,)
    cost : float
        Fraction of variance unexplained on the rows of the screen.
    rank_correlation : float
        Of its values with the target.
    n_children : int
        How often it was a parent.
    """

    ids: Ids
    constants: FloatArray
    cost: float
    rank_correlation: float
    n_children: int = 0

    @property
    def length(self) -> int:
        """Number of tokens."""
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class IslandSettings:
    """Sizes and prices.

    Attributes
    ----------
    capacity : int
        Members of one length.
    tournament : int
        Members that compete to be a parent.
    cheapest, dearest : float
        Range of the price of a token in a tournament, in decades of cost.
    weariness : float
        Decades of cost that a child counts for.
    by_rank : float
        Share of tournaments on rank correlation instead of cost.
    tired : int
        Children after which a member leaves, unless it is the best of its length.
    """

    capacity: int = 6
    tournament: int = 5
    cheapest: float = 0.005
    dearest: float = 0.3
    weariness: float = 0.004
    by_rank: float = 0.2
    tired: int = 250


class Population:
    """Members by length.

    Parameters
    ----------
    max_length : int
    settings : IslandSettings, optional
    """

    def __init__(self, max_length: int, settings: IslandSettings | None = None) -> None:
        self.max_length = max_length
        self.settings = settings or IslandSettings()
        self._islands: dict[int, list[Member]] = {}
        self._lowest = [np.inf] * (max_length + 1)  # cost of the best up to each length
        self._members: list[Member] | None = None

    @property
    def members(self) -> list[Member]:
        """All members, short ones first."""
        if self._members is None:
            self._members = [m for length in sorted(self._islands) for m in self._islands[length]]
        return self._members

    def limits(self) -> FloatArray:
        """By length: the cost from which a form would not be kept."""
        limits = np.full(self.max_length + 1, np.inf)
        for length, island in self._islands.items():
            if len(island) >= self.settings.capacity:
                limits[length] = island[-1].cost
        return np.minimum.accumulate(limits)

    def add(self, member: Member) -> bool:
        """Take a member in if it is good enough; True if it is the best up to its length."""
        length, cost = len(member.ids), member.cost
        island = self._islands.setdefault(length, [])
        at = bisect_right(island, cost, key=attrgetter("cost"))
        if at >= self.settings.capacity:
            return False
        neighbours = island[max(at - 1, 0) : at + 1]
        if any(abs(m.cost - cost) <= _SAME * cost for m in neighbours):
            return False
        island.insert(at, member)
        del island[self.settings.capacity :]
        self._members = None
        leads = cost < self._lowest[length]
        if leads:
            self._lowest[length:] = [min(cost, lowest) for lowest in self._lowest[length:]]
        return leads

    def parents(self, n: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Indices of n members, drawn by tournaments."""
        members, settings = self.members, self.settings
        cost = np.array([np.log10(max(m.cost, ROUNDING_FVU)) for m in members])
        rank = np.array([np.log10(1 - min(abs(m.rank_correlation), 1 - 1e-6)) for m in members])
        length = np.array([m.length for m in members])
        tired = np.array([settings.weariness * m.n_children for m in members])
        drawn = rng.integers(0, len(members), (n, settings.tournament))
        low, high = np.log(settings.cheapest), np.log(settings.dearest)
        price = np.exp(rng.uniform(low, high, (n, 1)))
        by_rank = rng.random((n, 1)) < settings.by_rank
        value = np.where(by_rank, rank[drawn], cost[drawn]) + price * length[drawn] + tired[drawn]
        chosen = drawn[np.arange(n), np.argmin(value, axis=1)]
        for i, count in zip(*np.unique(chosen, return_counts=True), strict=True):
            members[i].n_children += int(count)
        return chosen.astype(np.int32)

    def retire(self) -> None:
        """Members that had their chance leave; the best of each length stays."""
        for island in self._islands.values():
            island[1:] = [m for m in island[1:] if m.n_children < self.settings.tired]
        self._members = None
