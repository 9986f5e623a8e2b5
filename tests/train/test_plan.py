"""Costs on paper against what torch counts."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from flash_ansr.model import ModelConfig, Network
from flash_ansr.model.cost import compute_6nd, forward_cost, state_bytes
from flash_ansr.train import plan as planning
from flash_ansr.train.plan import make_plan
from tests.networks import VARIANTS
from tests.train.test_training import tiny


@VARIANTS
def test_operations_are_those_that_torch_counts(config: ModelConfig) -> None:
    network = Network(config).eval()
    X, y, rows = torch.randn(1, 11, 3), torch.randn(1, 11), torch.ones(1, 11, dtype=torch.bool)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        network(X, y, rows, torch.zeros(1, 9, dtype=torch.long))
    cost = forward_cost(config, n_rows=11, n_tokens=9)
    assert cost.encoder + cost.decoder == counter.get_total_flops()
    assert cost.training == 3 * counter.get_total_flops()


def test_the_papers_estimate() -> None:
    assert compute_6nd(10, 20, n_rows=3, n_tokens=5) == 6 * (10 * 3 + 20 * 5)
    assert state_bytes(1000) == 16_000


def test_a_plan_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_MEASURED_SECONDS", 0.0)
    plan = make_plan(tiny())
    assert plan.measured
    assert plan.samples_per_second > 0
    assert 0 < plan.data_share < 1
    assert plan.peak_bytes > plan.state_bytes
    assert plan.hours(10**6, 4) == pytest.approx(plan.hours(10**6, 1) / 4)
    monkeypatch.setattr(planning, "_MAX_MEASURED_PARAMETERS", 0)
    estimate = make_plan(tiny())
    assert not estimate.measured
    assert estimate.peak_bytes == 0
