"""Islands by length."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.proposers.local.population import IslandSettings, Member, Population


def member(length: int, cost: float, rank_correlation: float = 0.5) -> Member:
    return Member(np.zeros(length, dtype=np.int16), np.empty(0), cost, rank_correlation)


def test_each_length_keeps_its_best() -> None:
    population = Population(10, IslandSettings(capacity=2))
    for cost in (0.5, 0.3, 0.4, 0.2):
        population.add(member(5, cost))
    assert [m.cost for m in population.members] == [0.2, 0.3]


def test_the_best_up_to_its_length_is_told() -> None:
    population = Population(10)
    assert population.add(member(5, 0.5))
    assert not population.add(member(7, 0.6))
    assert population.add(member(7, 0.4))
    assert population.add(member(3, 0.45))
    assert not population.add(member(5, 0.46))


def test_equal_costs_of_one_length_are_one_member() -> None:
    population = Population(10)
    population.add(member(5, 0.5))
    assert not population.add(member(5, 0.5 * (1 + 1e-12)))
    assert len(population.members) == 1


def test_limits_fall_with_length_and_hold_for_full_islands_only() -> None:
    population = Population(8, IslandSettings(capacity=2))
    for cost in (0.5, 0.4):
        population.add(member(3, cost))
    population.add(member(5, 0.1))
    limits = population.limits()
    assert limits.tolist() == [np.inf] * 3 + [0.5] * 6


def test_better_members_are_parents_more_often_until_they_are_tired() -> None:
    population = Population(8, IslandSettings(weariness=0.0, tired=100, by_rank=0.0))
    for cost in (1e-6, 0.1, 0.2, 0.3, 0.4, 0.5):
        population.add(member(5, cost))
    chosen = population.parents(600, np.random.default_rng(0))
    counts = np.bincount(chosen, minlength=6)
    assert counts[0] > 300
    assert np.argmax(counts) == 0
    second = population.members[1]
    second.n_children = 100
    population.retire()
    assert second not in population.members
    assert population.members[0].cost == 1e-6


def test_rank_correlation_makes_parents_too() -> None:
    population = Population(8, IslandSettings(by_rank=1.0, weariness=0.0))
    population.add(member(5, 0.9, rank_correlation=-1.0))
    population.add(member(5, 0.1, rank_correlation=0.2))
    chosen = population.parents(200, np.random.default_rng(0))
    assert np.count_nonzero(chosen == 1) > 150
