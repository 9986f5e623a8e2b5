"""Training speed of one thread: problems a second by CPU time, beside the speed of matrix products in the same run.

    python benchmarks/training.py [ROUNDS]

Optimizer steps on 64 problems of the prior (3M: 8 of up to 512 rows), the best of several rounds that take turns.
`nano` multiplies in bfloat16 where the processor has it; the speed beside it is that of float32.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch

from flash_ansr.model import Network
from flash_ansr.model.cost import forward_cost
from flash_ansr.train.config import load_config
from flash_ansr.train.loop import make_optimizer
from flash_ansr.train.problems import Problems
from flash_ansr.train.step import on_this_machine, token_loss

CPU = torch.device("cpu")
SHAPES: dict[str, tuple[str, int, list[str]]] = {
    "nano": ("nano", 64, []),
    "nano, width 192": ("nano", 64, ["model.encoder.dim=192", "model.decoder.dim=192"]),
    "nano, width 256": ("nano", 64, ["model.encoder.dim=256", "model.decoder.dim=256"]),
    "micro": ("micro", 64, []),
    "3M, 512 rows": ("3M", 8, ["data.max_rows=512"]),
}


def stepper(name: str, n_problems: int, assignments: list[str]) -> tuple[Callable[[], None], int, float, float]:
    """An optimizer step, its problems, its operations with padding, and the seconds that its data took."""
    config = on_this_machine(load_config(name, assignments))
    problems = Problems(config, seed=0, batch_size=n_problems)
    problems.batch(0)
    start = time.process_time()
    batch = problems.batch(1)
    data_seconds = time.process_time() - start
    network = Network(config.model)
    optimizer = make_optimizer(network, config.optimizer)
    parts = batch.buckets(config.optimizer.micro_batches)
    sizes = [(len(part), part.X.shape[1], part.token_ids.shape[1] - 1) for part in parts]
    operations = sum(n * forward_cost(config.model, rows, tokens).training for n, rows, tokens in sizes)

    def step() -> None:
        for part in parts:
            token_loss(network, part, CPU, config.run.precision).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), config.optimizer.clip)
        optimizer.step()
        optimizer.zero_grad()

    return step, n_problems, operations, data_seconds


def main() -> None:
    torch.set_num_threads(1)
    n_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    steps = {name: stepper(*shape) for name, shape in SHAPES.items()}
    a, b = torch.randn(4096, 128), torch.randn(128, 384)
    work: dict[str, Callable[[], object]] = {name: step for name, (step, *_) in steps.items()} | {
        "matrix product": lambda: a @ b
    }
    best = dict.fromkeys(work, float("inf"))
    for _ in range(n_rounds):
        for name, run in work.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    peak = 2 * 4096 * 128 * 384 / best["matrix product"]
    print(f"matrix products of (4096, 128) by (128, 384): {peak / 1e9:.0f} GFLOP/s")
    for name, (_, n_problems, operations, data_seconds) in steps.items():
        share = operations / best[name] / peak
        data = data_seconds / (data_seconds + best[name])
        print(f"{name:16} {n_problems / best[name]:6.1f} problems/s, {share:4.0%} of that speed, data {data:.1%}")


if __name__ == "__main__":
    main()
