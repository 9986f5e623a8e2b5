"""Small networks of every architecture, and tables for them. One thread: the matrices are tiny."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
import torch

from flash_ansr.checkpoint.weights import Checkpoint, save_checkpoint
from flash_ansr.data import Vocabulary
from flash_ansr.model import DecoderConfig, EncoderConfig, ModelConfig, Network

torch.set_num_threads(1)

SMALL = ModelConfig(
    n_variables=3,
    n_tokens=20,
    max_length=12,
    encoder=EncoderConfig(dim=16, n_heads=2, n_inducing=5, n_seeds=4),
    decoder=DecoderConfig(dim=24, n_heads=3, n_layers=2),
)
LEAN = dataclasses.replace(
    SMALL,
    encoder=dataclasses.replace(SMALL.encoder, n_isab=0, numbers="hybrid", embed_layers=2, norm="layer"),
    decoder=dataclasses.replace(SMALL.decoder, norm="layer", activation="relu"),
)
NESYMRES = dataclasses.replace(
    SMALL,
    encoder=dataclasses.replace(SMALL.encoder, numbers="bits16", norm="layer", norm_position="post"),
    decoder=dataclasses.replace(SMALL.decoder, norm="layer", norm_position="post", positions="sinusoidal"),
)
VARIANTS = pytest.mark.parametrize("config", [SMALL, LEAN, NESYMRES], ids=["paper", "lean", "nesymres"])


def table(n_rows: int = 7, n_problems: int = 2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    X = torch.randn(n_problems, n_rows, 3, generator=generator) * 10
    y = torch.randn(n_problems, n_rows, generator=generator)
    return X, y, torch.ones(n_problems, n_rows, dtype=torch.bool)


@contextmanager
def one_process_group() -> Iterator[None]:
    """Leave nothing of a distributed run behind: neither its group of processes nor its variables."""
    with mock.patch.dict(os.environ):
        try:
            yield
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()


def write_checkpoint(folder: Path, **training: object) -> Path:
    """A network of random weights for three variables; ``training`` is the data part of its config."""
    vocabulary = Vocabulary(3)
    config = dataclasses.replace(LEAN, n_tokens=len(vocabulary))
    about = Checkpoint(config, vocabulary.tokens, training={"config": {"data": training}} if training else {})
    save_checkpoint(folder, about, Network(config, seed=1).state_dict())
    return folder
