"""Packed runs: what ``--runs`` needs, in half the bytes, and nothing of the machine."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import pytest
import torch

from flash_ansr.checkpoint.weights import Checkpoint, load_tensors, read_checkpoint, save_checkpoint
from flash_ansr.data import load_prior
from flash_ansr.model import Network
from flash_ansr.model.config import to_mapping
from flash_ansr.paper.ablations.networks import checkpoint_of
from flash_ansr.paper.ablations.packing import pack_runs
from flash_ansr.paper.ablations.trained_runs import comparable, trained_runs
from flash_ansr.paper.context import Context
from flash_ansr.paper.experiment import PaperError
from flash_ansr.train.config import load_config
from flash_ansr.train.run_folder import RunFolder
from tests.command_line import run_flash_ansr

SMALL = ("model.encoder.dim=16", "model.decoder.dim=16", "optimizer.steps=2")


def trained(runs: Path, name: str, step: int = 2, *, corpus: bool = False) -> None:
    """A run of two steps as training leaves it, but for its weights."""
    config = load_config("micro", SMALL)
    if corpus:
        skeletons = runs / "skeletons_simplipy_1.jsonl"
        skeletons.write_text('{"index": 0, "tokens": ["x1"]}\n')
        (runs / "sympy_draws.jsonl").write_text('{"index": 1, "tokens": null}\n{"index": 0, "tokens": ["x1"]}\n')
        prior = skeletons.with_suffix(".yaml")
        prior.write_text(f'base: paper\nsimplifier: none\ncorpus: "{skeletons}"\n')
        config = dataclasses.replace(config, data=dataclasses.replace(config.data, prior=str(prior)))
    folder = RunFolder(runs / name)
    folder.create(config, load_prior(config.data.prior))
    folder.append({"step": step, "samples": 16, "validation_loss": 2.5, "rows": 9, "tokens": 9, "seconds": 1.0})
    network = Network(config.model)
    checkpoint = Checkpoint(config.model, ("x1",), step=step, training={"config": to_mapping(config)})
    optimizer = {"optimizer": {"moment": torch.zeros(1000)}}
    save_checkpoint(folder.checkpoint(step), checkpoint, network.state_dict(), extra=optimizer)


def test_packed_runs_are_runs(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "packed"
    runs.mkdir()
    trained(runs, "b0")
    trained(runs, "a_p", corpus=True)
    trained(runs, "b1", step=1)  # not finished
    assert pack_runs(runs, out) == [out / "b0", out / "a_p"]
    found, left_out = comparable(trained_runs(Context(tmp_path, tmp_path, runs=out)))
    assert [t.run.name for t in found] == ["b0", "a_p"]
    assert left_out == []
    assert found[0].loss == 2.5
    assert found[1].n_skeletons == "1"
    for name in ("b0", "a_p"):
        before, after = checkpoint_of(runs, name), checkpoint_of(out, name)
        assert before is not None
        assert after is not None
        weights, packed = load_tensors(before, "weights"), load_tensors(after, "weights")
        assert all(torch.equal(packed[key], tensor.half()) for key, tensor in weights.items())
        assert sorted(path.name for path in after.iterdir()) == ["checkpoint.json", "weights.safetensors"]
        assert read_checkpoint(after).step == 2
    # packed again, the same
    assert pack_runs(runs, out) == [out / "b0", out / "a_p"]


def test_packed_runs_tell_nothing_of_the_machine(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "packed"
    runs.mkdir()
    trained(runs, "a_p", corpus=True)
    pack_runs(runs, out)
    texts = [path.read_text() for path in out.rglob("*") if path.suffix in (".json", ".jsonl", ".yaml")]
    assert len(texts) == 5
    assert not any(str(tmp_path) in text for text in texts)
    answers = gzip.decompress((out / "sympy_draws.jsonl.gz").read_bytes())
    assert answers == b'{"index": 0, "tokens": ["x1"]}\n{"index": 1, "tokens": null}\n'


def test_what_cannot_be_packed_is_said(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match="holds no finished ablation; train one by"):
        pack_runs(tmp_path, tmp_path / "packed")
    trained(tmp_path, "b0")
    with pytest.raises(PaperError, match="holds the runs themselves"):
        pack_runs(tmp_path, tmp_path / "." / "b0" / "..")
    done = run_flash_ansr("paper", "pack", "--runs", str(tmp_path), "--out", str(tmp_path / "packed"))
    assert done.returncode == 0
    assert f"{tmp_path / 'packed' / 'b0'}: " in done.stdout
