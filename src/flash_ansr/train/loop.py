"""The training loop: batches of problems in, a folder of checkpoints and metrics out.

Step k is a function of the weights before it, the config, the rank and k alone: its problems are those with the indices
of k, and dropout is seeded by (seed, rank, k). So on one platform a resumed run repeats the uninterrupted one
bit for bit. Processes take equal shares of a batch; the loss is the mean over all tokens of all shares.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from pathlib import Path
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy
from lightning_fabric.strategies.fsdp import FSDPStrategy
from lightning_fabric.strategies.strategy import Strategy
from torch import Tensor, nn

from flash_ansr.checkpoint_folder import find_checkpoint
from flash_ansr.data import Batch
from flash_ansr.model import Checkpoint, Network, read_checkpoint, save_checkpoint
from flash_ansr.model.checkpoint import fill_weights
from flash_ansr.model.config import ConfigError, from_mapping, to_mapping
from flash_ansr.train.config import OptimizerConfig, RunConfig, TrainConfig
from flash_ansr.train.interruption import interruptible
from flash_ansr.train.monitor import Monitor, Totals
from flash_ansr.train.problems import Prefetched, Problems, n_targets, validation_share
from flash_ansr.train.run_folder import RunFolder
from flash_ansr.train.sharded_state import gather, restore_optimizer
from flash_ansr.versions import rule_set_hash

_MAX_WARMUP_OF_TRAINED_WEIGHTS = 0.01


def train(config: TrainConfig, folder: RunFolder, *, resume: bool = False, init_from: Path | None = None) -> bool:
    """Train until the last step or an interruption; either way what was learnt is saved.

    Parameters
    ----------
    config : TrainConfig
        For ``resume`` that of the folder.
    folder : RunFolder
        New, or with ``resume`` one that holds a run.
    resume : bool
        Continue after the newest checkpoint.
    init_from : path, optional
        Checkpoint whose weights to start from, or a run, whose newest counts.

    Returns
    -------
    bool
        Whether the last step was reached.
    """
    if init_from is not None and not resume:
        warmup = min(config.optimizer.warmup, _MAX_WARMUP_OF_TRAINED_WEIGHTS)
        config = dataclasses.replace(config, optimizer=dataclasses.replace(config.optimizer, warmup=warmup))
    start = folder.latest() if resume else None if init_from is None else find_checkpoint(init_from)
    if resume and start is None:
        raise ConfigError(f"{folder.path} has no checkpoint to resume from; start anew with another --out")
    check_machine(config)
    fabric = make_fabric(config.run)
    if fabric.global_rank == 0 and not resume:
        folder.create(config)
    fabric.launch()
    config = from_mapping(TrainConfig, fabric.broadcast(to_mapping(config)))
    trainer = Trainer(fabric, config, folder, start)
    if resume:
        trainer.restore()
    return trainer.run()


def check_machine(config: TrainConfig) -> None:
    """Refuse what cannot run here, before a folder is made and other processes are started."""
    run, n_cuda = config.run, torch.cuda.device_count()
    if run.accelerator == "cuda" and run.devices > n_cuda:
        raise ConfigError(
            f"run.accelerator=cuda with run.devices={run.devices}, but torch sees {n_cuda} CUDA devices here; "
            "take run.accelerator=cpu, or a torch built for your GPU"
        )
    n_processes = int(os.environ.get("WORLD_SIZE", run.devices))
    if config.optimizer.batch_size % n_processes:
        raise ConfigError(
            f"optimizer.batch_size must be a multiple of the {n_processes} processes, got {config.optimizer.batch_size}"
        )


def make_fabric(run: RunConfig) -> Fabric:
    """Lightning Fabric as the config asks for."""
    # what it announces about itself is not about the run
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    if run.n_threads is not None:
        torch.set_num_threads(run.n_threads)
    strategy: str | Strategy = run.strategy
    if run.strategy == "fsdp":
        strategy = FSDPStrategy()
    elif run.strategy == "ddp" or run.devices > 1:
        # the only buffers are constants: nothing to broadcast
        strategy = DDPStrategy(forward_sync_buffers=False, gradient_as_bucket_view=True)
    return Fabric(accelerator=run.accelerator, devices=run.devices, strategy=strategy, precision=run.precision)


def make_optimizer(network: torch.nn.Module, config: OptimizerConfig) -> torch.optim.AdamW:
    """AdamW; the learning rate is set at every step."""
    betas = (config.beta1, config.beta2)
    return torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, betas=betas, weight_decay=config.weight_decay, fused=True
    )


def token_loss(network: torch.nn.Module, batch: Batch, device: torch.device) -> Tensor:
    """Cross-entropy of the targets, summed over the tokens of the batch, end included."""
    arrays = (batch.X, batch.y, batch.row_mask, batch.token_ids)
    X, y, row_mask, token_ids = (torch.from_numpy(array).to(device) for array in arrays)
    token_ids = token_ids.long()
    logits = network(X, y, row_mask, token_ids[:, :-1])  # (batch, length, n_tokens)
    targets = token_ids[:, 1:].flatten()
    return F.cross_entropy(logits.flatten(0, 1).float(), targets, ignore_index=batch.vocabulary.pad, reduction="sum")


class Trainer:
    """State of a run: network, optimizer, streams, totals.

    Parameters
    ----------
    fabric : Fabric
        Launched.
    config : TrainConfig
    folder : RunFolder
    start : path, optional
        Checkpoint whose weights to take.
    """

    def __init__(self, fabric: Fabric, config: TrainConfig, folder: RunFolder, start: Path | None = None) -> None:
        self.fabric, self.config, self.folder, self.start = fabric, config, folder, start
        share = config.optimizer.batch_size // fabric.world_size
        self.problems = Problems(config, config.seed, share, fabric.global_rank, fabric.world_size)
        self.validation = validation_share(config, fabric.global_rank, fabric.world_size)
        network = Network(config.model, config.seed)
        if start is not None:
            theirs = read_checkpoint(start).vocabulary
            if theirs != self.problems.vocabulary.tokens:
                raise ConfigError(f"{start} has another vocabulary than the prior '{config.data.prior}'")
            fill_weights(network, start)
        optimizer = make_optimizer(network, config.optimizer)
        module = cast("nn.Module", torch.compile(network)) if config.run.compile else network
        self.model, self.optimizer = fabric.setup(module, optimizer)
        self.totals = Totals()

    def restore(self) -> None:
        """Take the rest of the checkpoint too: optimizer, totals."""
        assert self.start is not None
        restore_optimizer(self.model._forward_module, self.optimizer.optimizer, self.start)
        checkpoint = read_checkpoint(self.start)
        self.totals = Totals(**checkpoint.training["totals"])
        if self.fabric.global_rank == 0:
            self.folder.rewind(checkpoint.step)

    def save(self) -> None:
        """Write a checkpoint, on the first rank."""
        weights, optimizer = gather(self.model._forward_module, self.optimizer.optimizer)
        if self.fabric.global_rank == 0:
            checkpoint = Checkpoint(
                self.config.model,
                self.problems.vocabulary.tokens,
                rule_set_hash(),
                self.totals.step,
                {"prior": self.config.data.prior, "seed": self.config.seed, "next_index": self.totals.samples},
                {"config": to_mapping(self.config), "totals": dataclasses.asdict(self.totals)},
            )
            path = self.folder.checkpoint(self.totals.step)
            save_checkpoint(path, checkpoint, weights, extra={"optimizer": optimizer})
            self.folder.prune()
        self.fabric.barrier()

    def run(self) -> bool:
        """Train to the last step, or until SIGTERM or Ctrl-C."""
        run, n_steps = self.config.run, self.config.optimizer.steps
        self.model.train()
        with (
            Monitor(self.folder, self.config, self.totals, enabled=self.fabric.global_rank == 0) as monitor,
            interruptible() as interruption,
            Prefetched(self.problems, self.totals.step) as batches,
        ):
            while self.totals.step < n_steps:
                batch = batches.next()
                monitor.data_seconds = batches.seconds
                if not self.step(batch, interruption.requested, monitor):
                    break
                if self.totals.step % run.validate_every == 0 or self.totals.step == n_steps:
                    monitor.validated(self.validate())
                if self.totals.step % run.checkpoint_every == 0:
                    self.save()
        if self.folder.latest() != self.folder.checkpoint(self.totals.step):
            self.save()
        return self.totals.step == n_steps

    def step(self, batch: Batch, stop: bool, monitor: Monitor) -> bool:
        """One optimizer step; False when any process was asked to stop, and then nothing has happened."""
        config, step = self.config.optimizer, self.totals.step
        mine = torch.tensor([n_targets(batch), int(batch.n_rows.sum()), int(stop)], dtype=torch.float64)
        n_tokens, n_rows, stops = self._sum(mine)
        if stops:
            return False
        sequence = np.random.SeedSequence([self.config.seed, self.fabric.global_rank, step])
        torch.manual_seed(int(sequence.generate_state(1)[0]))
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate_at(step)
        parts = batch.buckets(min(config.micro_batches, len(batch)))
        total = torch.zeros((), device=self.fabric.device)
        for i, part in enumerate(parts):
            with self.fabric.no_backward_sync(self.model, enabled=i < len(parts) - 1):
                loss = token_loss(self.model, part, self.fabric.device)
                # gradients are averaged over processes: times their number, it is the sum
                self.fabric.backward(loss * (self.fabric.world_size / n_tokens))
            total += loss.detach()
        norm = self.fabric.clip_gradients(self.model, self.optimizer, max_norm=config.clip, error_if_nonfinite=False)
        assert norm is not None
        # in half precision the scaler skips such a step itself, and must see it to lower its scale
        if self.config.run.precision == "16-mixed" or bool(norm.isfinite()):
            self.optimizer.step()
        self.optimizer.zero_grad()
        self.totals.advance(config.batch_size, int(n_tokens), int(n_rows))
        if self.totals.step % self.config.run.log_every == 0 or self.totals.step == config.steps:
            (loss_sum,) = self._sum(total[None])
            monitor.stepped(loss_sum / n_tokens, float(norm), config.learning_rate_at(step))
        return True

    @torch.no_grad()
    def validate(self) -> float:
        """Loss a token on the fixed set."""
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64)
        for batch in self.validation:
            sums += torch.tensor([float(token_loss(self.model, batch, self.fabric.device)), n_targets(batch)])
        self.model.train()
        loss, n_tokens = self._sum(sums)
        return loss / n_tokens

    def _sum(self, values: Tensor) -> list[float]:
        """Sums over all processes."""
        return cast("Tensor", self.fabric.all_reduce(values.to(self.fabric.device), reduce_op="sum")).tolist()
