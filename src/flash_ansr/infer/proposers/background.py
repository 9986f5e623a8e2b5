"""A proposer that is slow to make, made beside the search: it is not ready until it is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerError


class BackgroundProposer:
    """Stands for a proposer that a thread makes once it is started.

    Parameters
    ----------
    name : str
    make : callable
        Called once, in the thread; what it raises is the reason of the ``ProposerError`` that ``propose`` raises.
    weight : float
        See ``flash_ansr.infer.search.schedule.Schedule``.

    Attributes
    ----------
    round_size : int
        Of the proposer once it is made.
    """

    def __init__(self, name: str, make: Callable[[], Proposer], weight: float = 1.0) -> None:
        self.name = name
        self.weight = weight
        self.round_size = 0
        self._make = make
        self._made: Proposer | None = None
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None
        self.seconds = 0.0  # that the making took

    def start(self) -> None:
        """Begin to make the proposer, where nobody has."""
        if self._thread is None:
            # not a daemon: an import that is cut off at exit can crash the interpreter
            self._thread = threading.Thread(target=self._run, name=f"make {self.name}")
            self._thread.start()

    @property
    def is_ready(self) -> bool:
        """Whether the making is over, for good or ill."""
        return self._thread is not None and not self._thread.is_alive()

    @property
    def state(self) -> str:
        """What became of the making, as a report tells it."""
        if self._thread is None:
            return "was not loaded: the search ended before that paid off"
        if not self.is_ready:
            return "was still being loaded when the search ended"
        return "was ready, but the search ended before its turn" if self._error is None else f"failed: {self._reason}"

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """Formulas of the proposer; waits for it where it is not ready."""
        self.start()
        assert self._thread is not None
        self._thread.join()
        if self._made is None:
            raise ProposerError(self._reason) from self._error
        return self._made.propose(n, seed, seconds)

    @property
    def _reason(self) -> str:
        return f"{type(self._error).__name__}: {self._error}"

    def _run(self) -> None:
        started = time.monotonic()
        try:
            self._made = self._make()
            self.round_size = self._made.round_size
        except Exception as error:
            self._error = error
        self.seconds = time.monotonic() - started
