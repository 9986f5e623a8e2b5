"""Views of a table."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.local.proposer import LocalProposer
from flash_ansr.infer.proposers.local.views import is_heavy_tailed, views_of
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.ranks import spread_rows
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch, equivalent, parse

X = np.random.default_rng(0).uniform(1.0, 3.0, (200, 2))


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (X[:, 0] + 1, ["y", "1/y", "log y", "y^2", "exp y"]),
        (X[:, 0] - 2, ["y", "1/y", "exp y"]),
        (np.round(X[:, 0]) - 2, ["y", "exp y"]),
        (100 * X[:, 0], ["y", "1/y", "log y", "y^2"]),
        (10 ** (4 * X[:, 0]), ["y", "y, relative", "1/y", "log y", "y^2"]),
    ],
)
def test_views_are_those_that_are_defined(y: np.ndarray, names: list[str]) -> None:
    assert [view.name for view in views_of(Table(X, y), Grammar())] == names


def test_views_keep_to_the_grammar() -> None:
    views = views_of(Table(X, X[:, 0]), Grammar(frozenset({"+", "*", "inv", "log"})))
    assert [view.name for view in views] == ["y", "1/y"]


def test_the_way_in_and_out_is_the_identity() -> None:
    (ids,) = [TokenBatch.from_expressions([parse("x1 + x2")]).ids]
    for view in views_of(Table(X, X[:, 0] + 1), Grammar()):
        there = np.concatenate([view.outer, view.inner, ids])
        (back,) = TokenBatch(there, np.array([0, len(there)])).expressions()
        np.testing.assert_allclose(back(X), X[:, 0] + X[:, 1], rtol=1e-12)


def test_rows_cover_the_range_of_y() -> None:
    y = np.random.default_rng(1).standard_cauchy(1000)
    rows = spread_rows(y, 64)
    assert len(np.unique(rows)) == 64
    assert {np.argmin(y), np.argmax(y)} <= set(rows.tolist())
    assert spread_rows(y[:10], 64).tolist() == list(range(10))


def test_heavy_tails_are_seen() -> None:
    rng = np.random.default_rng(2)
    assert is_heavy_tailed(np.exp(5 * rng.standard_normal(200)))
    assert not is_heavy_tailed(rng.standard_normal(200))


@pytest.mark.parametrize(
    ("law", "n_draws"), [("sqrt(x1^2 + x2^3)", 20_000), ("x1/(x2 + x1*x2^2)", 20_000), ("exp(x1*sin(x2))", 20_000)]
)
def test_laws_inside_an_outer_function_are_found(law: str, n_draws: int) -> None:
    truth = parse(law)
    proposer = LocalProposer(ProposerContext(Table(X, truth(X)), n_threads=2))
    found = []
    for seed in range(n_draws // 2000):
        proposals = proposer.propose(2000, seed)
        starts = zip(proposals.batch.expressions(), proposals.starts, strict=True)
        found += [skeleton.with_constants(constants) for skeleton, constants in starts]
    assert any(equivalent(e, truth, rtol=1e-6).equivalent for e in found if np.allclose(e(X), truth(X), rtol=1e-7))
