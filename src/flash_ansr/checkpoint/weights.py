"""Checkpoints: a folder with ``weights.safetensors`` and ``checkpoint.json``, readable by people, no pickle.

A folder is written whole or not at all. The loader refuses what it does not understand. The file may hold float16
weights (half the size); they are loaded as float32. Whether the vocabulary and the rule set fit the rest of the program
is for the caller to ask, who knows them: ``Checkpoint.check_rules``.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from flash_ansr.checkpoint.folder import FORMAT, JSON_FILE, WEIGHTS_FILE, CheckpointError, read_json
from flash_ansr.model.config import ConfigError, ModelConfig, from_mapping, to_mapping
from flash_ansr.model.network import Network

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "export_checkpoint",
    "fill_weights",
    "load_network",
    "load_tensors",
    "read_checkpoint",
    "save_checkpoint",
]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Facts about a set of weights.

    Attributes
    ----------
    config : ModelConfig
    vocabulary : tuple of str
        Token of each id.
    rules : str
        Hash of the simplifier that normalised the training targets; empty when unknown.
    step : int
        Optimizer steps so far.
    position : dict
        Where the data stream stands.
    training : dict
        The resolved training config, versions, results: for people and for ``--resume``.
    """

    config: ModelConfig
    vocabulary: tuple[str, ...]
    rules: str = ""
    step: int = 0
    position: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.vocabulary) > self.config.n_tokens:
            raise CheckpointError(
                f"a vocabulary of {len(self.vocabulary)} tokens needs n_tokens >= {len(self.vocabulary)}, "
                f"the model has {self.config.n_tokens}"
            )

    def check_rules(self, rules: str) -> None:
        """Warn when targets were normalised by other rules than these: the network then speaks an older dialect."""
        if self.rules and self.rules != rules:
            warnings.warn(
                f"the checkpoint was trained on targets that the simplifier {self.rules[:12]} made, this version has "
                f"{rules[:12]}: the network may propose fewer distinct formulas than it could; train again to match",
                stacklevel=2,
            )


def save_checkpoint(
    folder: str | Path,
    checkpoint: Checkpoint,
    weights: Mapping[str, Tensor],
    dtype: torch.dtype | None = None,
    extra: Mapping[str, Mapping[str, Tensor]] | None = None,
) -> None:
    """Write a folder, atomically.

    Parameters
    ----------
    folder : path
        Replaced if it is a checkpoint already.
    checkpoint : Checkpoint
    weights : mapping of str to tensor
        ``network.state_dict()``.
    dtype : torch.dtype, optional
        Stored type of the weights, such as ``torch.float16``.
    extra : mapping of str to mapping, optional
        More tensors, a file each: ``{"optimizer": {...}}``.
    """
    folder = Path(folder)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    save_file({k: v.to(dtype or v.dtype).contiguous() for k, v in weights.items()}, new / WEIGHTS_FILE)
    for name, tensors in (extra or {}).items():
        save_file({k: v.contiguous() for k, v in tensors.items()}, new / f"{name}.safetensors")
    content = {"format": FORMAT} | to_mapping(checkpoint)
    (new / JSON_FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for tensors_file in new.glob("*.safetensors"):  # which safetensors writes for its owner alone
        shutil.copymode(new / JSON_FILE, tensors_file)
    if folder.exists():
        read_checkpoint(folder)  # never delete a folder that is something else
        shutil.rmtree(folder)
    new.rename(folder)


def export_checkpoint(source: str | Path, folder: str | Path, dtype: torch.dtype | None = None) -> None:
    """Write the weights of a checkpoint for use alone, without what only ``--resume`` needs.

    Parameters
    ----------
    source : path
        Folder of the checkpoint.
    folder : path
        New, or a checkpoint to replace.
    dtype : torch.dtype, optional
        Stored type of the weights, such as ``torch.float16``; that of the source by default.
    """
    if Path(source).resolve() == Path(folder).resolve():
        raise CheckpointError(f"{folder} is the checkpoint itself: export it to another folder, it would lose its rest")
    weights = load_tensors(source, "weights")
    for name, tensor in weights.items():
        if not tensor.to(dtype or tensor.dtype).isfinite().all():
            raise CheckpointError(f"'{name}' of {source} is not finite as {dtype or tensor.dtype}; take float32")
    save_checkpoint(folder, read_checkpoint(source), weights, dtype)


def read_checkpoint(folder: str | Path) -> Checkpoint:
    """The description of a checkpoint, without its weights."""
    path, content = Path(folder) / JSON_FILE, read_json(folder)
    del content["format"]
    if not isinstance(content.get("vocabulary"), list):
        raise CheckpointError(f"{path}: vocabulary must be a list of strings, got {content.get('vocabulary')!r}")
    try:
        return from_mapping(Checkpoint, content)
    except (ConfigError, CheckpointError) as error:
        raise CheckpointError(f"{path}: {error}") from None


def load_tensors(folder: str | Path, name: str) -> dict[str, Tensor]:
    """Tensors of one file of a checkpoint, ``weights`` or the name of an extra."""
    path = Path(folder) / f"{name}.safetensors"
    if not path.is_file():
        raise CheckpointError(f"{folder} has no {path.name}")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None


def load_network(folder: str | Path) -> tuple[Network, Checkpoint]:
    """Network with its weights, in evaluation mode, and what the checkpoint says."""
    checkpoint = read_checkpoint(folder)
    network = Network(checkpoint.config)
    fill_weights(network, folder)
    return network.eval(), checkpoint


def fill_weights(network: Network, folder: str | Path) -> None:
    """Copy the weights of a checkpoint into a network of the same shape."""
    weights = load_tensors(folder, "weights")
    own = network.state_dict()
    for name in sorted(own.keys() | weights.keys()):
        if name not in weights or name not in own:
            where = "checkpoint" if name not in weights else "model"
            raise CheckpointError(f"{folder} does not fit the model: the {where} has no '{name}'")
        if own[name].shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)}, the model needs {tuple(own[name].shape)}"
            raise CheckpointError(f"{folder} does not fit the model: '{name}' has the shape {shapes}")
    network.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
