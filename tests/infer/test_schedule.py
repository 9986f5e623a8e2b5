"""Whose turn it is."""

from __future__ import annotations

from collections import Counter

from flash_ansr.infer.schedule import Schedule


class Named:
    round_size = 1

    def __init__(self, name: str, weight: float = 1.0, opens: bool = False) -> None:
        self.name, self.weight, self.opens = name, weight, opens


def spent(schedule: Schedule, n: int, gains: dict[str, float], costs: dict[str, float] | None = None) -> Counter[str]:
    """What each proposer got in n rounds."""
    total: Counter[str] = Counter()
    for _ in range(n):
        proposer = schedule.next()
        cost = (costs or {}).get(proposer.name, 1.0)
        total[proposer.name] += cost
        schedule.record(proposer, cost, gains.get(proposer.name, 0.0) * cost)
    return total


def test_what_opens_comes_first_for_a_share_of_the_budget() -> None:
    schedule = Schedule([Named("a"), Named("b", opens=True)], 100.0)
    assert spent(schedule, 35, {}) == {"b": 35}
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
    assert len(schedule) == 1
    assert schedule.next() is b
    schedule.drop(b)
    assert not schedule


def test_shares_sum_to_one() -> None:
    schedule = Schedule([Named("a", 0.05), Named("b"), Named("c", 0.3)], 10.0)
    spent(schedule, 20, {"a": 0.1, "b": 0.01})
    assert abs(sum(schedule.shares().values()) - 1) < 1e-12
