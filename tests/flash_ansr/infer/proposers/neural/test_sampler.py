"""The sampler against brute force on a mock decoder, and cached against uncached decoding on a real network."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
import scipy.stats
import torch

from flash_ansr.infer.proposers.neural.sampler import Sampled, States, TokenRules, beam_search, sample
from flash_ansr.infer.settings import Sampling
from flash_ansr.model import Network
from tests.flash_ansr.infer.proposers.neural.mock_decoder import (
    ALLOWED,
    ARITIES,
    START,
    MockDecoder,
    all_formulas,
    is_formula,
    log_probability,
    rules,
)
from tests.networks import LEAN, SMALL, table

MEMORY = torch.zeros(1, 1, 1)


def drawn(n: int, max_length: int = 5, seed: int = 0, **options: object):
    return sample(States(MockDecoder(), MEMORY), rules(max_length), n, np.random.default_rng(seed), **options)


def as_counter(result) -> Counter[tuple[int, ...]]:
    return Counter({tuple(s.tolist()): int(c) for s, c in zip(result.sequences, result.counts, strict=True)})


@pytest.mark.parametrize("chunk", [20_000, 50])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_counts_follow_the_probabilities(chunk: int, temperature: float) -> None:
    """Chi-square against enumeration; chunks of 50 use mostly single draws, one chunk mostly multinomial ones."""
    n = 20_000
    counts = as_counter(drawn(n, chunk=chunk, sampling=Sampling(temperature=temperature)))
    formulas = all_formulas(5)
    expected = n * np.exp([log_probability(f, 5, temperature) for f in formulas])
    assert expected.sum() == pytest.approx(n)
    assert counts.keys() <= set(formulas)
    often = expected >= 5
    found = np.array([counts[f] for f in formulas])
    seen = np.append(found[often], found[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    assert scipy.stats.chisquare(seen, wanted).pvalue > 1e-4
    assert sum(counts.values()) == n


def test_log_probabilities_are_the_models() -> None:
    result = drawn(500, sampling=Sampling(temperature=2.0))
    wanted = [log_probability(tuple(s.tolist()), 5) for s in result.sequences]
    np.testing.assert_allclose(result.log_prob, wanted, rtol=1e-12)


@pytest.mark.parametrize("max_length", [1, 2, 3, 8])
def test_every_sequence_is_a_formula_of_allowed_tokens(max_length: int) -> None:
    for ids in drawn(400, max_length).sequences:
        assert is_formula(tuple(ids.tolist()))
        assert len(ids) <= max_length
        assert ALLOWED[ids].all()


def depth(ids: tuple[int, ...]) -> int:
    """Levels of the tree, by recursion."""

    def read(place: int) -> tuple[int, int]:
        levels, end = 0, place + 1
        for _ in range(ARITIES[ids[place]]):
            below, end = read(end)
            levels = max(levels, below)
        return levels + 1, end

    return read(0)[0]


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_depth_is_limited(max_depth: int) -> None:
    """What is drawn, and what a wide beam finds, is all that brute force finds."""
    limited = dataclasses.replace(rules(6), max_depth=max_depth)
    wanted = {f for f in all_formulas(6) if depth(f) <= max_depth}
    drawn = sample(States(MockDecoder(), MEMORY), limited, 20_000, np.random.default_rng(0), Sampling(temperature=4.0))
    found = beam_search(States(MockDecoder(), MEMORY), limited, 5000)
    assert {tuple(s.tolist()) for s in drawn.sequences} <= wanted
    assert {tuple(s.tolist()) for s in found.sequences} == wanted
    if max_depth < 3:
        assert len(drawn.sequences) == len(wanted)


def test_forbidden_operators_do_not_occur() -> None:
    allowed = ALLOWED.copy()
    allowed[2] = False
    result = sample(States(MockDecoder(), MEMORY), rules(7, allowed), 300, np.random.default_rng(0))
    assert not any((ids == 2).any() for ids in result.sequences)


def test_equal_seeds_draw_equal_sequences() -> None:
    first, second, other = drawn(200, seed=1), drawn(200, seed=1), drawn(200, seed=2)
    assert as_counter(first) == as_counter(second) != as_counter(other)


def test_the_same_for_any_number_of_threads() -> None:
    one, two = (drawn(300, chunk=40, n_threads=n) for n in (1, 2))
    assert [s.tolist() for s in one.sequences] == [s.tolist() for s in two.sequences]
    assert one.counts.tolist() == two.counts.tolist()


@pytest.mark.parametrize(("n", "n_chunks"), [(128, 1), (512, 2), (700, 2), (1024, 2), (4096, 8)])
def test_draws_are_spread_over_threads(monkeypatch: pytest.MonkeyPatch, n: int, n_chunks: int) -> None:
    sizes = []

    def draw(states: object, rules: object, size: int, *_: object) -> Sampled:
        sizes.append(size)
        return Sampled([], np.empty(0), np.empty(0, dtype=np.int64))

    monkeypatch.setattr("flash_ansr.infer.proposers.neural.sampler._sample_chunk", draw)
    drawn(n)
    assert (len(sizes), sum(sizes)) == (n_chunks, n)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_states_are_used_again(n_threads: int) -> None:
    """Of a real network, whose state holds what an earlier sequence left."""
    network = Network(LEAN, seed=0).eval()
    with torch.inference_mode():
        memory = network.encode(*table(n_problems=1))
    arities = np.array([-1, -1, -1, *([2] * 4), *([1] * 5), *([0] * 8)])
    formulas = TokenRules(arities, 1, arities >= 0, 9)
    started = []
    start = network.decoder.start
    network.decoder.start = lambda *arguments: started.append(1) or start(*arguments)
    states = States(network.decoder, memory)
    for seed in range(3):
        fresh, again = (
            sample(of, formulas, 200, np.random.default_rng(seed), chunk=64, n_threads=threads)
            for of, threads in ((States(network.decoder, memory), 1), (states, n_threads))
        )
        assert as_counter(fresh) == as_counter(again)
        np.testing.assert_allclose(fresh.log_prob, again.log_prob, rtol=1e-6)
    # the one of each call without states, and one a thread
    assert 3 < len(started) <= 3 + n_threads


def test_top_k_of_one_is_greedy() -> None:
    result = drawn(50, sampling=Sampling(top_k=1))
    assert len(result.sequences) == 1
    ids, missing = [], 1
    while missing:
        logits = MockDecoder().logits((START, *ids))
        fits = ALLOWED & (ARITIES >= 0) & (len(ids) + missing + ARITIES <= 5)
        ids.append(int(np.where(fits, logits, -np.inf).argmax()))
        missing += int(ARITIES[ids[-1]]) - 1
    assert result.sequences[0].tolist() == ids
    assert result.counts.tolist() == [50]


@pytest.mark.parametrize("options", [{"top_k": 2}, {"top_p": 0.6}])
def test_truncation_leaves_out_improbable_tokens(options: dict[str, float]) -> None:
    """The first tokens that occur are the most probable ones, as many as the option says."""
    result = drawn(3000, sampling=Sampling(**options))
    logits = np.where(ALLOWED & (ARITIES >= 0), MockDecoder().logits((START,)), -np.inf)
    p = np.exp(logits) / np.exp(logits).sum()
    order = np.argsort(-p)
    n_kept = 2 if "top_k" in options else int(np.searchsorted(np.cumsum(p[order]), 0.6)) + 1
    assert {int(s[0]) for s in result.sequences} == set(order[:n_kept].tolist())


def test_a_wide_beam_finds_the_true_best() -> None:
    formulas = sorted(all_formulas(5), key=lambda f: -log_probability(f, 5))
    result = beam_search(States(MockDecoder(), MEMORY), rules(5), 60)
    assert [tuple(s.tolist()) for s in result.sequences[:25]] == formulas[:25]
    np.testing.assert_allclose(result.log_prob[:25], [log_probability(f, 5) for f in formulas[:25]])


def test_a_beam_of_one_is_greedy() -> None:
    assert (
        beam_search(States(MockDecoder(), MEMORY), rules(5), 1).sequences[0].tolist()
        == drawn(1, sampling=Sampling(top_k=1)).sequences[0].tolist()
    )


@pytest.mark.parametrize("config", [SMALL, LEAN], ids=["paper", "lean"])
def test_cached_equals_uncached(config) -> None:
    """Log-probabilities of the sampler, which caches and reorders rows, against whole passes over each sequence."""
    network = Network(config).eval()
    with torch.no_grad():
        network.decoder.head.weight.mul_(8.0)  # far from uniform
        memory = network.encode(*(t[:1] for t in table()))
    arities = np.array([-1, -1, -1] + [2] * 4 + [1] * 5 + [0] * (config.n_tokens - 12))
    token_rules = TokenRules(arities, 1, arities >= 0, config.max_length - 2)
    result = sample(States(network.decoder, memory), token_rules, 200, np.random.default_rng(0), chunk=64)
    assert len(result.sequences) > 30
    for ids, log_prob in zip(result.sequences, result.log_prob, strict=True):
        with torch.no_grad():
            logits = network.decoder(torch.tensor([[1, *ids[:-1].tolist()]]), memory)[0].double().numpy()
        total, missing = 0.0, 1
        for i, token in enumerate(ids):
            allowed = token_rules.mask(np.array([[missing]]), i)[0]
            z = np.where(allowed, logits[i], -np.inf)
            total += z[token] - np.logaddexp.reduce(z)
            missing += arities[token] - 1
        assert log_prob == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be >= 1, got 0"),
        ({"chunk": 0}, "chunk must be >= 1 or None, got 0"),
    ],
)
def test_bad_sizes(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawn(**{"n": 5, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature must be > 0, got 0.0"),
        ({"top_k": 0}, "top_k must be >= 1 or None, got 0"),
        ({"top_p": 1.5}, r"top_p must be in \(0, 1\], got 1.5"),
    ],
)
def test_bad_sampling(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampling(**options)


def test_rules_without_leaves_are_refused() -> None:
    with pytest.raises(ValueError, match="no leaf is allowed"):
        dataclasses.replace(rules(5), allowed=ARITIES > 0)
    with pytest.raises(ValueError, match="max_length must be >= 1, got 0"):
        rules(0)
    with pytest.raises(ValueError, match="max_depth must be >= 1 or None, got 0"):
        dataclasses.replace(rules(5), max_depth=0)
    with pytest.raises(ValueError, match="beam width must be >= 1, got 0"):
        beam_search(States(MockDecoder(), MEMORY), rules(5), 0)
