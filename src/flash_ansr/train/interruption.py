"""SIGTERM and Ctrl-C as a request that a loop looks at, so that nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether a signal asked for an end."""

    requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; the second one ends the process at once."""
        del frame
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        print(f"signal {signal.Signals(number).name}: saving after this step; again to end at once", flush=True)


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn SIGTERM and Ctrl-C into a request while the block runs."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
