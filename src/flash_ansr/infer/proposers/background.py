"""A proposer that is slow to start, started beside the search: it is not ready until it is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerError
from simplipy import TokenBatch


class Loading(Enum):
    """How far a proposer in the background is."""

    WAITING = "was not loaded: the search ended before that paid off"
    RUNNING = "was still being loaded when the search ended"
    READY = "was ready, but the search ended before its turn"
    FAILED = "failed"


class BackgroundProposer(Proposer):
    """Stands for a proposer that a thread starts, once ``load`` is called.

    Parameters
    ----------
    name : str
    make : callable
        Called once, in the thread; its error is the reason of the ``ProposerError`` that ``propose`` raises.
    weight : float
        See ``Proposer``.

    Attributes
    ----------
    seconds : float
        Time that the loading took.
    failure : str or None
        Why it failed.
    """

    def __init__(self, name: str, make: Callable[[], Proposer], weight: float = 1.0) -> None:
        self.name, self.weight, self.round_size = name, weight, 0
        self.seconds = 0.0
        self.failure: str | None = None
        self._make = make
        self._made: Proposer | None = None
        self._error: Exception | None = None
        self._missed: list[Callable[[Proposer], None]] = []  # notes for the proposer until it is there
        self._thread: threading.Thread | None = None

    def load(self) -> None:
        """Begin to start the proposer, if that has not begun."""
        if self._thread is None:
            # not a daemon: an import that is cut off at exit can crash the interpreter
            self._thread = threading.Thread(target=self._run, name=f"load {self.name}")
            self._thread.start()

    @property
    def state(self) -> Loading:
        """How far it is."""
        if self._thread is None:
            return Loading.WAITING
        if self._thread.is_alive():
            return Loading.RUNNING
        return Loading.READY if self._made is not None else Loading.FAILED

    @property
    def outcome(self) -> str:
        """The state in words, with the reason of a failure."""
        return self.state.value if self.failure is None else f"{self.state.value}: {self.failure}"

    @property
    def is_ready(self) -> bool:
        """Whether the loading is over: ``propose`` raises the error of one that failed."""
        return self.state in (Loading.READY, Loading.FAILED)

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """Formulas of the proposer; waits for it where it is not ready."""
        return self._loaded().propose(n, seed, seconds)

    def learn(self, lessons: Sequence[Lesson]) -> None:
        """Hand formulas on, at once or when it is there."""
        self._note(lambda proposer: proposer.learn(lessons))

    def note_model_draws(self, batch: TokenBatch, counts: npt.NDArray[np.int64]) -> None:
        """Hand draws on, at once or when it is there."""
        self._note(lambda proposer: proposer.note_model_draws(batch, counts))

    def _note(self, note: Callable[[Proposer], None]) -> None:
        self._missed.append(note)
        if self.state is Loading.READY:
            self._loaded()

    def _loaded(self) -> Proposer:
        self.load()
        assert self._thread is not None
        self._thread.join()
        if self._made is None:
            raise ProposerError(self.failure or "it did not load") from self._error
        missed, self._missed = self._missed, []
        for note in missed:
            note(self._made)
        return self._made

    def _run(self) -> None:
        started = time.monotonic()
        try:
            self._made = self._make()
            self.round_size = self._made.round_size
        except Exception as error:
            self._error, self.failure = error, f"{type(error).__name__}: {error}"
        self.seconds = time.monotonic() - started
