"""What rules are worth: length and time by the longest pattern, which rules are used, what changes in training targets.

    python benchmarks/rules.py [--rows 20000] [--against rules.txt ...] [--instructions] [--out results/rules]
    python benchmarks/rules.py --figure-only

The corpus are skeletons of the paper's prior as drawn, or the rows of --corpus: a JSON list of prefix tokens on each
line, as make_corpus.py writes them. The bundled rules are compared with those that were written by hand before any were
mined. Times are CPU times of one thread, the least of a few passes that take turns; they count as ratios within a run.
--instructions counts those of both sets with valgrind, which other processes do not disturb.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from flash_ansr.data import Generator
from flash_ansr.versions import rule_set_hash
from simplipy import Engine, TokenBatch, parse
from simplipy.files.output_files import write_whole
from simplipy.mining.rule import Rule
from simplipy.mining.rule_file import read_rules

ROOT = Path(__file__).parents[1]
STARTER = Path(__file__).with_name("starter_rules.txt")
FIGURE = ROOT / "docs" / "figures" / "rules_by_length.png"
LENGTHS = (0, 3, 4, 5, 6, 7)
PASSES = 7
COUNTED_PASSES = 10
TARGET_SEED = 7
SAMPLE_SEED = 0
N_SAMPLE = 20
BUNDLED = "bundled rules"
# what valgrind runs: so many passes over a corpus with a rule file
PASS_SCRIPT = """
import json, sys
from pathlib import Path
from simplipy import Engine, TokenBatch, parse
batch = TokenBatch.from_tokens([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()])
engine = Engine(Path(sys.argv[2]))
for _ in range(int(sys.argv[3])):
    engine.simplify_many(batch, n_threads=1)
