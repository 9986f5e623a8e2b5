"""Candidates a second of the search, sequences a second of the sampler. Wall clock and CPU time, best of a few runs.

Other work on the machine slows the wall clock; CPU time of all threads tells what a quiet machine would do.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

from flash_ansr import FlashANSR
from flash_ansr.data import Vocabulary
from flash_ansr.infer.sampler import TokenRules, sample
from flash_ansr.model import Network
from flash_ansr.train.config import load_config

N_RUNS = 4
N_CORES = 2


def fastest(work: Callable[[int], int]) -> tuple[float, float]:
    """Things a second of wall clock, and of CPU time, each of the best run."""
    wall, cpu = 0.0, 0.0
    for run in range(N_RUNS):
        start, cpu_start = time.perf_counter(), time.process_time()
        n = work(run)
        wall = max(wall, n / (time.perf_counter() - start))
        cpu = max(cpu, n / (time.process_time() - cpu_start))
    return wall, cpu


def search_with_prior(seed: int) -> int:
    """Distinct candidates fitted to 64 rows out of 20,000 draws; noise, so that nothing ends it early."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (64, 3))
    y = np.sin(X[:, 0] * X[:, 1]) * X[:, 2] + rng.normal(0, 0.1, 64)
    model = FlashANSR(time_limit=None, n_samples=20_000, proposers=["prior"], random_state=seed, n_jobs=N_CORES)
    return int(model.fit(X, y).report_["fitted"])


def sampler(n_threads: int) -> Callable[[int], int]:
    """4,096 sequences of an untrained nano network; the leaves that are allowed make them some 15 tokens long."""
    torch.set_num_threads(1)  # as the proposer does: a thread a chunk, none inside
    vocabulary = Vocabulary(9)
    network = Network(load_config("nano").model).eval()
    allowed = vocabulary.arities >= 0
    allowed[vocabulary.first_variable + 3 :] = False
    rules = TokenRules(vocabulary.arities.astype(np.int64), vocabulary.start, allowed, 30)
    rows = torch.ones(1, 64, dtype=torch.bool)
    with torch.inference_mode():
        memory = network.encode(torch.randn(1, 64, 9), torch.randn(1, 64), rows)

    def draw(seed: int) -> int:
        drawn = sample(network.decoder, memory, rules, 4096, np.random.default_rng(seed), n_threads=n_threads)
        lengths = [len(ids) for ids in drawn.sequences]
        print(f"    run {seed}: mean length {np.average(lengths, weights=drawn.counts):.1f}")
        return 4096

    return draw


def main() -> None:
    """Print all figures."""
    wall, cpu = fastest(search_with_prior)
    print(f"prior alone, 64 rows: {wall:,.0f} fitted candidates/s, {cpu:,.0f} a CPU second")
    for n_threads in (1, N_CORES):
        wall, cpu = fastest(sampler(n_threads))
        print(f"sampler, untrained nano, {n_threads} threads: {wall:,.0f} sequences/s, {cpu:,.0f} a CPU second")


if __name__ == "__main__":
    main()
