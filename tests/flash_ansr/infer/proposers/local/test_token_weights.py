"""What a model writes for a table, mutations write more often; never what the grammar forbids."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.proposers.local.evolution import Evolution
from flash_ansr.infer.proposers.local.proposer import LocalProposer
from flash_ansr.infer.proposers.local.token_weights import TokenWeights
from flash_ansr.infer.proposers.local.views import views_of
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import OPERATORS, TokenBatch, parse

X = np.random.default_rng(3).uniform(0.5, 3.0, (60, 3))
TABLE = Table(X, np.exp(np.sin(X[:, 0])) + X[:, 1] / X[:, 2])


def batch_of(*texts: str) -> TokenBatch:
    return TokenBatch.from_expressions(map(parse, texts))


def test_half_of_the_weight_goes_to_what_was_heard() -> None:
    weights = TokenWeights(Grammar(), 3)
    before = np.array(weights.operators)
    weights.count(batch_of("cosh(x2)*x2", "sin(x1)"), np.array([3, 1]))
    after = np.array(weights.operators)
    assert after.sum() == pytest.approx(before.sum())
    share = (after - before / 2) / before.sum()
    heard = {token: share[row.id] for token, row in OPERATORS.items() if share[row.id] > 1e-12}
    assert heard == pytest.approx({"cosh": 3 / 14, "*": 3 / 14, "sin": 1 / 14})
    assert weights.variables == pytest.approx([0.5 + 1.5 / 7, 0.5 + 1.5 * 6 / 7, 0.5])


def test_what_is_heard_adds_up_and_forbidden_operators_stay_out() -> None:
    weights = TokenWeights(Grammar(operators=frozenset({"+", "sin"})), 1)
    weights.count(batch_of("exp(3*x1 + 2.5)"), np.array([5]))
    weights.count(batch_of("sin(x1) + sin(sin(x1))"), np.array([1]))
    allowed = {token for token, row in OPERATORS.items() if weights.operators[row.id] > 0}
    assert allowed == {"+", "sin"}
    # heard of what is allowed: six sums, three sines
    assert weights.operators[OPERATORS["+"].id] == pytest.approx(10 / 2 + 12 / 2 * 6 / 9)


def test_nothing_heard_changes_nothing() -> None:
    weights = TokenWeights(Grammar(), 2)
    before = weights.operators, weights.variables
    weights.count(batch_of(), np.empty(0, dtype=np.int64))
    assert (weights.operators, weights.variables) == before


def share_of(token: str, weights: TokenWeights | None) -> float:
    """Of the tokens of children, how many are this one."""
    evolution = Evolution(views_of(TABLE, Grammar())[0], Grammar(), 3)
    if weights is not None:
        evolution.weigh(weights)
    batch = batch_of("x1", "x2*x3", "x1 + x2")
    evolution.seed([(ids, np.empty(0)) for ids in np.split(batch.ids, batch.offsets[1:-1])], -1.0)
    kept = [evolution.step(400, seed, -1.0) for seed in range(6)]
    assert sum(map(len, kept)) > 0
    ids = np.concatenate([member.ids for member in evolution.population.members])
    return float(np.mean(ids == OPERATORS[token].id))


def test_children_follow_the_weights() -> None:
    weights = TokenWeights(Grammar(), 3)
    weights.count(batch_of("acosh(acosh(x1))"), np.array([100]))
    assert share_of("acosh", weights) > 2 * share_of("acosh", None)


@pytest.mark.parametrize("is_model", [True, False])
def test_local_search_hears_models_and_no_others(is_model: bool) -> None:
    class Drawing(Proposer):
        name, round_size, opens = "drawing", 16, True

        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            batch = batch_of("tan(x1)", "x1 + x2")
            log_prob = np.log([0.25, 0.75]) if is_model else None
            return Proposals(batch, log_prob, np.array([4, 12]), n_drawn=16)

    class Listening(LocalProposer):
        heard: list[tuple[list[list[str]], list[int]]]

        def note_model_draws(self, batch: TokenBatch, counts: np.ndarray) -> None:
            super().note_model_draws(batch, counts)
            self.heard.append(([batch[i] for i in range(len(batch))], counts.tolist()))

    local = Listening(ProposerContext(TABLE, n_threads=1))
    local.heard = []
    Pipeline(TABLE, UnitScaling.of(TABLE), [Drawing(), local], Grammar(), Settings(n_threads=1)).run(
        Budget(n_samples=100)
    )
    wanted = ([["tan", "x1"], ["+", "x1", "x2"]], [4, 12])
    assert bool(local.heard) is is_model
    assert all(heard == wanted for heard in local.heard)
