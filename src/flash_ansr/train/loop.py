"""The training loop: batches of problems in, a folder of checkpoints and metrics out.

Step k is a function of the weights before it, the config, the rank and k alone: its problems are those with the indices
of k, and dropout is seeded by (seed, rank, k). So on one platform a resumed run repeats the uninterrupted one
bit for bit. Processes take equal shares of a batch; the loss is the mean over all tokens of all shares.
"""

from __future__ import annotations

import dataclasses
import logging
from contextlib import closing
from pathlib import Path
from typing import cast

import numpy as np
import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy
from lightning_fabric.strategies.fsdp import FSDPStrategy
from lightning_fabric.strategies.strategy import Strategy
from torch import Tensor, nn

from flash_ansr.checkpoint.folder import find_checkpoint
from flash_ansr.checkpoint.weights import Checkpoint, fill_weights, read_checkpoint, save_checkpoint
from flash_ansr.data import Batch, Prior, load_prior
from flash_ansr.model import Network
from flash_ansr.model.attention import MAB
from flash_ansr.model.config import ConfigError, to_mapping
from flash_ansr.model.decoder import DecoderBlock
from flash_ansr.train.config import OptimizerConfig, RunConfig, TrainConfig
from flash_ansr.train.interruption import interruptible
from flash_ansr.train.monitor import Monitor, Totals
from flash_ansr.train.problems import Problems, n_targets, prefetched, validation_share
from flash_ansr.train.run_folder import RunFolder
from flash_ansr.train.sharded_state import gather, restore_optimizer
from flash_ansr.train.step import LossScale, on_this_machine, token_loss
from flash_ansr.versions import rule_set_hash

_MAX_WARMUP_OF_TRAINED_WEIGHTS = 0.01
_FIRST_LOSS_SCALE = 2.0**16


