"""Recovery by closed forms alone on textbook laws, at several budgets on one thread.

    python benchmarks/closed_form.py [--budgets 0.1 0.3 1] [--rows 256] [--noise 0] [--catalogue FILE or name]

A law counts as recovered where the best-scored proposal has FVU < 1e-9 on fresh rows, and as held where it also has on
rows from widened ranges. With noise, the recovered law may have FVU up to a hundredth of the noise's variance.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flash_ansr import ProposerContext, catalogues
from flash_ansr.infer.proposers import data
from flash_ansr.infer.proposers.closed_form.proposer import closed_forms
from flash_ansr.infer.table.table import Table
from simplipy import Expression, parse, simplify

LAWS = Path(__file__).with_name("textbook_laws.yaml")
GAMMA = 0.05
FLOOR = 1e-24


@dataclass
class Outcome:
    """What one budget gave on one problem."""

    recovered: bool = False
    held: bool = False
    seconds: float = np.inf
    ratio: float = np.nan
    law: str = ""


def fvu(expression: Expression, X: np.ndarray, y: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        value = float(np.mean((expression(X) - y) ** 2) / np.var(y))
    return value if np.isfinite(value) else np.inf


def proposals(X: np.ndarray, y: np.ndarray, budget: float) -> list[tuple[float, Expression]]:
    """Every proposal with the seconds it took."""
    start = data.now()
    found: list[tuple[float, Expression]] = []
    for batch in closed_forms(data.Data.of(ProposerContext(Table(X, y)), start + budget)):
        found += [(data.now() - start, e) for e in batch]
    return found


def judge(problem: catalogues.Problem, found: list[tuple[float, Expression]], rows: tuple, noise: float) -> Outcome:
    """The best-scored proposal on data that it has not seen."""
    X, y = rows
    scores = [np.log10(max(fvu(e, X, y), FLOOR)) + GAMMA * len(e) for _, e in found]
    if not scores:
        return Outcome()
    seconds, best = found[int(np.argmin(scores))]
    threshold = max(1e-9, 0.01 * noise**2)
    fresh = problem.sample(256, 0, split="validation")
    wide = problem.sample(256, 0, split="validation", widened=True)
    recovered = fvu(best, fresh.X, fresh.y) < threshold
    held = recovered and fvu(best, wide.X, wide.y) < threshold
    rounded = simplify(parse(best.infix(9)))
    return Outcome(recovered, held, seconds, len(rounded) / len(simplify(problem.expression)), best.infix(6))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.1, 0.3, 1.0])
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--catalogue", default=str(LAWS))
    parser.add_argument("--show", action="store_true", help="print the laws that were missed")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--cpu", action="store_true", help="budgets in seconds of CPU time, for a busy machine")
    options = parser.parse_args()
    if options.cpu:
        data.now = time.process_time
    problems = [p for p in catalogues.load(options.catalogue) if not p.excluded][: options.limit]
    warm = problems[0].sample(32, 0)
    proposals(warm.X, warm.y, 0.2)
    print(f"{len(problems)} laws, {options.rows} rows, noise {options.noise:g}, one thread")
    print("budget  recovered  held  median s to the law  longest overrun s  length ratio")
    for budget in options.budgets:
        outcomes, overruns = {}, []
        for problem in problems:
            sample = problem.sample(options.rows, 0)
            noise = np.random.default_rng(0).normal(0, 1, len(sample.y)) * options.noise * np.std(sample.y)
            start = data.now()
            found = proposals(sample.X, sample.y + noise, budget)
            overruns.append(data.now() - start - budget)
            outcomes[problem.name] = judge(problem, found, (sample.X, sample.y + noise), options.noise)
        good = [o for o in outcomes.values() if o.recovered]
        share = len(good) / len(problems)
        held = sum(o.held for o in outcomes.values()) / len(problems)
        median = np.median([o.seconds for o in good]) if good else np.nan
        ratio = np.mean([o.ratio for o in good]) if good else np.nan
        print(f"{budget:6g}  {share:8.1%}  {held:6.1%}  {median:18.3f}  {max(overruns):17.3f}  {ratio:12.3f}")
        if options.show:
            for name, o in outcomes.items():
                if not o.held:
                    print(f"    {'recovered, not held' if o.recovered else 'missed'}: {name}: {o.law}")
                elif o.ratio > 1.15:
                    print(f"    long {o.ratio:.2f}: {name}: {o.law}")


if __name__ == "__main__":
    main()