"""

Tokens = list[str]


def drawn(prior: str, n: int, seed: int) -> list[Tokens]:
    """Skeletons of a prior, as drawn and not simplified."""
    rows = Generator(prior, holdouts=()).skeletons(seed, range(n), simplified=False)
    return [tokens for tokens in rows if tokens is not None]


def by_length(engines: dict[str, Engine], rows: Sequence[Tokens]) -> dict[str, dict[str, dict[str, float]]]:
    """Mean length ratio and CPU microseconds an expression, by rule set and longest pattern."""
    batch = TokenBatch.from_tokens(rows)
    n_in = np.diff(batch.offsets)
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in engines}
    for _ in track(range(PASSES), "time by longest pattern", transient=True):
        for length in LENGTHS:
            for name, engine in engines.items():
                start = time.process_time()
                out = engine.simplify_many(batch, n_threads=1, max_pattern_length=length)
                us = (time.process_time() - start) / len(batch) * 1e6
                row = found[name].setdefault(str(length), {"microseconds": np.inf})
                row["microseconds"] = min(row["microseconds"], us)
                row["ratio"] = float(np.mean(np.diff(out.offsets) / n_in))
    return found


def median_calls(engines: dict[str, Engine], rows: Sequence[Tokens]) -> dict[str, float]:
    """Median over the rows of the least time of a call, in microseconds; passes over all rows take turns."""
    best = {name: np.full(len(rows), np.inf) for name in engines}
    for _ in track(range(PASSES), "time of single calls", transient=True):
        for name, engine in engines.items():
            for i, tokens in enumerate(rows):
                start = time.perf_counter_ns()
                engine.simplify(tokens)
                best[name][i] = min(best[name][i], time.perf_counter_ns() - start)
    return {name: float(np.median(ns)) / 1e3 for name, ns in best.items()}


def instructions(paths: dict[str, Path], rows: Sequence[Tokens], folder: Path) -> dict[str, float]:
    """Instructions an expression: of many passes less those of one, so that loading does not count."""
    corpus = folder / ".corpus.jsonl"
    corpus.write_text("".join(json.dumps(tokens) + "\n" for tokens in rows), encoding="utf-8")
    found = {}
    for name, path in paths.items():
        counts = [_instructions(corpus, path, n) for n in (1, 1 + COUNTED_PASSES)]
        found[name] = (counts[1] - counts[0]) / COUNTED_PASSES / len(rows)
    corpus.unlink()
    return found


def _instructions(corpus: Path, rules: Path, n_passes: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", PASS_SCRIPT]
    # hashes that change from process to process change what loading takes by more than a pass
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    arguments = [*command, str(corpus), str(rules), str(n_passes)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    collected = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    assert collected is not None
    return int(collected[1])


def usage(engine: Engine, rows: Sequence[Tokens]) -> Counter[str]:
    """In how many expressions each rule of the file takes part."""
    text = (ROOT / "src" / "simplipy" / "data" / "rules.txt").read_text(encoding="utf-8")
    names = {line.split(": ")[0] for line in text.splitlines() if line and not line.startswith("#")}
    counts: Counter[str] = Counter()
    for tokens in track(rows, "rules used", transient=True):
        counts.update({name for step in engine.explain(tokens).steps for name in step.rules if name in names})
    return counts


def changed_targets(engines: dict[str, Engine], prior: str, n: int) -> dict[str, Any]:
    """How many training targets have another form under each rule set than under the bundled one."""
    rows = drawn(prior, n, TARGET_SEED)
    batch = TokenBatch.from_tokens(rows)
    length = Generator(prior, holdouts=()).prior.max_pattern_length
    forms = {
        name: engine.simplify_many(batch, mask_numbers=True, max_pattern_length=length).to_tokens()
        for name, engine in engines.items()
    }
    changed = {
        name: sum(a != b for a, b in zip(forms[BUNDLED], other, strict=True))
        for name, other in forms.items()
        if name != BUNDLED
    }
    return {"prior": prior, "n_targets": len(rows), "seed": TARGET_SEED, "changed_against": changed}


def kinds_of(rules: Sequence[Rule]) -> dict[str, dict[str, int]]:
    """How many rules there are of each kind, by length."""
    counts: dict[str, dict[str, int]] = {}
    for rule in sorted(rules, key=lambda rule: rule.length):
        row = counts.setdefault(str(rule.length), {"exact": 0, "extends": 0, "conditional": 0})
        row[rule.kind] += 1
    return counts


def sample_of(rules: Sequence[Rule]) -> list[list[str]]:
    """Pattern, replacement and kind of some rules drawn at random."""
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(rules), N_SAMPLE, replace=False)
    return [
        [parse(rule.pattern).infix(), parse(rule.replacement).infix(), ", ".join([rule.kind, *rule.conditions])]
        for rule in (rules[i] for i in sorted(chosen))
    ]


def draw(results: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Length ratio, and time relative to no rules, against the longest pattern."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for name, rows in results.items():
        x = [int(length) for length in rows]
        axes[0].plot(x, [row["ratio"] for row in rows.values()], marker="o", label=name)
        axes[1].plot(
            x, [row["microseconds"] / rows["0"]["microseconds"] for row in rows.values()], marker="o", label=name
        )
    axes[0].set(xlabel="longest pattern $L_{max}$", ylabel="mean length ratio")
    axes[1].set(xlabel="longest pattern $L_{max}$", ylabel="CPU time, no rules = 1", ylim=(0, None))
    axes[0].ticklabel_format(useOffset=False)
    axes[0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)


def report(result: dict[str, Any]) -> None:
    """Print what was measured."""
    for name, rows in result["lengths"].items():
        for length, row in rows.items():
            print(f"{name:16} L_max {length}: ratio {row['ratio']:.6f}, {row['microseconds']:.2f} us")
    for what in ("median_call_microseconds", "instructions"):
        for name, value in result.get(what, {}).items():
            percent = 100 * (value / result[what][STARTER.stem] - 1)
            print(f"{what} {name}: {value:,.1f} ({percent:+.1f} % against {STARTER.stem})")
    targets = result["targets"]
    for name, n in targets["changed_against"].items():
        share = 100 * n / targets["n_targets"]
        print(f"{n} of {targets['n_targets']} targets of {targets['prior']} ({share:.3f} %) differ from {name}")
    for pattern, replacement, kind in result["sample"]:
        print(f"{pattern} -> {replacement} ({kind})")
    print("rules by length and kind:", json.dumps(result["kinds"]))
    print("most used:", *(f"{n:5} {name}" for name, n in list(result["used"].items())[:20]), sep="\n")


def main() -> None:
    """Measure, print, and write a JSON file and a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="rows of prefix tokens; drawn from the paper's prior without it")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the corpus")
    parser.add_argument("--calls", type=int, default=2_000, help="rows that are timed one by one")
    parser.add_argument("--targets", type=int, default=100_000, help="training targets of the wide prior")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against", type=Path, nargs="*", default=[], help="more rule files to compare with")
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind, some minutes")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "rules")
    parser.add_argument("--figure-only", action="store_true", help="from the results of an earlier run")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.figure_only:
        measure(options)
    result = json.loads((options.out / "rules.json").read_text(encoding="utf-8"))
    report(result)
    draw(result["lengths"], FIGURE)


def measure(options: argparse.Namespace) -> None:
    """Measure all and write rules.json."""
    if options.corpus:
        lines = options.corpus.read_text(encoding="utf-8").splitlines()[: options.rows]
        rows = [json.loads(line) for line in lines]
    else:
        rows = drawn("paper", options.rows, options.seed)
    paths = {path.stem: path for path in (STARTER, *options.against)}
    engines = {BUNDLED: Engine()} | {name: Engine(path) for name, path in paths.items()}
    mined = read_rules(ROOT / "src" / "simplipy" / "data" / "mined_rules.json")
    corpus = options.corpus.name if options.corpus else f"prior paper, seed {options.seed}"
    result: dict[str, Any] = {
        "run": {"corpus": corpus, "n_rows": len(rows), "n_calls": options.calls, "simplifier_sha256": rule_set_hash()},
        "lengths": by_length(engines, rows),
        "median_call_microseconds": median_calls(engines, rows[: options.calls]),
        "targets": changed_targets(engines, "wide", options.targets),
        "kinds": kinds_of(mined),
        "sample": sample_of(mined),
        "used": dict(usage(engines[BUNDLED], rows).most_common()),
    }
    if options.instructions:
        bundled = {BUNDLED: ROOT / "src" / "simplipy" / "data" / "rules.txt", STARTER.stem: STARTER}
        result["instructions"] = instructions(bundled, rows[: options.calls], options.out)
    write_whole(options.out / "rules.json", json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
