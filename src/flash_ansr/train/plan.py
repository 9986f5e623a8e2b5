"""The cost of a training run: parameters, operations, speed measured here, hours, memory. Trains nothing."""

from __future__ import annotations

import math
import resource
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.adamw import adamw

from flash_ansr.data import Batch
from flash_ansr.model import Network
from flash_ansr.model.config import ModelConfig
from flash_ansr.model.cost import Cost, forward_cost, state_bytes
from flash_ansr.model.network import count_parameters
from flash_ansr.train.config import TrainConfig
from flash_ansr.train.problems import Problems, first_rows, n_targets
from flash_ansr.train.step import on_this_machine, token_loss

_MAX_MEASURED_PARAMETERS = 200_000_000
# a larger network is timed with one layer of each kind: the memory of all would take longer than the time there is
_MAX_WHOLE_PARAMETERS = 50_000_000
SECONDS = 5.0
_MAX_TRIALS = 20
_SHARE = 2 / 3  # of the time that is left, for the next trial
_FIRST_SIZE = 1 / 16  # problems
# share of the speed of large matrix products that training of a large network reaches
_EFFICIENCY = 0.6


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """Cost of a run.

    Attributes
    ----------
    n_encoder, n_decoder : int
        Parameters.
    n_rows, n_tokens : float
        Mean rows of a table and mean tokens of a target under the prior.
    cost : Cost
        Operations of a forward pass over a problem of that size.
    samples_per_second : float
        Of one process.
    n_threads : int
        Threads of that process.
    n_measured : int
        Problems of the step that was timed; less than a batch where that takes too long: operations are then scaled.
        0: estimated from the speed of matrix products, since the network is too large to try.
    is_shallow : bool
        Whether the step was one of a network with one layer of each kind, whose operations are scaled too.
    data_share : float
        Share of the time of a step that goes into making problems.
    state_bytes, peak_bytes : int
        Weights, gradients and optimizer; and the most memory that the process had, 0 where no whole step was timed.
    """

    n_encoder: int
    n_decoder: int
    n_rows: float
    n_tokens: float
    cost: Cost
    samples_per_second: float
    n_threads: int
    n_measured: int
    is_shallow: bool
    data_share: float
    state_bytes: int
    peak_bytes: int

    def hours(self, n_samples: int, n_devices: int) -> float:
        """Time for a number of problems if devices add up."""
        return n_samples / (self.samples_per_second * n_devices) / 3600


