"""Memory of a long search: megabytes of the process, minute by minute, on rows that no law ends early.

    python benchmarks/memory.py [--minutes 10] [--rows 512] [--columns 3] [--checkpoint RUN] [--seed 0]

Everything takes part, the network where there is one. Noise of 10 % on a law of three variables: nothing is exact, so
that the search goes on to its limit.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from flash_ansr import FlashANSR
from flash_ansr.infer.progress import Progress


def megabytes() -> float:
    """Of this process, now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Search, and print a line a minute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    X = rng.uniform(0.5, 3.0, (options.rows, options.columns))
    y = np.sin(X[:, 0] * X[:, -1]) * np.exp(-X[:, 1 % options.columns]) + np.sqrt(X.sum(axis=1))
    y += 0.1 * y.std() * rng.normal(size=options.rows)
    print("minute       MB     drawn  distinct")
    largest, told = megabytes(), -1

    def look(progress: Progress) -> None:
        nonlocal largest, told
        largest = max(largest, megabytes())
        if int(progress.elapsed / 60) > told:
            told = int(progress.elapsed / 60)
            print(f"{told:6d} {megabytes():8.1f} {progress.n_drawn:9,d} {progress.n_unique:9,d}", flush=True)

    model = FlashANSR(
        time_limit=60 * options.minutes, checkpoint=options.checkpoint, callback=look, random_state=options.seed
    )
    model.fit(X, y)
    print(f"at the end {megabytes():.1f} MB, {largest:.1f} at most; {model.report_['drawn']:,} formulas drawn")
    print({name: facts["unique"] for name, facts in model.report_["proposers"].items()})


if __name__ == "__main__":
    main()
