"""The commands train and models: output, files, exit codes."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest

from flash_ansr import cli
from flash_ansr.cli import models, train
from flash_ansr.model import Checkpoint, Network, save_checkpoint
from flash_ansr.train import plan
from tests.networks import SMALL


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `flash-ansr` with these arguments, on a screen of 120 columns."""
    out, err = io.StringIO(), io.StringIO()
    train.console.width = models.console.width = 120
    argv = mock.patch.object(sys, "argv", ["flash-ansr", *arguments])
    with argv, redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        cli.main()
    code = end.value.code
    return code if isinstance(code, int) else 0, out.getvalue(), err.getvalue()


def test_a_misspelt_key_is_one_line() -> None:
    code, out, err = run("train", "nano", "--set", "optimizer.step=3")
    assert (code, out) == (2, "")
    assert err == "error: unknown key 'optimizer.step'; did you mean 'optimizer.steps'?\n"


def test_missing_things_are_named(tmp_path: Path) -> None:
    assert run("train", "nanoo")[0] == 2
    assert (
        run("train", str(tmp_path / "none.yaml"))[2] == f"error: {tmp_path / 'none.yaml'}: No such file or directory\n"
    )
    assert "is no training run" in run("train", "nano", "--out", str(tmp_path), "--resume")[2]
    assert "is no training run" in run("train", "report", str(tmp_path))[2]
    assert "is no checkpoint" in run("models", "info", str(tmp_path))[2]
    assert "there is no checkpoint" in run("train", "nano", "--out", str(tmp_path / "a"), "--init-from", "nodir")[2]
    assert not (tmp_path / "a").exists()


def test_what_the_machine_lacks_is_told_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    out = tmp_path / "run"
    code, _, err = run("train", "nano", "--out", str(out), "--set", "run.accelerator=cuda", "--set", "run.devices=1")
    assert code == 2
    assert err.startswith("error: run.accelerator=cuda with run.devices=1, but torch sees 0 CUDA devices here")
    assert "batch_size must be a multiple" in run("train", "nano", "--out", str(out), "--set", "run.devices=3")[2]
    assert not out.exists()


def test_training_ends_with_the_next_command(tmp_path: Path) -> None:
    small = ["model.encoder.dim=16", "model.decoder.dim=16", "run.devices=1", "run.n_validation=16"]
    quick = [*small, "optimizer.steps=2", "optimizer.batch_size=4"]
    assignments = [word for key in quick for word in ("--set", key)]
    code, out, _ = run("train", "nano", "--out", str(tmp_path / "run"), *assignments)
    assert code == 0
    assert f"flash-ansr fit DATA.csv --target y --checkpoint {tmp_path / 'run'}" in out


def test_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_MEASURED_SECONDS", 0.0)
    small = ["--set", "model.encoder.dim=16", "--set", "model.decoder.dim=16"]
    code, out, _ = run("train", "nano", *small, "--plan", "--samples", "1000")
    assert code == 0
    for word in (
        "parameters",
        "MFLOP",
        "problems/s a process of 1 thread, measured here",
        "hours for 1,000 problems",
        "at best",
        "One device was measured; more are multiples of it.",
        "GB",
    ):
        assert word in out


def test_models(tmp_path: Path) -> None:
    network = Network(SMALL)
    folder = tmp_path / "runs" / "mine" / "checkpoints" / "00000007"
    save_checkpoint(folder, Checkpoint(SMALL, ("a", "b"), "abc", step=7), network.state_dict())
    code, out, _ = run("models", "list", "--folder", str(tmp_path / "runs"))
    assert code == 0
    for name in ("nano", "micro", "3M", "120M", "mine"):
        assert name in out
    code, out, _ = run("models", "info", str(tmp_path / "runs" / "mine"))
    assert code == 0
    content = json.loads(out)
    assert content["step"] == 7
    assert content["parameters"] == network.n_parameters()
    assert content["vocabulary"] == ["a", "b"]
    assert content["rules_are_current"] is False
