"""A proposer that is slow to make, made beside the search: it proposes nothing until it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from flash_ansr.infer.proposals import Proposals, Proposer
from simplipy import TokenBatch


class BackgroundProposer:
    """Stands for a proposer while a thread makes it.

    Parameters
    ----------
    name : str
    round_size : int
        Of the proposer that is made.
    make : callable
        Called once, in the thread; what it raises is raised by ``propose``.
    """

    def __init__(self, name: str, round_size: int, make: Callable[[], Proposer]) -> None:
        self.name = name
        self.round_size = round_size
        self._make = make
        self._made: Proposer | None = None
        self._error: Exception | None = None
        # not a daemon: an import that is cut off at exit can crash the interpreter
        self._thread = threading.Thread(target=self._run, name=f"make {name}")
        self._thread.start()

    @property
    def state(self) -> str:
        """What became of the making, as a report tells it."""
        if self._thread.is_alive():
            return "was still being loaded when the search ended"
        return "was ready, but the search ended before its turn" if self._error is None else f"failed: {self._error}"

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """Formulas of the proposer, none while it is being made."""
        if self._thread.is_alive():
            return Proposals(TokenBatch.from_expressions(()))
        if self._error is not None:
            raise self._error
        assert self._made is not None
        return self._made.propose(n, seed, seconds)

    def _run(self) -> None:
        try:
            self._made = self._make()
        except Exception as error:
            self._error = error
