"""What a step of training computes, and what this machine can compute: without Lightning, which is slow to import."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from flash_ansr.data import Batch
from flash_ansr.model.config import ConfigError
from flash_ansr.train.config import Precision, TrainConfig

_LARGEST_SCALE = 2.0**24
_STEPS_TO_GROW = 2000


def on_this_machine(config: TrainConfig) -> TrainConfig:
    """The config with its precision resolved; what cannot run here is refused before other processes are started."""
    run, n_cuda = config.run, torch.cuda.device_count()
    if run.accelerator == "cuda" and run.devices > n_cuda:
        raise ConfigError(
            f"run.accelerator=cuda with run.devices={run.devices}, but torch sees {n_cuda} CUDA devices here; "
            "take run.accelerator=cpu, or a torch built for your GPU"
        )
    if run.strategy == "fsdp" and (run.accelerator == "cpu" or not n_cuda):
        raise ConfigError("run.strategy=fsdp needs CUDA devices: torch shards on GPUs only; take run.strategy=ddp")
    n_processes = int(os.environ.get("WORLD_SIZE", run.devices))
    if config.optimizer.batch_size % n_processes:
        raise ConfigError(
            f"optimizer.batch_size must be a multiple of the {n_processes} processes, got {config.optimizer.batch_size}"
        )
    if run.precision != "auto":
        return config
    if n_cuda and run.accelerator != "cpu":
        has_bfloat16 = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        has_bfloat16 = torch.cpu._is_avx512_bf16_supported()
    return dataclasses.replace(
        config, run=dataclasses.replace(run, precision="bf16-mixed" if has_bfloat16 else "32-true")
    )


def token_loss(network: nn.Module, batch: Batch, device: torch.device, precision: Precision = "32-true") -> Tensor:
    """Cross-entropy of the targets, summed over the tokens of the batch, end included.

    Whatever the precision of matrix products, tables reach the network as float32: all their digits are data.
    """
    arrays = (batch.X, batch.y, batch.row_mask, batch.token_ids)
    X, y, row_mask, token_ids = (torch.from_numpy(array).to(device) for array in arrays)
    token_ids = token_ids.long()
    rounded = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}.get(precision)
    with torch.autocast(device.type, rounded, enabled=rounded is not None):
        logits = network(X, y, row_mask, token_ids[:, :-1])  # (batch, length, n_tokens)
    targets = token_ids[:, 1:].flatten()
    return F.cross_entropy(logits.flatten(0, 1).float(), targets, ignore_index=batch.vocabulary.pad, reduction="sum")


@dataclass(slots=True)
class LossScale:
    """The factor on the loss that keeps gradients inside float16's range; weights and their gradients are float32.

    Halved by a gradient that is not finite, doubled after 2000 steps without one.

    It follows from the gradients alone, which all processes share, and is stored in checkpoints: runs resume exactly.

    Attributes
    ----------
    value : float
        The factor; 1 where float16 takes no part.
    n_finite : int
        Steps since it changed.
    """

    value: float = 1.0
    n_finite: int = 0

    def update(self, finite: bool) -> None:
        """Take in whether a step's gradient was finite."""
        self.n_finite = self.n_finite + 1 if finite else 0
        if not finite:
            self.value = max(self.value / 2, 1.0)
        elif self.n_finite == _STEPS_TO_GROW:
            self.value, self.n_finite = min(self.value * 2, _LARGEST_SCALE), 0
