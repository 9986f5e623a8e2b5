"""Memory of a long search: megabytes of the process, minute by minute, on rows that no law ends early.

    python benchmarks/memory.py [--minutes 10] [--rows 512] [--columns 3] [--checkpoint RUN] [--seed 0] [--most 1000]

Everything takes part, the network where there is one. A law of three variables that is no formula of ours (an integral
over a thousand angles): nothing is exact and nothing is noise, so that the search goes on to its limit. Exit code 1
where the process ever held more megabytes than `--most`.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from pathlib import Path

import numpy as np

from flash_ansr import FlashANSR
from flash_ansr.infer.search.progress import Progress


def megabytes() -> float:
    """Of this process, now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak() -> float:
    """Megabytes of this process at its largest, by the kernel's account."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def law(X: np.ndarray, n_angles: int = 1000) -> np.ndarray:
    """The mean of sin(a cos(b t) + c t) over angles t: smooth, and in no grammar of ours. [n]."""
    angles = np.linspace(0.0, np.pi, n_angles)
    first, second, last = X[:, [0]], X[:, [1 % X.shape[1]]], X[:, [-1]]
    return np.sin(first * np.cos(second * angles) + last * angles).mean(axis=1)


def main() -> int:
    """Search, and print a line a minute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=1000.0, help="megabytes that may not be exceeded")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    X = rng.uniform(0.5, 3.0, (options.rows, options.columns))
    print("minute       MB     drawn  distinct")
    told = -1

    def look(progress: Progress) -> None:
        nonlocal told
        if int(progress.elapsed / 60) > told:
            told = int(progress.elapsed / 60)
            print(f"{told:6d} {megabytes():8.1f} {progress.n_drawn:9,d} {progress.n_unique:9,d}", flush=True)

    model = FlashANSR(
        time_limit=60 * options.minutes, checkpoint=options.checkpoint, callback=look, random_state=options.seed
    )
    model.fit(X, law(X))
    print(f"at the end {megabytes():.1f} MB, {peak():.1f} at most; {model.report_['drawn']:,} formulas drawn")
    print(f"ended by {model.report_['stop']!r} after {model.report_['seconds']:.0f} s")
    print({name: facts["unique"] for name, facts in model.report_["proposers"].items()})
    return int(peak() > options.most)


if __name__ == "__main__":
    sys.exit(main())
