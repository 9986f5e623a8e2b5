"""Candidates a second of the search, sequences a second of the sampler. Wall clock and CPU time, best of a few runs.

Other work on the machine slows the wall clock; CPU time of all threads tells what a quiet machine would do.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from flash_ansr import FlashANSR
from flash_ansr.checkpoint.folder import find_checkpoint
from flash_ansr.checkpoint.weights import load_network
from flash_ansr.data import Vocabulary
from flash_ansr.infer.proposers.neural.sampler import States, TokenRules, sample
from flash_ansr.infer.search.set_up import bundled_checkpoint
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


def search_with(proposer: str, n_samples: int, checkpoint: Path | None) -> Callable[[int], int]:
    """Distinct candidates fitted to 64 rows out of so many draws; noise, so that nothing ends it early."""

    def search(seed: int) -> int:
        rng = np.random.default_rng(0)
        X = rng.uniform(0.5, 3.0, (64, 3))
        y = np.sin(X[:, 0] * X[:, 1]) * X[:, 2] + rng.normal(0, 0.1, 64)
        model = FlashANSR(
            time_limit=None,
            n_samples=n_samples,
            proposers=[proposer],
            checkpoint=checkpoint,
            random_state=seed,
            n_jobs=N_CORES,
        )
        return int(model.fit(X, y).report_["fitted"])

    return search


def sampler(network: Network, n_threads: int) -> Callable[[int], int]:
    """4,096 sequences of a network for a table of three columns."""
    torch.set_num_threads(1)  # as the proposer does: a thread a chunk, none inside
    vocabulary = Vocabulary(9)
    allowed = vocabulary.arities >= 0
    allowed[vocabulary.first_variable + 3 :] = False
    rules = TokenRules(vocabulary.arities.astype(np.int64), vocabulary.start, allowed, 30)
    rows = torch.ones(1, 64, dtype=torch.bool)
    with torch.inference_mode():
        memory = network.encode(torch.randn(1, 64, 9), torch.randn(1, 64), rows)

    def draw(seed: int) -> int:
        drawn = sample(States(network.decoder, memory), rules, 4096, np.random.default_rng(seed), n_threads=n_threads)
        lengths = [len(ids) for ids in drawn.sequences]
        print(f"    run {seed}: mean length {np.average(lengths, weights=drawn.counts):.1f}")
        return 4096

    return draw


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it the network that comes with the package")
    folder = parser.parse_args().checkpoint or bundled_checkpoint()
    # of an untrained network no two draws share a prefix for long, and they are longer
    networks = {
        "untrained": Network(load_config("nano").model).eval(),
        "trained": load_network(find_checkpoint(folder))[0],
    }
    for proposer, n_samples in (("prior", 20_000), ("neural", 4096)):
        wall, cpu = fastest(search_with(proposer, n_samples, folder))
        print(f"{proposer} alone, 64 rows: {wall:,.0f} fitted candidates/s, {cpu:,.0f} a CPU second")
    for name, network in networks.items():
        for n_threads in (1, N_CORES):
            wall, cpu = fastest(sampler(network, n_threads))
            print(f"sampler, {name} nano, {n_threads} threads: {wall:,.0f} sequences/s, {cpu:,.0f} a CPU second")


if __name__ == "__main__":
    main()
