"""SIGTERM and Ctrl-C as a request that a loop looks at, so that nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event


@contextmanager
def interruptible() -> Iterator[Event]:
    """Turn SIGTERM and Ctrl-C into an event while the block runs; a second signal ends the process at once."""
    requested = Event()

    def request(number: int, _frame: object) -> None:
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()
        print(f"signal {signal.Signals(number).name}: saving after this step; again to end at once", flush=True)

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
