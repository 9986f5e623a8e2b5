"""What proposers hand over keeps to the limits of the user, so that none of their few places is wasted."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.proposers.closed_form.proposer import ClosedFormProposer
from flash_ansr.infer.proposers.enumeration import EnumerateProposer
from flash_ansr.infer.proposers.local.proposer import LocalProposer
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression

X = np.random.default_rng(0).uniform(0.5, 3.0, (80, 2))
TABLE = Table(X, X[:, 0] * X[:, 1] ** 2 + 0.3 * np.sin(3 * X[:, 0]) * np.exp(X[:, 1]) - np.sqrt(X[:, 0] + X[:, 1] ** 3))


def proposers(grammar: Grammar, gamma: float = 0.05) -> dict[str, Proposer]:
    context = ProposerContext(TABLE, grammar, gamma=gamma, n_threads=1)
    return {cls.name: cls(context) for cls in (ClosedFormProposer, EnumerateProposer, LocalProposer)}


def handed_over(proposer: Proposer, n_rounds: int = 10) -> list[Expression]:
    found: list[Expression] = []
    for seed in range(n_rounds):
        proposals = proposer.propose(256, seed)
        if proposals is None:
            break
        found += proposals.batch.expressions()
    return found


@pytest.mark.parametrize("name", ["closed_form", "enumerate", "local"])
@pytest.mark.parametrize("limits", [{"max_length": 11}, {"max_depth": 4}])
def test_all_that_is_handed_over_is_allowed(name: str, limits: dict[str, int]) -> None:
    grammar = Grammar(**limits)
    found = handed_over(proposers(grammar)[name])
    assert len(found) > 3
    assert all(map(grammar.allows, found))
    assert not all(map(grammar.allows, handed_over(proposers(Grammar())[name])))


def test_no_member_of_a_population_is_longer() -> None:
    local = proposers(Grammar(max_length=11))["local"]
    handed_over(local)
    assert max(m.length for e in local._evolutions for m in e.population.members) <= 11


@pytest.mark.parametrize("name", ["closed_form", "local"])
def test_dear_tokens_make_short_formulas_come_first(name: str) -> None:
    cheap, dear = (handed_over(proposers(Grammar(), gamma)[name], 6) for gamma in (0.0, 1.0))
    assert np.mean([len(e) for e in dear[:5]]) < np.mean([len(e) for e in cheap[:5]])


def test_each_call_of_the_core_gets_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now, given = [0.0], []

    class Watched:
        def __init__(self, population: object) -> None:
            self._population = population

        def __getattr__(self, name: str) -> object:
            return getattr(self._population, name)

        def seed(self, _: object, seconds: float) -> list[object]:
            given.append(seconds)
            now[0] += 0.5
            return []

        def step(self, _: int, __: int, seconds: float) -> list[object]:
            return self.seed(None, seconds)

    monkeypatch.setattr("flash_ansr.infer.proposers.local.proposer.time.monotonic", lambda: now[0])
    local = LocalProposer(ProposerContext(TABLE, n_threads=1))
    local._evolutions = [Watched(evolution) for evolution in local._evolutions]
    local.propose(256, 0, seconds=1.2)
    assert given == pytest.approx([max(0.0, 1.2 - 0.5 * k) for k in range(len(given))])
    assert given[-1] == 0
