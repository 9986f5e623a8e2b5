"""Training data a second and core: stage by stage and whole, for `paper`, `wide` and `science`, at 64 and 512 rows.

    python benchmarks/data.py [--n 4000] [--out results/data]

Times are CPU time, the best of a few passes; only the gain of two threads is wall-clock time and needs a quiet machine.
The stages are timed by what they leave out: skeletons alone, simplified skeletons, problems without holdouts, problems.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from flash_ansr.data import OUTCOMES, Generator, load_prior

PASSES = 5
SEED = 0


def best(call: Callable[[], object], clock: Callable[[], float]) -> float:
    """Seconds of the best of a few passes: other processes can only add."""
    seconds = []
    for _ in range(PASSES):
        start = clock()
        call()
        seconds.append(clock() - start)
    return min(seconds)


def measured(name: str, rows: int | None, n: int) -> dict[str, object]:
    prior = load_prior(name)
    if rows is not None:
        prior = prior.with_rows(rows)
    generator, open_generator = Generator(prior), Generator(prior, holdouts=())
    indices = range(n)
    outcomes = generator.flat(SEED, indices)["outcomes"].sum(0)
    attempts = int(outcomes.sum()) / n
    core, ids = generator._core, np.arange(n)  # without turning ids into text
    drawn = best(lambda: core.skeletons(SEED, ids, 1, False), time.process_time)
    simplified = best(lambda: core.skeletons(SEED, ids, 1, True), time.process_time)
    without_holdouts = best(lambda: open_generator.batch(SEED, indices), time.process_time)
    whole = best(lambda: generator.batch(SEED, indices), time.process_time)
    whole_on_two = best(lambda: generator.batch(SEED, indices, n_threads=2), time.process_time)
    two_threads = best(lambda: generator.batch(SEED, indices, n_threads=2), time.perf_counter)
    one_thread = best(lambda: generator.batch(SEED, indices, n_threads=1), time.perf_counter)
    micro = 1e6 / n
    return {
        "prior": name,
        "rows": "prior's" if rows is None else rows,
        "skeleton_us": round(drawn * micro, 2),
        "simplify_us": round((simplified - drawn) * micro, 2),
        "attempts_a_pair": round(attempts, 2),
        "holdout_us_a_pair": round((whole - without_holdouts) * micro, 2),
        "us_a_pair": round(whole * micro, 2),
        "pairs_a_second_and_core": round(n / whole),
        "us_on_two_threads": round(whole_on_two * micro, 2),
        "gain_of_two_threads": round(one_thread / two_threads, 2),
        "outcomes": {o: int(c) for o, c in zip(OUTCOMES, outcomes, strict=True)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=Path("results/data"))
    arguments = parser.parse_args()
    results = [measured(name, rows, arguments.n) for name in ("paper", "wide", "science") for rows in (None, 64, 512)]
    table = Table(box=None)
    for column in results[0]:
        if column != "outcomes":
            table.add_column(column.replace("_", " "), justify="right")
    for row in results:
        table.add_row(*(str(value) for key, value in row.items() if key != "outcomes"))
    Console(width=200).print(table)
    arguments.out.mkdir(parents=True, exist_ok=True)
    summary = {"machine": platform.processor() or platform.machine(), "n": arguments.n, "results": results}
    (arguments.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
