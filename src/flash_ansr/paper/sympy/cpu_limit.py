"""A limit on the CPU time of a block, so that what comes out does not depend on the load of the machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# an exception is lost where the timer rings in a callback of the garbage collector, so it rings again
_SECONDS_TO_NEXT_RING = 0.1


class TimeOver(BaseException):
    """The time of a block is over; passes through handlers of ordinary errors inside of it."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise TimeOver after so many seconds of CPU time, or at the end of the block where it was lost.

    Works on the main thread of systems with timers; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    is_over = False

    def ring(_number: int, _frame: object) -> None:
        nonlocal is_over
        is_over = True
        raise TimeOver

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _SECONDS_TO_NEXT_RING)
        yield
        if is_over:
            raise TimeOver
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
