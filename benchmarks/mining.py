"""The paper's rule discovery and ours on the same small task: rules, time, terms a second, errors.

    python benchmarks/mining.py [--time-limit 600] [--out results/rules]

Two tasks, both with one metavariable, all operators and literals and replacements up to three tokens, on one thread:
patterns of three tokens with a free constant, and of four without. The rules go through `simplipy verify`'s check. What
the paper's method accepts about infinities, nan and numbers alone is counted apart: there is no real value to compare.
Times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import track

from simplipy.files.output_files import write_whole
from simplipy.mining.config import MineConfig
from simplipy.mining.discovery import Discovery, Mined
from simplipy.mining.rule import Rule
from simplipy.mining.verification import verify_rule
from simplipy.paper.mining_method import mine_by_fits

ROOT = Path(__file__).parents[1]
SEED = 11
VERIFY_SEED = 7_654_321
NO_NUMBER = {"inf", "-inf", "nan"}
TASKS = {"3, a free constant": (3, 1), "4, no free constant": (4, 0)}  # longest pattern, free constants


def measured(mine: Callable[[], Mined]) -> dict[str, Any]:
    """What a method found and what it took, by length."""
    start = time.process_time()
    mined = mine()
    seconds = time.process_time() - start
    rules = [*mined.rules, *mined.pruned]
    real = [rule for rule in rules if not rule.is_ground and not NO_NUMBER & {*rule.pattern, *rule.replacement}]
    wrong = wrong_rules(real)
    n_tested = sum(report.counts["tested"] for report in mined.lengths)
    return {
        "existing": {report.length: report.existing for report in mined.lengths},
        "tested": {report.length: report.counts["tested"] for report in mined.lengths},
        "seconds": round(seconds, 2),
        "terms_per_second": round(n_tested / seconds, 1),
        "n_rules": len(rules),
        "n_about_numbers_and_infinities": len(rules) - len(real),
        "n_wrong_about_infinities": len(wrong_rules([rule for rule in rules if rule not in set(real)])),
        "n_real": len(real),
        "n_wrong": len(wrong),
        "wrong": wrong[:20],
    }


def wrong_rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Rules that do not hold, with the reason and a counterexample."""
    found = []
    for rule in track(rules, "rules verified", transient=True):
        finding = verify_rule(rule, VERIFY_SEED)
        if not finding.holds:
            text = rule.line().partition(": ")[2]
            found.append({"rule": text, "reason": finding.reason, "at": finding.counterexample})
    return found


def main() -> None:
    """Run both methods on both tasks, print a table and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds of the paper's method on each task")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "rules")
    options = parser.parse_args()
    result: dict[str, dict[str, Any]] = {}
    for task, (length, n_constants) in TASKS.items():
        config = MineConfig(max_length=length, n_variables=1, n_constants=n_constants, seed=SEED)
        result[task] = {
            "join": measured(partial(_by_join, config)),
            "paper": measured(partial(mine_by_fits, config, options.time_limit)),
        }
    write_whole(options.out / "methods.json", json.dumps(result, indent=1) + "\n")
    print(table(result))


def _by_join(config: MineConfig) -> Mined:
    return Discovery(config, n_threads=1).run()


def table(result: dict[str, dict[str, Any]]) -> str:
    """The results as Markdown."""
    names = (
        "patterns up to",
        "method",
        "terms tested",
        "CPU seconds",
        "terms/s",
        "rules",
        "about numbers and infinities alone",
        "of these rejected",
        "others that are wrong",
    )
    lines = ["| " + " | ".join(names) + " |", "| --- " * len(names) + "|"]
    for task, methods in result.items():
        for method, row in methods.items():
            tested, existing = (sum(row[key].values()) for key in ("tested", "existing"))
            share = f"{tested:,}" if tested == existing else f"{tested:,} of {existing:,}"
            speed = f"{row['terms_per_second']:,.0f}"
            wrong = f"{row['n_wrong']} of {row['n_real']}"
            cells = (task, method, share, row["seconds"], speed, row["n_rules"])
            alone = (row["n_about_numbers_and_infinities"], row["n_wrong_about_infinities"])
            lines.append("| " + " | ".join(map(str, (*cells, *alone, wrong))) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
