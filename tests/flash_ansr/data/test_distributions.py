"""The distributions of the paper: operator counts, trees, operators, leaves, data; seeds are fixed."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy import stats

import simplipy
from flash_ansr.data import Generator, Prior, load_prior
from flash_ansr.data.errors import PriorError
from flash_ansr.data.statistics import SkeletonCounts
from flash_ansr.infer.candidates.normal_forms import normal_forms
from simplipy import OPERATORS, TokenBatch
from simplipy.expression.operators import CONSTANT, DEFAULT_OPERATORS

N = 40_000
P_VALUE = 1e-3  # seeds are fixed: a test that passes once passes always


@cache
def paper() -> Generator:
    return Generator("paper")


@cache
def drawn() -> list[list[str]]:
    return [s for s in paper().skeletons(seed=11, indices=range(N), simplified=False) if s is not None]


def operators_of(tokens: list[str]) -> list[str]:
    return [t for t in tokens if t in OPERATORS]


def leaves_of(tokens: list[str]) -> list[str]:
    return [t for t in tokens if t not in OPERATORS]


def chi_square(observed: list[int], expected: list[float]) -> float:
    """p-value; expected frequencies are scaled to the observed total."""
    total, scale = sum(observed), sum(expected)
    return float(stats.chisquare(observed, [total * e / scale for e in expected]).pvalue)


def test_n_ops_has_the_exact_distribution() -> None:
    counts = Counter(len(operators_of(tokens)) for tokens in drawn())
    weights = [math.exp(k**0.7) for k in range(18)]
    # the first few are rare: together they are one class
    observed = [sum(counts[k] for k in range(4)), *(counts[k] for k in range(4, 18))]
    assert sum(observed) == N
    assert chi_square(observed, [sum(weights[:4]), *weights[4:]]) > P_VALUE


@pytest.mark.parametrize("arity", [1, 2])
def test_operators_have_their_weights(arity: int) -> None:
    """Trees are drawn first; among the operators of an arity the weights decide."""
    counts = Counter(t for tokens in drawn() for t in operators_of(tokens))
    tokens = [t for t in DEFAULT_OPERATORS if OPERATORS[t].arity == arity]
    weights = [10.0 if t in "+-*/" else 1.0 for t in tokens]
    assert weights == [OPERATORS[t].weight for t in tokens]
    assert counts.keys() <= set(DEFAULT_OPERATORS)
    assert chi_square([counts[t] for t in tokens], weights) > P_VALUE


def n_trees(n_ops: int, n_binary: int) -> int:
    """Unary-binary trees with so many binary operators among n_ops."""
    n_nodes = n_ops + n_binary + 1
    ways = math.factorial(n_nodes) // math.factorial(n_binary) // math.factorial(n_ops - n_binary)
    return ways // math.factorial(n_binary + 1) // n_nodes


@pytest.mark.parametrize("n_ops", [5, 12, 17])
def test_trees_are_uniform_in_the_number_of_binary_operators(n_ops: int) -> None:
    counts = Counter(
        sum(OPERATORS[t].arity == 2 for t in ops) for tokens in drawn() if len(ops := operators_of(tokens)) == n_ops
    )
    expected = [float(n_trees(n_ops, b)) for b in range(n_ops + 1)]
    observed = [counts[b] for b in range(n_ops + 1)]
    common = [i for i, e in enumerate(expected) if e / sum(expected) * sum(observed) >= 5]
    rest = [i for i in range(n_ops + 1) if i not in common]
    observed = [*(observed[i] for i in common), sum(observed[i] for i in rest)]
    expected = [*(expected[i] for i in common), sum(expected[i] for i in rest)]
    assert chi_square(observed, expected) > P_VALUE


def shape_of(tokens: list[str]) -> str:
    return "".join(str(OPERATORS[t].arity) if t in OPERATORS else "0" for t in tokens)


def test_all_trees_with_three_operators_are_equally_likely() -> None:
    """22 shapes: the third large Schroeder number."""
    prior = load_prior("paper")
    generator = Generator(_with_operators(prior, 3), holdouts=())
    skeletons = generator.skeletons(seed=2, indices=range(11_000), simplified=False)
    counts = Counter(shape_of(s) for s in skeletons if s is not None)
    assert len(counts) == 22
    assert chi_square(list(counts.values()), [1.0] * 22) > P_VALUE


def _with_operators(prior: Prior, n: int) -> Prior:
    skeletons = dataclasses.replace(prior.skeletons, min_operators=n, max_operators=n)
    return dataclasses.replace(prior, skeletons=skeletons)


def test_leaves_are_a_random_set_in_random_order() -> None:
    by_size: dict[int, list[list[str]]] = {}
    for tokens in drawn():
        leaves = leaves_of(tokens)
        by_size.setdefault(len(leaves), []).append(leaves)
    ten = by_size[10]
    n_unique = Counter(len(set(leaves)) for leaves in ten)
    assert chi_square([n_unique[k] for k in range(1, 11)], [1.0] * 10) > P_VALUE
    symbols = Counter(t for leaves in ten for t in set(leaves))
    assert set(symbols) == {CONSTANT, *(f"x{k}" for k in range(1, 18))}
    assert chi_square(list(symbols.values()), [1.0] * 18) > P_VALUE
    first = Counter(leaves[0] == leaves[-1] for leaves in ten if len(set(leaves)) == 2)
    # two symbols, each at least once, eight more at random: 1 + Binomial(8, 1/2) of the first symbol
    same = sum(stats.binom.pmf(k - 1, 8, 0.5) * (k * (k - 1) + (10 - k) * (9 - k)) / 90 for k in range(1, 10))
    assert chi_square([first[True], first[False]], [same, 1 - same]) > P_VALUE


def test_medians_of_the_paper() -> None:
    """Half of the simplified expressions have at least 5 unique variables and 24 symbols; ours may be shorter."""
    n = 8000
    simplified = [s for s in paper().skeletons(seed=3, indices=range(n)) if s is not None]
    medians = SkeletonCounts.of(simplified).medians()
    assert medians["n_unique_variables"] == 5
    assert 22 <= medians["lengths"] <= 24
    as_drawn = SkeletonCounts.of(drawn()[:n]).medians()
    assert as_drawn["lengths"] == pytest.approx(27, abs=1)


def test_simplified_skeletons_are_simplified_and_closed() -> None:
    """The vocabulary is closed, and the skeletons of `wide`, whose variables were moved forward, stay simplified."""
    for name, length in (("paper", 4), ("wide", None)):
        batch = Generator(name).batch(seed=1, indices=range(400))
        ids = batch.token_ids
        assert ids.min() >= 0
        assert ids.max() < len(batch.vocabulary)
        skeletons = [batch.tokens(i) for i in range(len(batch))]
        again = simplipy.simplify_many(skeletons, mask_numbers=True, max_pattern_length=length)
        assert sum(a != b for a, b in zip(skeletons, again, strict=True)) <= 4


def test_columns_constants_and_rows_of_the_paper() -> None:
    batch = paper().batch(seed=5, indices=range(3000), detailed=True)
    assert stats.kstest(batch.n_rows, stats.randint(1, 1025).cdf).pvalue > P_VALUE
    assert batch.details is not None
    simple = [i for i in range(3000) if len(batch.tokens(i)) <= 3]
    assert not batch.noise.any()
    assert np.abs(batch.X).max() <= 30
    # unused columns are 0
    for i in simple:
        used = {int(t[1:]) - 1 for t in batch.tokens(i) if t[0] == "x"}
        assert set(np.flatnonzero(batch.X[i].any(0))) <= used


def test_ranges_and_constants_before_rejection() -> None:
    """x1 alone is never rejected, so its data has the prior's distribution."""
    prior = dataclasses.replace(load_prior("paper"), holdouts=())
    lonely = dataclasses.replace(
        prior, skeletons=dataclasses.replace(prior.skeletons, min_operators=1, max_operators=1, operators={"+": 1.0})
    )
    batch = Generator(lonely.with_rows(64)).batch(seed=9, indices=range(4000), detailed=True)
    assert batch.details is not None
    constants = np.concatenate(batch.details.constants)
    assert stats.kstest(constants, stats.norm(0, 5).cdf).pvalue > P_VALUE
    columns = [batch.X[i][:, batch.X[i].any(0)] for i in range(len(batch))]
    middles = np.concatenate([(c.max(0) + c.min(0)) / 2 for c in columns])
    assert np.std(middles) == pytest.approx(10 / math.sqrt(2), rel=0.05)
    x = columns[0][:, 0]
    assert stats.kstest(x, stats.uniform(x.min(), np.ptp(x)).cdf).pvalue > P_VALUE


