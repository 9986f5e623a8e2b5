"""What holds for every network: masks, permutations, causality, cached decoding, sizes of the paper."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from flash_ansr.model import ModelConfig, Network
from flash_ansr.model.attention import EPSILON, RMSSetNorm, make_norm
from flash_ansr.model.decoder import position_angles, rotate
from flash_ansr.model.network import count_parameters
from flash_ansr.train.config import config_names, load_config
from tests.networks import LEAN, SMALL, VARIANTS, table


@VARIANTS
def test_padding_changes_nothing(config: ModelConfig) -> None:
    network = Network(config).eval()
    X, y, rows = table()
    plain = network.encode(X, y, rows)
    padded = network.encode(
        F.pad(X, (0, 0, 0, 4), value=math.nan), F.pad(y, (0, 4), value=math.inf), F.pad(rows, (0, 4), value=False)
    )
    torch.testing.assert_close(padded, plain, rtol=1e-4, atol=1e-5)
    # a problem does not see its neighbours in the batch
    torch.testing.assert_close(network.encode(X[1:], y[1:], rows[1:]), plain[1:], rtol=1e-4, atol=1e-5)


@VARIANTS
def test_the_order_of_rows_does_not_matter(config: ModelConfig) -> None:
    network = Network(config).eval()
    X, y, rows = table()
    rows[:, 5:] = False
    order = torch.tensor([3, 6, 0, 5, 1, 4, 2])
    shuffled = network.encode(X[:, order], y[:, order], rows[:, order])
    torch.testing.assert_close(shuffled, network.encode(X, y, rows), rtol=1e-4, atol=1e-5)
    # the test can fail: other rows give another answer
    assert not torch.allclose(network.encode(X, -y, rows), network.encode(X, y, rows), atol=1e-3)


@VARIANTS
def test_missing_columns_are_zeros(config: ModelConfig) -> None:
    network = Network(config).eval()
    X, y, rows = table()
    X[..., 2] = 0.0
    assert torch.equal(network.encode(X[..., :2], y, rows), network.encode(X, y, rows))


@VARIANTS
def test_later_tokens_are_not_seen(config: ModelConfig) -> None:
    network = Network(config).eval()
    X, y, rows = table()
    token_ids = torch.randint(0, 20, (2, 9), generator=torch.Generator().manual_seed(2))
    changed = token_ids.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 20
    before, after = (network(X, y, rows, ids) for ids in (token_ids, changed))
    torch.testing.assert_close(after[:, :5], before[:, :5], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(after[:, 5:], before[:, 5:], atol=1e-3)


@VARIANTS
def test_cached_decoding_equals_uncached(config: ModelConfig) -> None:
    """Five sequences step by step, two dropped and one doubled on the way."""
    decoder = Network(config).eval().decoder
    memory = torch.randn(1, 4, 24, generator=torch.Generator().manual_seed(3))
    token_ids = torch.randint(0, 20, (5, 12), generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        state = decoder.start(memory, capacity=5)
        for position in range(12):
            if position == 6:
                kept = torch.tensor([4, 1, 1, 2])
                state.select(kept)
                token_ids = token_ids[kept]
            logits = decoder.step(token_ids[:, position], state)
            whole = decoder(token_ids[:, : position + 1], memory.expand(len(token_ids), -1, -1))
            torch.testing.assert_close(logits, whole[:, -1], rtol=1e-4, atol=1e-5)
        with pytest.raises(ValueError, match="12 tokens fill the state"):
            decoder.step(token_ids[:, 0], state)
        with pytest.raises(ValueError, match="cannot hold 6"):
            state.select(torch.zeros(6, dtype=torch.long))


@VARIANTS
def test_mixed_precision_is_the_same_up_to_rounding(config: ModelConfig) -> None:
    network = Network(config).eval()
    inputs = (*table(), torch.zeros(2, 4, dtype=torch.long))
    exact = network(*inputs)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = network(*inputs)
    assert rounded.dtype == torch.bfloat16, "the products are in half precision"
    torch.testing.assert_close(rounded.float(), exact, rtol=0.05, atol=0.05)
    assert not torch.equal(rounded.float(), exact)


def test_rms_set_norm_is_the_papers_formula() -> None:
    generator = np.random.default_rng(0)
    Z, mask = generator.normal(size=(3, 5, 4)) * 100, generator.random((3, 5)) < 0.6
    mask[2] = False
    norm = RMSSetNorm(4)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(beta := np.array([1.0, -2.0, 0.5, 3.0])))
    found = norm(torch.tensor(Z, dtype=torch.float32), torch.tensor(mask)).detach().numpy()
    for n in range(3):
        total = sum(Z[n, m, j] ** 2 for m in range(5) for j in range(4) if mask[n, m])
        nu = np.sqrt(total / max(1, 4 * mask[n].sum()) + EPSILON)
        np.testing.assert_allclose(found[n][mask[n]], (Z[n] / nu * beta)[mask[n]], rtol=1e-5)
    everything = torch.ones(3, 5, dtype=torch.bool)
    whole = torch.tensor(Z, dtype=torch.float32)
    torch.testing.assert_close(norm(whole), norm(whole, everything))


@pytest.mark.parametrize("centred", [False, True])
def test_token_norms(centred: bool) -> None:
    x = torch.randn(3, 8) * 5 + 2
    centre = x.mean(-1, keepdim=True) if centred else 0.0
    expected = (x - centre) / (x - centre).square().mean(-1, keepdim=True).sqrt()
    torch.testing.assert_close(make_norm("layer" if centred else "rms", 8)(x), expected, rtol=1e-4, atol=1e-5)


def test_rope_depends_on_distance_alone() -> None:
    query, key = torch.randn(2, 1, 16)
    angles = position_angles(40, 16)

    def turned(x: torch.Tensor, i: int) -> torch.Tensor:
        return rotate(x, (angles[i : i + 1].cos(), angles[i : i + 1].sin()))

    def score(i: int, j: int) -> float:
        return float((turned(query, i) * turned(key, j)).sum())

    for distance in (0, 1, 7):
        assert score(3 + distance, 3) == pytest.approx(score(30 + distance, 30), abs=1e-4)
    assert score(3, 3) != pytest.approx(score(9, 3), abs=1e-3)
    assert turned(query, 9).norm() == pytest.approx(query.norm())


@pytest.mark.parametrize(
    ("name", "encoder", "decoder"),
    [("3M", 1.6e6, 1.6e6), ("20M", 10.4e6, 12.4e6), ("120M", 64.4e6, 57.5e6), ("1B", 494e6, 459e6)],
)
def test_sizes_are_those_of_the_paper(name: str, encoder: float, decoder: float) -> None:
    """Table of hyperparameters, within one per cent each."""
    sizes = count_parameters(load_config(name).model)
    assert sizes["encoder"] == pytest.approx(encoder, rel=0.01)
    assert sizes["decoder"] == pytest.approx(decoder, rel=0.01)


def test_weights_are_counted_without_a_network() -> None:
    for config in (SMALL, LEAN):
        assert count_parameters(config) == Network(config).n_parameters()


def test_every_config_makes_a_network() -> None:
    assert set(config_names()) >= {"base", "nano", "micro", "nesymres", "3M", "20M", "120M", "1B"}
    for name in config_names():
        with torch.device("meta"):
            Network(load_config(name).model)


def test_the_seed_makes_the_weights() -> None:
    one, same, other = (Network(SMALL, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["decoder.head.weight"], other["decoder.head.weight"])


def test_the_blind_network_sees_no_data_and_has_every_gradient() -> None:
    network = Network(dataclasses.replace(LEAN, blind=True)).eval()
    X, y, rows = table()
    token_ids = torch.zeros(2, 3, dtype=torch.long)
    logits = network(X, y, rows, token_ids)
    assert torch.equal(logits, network(X * 3, -y, rows, token_ids))
    logits.sum().backward()
    assert all(p.grad is not None for p in network.parameters())


@VARIANTS
def test_eight_problems_are_learnt_by_heart(config: ModelConfig) -> None:
    config = dataclasses.replace(
        config,
        encoder=dataclasses.replace(config.encoder, dim=32, dropout=0.0),
        decoder=dataclasses.replace(config.decoder, dim=36, dropout=0.0),
    )
    network = Network(config)
    X, y, rows = table(n_rows=10, n_problems=8)
    targets = torch.randint(1, 20, (8, 6), generator=torch.Generator().manual_seed(0))
    inputs = F.pad(targets, (1, -1))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(300):
        loss = F.cross_entropy(network(X, y, rows, inputs).flatten(0, 1), targets.flatten())
        if loss < 0.05:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
