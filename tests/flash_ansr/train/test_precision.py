"""Mixed precision: matrix products are rounded, tables are not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from flash_ansr.checkpoint.weights import load_tensors, read_checkpoint
from flash_ansr.model import ConfigError, Network, numbers
from flash_ansr.train import loop
from flash_ansr.train.config import Precision, load_config
from flash_ansr.train.loop import train
from flash_ansr.train.problems import Problems
from flash_ansr.train.run_folder import RunFolder
from flash_ansr.train.step import LossScale, token_loss
from tests.flash_ansr.train.test_training import TINY, tiny
from tests.networks import one_process_group

CPU = torch.device("cpu")


@pytest.mark.parametrize("name", ["nano", "micro"])
@pytest.mark.parametrize("strategy", ["auto", "ddp"])
def test_the_encoder_sees_every_digit(
    name: str, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[torch.Tensor] = []
    encode = numbers.encode

    def recorded(values: torch.Tensor, row_mask: torch.Tensor, kind: numbers.Numbers) -> torch.Tensor:
        seen.append(values)
        return encode(values, row_mask, kind)

    monkeypatch.setattr(numbers, "encode", recorded)
    run = ["optimizer.steps=2", "run.precision=bf16-mixed", f"run.strategy={strategy}"]
    with one_process_group():
        assert train(load_config(name, [*TINY, *run]), RunFolder(tmp_path / "run"))
    assert {values.dtype for values in seen} == {torch.float32}
    assert any(bool((values != values.bfloat16().float()).any()) for values in seen)


@pytest.mark.parametrize("precision", ["bf16-mixed", "16-mixed"])
def test_only_matrix_products_are_rounded(precision: Precision) -> None:
    config = tiny()
    network, batch = Network(config.model), Problems(config, 0, 4).batch(0)
    exact, mixed = token_loss(network, batch, CPU), token_loss(network, batch, CPU, precision)
    assert mixed.dtype == torch.float32
    assert mixed != exact
    torch.testing.assert_close(mixed, exact, rtol=1e-2, atol=0)


def test_rounded_tables_and_unknown_precisions_are_refused() -> None:
    network = Network(tiny().model)
    X, y, rows = torch.ones(1, 5, 2), torch.ones(1, 5), torch.ones(1, 5, dtype=torch.bool)
    with pytest.raises(TypeError, match=r"must be float32 or float64, got torch\.bfloat16 and torch\.float32"):
        network.encode(X.bfloat16(), y, rows)
    with pytest.raises(ConfigError, match=r"run\.precision must be one of 'auto', .*, got '8-mixed'"):
        tiny("run.precision=8-mixed")


@pytest.mark.parametrize(("has_bfloat16", "expected"), [(True, "bf16-mixed"), (False, "32-true")])
def test_auto_is_what_the_processor_has_and_the_folder_says_which(
    has_bfloat16: bool, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_bfloat16)
    folder = RunFolder(tmp_path / "run")
    with one_process_group():
        train(load_config("nano", [*TINY, "run.precision=auto", "optimizer.steps=1"]), folder)
    assert folder.config().run.precision == expected


def test_the_loss_scale_follows_the_gradients() -> None:
    scale = LossScale(2.0**16)
    scale.update(finite=False)
    assert (scale.value, scale.n_finite) == (2.0**15, 0)
    for _ in range(2000):
        scale.update(finite=True)
    assert (scale.value, scale.n_finite) == (2.0**16, 0)
    lowest = LossScale(1.0)
    lowest.update(finite=False)
    assert lowest.value == 1.0


def test_float16_leaves_out_what_overflows_and_halves_its_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_FIRST_LOSS_SCALE", 2.0**40)
    config, folder = tiny("run.precision=16-mixed", "optimizer.steps=3"), RunFolder(tmp_path / "run")
    with one_process_group():
        train(config, folder)
    newest = folder.latest()
    assert newest is not None
    assert read_checkpoint(newest).training["loss_scale"] == {"value": 2.0**37, "n_finite": 0}
    before, after = Network(config.model, config.seed).state_dict(), load_tensors(newest, "weights")
    assert all(torch.equal(before[name], tensor) for name, tensor in after.items())


def test_float16_learns_and_resumes_exactly(tmp_path: Path) -> None:
    def trained(name: str, *stops: int) -> dict[str, torch.Tensor]:
        folder = RunFolder(tmp_path / name)
        for i, n_steps in enumerate(stops):
            config = tiny(
                "run.precision=16-mixed", f"optimizer.steps={n_steps}", "optimizer.decay=0", "optimizer.warmup=0"
            )
            with one_process_group():
                assert train(folder.with_steps(n_steps) if i else config, folder, resume=i > 0)
        newest = folder.latest()
        assert newest is not None
        assert read_checkpoint(newest).training["loss_scale"] == {"value": 2.0**16, "n_finite": stops[-1]}
        losses = [row["validation_loss"] for row in folder.metrics() if "validation_loss" in row]
        assert losses[-1] < losses[0]
        return load_tensors(newest, "weights")

    whole, parts = trained("whole", 100), trained("parts", 60, 100)
    assert all(torch.equal(whole[name], tensor) for name, tensor in parts.items())
