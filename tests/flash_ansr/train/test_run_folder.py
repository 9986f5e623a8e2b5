"""What a run keeps and how it is continued: its prior, its end, its place in the stream, which checkpoints stay."""

from __future__ import annotations

import dataclasses
import functools
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from flash_ansr.checkpoint.folder import CheckpointError
from flash_ansr.checkpoint.weights import read_checkpoint
from flash_ansr.data import load_prior, prior_names
from flash_ansr.model import ConfigError, Network
from flash_ansr.train import loop
from flash_ansr.train.config import OptimizerConfig, TrainConfig
from flash_ansr.train.loop import Trainer, make_optimizer, train
from flash_ansr.train.problems import Problems
from flash_ansr.train.run_folder import RunFolder
from tests.flash_ansr.train.test_training import files, tiny
from tests.networks import one_process_group

SHORT = ["optimizer.steps=10", "run.checkpoint_every=2", "run.validate_every=100"]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of ten steps whose decay begins after eight, with a checkpoint after every other."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "short")
    assert train(tiny(*SHORT), folder)
    return folder


def copied(folder: RunFolder, path: Path, last: int) -> RunFolder:
    """A copy of a run without the checkpoints after a step."""
    shutil.copytree(folder.path, path)
    for checkpoint in (path / "checkpoints").iterdir():
        if int(checkpoint.name) > last:
            shutil.rmtree(checkpoint)
    return RunFolder(path)


def steps_kept(folder: RunFolder) -> list[int]:
    return sorted(int(path.name) for path in folder.checkpoints.iterdir())


@pytest.mark.parametrize("name", prior_names())
def test_a_run_keeps_its_prior(name: str, tmp_path: Path) -> None:
    folder, prior = RunFolder(tmp_path / "run"), load_prior(name)
    folder.create(TrainConfig(), prior)
    assert folder.prior() == prior
    assert folder.config() == TrainConfig()
    assert not list(folder.path.glob(".*"))


