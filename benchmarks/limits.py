"""Whether a search keeps its limit, and finds the same law on one core and on two.

    python benchmarks/limits.py [--limits 0.25 1 5] [--rows 16 256 4096 262144] [--samples 8192] [--seed 0]

For each limit and number of rows an easy law, which ends a search early, a harder one, the same with noise of 1 %, and
targets that are no formula of ours.
A limit is kept where the call to `fit` takes at most 5 % + 0.2 s longer. Exit code 1 where one is not, or where the
laws, scores or numbers of candidates of `n_jobs` 1 and 2 differ.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from flash_ansr import FlashANSR

ALLOWED_SHARE, ALLOWED_SECONDS = 0.05, 0.2


def targets(X: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Targets [n] of each kind."""
    a, b, c = X.T
    hard = a * np.sin(2 * b) + np.exp(-c) / a
    no_formula = sum(np.sin(a * np.cos(b * t) + c * t) for t in np.linspace(0.0, np.pi, 100))
    noisy = hard + 0.01 * hard.std() * rng.normal(size=len(X))
    return {"easy": 2.5 * a * b**2 * np.exp(-c), "hard": hard, "noisy": noisy, "no formula": no_formula}


def time_limits(options: argparse.Namespace) -> float:
    """The worst excess over what is allowed, in seconds; negative where every limit is kept."""
    worst = -np.inf
    print(" rows    kind        limit  seconds     over  stop")
    for n_rows in options.rows:
        rng = np.random.default_rng(options.seed)
        X = rng.uniform(0.5, 3.0, (n_rows, 3))
        for kind, y in targets(X, rng).items():
            for limit in options.limits:
                start = time.perf_counter()
                model = FlashANSR(time_limit=limit, random_state=options.seed, n_jobs=2).fit(X, y)
                seconds = time.perf_counter() - start
                over, stop = seconds - limit, model.report_["stop"]
                worst = max(worst, over - ALLOWED_SHARE * limit - ALLOWED_SECONDS)
                print(f"{n_rows:6d}  {kind:10s}  {limit:5g}  {seconds:7.2f}  {over:+7.3f}  {stop}", flush=True)
    return worst


def same_by_cores(options: argparse.Namespace) -> bool:
    """Whether one core and two give the same table of candidates, for a budget of candidates."""
    rng = np.random.default_rng(options.seed)
    X = rng.uniform(0.5, 3.0, (256, 3))
    same = True
    for kind, y in targets(X, rng).items():
        models = [
            FlashANSR(
                n_samples=options.samples, time_limit=None, random_state=options.seed, n_jobs=n_jobs, target_fvu=0.0
            ).fit(X, y)
            for n_jobs in (1, 2)
        ]
        tables = [model.candidates_.drop(columns="time", errors="ignore").astype(str) for model in models]
        same_here = tables[0].equals(tables[1])
        same &= same_here
        drawn = {model.report_["drawn"] for model in models}
        print(f"{kind}: one core and two {'agree' if same_here else 'DIFFER'}, {drawn} drawn: {models[0].expression_}")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", type=float, nargs="*", default=[0.25, 1.0, 5.0])
    parser.add_argument("--rows", type=int, nargs="+", default=[16, 256, 4096, 2**18])
    parser.add_argument("--samples", type=int, default=8192)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worst = time_limits(options)
    print(f"worst excess over 5 % + 0.2 s: {worst:+.3f} s")
    return int(worst > 0 or not same_by_cores(options))


if __name__ == "__main__":
    sys.exit(main())
