"""Whose turn it is."""

from __future__ import annotations

from collections import Counter

from flash_ansr.infer.search.schedule import Schedule


class Named:
    round_size = 1

    def __init__(self, name: str, weight: float = 1.0, opens: bool = False, is_ready: bool = True) -> None:
        self.name, self.weight, self.opens, self.is_ready = name, weight, opens, is_ready


def spent(schedule: Schedule, n: int, gains: dict[str, float], costs: dict[str, float] | None = None) -> Counter[str]:
    """What each proposer got in n rounds."""
    total: Counter[str] = Counter()
    for _ in range(n):
        proposer = schedule.next()
        assert proposer is not None
        cost = (costs or {}).get(proposer.name, 1.0)
        total[proposer.name] += cost
        schedule.record(proposer, cost, gains.get(proposer.name, 0.0) * cost)
    return total


def test_what_opens_comes_first_for_a_share_of_the_budget() -> None:
    schedule = Schedule([Named("a"), Named("b", opens=True)], 100.0)
    assert spent(schedule, 20, {}) == {"b": 20}
    assert spent(schedule, 10, {})["a"] >= 9


def test_without_gains_time_goes_by_weight() -> None:
    schedule = Schedule([Named("a", 3.0), Named("b", 1.0)], 1000.0)
    assert spent(schedule, 400, {}) == {"a": 300, "b": 100}


def test_time_goes_to_who_improves_the_front_and_all_keep_some() -> None:
    schedule = Schedule([Named("a"), Named("b")], 1000.0)
    counts = spent(schedule, 400, {"b": 1.0})
    assert counts["b"] > 270
    assert counts["a"] > 80


def test_costs_count_not_rounds() -> None:
    schedule = Schedule([Named("slow"), Named("fast")], 1000.0)
    counts = spent(schedule, 300, {}, {"slow": 10.0, "fast": 1.0})
    assert abs(counts["slow"] - counts["fast"]) <= 10


def test_who_has_nothing_more_is_dropped() -> None:
    a, b = Named("a"), Named("b")
    schedule = Schedule([a, b])
    schedule.drop(a)
    assert schedule.next() is b
    schedule.drop(b)
    assert not schedule


def test_shares_sum_to_one() -> None:
    schedule = Schedule([Named("a", 0.05), Named("b"), Named("c", 0.3)], 10.0)
    spent(schedule, 20, {"a": 0.1, "b": 0.01})
    assert abs(sum(schedule.shares().values()) - 1) < 1e-12


def test_who_is_not_ready_is_skipped_and_earns_nothing() -> None:
    late = Named("late", weight=5.0, opens=True, is_ready=False)
    schedule = Schedule([late, Named("a"), Named("b")], 1000.0)
    assert spent(schedule, 100, {}) == {"a": 50, "b": 50}
    late.is_ready, late.opens = True, False
    assert spent(schedule, 7, {}) == {"late": 5, "a": 1, "b": 1}


def test_nobody_is_next_while_nobody_is_ready() -> None:
    late, a = Named("late", is_ready=False), Named("a")
    schedule = Schedule([late, a])
    assert schedule.next() is a
    schedule.drop(a)
    assert schedule.next() is None
    late.is_ready = True
    assert schedule.next() is late


def test_who_comes_late_has_its_first_turn_at_once() -> None:
    late = Named("late", 0.1, is_ready=False)
    schedule = Schedule([Named("early"), late], 100.0)
    assert spent(schedule, 50, {}) == {"early": 50}
    late.is_ready = True
    assert schedule.next() is late
    assert 3 <= spent(schedule, 40, {})["late"] <= 5
