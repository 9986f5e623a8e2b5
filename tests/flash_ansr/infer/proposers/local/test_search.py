"""The local search in the whole pipeline."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr import FlashANSR
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.infer.proposers.local.proposer import LocalProposer
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch

X = np.random.default_rng(0).uniform(0.5, 3.0, (80, 2))


def test_the_same_seed_gives_the_same_table_for_any_number_of_jobs() -> None:
    y = np.log(1 + X[:, 0] * X[:, 1] ** 2) - np.sin(3 * X[:, 0]) / (2 + X[:, 1])
    tables = []
    for n_jobs in (1, 2):
        model = FlashANSR(
            time_limit=None, n_samples=2500, proposers=["closed_form", "local"], random_state=3, n_jobs=n_jobs
        ).fit(X, y)
        tables.append(model.candidates_)
    assert tables[0]["expression"].tolist() == tables[1]["expression"].tolist()
    assert tables[0]["fvu"].tolist() == tables[1]["fvu"].tolist()
    assert "local" in set(tables[0]["proposer"])


def test_no_more_forms_are_new_than_were_drawn() -> None:
    """What others drew and local search learns from counts once, where it was drawn."""
    y = X[:, 0] ** 2 * np.sin(X[:, 1]) + X[:, 1]
    for n_samples in (10, 200):
        proposers = ["closed_form", "local", "prior"]
        report = FlashANSR(time_limit=None, n_samples=n_samples, proposers=proposers, random_state=0).fit(X, y).report_
        assert all(counts["unique"] <= counts["drawn"] for counts in report["proposers"].values())
        assert report["unique"] <= report["drawn"] <= n_samples


@pytest.mark.parametrize("law", ["1.7*sin(x1)*x2/(0.4 + x1)", "sqrt(x1 + 2.5*x2^2)", "exp(-x1)*(x2 - 0.3*x1)"])
def test_laws_are_found_by_variation_alone(law: str) -> None:
    truth = simplipy.parse(law)
    model = FlashANSR(time_limit=None, n_samples=40_000, proposers=["local"], random_state=0).fit(X, truth(X))
    assert simplipy.equivalent(model.expression_, truth, rtol=1e-6).equivalent
    assert len(model.expression_) <= len(simplipy.simplify(truth)) + 2
    report = model.report_["proposers"]["local"]
    assert report["won"]
    assert report["drawn"] >= report["unique"] > report["fitted"] > 0
    assert report["front_gain"] > 0


def test_units_of_any_size_come_back() -> None:
    y = 3e-12 * X[:, 0] / (1 + X[:, 1] ** 2)
    big = X * [1e9, 1.0]
    model = FlashANSR(time_limit=None, n_samples=20_000, proposers=["local"], random_state=0).fit(big, y)
    assert model.report_["scaled"]
    assert simplipy.equivalent(model.expression_, "3e-21*x1/(1 + x2^2)", rtol=1e-6).equivalent


def test_what_others_find_is_built_upon() -> None:
    class Hint(Proposer):
        name, round_size, opens = "hint", 16, True
        asked = False

        def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
            if self.asked:
                return None
            self.asked = True
            return Proposals(TokenBatch.from_expressions([simplipy.parse("atan(x1*x2 + cosh(x2))*x1")]))

    y = np.arctan(X[:, 0] * X[:, 1] + np.cosh(X[:, 1])) * X[:, 0] + 0.5 * X[:, 1]
    table = Table(X, y)
    local = LocalProposer(ProposerContext(table, n_threads=2))
    search = Pipeline(table, UnitScaling.of(table), [Hint(), local], Grammar(), Settings(n_threads=2))
    assert search.run(Budget(n_samples=6000)) is Stop.EXACT
    assert search.archive.best.proposer == "local"


def test_operators_that_are_not_allowed_do_not_occur() -> None:
    y = np.exp(X[:, 0]) + X[:, 1] ** 2
    operators = ["+", "-", "*", "/", "pow2"]
    model = FlashANSR(time_limit=None, n_samples=4000, proposers=["local"], operators=operators, random_state=0)
    model.fit(X, y)
    for expression in model.candidates_["expression"][model.candidates_["proposer"] == "local"]:
        assert {token for token in expression.tokens if token in simplipy.OPERATORS} <= set(operators)


def test_a_search_without_a_sum_is_possible() -> None:
    model = FlashANSR(time_limit=None, n_samples=2000, proposers=["local"], operators=["*", "sin"], random_state=0)
    model.fit(X, 2 * np.sin(X[:, 0] * X[:, 1]))
    assert simplipy.equivalent(model.expression_, "2*sin(x1*x2)", rtol=1e-9).equivalent
