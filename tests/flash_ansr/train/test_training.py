"""Training: resumed equals uninterrupted, two processes equal one, parts of a batch equal the batch."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from flash_ansr.checkpoint.weights import load_network, read_checkpoint
from flash_ansr.data import load_prior
from flash_ansr.model import ConfigError, Network
from flash_ansr.train import loop
from flash_ansr.train.config import TrainConfig, load_config
from flash_ansr.train.learning_curves import fit_power_law, read_curve, token_similarity, write_report
from flash_ansr.train.loop import train
from flash_ansr.train.problems import Problems, n_targets, validation_share
from flash_ansr.train.run_folder import RunFolder
from flash_ansr.train.step import token_loss

TINY = [
    "model.encoder.dim=16",
    "model.encoder.n_heads=2",
    "model.decoder.dim=16",
    "model.decoder.n_heads=2",
    "model.decoder.n_layers=1",
    "data.max_rows=8",
    "optimizer.batch_size=4",
    "optimizer.micro_batches=2",
    "optimizer.learning_rate=3e-3",
    "run.devices=1",
    "run.n_threads=1",
    "run.precision=32-true",
    "run.n_validation=16",
    "run.log_every=10",
    "run.validate_every=50",
    "run.checkpoint_every=100",
]
DROPOUT = ["model.encoder.dropout=0.1", "model.decoder.dropout=0.1"]


def tiny(*assignments: str) -> TrainConfig:
    return load_config("nano", [*TINY, *assignments])


def files(checkpoint: Path) -> dict[str, bytes]:
    return {name: (checkpoint / f"{name}.safetensors").read_bytes() for name in ("weights", "optimizer")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of 200 steps with dropout, with its checkpoints after 100 and 200."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "whole")
    assert train(tiny("optimizer.steps=200", *DROPOUT), folder)
    return folder


def test_resumed_is_uninterrupted_bit_for_bit(finished: RunFolder, tmp_path: Path) -> None:
    """200 steps are 100 steps, a fresh start from the folder, and 100 more."""
    shutil.copytree(finished.path, tmp_path / "resumed")
    resumed = RunFolder(tmp_path / "resumed")
    shutil.rmtree(resumed.checkpoint(200))
    assert train(resumed.config(), resumed, resume=True)
    assert files(resumed.checkpoint(200)) == files(finished.checkpoint(200))
    assert files(resumed.checkpoint(100)) != files(resumed.checkpoint(200))
    rows = [[row["step"], row.get("loss"), row.get("validation_loss")] for row in resumed.metrics()]
    assert rows == [[row["step"], row.get("loss"), row.get("validation_loss")] for row in finished.metrics()]


def test_a_run_folder_tells_everything(finished: RunFolder) -> None:
    assert finished.config() == tiny("optimizer.steps=200", *DROPOUT)
    versions = json.loads((finished.path / "versions.json").read_text())
    assert {"flash-ansr", "torch", "rules"} <= versions.keys()
    network, checkpoint = load_network(finished.checkpoint(200))
    assert checkpoint.step == 200
    assert checkpoint.position == {"prior": "wide", "seed": 0, "next_index": 800}
    assert checkpoint.rules == versions["rules"]
    assert len(checkpoint.vocabulary) <= network.config.n_tokens
    assert any((finished.path / "tensorboard").iterdir())
    validations = [row["validation_loss"] for row in finished.metrics() if "validation_loss" in row]
    assert len(validations) == 4
    assert validations[-1] < validations[0] < np.log(64)


def test_validation_is_that_of_the_saved_weights(finished: RunFolder) -> None:
    config = finished.config()
    network, _ = load_network(finished.checkpoint(200))
    batches = validation_share(config, 0, 1)
    with torch.no_grad():
        total = sum(float(token_loss(network, batch, torch.device("cpu"))) for batch in batches)
    assert total / sum(map(n_targets, batches)) == pytest.approx(finished.metrics()[-1]["validation_loss"], rel=1e-6)
    assert sum(map(len, batches)) == 16


def test_steps_without_a_finite_gradient_change_nothing_and_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "token_loss", lambda *arguments: token_loss(*arguments) * float("nan"))
    folder = RunFolder(tmp_path / "void")
    assert train(tiny("optimizer.steps=3", "run.log_every=1"), folder)
    assert [row["skipped"] for row in folder.metrics() if "loss" in row] == [1, 2, 3]
    assert load_network(folder.checkpoint(3))[1].training["totals"]["skipped"] == 3
    assert all(parameter.isfinite().all() for parameter in load_network(folder.checkpoint(3))[0].parameters())


def test_a_folder_in_use_and_an_empty_one_are_refused(finished: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not empty; continue it with --resume"):
        train(finished.config(), finished)
    with pytest.raises(ConfigError, match="no checkpoint to resume from"):
        train(tiny(), RunFolder(tmp_path), resume=True)


def test_start_from_trained_weights(finished: RunFolder, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "more")
    config = tiny("optimizer.steps=1", "optimizer.learning_rate=1e-9")
    assert train(config, folder, init_from=finished.checkpoint(200))
    assert folder.config().optimizer.warmup == 0.01
    old, new = (load_network(run.checkpoint(n))[0].state_dict() for run, n in ((finished, 200), (folder, 1)))
    for name in old:
        torch.testing.assert_close(new[name], old[name], rtol=0, atol=1e-7)
    other = tiny("optimizer.steps=1", "data.prior=paper", "model.n_variables=17")
    with pytest.raises(ConfigError, match="another vocabulary"):
        train(other, RunFolder(tmp_path / "other"), init_from=finished.checkpoint(200))


def test_a_model_too_small_for_its_prior_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"model\.n_variables must be at least 17 for the prior 'paper', got 9"):
        Problems(tiny("data.prior=paper"), 0, 4)
    with pytest.raises(ConfigError, match=r"model\.n_tokens must be at least \d+ for the prior 'wide', got 20"):
        Problems(tiny("model.n_tokens=20"), 0, 4)
    skeletons = load_prior("wide").skeletons
    longest = skeletons.max_length + skeletons.max_operators + 2  # every operator may be a multiplier that is freed
    Problems(tiny(f"model.max_length={longest}"), 0, 4)
    with pytest.raises(ConfigError, match=rf"model\.max_length must be at least {longest} for the prior 'wide'"):
        Problems(tiny(f"model.max_length={longest - 1}"), 0, 4)


def test_parts_of_a_batch_give_the_gradient_of_the_batch() -> None:
    config = tiny()
    batch = Problems(config, 0, 12).batch(0)
    gradients = []
    for n_parts in (1, 5):
        network = Network(config.model)
        for part in batch.buckets(n_parts):
            (token_loss(network, part, torch.device("cpu")) / n_targets(batch)).backward()
        gradients.append(torch.cat([p.grad.flatten() for p in network.parameters()]))
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-3, atol=1e-6)


def test_two_processes_are_one_and_survive_sigterm(tmp_path: Path) -> None:
    """Two gloo processes see the batches of one; ended by a signal, one process can go on where they were."""
    steps = ["optimizer.steps=12", "run.log_every=1", "run.validate_every=6", "run.checkpoint_every=1000"]
    alone = RunFolder(tmp_path / "alone")
    assert train(tiny(*steps), alone)
    command = [sys.executable, "-m", "flash_ansr", "train", "nano", "--out", str(tmp_path / "both")]
    command += [word for a in [*TINY, *steps, "run.devices=2"] for word in ("--set", a)]
    both = RunFolder(tmp_path / "both")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not both.metrics() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    n_done = read_checkpoint(both.latest()).step
    assert n_done == len([row for row in both.metrics() if "loss" in row]) > 0
    if n_done < 12:
        assert "stopped and saved; continue with" in said
        assert train(tiny(*steps), both, resume=True)
    assert read_checkpoint(both.latest()).step == 12
    for mine, theirs in zip(alone.metrics(), both.metrics(), strict=True):
        for key in ("step", "samples", "tokens", "rows"):
            assert mine[key] == theirs[key]
        for key in {"loss", "validation_loss", "gradient_norm"} & mine.keys():
            assert mine[key] == pytest.approx(theirs[key], rel=1e-3)


def test_report(finished: RunFolder, tmp_path: Path) -> None:
    written = write_report([finished.path], tmp_path)
    assert [path.name for path in written] == ["summary.json", "training.png", "embeddings-whole.png"]
    assert all(path.stat().st_size > 200 for path in written)
    summary = json.loads(written[0].read_text())
    last = finished.metrics()[-1]
    assert summary["runs"][0]["validation_loss"] == last["validation_loss"]
    sizes = Network(finished.config().model).n_parameters()
    flops = 6 * (sizes["encoder"] * last["rows"] + sizes["decoder"] * last["tokens"])
    assert summary["runs"][0]["flops"] == pytest.approx(flops)
    assert summary["power_law"] is None
    tokens, similarity = token_similarity(finished.latest())
    assert similarity.shape == (len(tokens), len(tokens))
    np.testing.assert_allclose(np.diag(similarity), 1.0, rtol=1e-6)


def test_the_power_law_of_made_up_runs_is_found(finished: RunFolder) -> None:
    curve = read_curve(finished.path)
    curves = []
    for size in (1, 2, 3):
        flops = np.geomspace(1e9, 1e12, 20) * 10.0**size
        # behind the envelope at first, on it at the end
        loss = 8.0 * flops**-0.14 * np.where(np.arange(20) < 15, 1.5, 1.0)
        curves.append(dataclasses.replace(curve, n_parameters=size, flops=flops, loss=loss))
    law = fit_power_law(curves)
    assert law is not None
    assert law.exponent == pytest.approx(-0.14, abs=0.02)
    assert fit_power_law(curves[:2]) is None
    blind = [dataclasses.replace(c, blind=True) for c in curves]
    assert fit_power_law(blind) is None
