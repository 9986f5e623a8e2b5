"""Throughput of the local search: distinct canonical forms screened a second, 64 rows, three variables.

    python benchmarks/local.py [--threads 2] [--seconds 5] [--least 20000]

Screened: simplified, not met before, evaluated with its linear constants solved, and improved by Levenberg-Marquardt
where it comes near being kept. CPU time is that of all threads; the rate by CPU time is what two free cores would give.
Exit code 1 where fewer than `--least` are screened a second by the clock.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.local.proposer import LocalProposer
from flash_ansr.infer.table.table import Table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--least", type=float, default=0.0, help="screened a second that are to be reached")
    options = parser.parse_args()
    X = np.random.default_rng(0).uniform(0.5, 3.0, (64, 3))
    y = X[:, 0] * np.sin(2 * X[:, 1]) * np.exp(-X[:, 2]) + np.cosh(X[:, 2] - X[:, 0]) / (1 + X[:, 1] ** 3)
    proposer = LocalProposer(ProposerContext(Table(X, y), n_threads=options.threads))
    start, cpu = time.monotonic(), time.process_time()
    n_rounds = 0
    while time.monotonic() - start < options.seconds:
        proposer.propose(proposer.round_size, n_rounds)
        n_rounds += 1
    seconds, cpu = time.monotonic() - start, time.process_time() - cpu
    counts = proposer.counts
    print(f"{options.threads} threads, {seconds:.1f} s, {cpu:.1f} s of CPU time")
    print(f"children {counts.drawn}, new forms {counts.new}, screened {counts.screened}, descended {counts.descended}")
    print(f"screened a second: {counts.screened / seconds:.0f} by the clock, {counts.screened / cpu:.0f} by CPU time")
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return int(counts.screened / seconds < options.least)


if __name__ == "__main__":
    sys.exit(main())