def test_a_run_goes_on_with_its_own_prior(short: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of the bundled prior the same problems come, and a warning says so."""
    resumed = copied(short, tmp_path / "resumed", last=8)
    edited = dataclasses.replace(load_prior("wide"), p_irrelevant=0.9)
    monkeypatch.setattr("flash_ansr.train.run_folder.load_prior", lambda s: edited if s == "wide" else load_prior(s))
    with pytest.warns(UserWarning, match=r"prior 'wide' is another one now .* its own copy, .*prior\.yaml"):
        assert train(resumed.config(), resumed, resume=True)
    assert files(resumed.checkpoint(10)) == files(short.checkpoint(10))
    (resumed.path / "prior.yaml").unlink()
    with pytest.raises(ConfigError, match=r"has no prior\.yaml; put the file of the prior there"):
        train(resumed.config(), resumed, resume=True)


def test_the_last_checkpoint_before_the_decay_stays(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    own = folder.checkpoints / "00000002-mine"
    own.mkdir(parents=True)
    for step in (2, 4, 6, 8, 10):
        folder.checkpoint(step).mkdir()
        folder.prune(decay_start=5)
    own.rmdir()
    assert steps_kept(folder) == [4, 8, 10]


def test_a_run_is_prolonged_before_its_decay(short: RunFolder, tmp_path: Path) -> None:
    """Ten steps of fourteen, made fourteen after eight, are fourteen with the same warm-up from the start."""
    assert steps_kept(short) == [8, 10]
    longer = copied(short, tmp_path / "longer", last=8)
    config = longer.with_steps(14)
    assert (config.optimizer.steps, config.optimizer.n_warmup, config.optimizer.decay_start) == (14, 1, 11)
    assert train(config, longer, resume=True)
    assert longer.config() == config
    whole = RunFolder(tmp_path / "whole")
    assert train(tiny(*SHORT, "optimizer.steps=14", f"optimizer.warmup={1 / 14}"), whole)
    assert files(longer.checkpoint(14)) == files(whole.checkpoint(14))
    remedy = r"decay began after step 8, and it is at 10; remove the checkpoints after .*00000008 to go on"
    with pytest.raises(ConfigError, match=remedy):
        short.with_steps(14)


def test_new_runs_on_trained_weights_see_new_problems(short: RunFolder, tmp_path: Path) -> None:
    """The stream goes on after the 40 problems of the checkpoint, rounded up to batches, also when resumed."""
    config = tiny(*SHORT, "optimizer.batch_size=12", "optimizer.steps=4")
    folder = RunFolder(tmp_path / "more")
    assert train(config, folder, init_from=short.path)
    assert folder.config().data.first_index == 40
    assert read_checkpoint(folder.checkpoint(4)).position == {"prior": "wide", "seed": 0, "next_index": 96}
    resumed = copied(folder, tmp_path / "resumed", last=2)
    assert train(resumed.config(), resumed, resume=True)
    assert files(resumed.checkpoint(4)) == files(folder.checkpoint(4))
    first = Problems(config, 0, 12).batch(folder.config().first_batch)
    one_by_one = [Problems(config, 0, 1).batch(k).token_ids[0] for k in (48, 59)]
    for k, ids in zip((0, 11), one_by_one, strict=True):
        np.testing.assert_array_equal(first.token_ids[k][: len(ids)], ids)
    other = RunFolder(tmp_path / "other")
    assert train(dataclasses.replace(config, seed=1), other, init_from=short.path)
    assert other.config().data.first_index == 0


def test_another_simplifier_is_told_once(short: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resumed = copied(short, tmp_path / "resumed", last=8)
    monkeypatch.setattr(loop, "rule_set_hash", lambda: "other")
    for options in ({"resume": True}, {"init_from": short.path}):
        folder = resumed if "resume" in options else RunFolder(tmp_path / "new")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert train(tiny(*SHORT), folder, **options)
        assert ["targets that the simplifier" in str(w.message) for w in caught if w.category is UserWarning] == [True]


@pytest.mark.slow
def test_a_compiled_and_distributed_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fabric compiles what DDP has wrapped; weights and optimizer have the network's own names all the same."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    options = ["optimizer.steps=4", "run.checkpoint_every=2", "run.compile=true", "run.strategy=ddp"]
    folder = RunFolder(tmp_path / "run")
    with one_process_group(), torch.compiler.set_stance("force_eager"):  # wrapped, but not compiled: that takes long
        assert train(tiny(*options), folder)
    resumed = copied(folder, tmp_path / "resumed", last=2)
    with one_process_group(), torch.compiler.set_stance("force_eager"):
        assert train(resumed.config(), resumed, resume=True)
    assert files(resumed.checkpoint(4)) == files(folder.checkpoint(4))


def test_the_last_save_looks_at_no_files(short: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that sees the files of another late must come to the same decision."""
    saves: list[int] = []
    save = Trainer.save

    def counted(trainer: Trainer) -> None:
        saves.append(trainer.totals.step)
        save(trainer)
        shutil.rmtree(trainer.folder.checkpoints)

    monkeypatch.setattr(Trainer, "save", counted)
    assert train(tiny(*SHORT, "optimizer.steps=4"), RunFolder(tmp_path / "even"))
    assert train(tiny(*SHORT, "optimizer.steps=3"), RunFolder(tmp_path / "odd"))
    resumed = copied(short, tmp_path / "resumed", last=10)
    assert train(resumed.config(), resumed, resume=True)
    assert saves == [2, 4, 2, 3]


def test_resume_and_init_from_exclude_each_other(short: RunFolder) -> None:
    with pytest.raises(ConfigError, match="leave one of them out"):
        train(short.config(), short, resume=True, init_from=short.path)


def test_only_matrices_decay() -> None:
    """With gradients of zero, AdamW changes what decays and nothing else."""
    network = Network(tiny().model)
    before = {name: weight.clone() for name, weight in network.named_parameters()}
    optimizer = make_optimizer(network, OptimizerConfig(learning_rate=0.1, weight_decay=0.5))
    for weight in network.parameters():
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    changed = {name for name, weight in network.named_parameters() if not torch.equal(weight, before[name])}
    for name in ("encoder.pool.seeds", "decoder.embed.weight", "decoder.norm.weight", "encoder.norm.weight"):
        assert name in before
        assert name not in changed
    assert {"encoder.embed.weight", "decoder.head.weight", "encoder.pool.block.feed_forward.up.weight"} <= changed
    assert not [name for name in changed if "norm" in name]
    assert {name for name in before if before[name].ndim == 2} - changed == {
        "encoder.pool.seeds",
        "decoder.embed.weight",
    }


def test_sharding_needs_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    with pytest.raises(ConfigError, match=r"run\.strategy=fsdp needs CUDA devices"):
        train(tiny("run.strategy=fsdp"), RunFolder(tmp_path / "run"))


def test_shards_are_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "Fabric", lambda **options: options)
    options = loop.make_fabric(tiny("run.strategy=fsdp").run)
    policy = options["strategy"]._fsdp_kwargs["auto_wrap_policy"]
    assert {module.__name__ for module in policy._module_classes} == {"MAB", "DecoderBlock"}


@pytest.mark.parametrize("name", ["weights.safetensors", "optimizer.safetensors", "checkpoint.json"])
def test_a_cut_off_checkpoint_is_passed_over(name: str, short: RunFolder, tmp_path: Path) -> None:
    """A full disk or a broken copy: the run goes on from the newest whole checkpoint, to the same end."""
    resumed = copied(short, tmp_path / "resumed", last=10)
    damaged = resumed.checkpoint(10) / name
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="00000010 is damaged: the run goes on from 00000008"):
        assert train(resumed.config(), resumed, resume=True)
    assert files(resumed.checkpoint(10)) == files(short.checkpoint(10))


def test_no_whole_checkpoint_is_an_error(short: RunFolder, tmp_path: Path) -> None:
    resumed = copied(short, tmp_path / "resumed", last=10)
    for path in resumed.checkpoints.rglob("weights.safetensors"):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"00000010/weights\.safetensors is damaged"):
        train(resumed.config(), resumed, resume=True)
    assert steps_kept(resumed) == steps_kept(short)
