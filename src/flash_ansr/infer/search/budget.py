"""When to stop: seconds, drawn formulas, a target, a callback, Ctrl-C. Knows nothing of formulas."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

Result = TypeVar("Result")

# seconds to conclude a search, and as a share of the time limit; the least there is after a late round
_SECONDS, _SHARE = 0.1, 0.06
# the same where candidates are compared by rows that they were not fitted to
_SECONDS_OF_PREDICTION, _SHARE_OF_PREDICTION = 0.2, 0.1
_LEAST_SECONDS = 0.05
# of the limit, at most so much is kept from the search for it; of short limits a part comes after them
_MOST_KEPT = 0.1
# of the limit, at most so much is kept to look at a large table once more
_MOST_LOOKING = 0.3
# of the time to look at a large table, the part that comes after the last fit
_AFTER_REFINING = 0.7
# seconds at most to fit the law to all of many rows
_REFINING = 0.5


class Stop(Enum):
    """Why a search ended."""

    TIME = "the time limit was reached"
    SAMPLES = "all formulas of the budget were drawn"
    TARGET = "the target was reached"
    EXACT = "the best law is exact"
    NOISE = "what the best law leaves is noise, and nothing better came for long"
    EXHAUSTED = "no proposer had anything more to propose"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted from outside"


@dataclass(slots=True)
class Budget:
    """The limits of a search, and what it has spent.

    Attributes
    ----------
    time_limit : float, optional
        Seconds from now.
    n_samples : int, optional
        Formulas to draw.
    reserve : float
        Seconds of the time limit that are for what comes after the search.
    predicts : bool
        Whether candidates are compared by rows that they were not fitted to, which takes longer.
    looking : float
        Seconds that it takes to look at all of a large table, as before the search and after it.
    """

    time_limit: float | None = None
    n_samples: int | None = None
    clock: Callable[[], float] = time.monotonic
    n_drawn: int = 0
    reserve: float = 0.0
    predicts: bool = False
    looking: float = 0.0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the search must end, None without a time limit."""
        return None if self.time_limit is None else self.time_limit - self.reserve - self.elapsed

    @property
    def seconds_to_refine(self) -> float | None:
        """Seconds in which a law may be fitted to all rows, from now on; None without a time limit."""
        return None if self.time_limit is None else self.time_limit - _AFTER_REFINING * self.looking - self.elapsed

    @property
    def seconds_to_conclude(self) -> float | None:
        """Seconds for what comes after the search, from now on; None without a time limit."""
        if self.time_limit is None:
            return None
        late = max(self.elapsed + self.reserve - self.time_limit, 0.0)
        return max(_conclusion(self.time_limit, self.predicts) - late, _LEAST_SECONDS)

    def next_draw(self, wanted: int) -> int:
        """How many formulas may be drawn now, at most ``wanted``."""
        return wanted if self.n_samples is None else min(wanted, self.n_samples - self.n_drawn)

    def spent(self) -> Stop | None:
        """The limit that is reached, if one is."""
        if self.n_samples is not None and self.n_drawn >= self.n_samples:
            return Stop.SAMPLES
        left = self.seconds_left
        return Stop.TIME if left is not None and left <= 0 else None


def reserve_of(
    time_limit: float | None, is_refined: bool = False, predicts: bool = False, looking: float = 0.0
) -> float:
    """Seconds of a time limit that the search leaves, so that its conclusion ends with the limit.

    Parameters
    ----------
    is_refined : bool
        Whether the law is then fitted to more rows.
    predicts : bool
        See ``Budget``.
    looking : float
        Seconds that it took to look at a large table before the search: it takes as long after it.

    Examples
    --------
    >>> [round(reserve_of(limit), 3) for limit in (0.5, 10)]
    [0.05, 0.7]
    """
    if time_limit is None:
        return 0.0
    refining = min(_MOST_KEPT * time_limit, _REFINING) if is_refined else 0.0
    refining += min(_MOST_LOOKING * time_limit, looking)
    return refining + min(_conclusion(time_limit, predicts), _MOST_KEPT * time_limit)


def _conclusion(time_limit: float, predicts: bool) -> float:
    if predicts:
        return _SECONDS_OF_PREDICTION + _SHARE_OF_PREDICTION * time_limit
    return _SECONDS + _SHARE * time_limit


def uninterrupted(work: Callable[[], Result]) -> Result:
    """The result of the work, begun again where Ctrl-C breaks in: for short work without which the rest is lost."""
    while True:
        try:
            return work()
        except KeyboardInterrupt:
            continue
