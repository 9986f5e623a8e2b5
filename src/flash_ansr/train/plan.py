"""What a training run would cost: parameters, operations, speed measured here, hours, memory. Trains nothing."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass

import torch

from flash_ansr.data import Batch
from flash_ansr.model import Network
from flash_ansr.model.cost import Cost, forward_cost, state_bytes
from flash_ansr.train.config import TrainConfig
from flash_ansr.train.loop import make_optimizer, on_this_machine, token_loss
from flash_ansr.train.problems import Problems, n_targets

_MAX_MEASURED_PARAMETERS = 200_000_000
_MEASURED_SECONDS = 8.0
# share of the speed of large matrix products that training of a large network reaches
_EFFICIENCY = 0.6


@dataclass(frozen=True, slots=True)
class Plan:
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
    measured : bool
        False: estimated from the speed of matrix products, since the network is too large to try.
    data_share : float
        Share of the time of a step that goes into making problems.
    state_bytes, peak_bytes : int
        Weights, gradients and optimizer; and the most memory that the process had, 0 where nothing was measured.
    """

    n_encoder: int
    n_decoder: int
    n_rows: float
    n_tokens: float
    cost: Cost
    samples_per_second: float
    n_threads: int
    measured: bool
    data_share: float
    state_bytes: int
    peak_bytes: int

    def hours(self, n_samples: int, n_devices: int) -> float:
        """Time for a number of problems if devices add up."""
        return n_samples / (self.samples_per_second * n_devices) / 3600


def make_plan(config: TrainConfig) -> Plan:
    """Look at one batch of the prior, and time a few steps on this machine with one process."""
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
    with torch.device("meta"):
        sizes = Network(config.model).n_parameters()
    n_parameters = sum(sizes.values())
    measured = n_parameters <= _MAX_MEASURED_PARAMETERS
    if measured:
        step_seconds = _time_of_step(config, batch)
    else:
        step_seconds = len(batch) * cost.training / (_EFFICIENCY * _matrix_speed())
    return Plan(
        n_encoder=sizes["encoder"],
        n_decoder=sizes["decoder"],
        n_rows=n_rows,
        n_tokens=n_tokens,
        cost=cost,
        samples_per_second=len(batch) / (step_seconds + data_seconds),
        n_threads=torch.get_num_threads(),
        measured=measured,
        data_share=data_seconds / (step_seconds + data_seconds),
        state_bytes=state_bytes(n_parameters),
        peak_bytes=_peak_bytes() if measured else 0,
    )


def _time_of_step(config: TrainConfig, batch: Batch) -> float:
    """Seconds of an optimizer step without communication, the best of several."""
    on_gpu = config.run.accelerator == "cuda" or (config.run.accelerator == "auto" and torch.cuda.is_available())
    device = torch.device("cuda" if on_gpu else "cpu")
    network = Network(config.model).to(device)
    optimizer = make_optimizer(network, config.optimizer)
    parts = batch.buckets(min(config.optimizer.micro_batches, len(batch)))
    # what other programs do to this one does not count where that can be told: threads that wait for each other spin
    clock = time.process_time if not on_gpu and torch.get_num_threads() == 1 else time.perf_counter
    best, end = float("inf"), time.monotonic() + _MEASURED_SECONDS
    for trial in range(100):
        start = clock()
        for part in parts:
            token_loss(network, part, device, config.run.precision).backward()
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), config.optimizer.clip)
        optimizer.step()
        optimizer.zero_grad()
        float(norm)
        if trial > 0:
            best = min(best, clock() - start)
        if trial > 0 and time.monotonic() > end:
            break
    return best


def _matrix_speed() -> float:
    """Operations a second of large matrix products in float32."""
    a = torch.randn(1024, 1024)
    best = float("inf")
    for _ in range(8):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2 * 1024**3 / best


def _peak_bytes() -> int:
    if torch.cuda.is_available() and torch.cuda.max_memory_allocated():
        return torch.cuda.max_memory_allocated()
    # kilobytes, but bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