def make_plan(
    config: TrainConfig, progress: Callable[[int], None] = lambda _: None, clock: Callable[[], float] | None = None
) -> TrainingCost:
    """Look at one batch of the prior, and time a few steps on this machine with one process.

    Parameters
    ----------
    progress : callable
        Called with how many of the ``SECONDS`` of the measurement are gone.
    clock : callable, optional
        Seconds, instead of those of this machine.
    """
    config = on_this_machine(config)
    if config.run.n_threads is not None:
        torch.set_num_threads(config.run.n_threads)
    share = max(1, config.optimizer.batch_size // config.run.devices)
    problems = Problems(config, config.seed, share)
    start = time.process_time()
    batch = problems.batch(0)
    data_seconds = time.process_time() - start
    n_rows, n_tokens = float(batch.n_rows.mean()), n_targets(batch) / len(batch)
    cost = forward_cost(config.model, n_rows, n_tokens)
    sizes = count_parameters(config.model)
    n_parameters = sum(sizes.values())
    is_shallow = not _on_gpu(config) and _MAX_WHOLE_PARAMETERS < n_parameters <= _MAX_MEASURED_PARAMETERS
    if n_parameters <= _MAX_MEASURED_PARAMETERS:
        timed = _shallow(config.model) if is_shallow else config.model
        step_seconds, n_measured = _time_of_step(config, timed, batch, progress, clock)
    else:
        step_seconds, n_measured = len(batch) * cost.training / (_EFFICIENCY * _matrix_speed()), 0
    return TrainingCost(
        n_encoder=sizes["encoder"],
        n_decoder=sizes["decoder"],
        n_rows=n_rows,
        n_tokens=n_tokens,
        cost=cost,
        samples_per_second=len(batch) / (step_seconds + data_seconds),
        n_threads=torch.get_num_threads(),
        n_measured=n_measured,
        is_shallow=is_shallow,
        data_share=data_seconds / (step_seconds + data_seconds),
        state_bytes=state_bytes(n_parameters),
        peak_bytes=_peak_bytes() if n_measured == len(batch) and not is_shallow else 0,
    )


def _on_gpu(config: TrainConfig) -> bool:
    return config.run.accelerator == "cuda" or (config.run.accelerator == "auto" and torch.cuda.is_available())


def _shallow(model: ModelConfig) -> ModelConfig:
    """The network with at most one layer of each kind, as wide."""
    encoder, decoder = model.encoder, model.decoder
    encoder = replace(encoder, n_isab=min(encoder.n_isab, 1), n_sab=min(encoder.n_sab, 1))
    return replace(model, encoder=encoder, decoder=replace(decoder, n_layers=1))


def _time_of_step(
    config: TrainConfig,
    timed: ModelConfig,
    batch: Batch,
    progress: Callable[[int], None],
    clock: Callable[[], float] | None,
) -> tuple[float, int]:
    """Seconds of an optimizer step without communication, the best of several, and the problems of the largest timed.

    Begins with some rows of a problem, and takes as many more as fit into the time. The products of a part stand for
    those of the batch by their number of operations, and those of the timed network for those of the whole one; the
    update of the weights costs the same for any part, in proportion to their number.
    """
    device = torch.device("cuda" if _on_gpu(config) else "cpu")
    network = Network(timed).to(device)
    weights, update_weights = list(network.parameters()), _update(network)
    growth = sum(count_parameters(config.model).values()) / sum(map(torch.numel, weights))
    # the load of other programs does not count where that can be told: threads that wait for each other spin
    own = time.process_time if device.type == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    now, wall = clock or own, clock or time.monotonic
    begin, size, best = wall(), _FIRST_SIZE, float("inf")
    for trial in range(_MAX_TRIALS):
        parts, scale = _parts(config, timed, batch, size)
        start = now()
        for part in parts:
            token_loss(network, part, device, config.run.precision).backward()
        float(torch.nn.utils.clip_grad_norm_(weights, config.optimizer.clip))
        update = now()
        update_weights()
        products, update = update - start, now() - update
        best = min(best, update * growth + products * scale)
        gone = wall() - begin
        progress(min(int(gone), int(SECONDS)))
        left = SECONDS - gone
        if trial > 0 and left < products + update:
            break
        more = min(len(batch), size * (_SHARE * left - update) / max(products, 1e-9))
        if trial == 0 or more > 2 * size:  # the first is slow for its allocations; more problems tell more
            size, best = max(size, more), float("inf")
    return best, math.ceil(size)


def _update(network: Network) -> Callable[[], None]:
    """The work of an optimizer step, without torch's object for it: that imports a compiler, which takes seconds."""
    weights: list[Tensor] = list(network.parameters())
    first, second = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    steps = [torch.zeros((), device=weight.device) for weight in weights]
    rates: dict[str, Any] = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.95, "weight_decay": 0.01, "eps": 1e-8}

    @torch.no_grad()
    def update() -> None:
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        adamw(weights, gradients, first, second, [], steps, fused=True, amsgrad=False, maximize=False, **rates)
        network.zero_grad()

    return update


def _parts(config: TrainConfig, timed: ModelConfig, batch: Batch, size: float) -> tuple[list[Batch], float]:
    """A step over that many problems of all lengths, and how many times its operations a step over the batch has.

    Less than one problem is one with a share of its rows.
    """

    def cut(problems: Batch) -> list[Batch]:
        return problems.buckets(min(config.optimizer.micro_batches, len(problems)))

    def operations(model: ModelConfig, parts: list[Batch]) -> float:
        sizes = ((len(part), part.y.shape[1], part.token_ids.shape[1] - 1) for part in parts)
        return sum(count * forward_cost(model, rows, tokens).training for count, rows, tokens in sizes)

    whole, n = cut(batch), max(1, int(size))
    spread = np.argsort(batch.lengths, kind="stable")[(2 * np.arange(n) + 1) * len(batch) // (2 * n)]
    part = batch if n == len(batch) else batch.take(spread)
    parts = cut(first_rows(part, max(1, round(min(size, 1) * part.y.shape[1]))))
    return parts, operations(config.model, whole) / operations(timed, parts)


def _matrix_speed() -> float:
    """Operations a second of large matrix products in float32."""
    a = torch.randn(1024, 1024)
    return 2 * 1024**3 / min(timeit.repeat(lambda: a @ a, number=1, repeat=8))


def _peak_bytes() -> int:
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated()
    # kilobytes, but bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
