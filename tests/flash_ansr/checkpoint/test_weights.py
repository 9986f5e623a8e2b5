"""Checkpoint folders: what is saved comes back, what is not understood is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from flash_ansr.checkpoint.folder import CheckpointError
from flash_ansr.checkpoint.weights import (
    Checkpoint,
    fill_weights,
    load_network,
    load_tensors,
    read_checkpoint,
    save_checkpoint,
)
from flash_ansr.model import Network
from tests.networks import LEAN, SMALL, table

VOCABULARY = ("<begin>", "<end>", "+", "x1")


def saved(folder: Path, **changes: Any) -> Network:
    network = Network(SMALL, seed=5).eval()
    checkpoint = Checkpoint(SMALL, VOCABULARY, rules="abc", step=7, position={"next": 42}, training={"seed": 5})
    save_checkpoint(folder, checkpoint, network.state_dict(), **changes)
    return network


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    network = saved(tmp_path / "model", extra={"optimizer": {"a": torch.arange(3)}})
    loaded, checkpoint = load_network(tmp_path / "model")
    X, y, rows = table()
    token_ids = torch.tensor([[0, 2, 3]] * 2)
    assert torch.equal(loaded(X, y, rows, token_ids), network(X, y, rows, token_ids))
    assert checkpoint == Checkpoint(SMALL, VOCABULARY, "abc", 7, {"next": 42}, {"seed": 5})
    assert load_tensors(tmp_path / "model", "optimizer")["a"].tolist() == [0, 1, 2]
    saved(tmp_path / "model")  # over an older one
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["checkpoint.json", "weights.safetensors"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_who_may_read_one_file_may_read_all(tmp_path: Path) -> None:
    saved(tmp_path / "model", extra={"optimizer": {"a": torch.arange(3)}})
    assert len({path.stat().st_mode for path in (tmp_path / "model").iterdir()}) == 1


def test_half_precision_is_half_the_size(tmp_path: Path) -> None:
    network = saved(tmp_path / "whole")
    saved(tmp_path / "half", dtype=torch.float16)
    sizes = [(tmp_path / name / "weights.safetensors").stat().st_size for name in ("whole", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    loaded, _ = load_network(tmp_path / "half")
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], weight, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has format 2, this version reads 1"),
        ({"surprise": 1}, "unknown key 'surprise'; known here: config, vocabulary"),
        ({"config": {"encoder": {"n_sub": 1}}}, r"did you mean 'config\.encoder\.n_sab'"),
        ({"vocabulary": ["a"] * 21}, "21 tokens needs n_tokens >= 21"),
        ({"vocabulary": "abc"}, "list of strings"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    saved(tmp_path / "model")
    path = tmp_path / "model" / "checkpoint.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(tmp_path / "model")


def test_a_folder_that_is_something_else_survives(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        saved(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_damage_and_other_shapes_are_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    with pytest.raises(CheckpointError, match=r"the checkpoint has no 'encoder\.hidden\.weight'|has the shape"):
        fill_weights(Network(LEAN), tmp_path / "model")
    weights = tmp_path / "model" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="is damaged"):
        load_network(tmp_path / "model")
    weights.unlink()
    with pytest.raises(CheckpointError, match=r"has no weights\.safetensors"):
        load_network(tmp_path / "model")


def test_other_rules_warn(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    checkpoint = read_checkpoint(tmp_path / "model")
    checkpoint.check_rules("abc")
    with pytest.warns(UserWarning, match="targets that the simplifier abc made, this version has def"):
        checkpoint.check_rules("def")
