"""Costs on paper against what torch counts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from flash_ansr.data import Batch
from flash_ansr.model import ModelConfig, Network
from flash_ansr.model.cost import compute_6nd, forward_cost, state_bytes
from flash_ansr.train import plan as planning
from flash_ansr.train.config import TrainConfig
from flash_ansr.train.plan import make_plan
from flash_ansr.train.problems import Problems
from flash_ansr.train.step import token_loss
from tests.flash_ansr.train.test_training import tiny
from tests.networks import VARIANTS


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
    config = tiny()
    plan = make_plan(config)
    assert plan.n_measured == config.optimizer.batch_size
    assert plan.samples_per_second > 0
    assert 0 < plan.data_share < 1
    assert plan.peak_bytes > plan.state_bytes
    assert plan.hours(10**6, 4) == pytest.approx(plan.hours(10**6, 1) / 4)
    monkeypatch.setattr(planning, "_MAX_MEASURED_PARAMETERS", 0)
    estimate = make_plan(config)
    assert estimate.n_measured == estimate.peak_bytes == 0


class SlowMachine:
    """A clock that moves with the operations that are done."""

    def __init__(self, config: TrainConfig, speed: float) -> None:
        self.config, self.speed, self.seconds = config, speed, 0.0

    def __call__(self) -> float:
        return self.seconds

    def token_loss(self, network: Network, part: Batch, *rest: Any) -> Tensor:
        cost = forward_cost(self.config.model, part.y.shape[1], part.token_ids.shape[1] - 1)
        self.seconds += len(part) * cost.training / self.speed
        return token_loss(network, part, *rest)


def test_a_large_network_is_timed_by_its_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("model.encoder.n_isab=3", "model.encoder.n_sab=3", "model.decoder.n_layers=6")
    machine = SlowMachine(config, 1e9)
    monkeypatch.setattr(planning, "token_loss", machine.token_loss)
    whole = make_plan(config, clock=machine)
    assert not whole.is_shallow
    monkeypatch.setattr(planning, "_MAX_WHOLE_PARAMETERS", 0)
    machine.config = replace(config, model=planning._shallow(config.model))
    shallow = make_plan(config, clock=machine)
    assert shallow.is_shallow
    assert shallow.peak_bytes == 0
    assert (shallow.n_encoder, shallow.n_decoder, shallow.cost) == (whole.n_encoder, whole.n_decoder, whole.cost)
    assert shallow.samples_per_second == pytest.approx(whole.samples_per_second, rel=0.1)


@pytest.mark.parametrize("step_seconds", [3.0, 100.0, 1000.0])
def test_a_long_step_is_extrapolated(step_seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("optimizer.batch_size=512")
    batch = Problems(config, config.seed, 512).batch(0)
    parts = batch.buckets(config.optimizer.micro_batches)
    shapes = [(len(part), part.y.shape[1], part.token_ids.shape[1] - 1) for part in parts]
    operations = sum(n * forward_cost(config.model, rows, tokens).training for n, rows, tokens in shapes)
    machine = SlowMachine(config, operations / step_seconds)
    monkeypatch.setattr(planning, "token_loss", machine.token_loss)
    gone: list[int] = []
    plan = make_plan(config, gone.append, machine)
    assert machine.seconds < 20
    assert 512 / plan.samples_per_second == pytest.approx(step_seconds, rel=0.1)
    assert gone == sorted(gone)
    assert len(gone) > 2
    assert (plan.n_measured == 512) == (step_seconds == 3.0)
    assert (plan.peak_bytes > 0) == (step_seconds == 3.0)


def test_a_plan_needs_no_compiler() -> None:
    """Torch's own compiler, which Lightning and optimizers import, takes seconds to load."""
    code = """if True:
        import itertools, sys
        from flash_ansr.train.config import load_config
        from flash_ansr.train.plan import make_plan
        make_plan(load_config("nano", ["optimizer.batch_size=4"]), clock=itertools.count().__next__)
        sys.exit("torch._dynamo" in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