def train(config: TrainConfig, folder: RunFolder, *, resume: bool = False, init_from: Path | None = None) -> bool:
    """Train until the last step or an interruption; either way what was learnt is saved.

    Parameters
    ----------
    config : TrainConfig
        For ``resume`` that of the folder, or its ``with_steps``, which is then stored there.
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
    if resume and init_from is not None:
        raise ConfigError("--init-from starts a new run, --resume continues one: leave one of them out")
    start = folder.latest() if resume else None if init_from is None else find_checkpoint(init_from)
    if resume and start is None:
        raise ConfigError(f"{folder.path} has no checkpoint to resume from; start anew with another --out")
    prior = folder.prior() if resume else load_prior(config.data.prior)
    if start is not None and not resume:
        config = on_trained_weights(config, prior, start)
    config = on_this_machine(config)
    fabric = make_fabric(config.run)
    if fabric.global_rank == 0:
        if resume:
            folder.change(config)
        else:
            folder.create(config, prior)
    fabric.launch()
    # what the first process has resolved counts for all
    config, prior = fabric.broadcast((config, prior))
    trainer = Trainer(fabric, config, prior, folder, start)
    if resume:
        trainer.restore()
    return trainer.run()


def on_trained_weights(config: TrainConfig, prior: Prior, start: Path) -> TrainConfig:
    """Config of a new run on the weights of a checkpoint: a short warm-up, and problems that they have not seen."""
    optimizer, data, position = config.optimizer, config.data, read_checkpoint(start).position
    optimizer = dataclasses.replace(optimizer, warmup=min(optimizer.warmup, _MAX_WARMUP_OF_TRAINED_WEIGHTS))
    if (position.get("prior"), position.get("seed")) == (prior.name, config.seed):
        data = dataclasses.replace(data, first_index=max(data.first_index, position["next_index"]))
    return dataclasses.replace(config, optimizer=optimizer, data=data)


def make_fabric(run: RunConfig) -> Fabric:
    """Lightning Fabric as the config asks for.

    Its own mixed precision is left out, since it rounds what goes into a module: see ``token_loss``.
    """
    # what it announces about itself is not about the run
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    if run.n_threads is not None:
        torch.set_num_threads(run.n_threads)
    strategy: str | Strategy = run.strategy
    if run.strategy == "fsdp":
        strategy = FSDPStrategy(auto_wrap_policy={MAB, DecoderBlock})
    elif run.strategy == "ddp" or run.devices > 1:
        # the only buffers are constants: nothing to broadcast
        strategy = DDPStrategy(forward_sync_buffers=False, gradient_as_bucket_view=True)
    return Fabric(accelerator=run.accelerator, devices=run.devices, strategy=strategy)


def make_optimizer(network: torch.nn.Module, config: OptimizerConfig) -> torch.optim.AdamW:
    """AdamW; the learning rate is set at every step.

    Matrices of linear layers decay; gains of norms, embeddings and learnt queries have no scale to be kept small.
    """
    matrices = [module.weight for module in network.modules() if isinstance(module, nn.Linear)]
    known = {id(parameter) for parameter in matrices}
    others = [parameter for parameter in network.parameters() if id(parameter) not in known]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(config.beta1, config.beta2), fused=True)


class Trainer:
    """State of a run: network, optimizer, streams, totals.

    Parameters
    ----------
    fabric : Fabric
        Launched.
    config : TrainConfig
    prior : Prior
        The config's, or the copy of it in the folder.
    folder : RunFolder
    start : path, optional
        Checkpoint whose weights to take.
    """

    def __init__(
        self, fabric: Fabric, config: TrainConfig, prior: Prior, folder: RunFolder, start: Path | None = None
    ) -> None:
        self.fabric, self.config, self.prior, self.folder, self.start = fabric, config, prior, folder, start
        rank, n_ranks = fabric.global_rank, fabric.world_size
        share = config.optimizer.batch_size // n_ranks
        self.problems = Problems(config, config.seed, share, rank, n_ranks, prior)
        self.validation = validation_share(config, rank, n_ranks, prior)
        network = Network(config.model, config.seed)
        if start is not None:
            theirs = read_checkpoint(start)
            if theirs.vocabulary != self.problems.vocabulary.tokens:
                raise ConfigError(f"{start} has another vocabulary than the prior '{prior.name}'")
            if rank == 0:
                theirs.check_rules(rule_set_hash())
            fill_weights(network, start)
        optimizer = make_optimizer(network, config.optimizer)
        module = cast("nn.Module", torch.compile(network)) if config.run.compile else network
        self.model, self.optimizer = fabric.setup(module, optimizer)
        self.totals = Totals()
        self.loss_scale = LossScale(_FIRST_LOSS_SCALE if config.run.precision == "16-mixed" else 1.0)
        self.saved_step: int | None = None

    def restore(self) -> None:
        """Take the rest of the checkpoint too: optimizer, totals."""
        assert self.start is not None
        restore_optimizer(self.model._forward_module, self.optimizer.optimizer, self.start)
        checkpoint = read_checkpoint(self.start)
        self.totals = Totals(**checkpoint.training["totals"])
        self.loss_scale = LossScale(**checkpoint.training.get("loss_scale", {}))
        self.saved_step = checkpoint.step
        if self.fabric.global_rank == 0:
            self.folder.rewind(checkpoint.step)

    def save(self) -> None:
        """Write a checkpoint, on the first rank."""
        weights, optimizer = gather(self.model._forward_module, self.optimizer.optimizer)
        if self.fabric.global_rank == 0:
            config = self.config.optimizer
            checkpoint = Checkpoint(
                self.config.model,
                self.problems.vocabulary.tokens,
                rule_set_hash(),
                self.totals.step,
                {"prior": self.prior.name, "seed": self.config.seed, "next_index": self._batch() * config.batch_size},
                {
                    "config": to_mapping(self.config),
                    "totals": dataclasses.asdict(self.totals),
                    "loss_scale": dataclasses.asdict(self.loss_scale),
                },
            )
            path = self.folder.checkpoint(self.totals.step)
            save_checkpoint(path, checkpoint, weights, extra={"optimizer": optimizer})
            self.folder.prune(config.decay_start)
        self.saved_step = self.totals.step
        self.fabric.barrier()

    def run(self) -> bool:
        """Train to the last step, or until SIGTERM or Ctrl-C."""
        run, n_steps = self.config.run, self.config.optimizer.steps
        self.model.train()
        with (
            Monitor(self.folder, self.config, self.totals, enabled=self.fabric.global_rank == 0) as monitor,
            interruptible() as interruption,
            closing(prefetched(self.problems, self._batch())) as batches,
        ):
            while self.totals.step < n_steps:
                batch = next(batches)
                monitor.data_seconds = self.problems.seconds
                if not self.step(batch, interruption.is_set(), monitor):
                    break
                if self.totals.step % run.validate_every == 0 or self.totals.step == n_steps:
                    monitor.pause()
                    monitor.validated(self.validate())
                if self.totals.step % run.checkpoint_every == 0:
                    self.save()
        if self.saved_step != self.totals.step:
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
                loss = token_loss(self.model, part, self.fabric.device, self.config.run.precision)
                # gradients are averaged over processes: times their number, it is the sum
                self.fabric.backward(loss * (self.fabric.world_size / n_tokens * self.loss_scale.value))
            total += loss.detach()
        if self.loss_scale.value != 1.0:
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad /= self.loss_scale.value
        norm = self.fabric.clip_gradients(self.model, self.optimizer, max_norm=config.clip, error_if_nonfinite=False)
        assert norm is not None
        finite = bool(norm.isfinite())
        if finite:
            self.optimizer.step()
        self.optimizer.zero_grad()
        if self.config.run.precision == "16-mixed":
            self.loss_scale.update(finite)
        self.totals.advance(config.batch_size, int(n_tokens), int(n_rows), finite=finite)
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
            loss = token_loss(self.model, batch, self.fabric.device, self.config.run.precision)
            sums += torch.tensor([float(loss), n_targets(batch)])
        self.model.train()
        total, n_tokens = self._sum(sums)
        return total / n_tokens

    def _batch(self) -> int:
        """Position in the stream of the next batch."""
        return self.config.first_batch + self.totals.step

    def _sum(self, values: Tensor) -> list[float]:
        """Sums over all processes."""
        return cast("Tensor", self.fabric.all_reduce(values.to(self.fabric.device), reduce_op="sum")).tolist()
