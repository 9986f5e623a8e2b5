"""When a search stops, with a clock that the test turns."""

from __future__ import annotations

from flash_ansr.infer.search.budget import Budget, Stop


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_seconds() -> None:
    clock = Clock()
    budget = Budget(time_limit=2.0, clock=clock)
    assert budget.spent() is None
    clock.now += 1.5
    assert (budget.elapsed, budget.seconds_left) == (1.5, 0.5)
    clock.now += 0.5
    assert budget.spent() is Stop.TIME


def test_a_reserve_is_not_for_the_search() -> None:
    clock = Clock()
    budget = Budget(time_limit=2.0, clock=clock, reserve=0.5)
    clock.now += 1.25
    assert (budget.elapsed, budget.seconds_left, budget.spent()) == (1.25, 0.25, None)
    clock.now += 0.25
    assert budget.spent() is Stop.TIME


def test_formulas() -> None:
    budget = Budget(n_samples=300)
    assert budget.seconds_left is None
    assert budget.next_draw(256) == 256
    budget.n_drawn += 256
    assert budget.next_draw(256) == 44
    assert budget.spent() is None
    budget.n_drawn += 44
    assert budget.spent() is Stop.SAMPLES


def test_no_limit() -> None:
    budget = Budget()
    assert budget.spent() is None
    assert budget.next_draw(7) == 7
