"""What rules are worth: length and time by the longest pattern, how often each rule is used, what changes in targets.

    python benchmarks/rules.py [--corpus rows.jsonl] [--against other_rules.txt] [--out results/rules]

The corpus has a JSON list of prefix tokens on each line, as make_corpus.py writes them. Times are CPU times of one
thread over the whole corpus in one call, the least of a few passes, and count only as ratios within this run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from simplipy import Engine, TokenBatch

ROOT = Path(__file__).parents[1]
LENGTHS = (0, 3, 4, 5, 6, 7)
PASSES = 3


def measured(engine: Engine, batch: TokenBatch, n_in: np.ndarray) -> dict[int, dict[str, float]]:
    """Mean length ratio and microseconds an expression, by the longest pattern."""
    found = {}
    for length in LENGTHS:
        seconds = np.inf
        for _ in range(PASSES):
            start = time.process_time()
            out = engine.simplify_many(batch, n_threads=1, max_pattern_length=length)
            seconds = min(seconds, time.process_time() - start)
        n_out = np.diff(out.offsets)
        found[length] = {"ratio": float(np.mean(n_out / n_in)), "microseconds": seconds / len(batch) * 1e6}
    return found


def usage(engine: Engine, rows: list[list[str]]) -> Counter[str]:
    """In how many expressions each rule takes part."""
    counts: Counter[str] = Counter()
    for tokens in track(rows, "rules used", transient=True):
        counts.update({name for step in engine.explain(tokens).steps for name in step.rules})
    return counts


def draw(results: dict[str, dict[int, dict[str, float]]], path: Path) -> None:
    """Length ratio and time against the longest pattern."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name, by_length in results.items():
        x = list(by_length)
        axes[0].plot(x, [by_length[n]["ratio"] for n in x], marker="o", label=name)
        axes[1].plot(x, [by_length[n]["microseconds"] for n in x], marker="o", label=name)
    axes[0].set(xlabel="longest pattern $L_{max}$", ylabel="mean length ratio")
    axes[1].set(xlabel="longest pattern $L_{max}$", ylabel="CPU time an expression in us", ylim=(0, None))
    axes[0].ticklabel_format(useOffset=False)
    axes[0].legend()
    figure.savefig(path, dpi=130)


def main() -> None:
    """Measure, print, and write a JSON file and a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared" / "data" / "prior_dev.jsonl")
    parser.add_argument("--against", type=Path, help="another rule file to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "rules")
    parser.add_argument("--limit", type=int, help="first so many rows")
    options = parser.parse_args()
    if not options.corpus.exists():
        parser.exit(2, f"there is no corpus at {options.corpus}; name one with --corpus\n")
    rows = [json.loads(line) for line in options.corpus.read_text(encoding="utf-8").splitlines()][: options.limit]
    batch = TokenBatch.from_tokens(rows)
    n_in = np.diff(batch.offsets)
    engines = {"bundled rules": Engine()} | ({options.against.stem: Engine(options.against)} if options.against else {})
    results: dict[str, Any] = {name: measured(engine, batch, n_in) for name, engine in engines.items()}
    for name, by_length in results.items():
        for length, row in by_length.items():
            print(f"{name:16} L_max {length}: ratio {row['ratio']:.6f}, {row['microseconds']:.2f} us")
    mined = {line.split(": ")[0] for line in rule_lines()}
    used = Counter({name: n for name, n in usage(engines["bundled rules"], rows).items() if name in mined})
    for name, n in used.most_common(20):
        print(f"{n:5} {name}")
    options.out.mkdir(parents=True, exist_ok=True)
    about = {"corpus": options.corpus.name, "n_rows": len(rows)}
    text = json.dumps({"run": about, "lengths": results, "used": dict(used.most_common())}, indent=1) + "\n"
    partial = options.out / ".rules.json.part"
    partial.write_text(text, encoding="utf-8")
    partial.replace(options.out / "rules.json")
    draw(results, options.out / "lengths.png")


def rule_lines() -> list[str]:
    """Lines of the bundled rules."""
    text = (ROOT / "src" / "simplipy" / "data" / "rules.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    main()