def test_targets_of_wide_are_what_the_search_makes_of_proposals() -> None:
    skeletons = [s for s in Generator("wide", holdouts=()).skeletons(3, range(2000)) if s is not None]
    has_multiplier = [any(token.startswith(("mult", "div")) for token in s) for s in skeletons]
    assert np.mean(has_multiplier) < 0.01  # of powers and logarithms that the freed constants let collect
    forms = normal_forms(TokenBatch.from_tokens(skeletons))
    # the search simplifies with rules of at most four tokens
    assert np.mean([len(form) == len(s) for form, s in zip(forms, skeletons, strict=True)]) > 0.98
    prior = load_prior("paper")
    assert not prior.free_multipliers
    with pytest.raises(PriorError, match="free_multipliers needs simplifier: simplipy"):
        dataclasses.replace(prior, free_multipliers=True, simplifier="none")


def test_wide_covers_decades_integers_and_few_rows() -> None:
    batch = Generator("wide").batch(seed=4, indices=range(3000))
    X = batch.X[batch.row_mask]
    magnitudes = np.log10(np.abs(X[X != 0]))
    assert magnitudes.min() < -9
    assert magnitudes.max() > 9
    assert (X < 0).any()
    assert batch.n_rows.min() < 6
    assert batch.n_rows.max() > 400
    whole = [
        (column == np.round(column)).all() and np.ptp(column) > 0
        for i in range(300)
        for column in batch.X[i, : batch.n_rows[i]].T
    ]
    assert sum(whole) > 20
    assert set(batch.n_columns) == set(range(1, 10))
    used = [len({t for t in batch.tokens(i) if t[0] == "x"}) for i in range(len(batch))]
    assert 0.05 < np.mean(batch.n_columns > used) < 0.15
    for i in range(200):  # data in front, 0 behind
        assert not batch.X[i, :, batch.n_columns[i] :].any()


def test_every_variable_of_wide_matters() -> None:
    batch = Generator("wide", holdouts=()).batch(seed=8, indices=range(150), detailed=True)
    for i in range(len(batch)):
        expression, n = batch.expression(i), batch.n_rows[i]
        X = batch.X[i, :n].astype(np.float64)
        clean = expression(X)
        for name in expression.variables:
            moved = X.copy()
            column = int(name[1:]) - 1
            moved[:, column] = np.roll(X[:, column], -1)
            change = np.abs(expression(moved) - clean)
            assert np.isnan(change).any() or change.max() > 0, expression
