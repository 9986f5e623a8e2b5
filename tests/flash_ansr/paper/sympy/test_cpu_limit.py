"""The limit on CPU time holds whatever the block does with exceptions."""

from __future__ import annotations

import signal
import time

import pytest

from flash_ansr.paper.sympy.cpu_limit import TimeOver, cpu_limit


def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_long_block_ends_and_a_short_one_does_not() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with cpu_limit(60.0):
        work(0.01)
    with pytest.raises(TimeOver), cpu_limit(0.01):
        work(60.0)
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0.0


def test_an_exception_that_is_lost_comes_again() -> None:
    n_lost = 0

    def loses_two() -> None:
        nonlocal n_lost
        while n_lost < 2:
            try:
                work(60.0)
            except TimeOver:
                n_lost += 1

    with pytest.raises(TimeOver), cpu_limit(0.01):
        loses_two()
    assert n_lost == 2


def test_handlers_of_ordinary_errors_let_it_pass() -> None:
    def catches() -> None:
        try:
            work(60.0)
        except Exception:
            pytest.fail("was caught inside")

    with pytest.raises(TimeOver), cpu_limit(0.01):
        catches()
