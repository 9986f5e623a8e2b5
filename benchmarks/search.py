"""Recovery of the whole search on development problems: textbook laws, Nguyen, Keijzer, and draws of a prior.

    python benchmarks/search.py [--time 1] [--sets textbook nguyen keijzer wide] [--proposers closed_form local]
                                [--rows 256] [--draws 40] [--every 1] [--checkpoint RUN] [--cpu] [--show]

A law is recovered where its FVU on fresh rows is below 1.19e-7, and held where it also is on rows from widened ranges
(not for draws of the prior, whose ranges are those of the draw). The length ratio is over recovered problems. FastSRB
is the examination and takes no part.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flash_ansr import FlashANSR, catalogues, regressor
from flash_ansr.data import Generator, load_prior
from flash_ansr.data.prior import Noise, Prior
from flash_ansr.infer.proposers import data
from flash_ansr.infer.search.budget import Budget
from simplipy import Expression, simplify

LAWS = Path(__file__).with_name("textbook_laws.yaml")
RECOVERED = 1.19e-7
WIDE_SEED = 20


@dataclass
class Problem:
    """Rows to fit, and rows to judge by."""

    name: str
    fit: tuple[np.ndarray, np.ndarray]
    fresh: tuple[np.ndarray, np.ndarray]
    widened: tuple[np.ndarray, np.ndarray] | None
    truth: Expression


@dataclass
class Outcome:
    """What the search made of one problem."""

    recovered: bool
    held: bool | None
    ratio: float
    seconds: float
    report: dict
    law: str
    truth: str
    fvu: float


def catalogue_problems(name: str, n_rows: int) -> Iterator[Problem]:
    for p in catalogues.load(str(LAWS) if name == "textbook" else name):
        if p.excluded:
            continue
        parts = [p.sample(n_rows, 0), p.sample(256, 0, split="validation")]
        parts.append(p.sample(256, 0, split="validation", widened=True))
        fit, fresh, widened = ((part.X, part.y) for part in parts)
        yield Problem(p.name, fit, fresh, widened, p.expression)


def prior_problems(n: int, n_rows: int) -> Iterator[Problem]:
    """Draws of the `wide` prior with at most five variables, all of which matter."""
    prior = dataclasses.replace(load_prior("wide"), p_irrelevant=0.0, holdouts=())
    prior = dataclasses.replace(prior, skeletons=dataclasses.replace(prior.skeletons, n_variables=5))
    yield from drawn_problems(prior, WIDE_SEED, n, n_rows)


def drawn_problems(prior: Prior, seed: int, n: int, n_rows: int) -> Iterator[Problem]:
    """Draws of a prior without noise, and 256 fresh rows of each."""
    prior = dataclasses.replace(prior, noise=Noise()).with_rows(n_rows + 256)
    batch = Generator(prior).batch(seed, range(n), detailed=True)
    for i in range(n):
        truth = batch.expression(i)
        X = batch.X[i, :, : batch.n_columns[i]].astype(np.float64)
        y = truth(X)
        yield Problem(f"wide-{i}", (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:]), None, truth)


def fvu(expression: Expression, X: np.ndarray, y: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        value = float(np.mean((expression(X) - y) ** 2) / np.var(y))
    return value if np.isfinite(value) else np.inf


def judged(problem: Problem, model: FlashANSR, seconds: float) -> Outcome:
    law = model.expression_
    on_fresh = fvu(law, *problem.fresh)
    recovered = on_fresh < RECOVERED
    held = None
    if problem.widened is not None:
        held = recovered and fvu(law, *problem.widened) < RECOVERED
    ratio = len(simplify(law)) / len(simplify(problem.truth))
    return Outcome(recovered, held, ratio, seconds, model.report_, law.infix(5), problem.truth.infix(5), on_fresh)


def count_cpu_time() -> None:
    """Budgets in CPU time: what others do on the machine does not count."""
    regressor.Budget = functools.partial(Budget, clock=time.process_time)  # type: ignore[misc]
    data.now = time.process_time


def problems_of(name: str, options: argparse.Namespace) -> list[Problem]:
    drawn = prior_problems(options.draws, options.rows) if name == "wide" else catalogue_problems(name, options.rows)
    return list(drawn)[:: options.every]


def run(problem: Problem, options: argparse.Namespace) -> Outcome:
    model = FlashANSR(
        time_limit=options.time,
        proposers=options.proposers or "auto",
        checkpoint=options.checkpoint,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    start = time.monotonic()
    model.fit(*problem.fit)
    return judged(problem, model, time.monotonic() - start)


def print_totals(name: str, outcomes: list[Outcome]) -> None:
    n = len(outcomes)
    good = [o for o in outcomes if o.recovered]
    judged_wide = [o for o in outcomes if o.held is not None]
    held = f"{np.mean([bool(o.held) for o in judged_wide]):7.1%}" if judged_wide else "      -"
    ratio = np.mean([o.ratio for o in good]) if good else np.nan
    drawn = sum(o.report["drawn"] for o in outcomes) / sum(o.report["seconds"] for o in outcomes)
    seconds = np.mean([o.seconds for o in outcomes])
    longest = max(o.seconds for o in outcomes)
    won = Counter(next((k for k, v in o.report["proposers"].items() if v["won"]), "baseline") for o in good)
    print(
        f"{name:9} {n:4d} {len(good) / n:9.1%}  {held}  {ratio:7.3f}  {seconds:6.2f}  {longest:7.2f}  {drawn:9.0f}  "
        + ", ".join(f"{k} {v}" for k, v in won.most_common()),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=1.0)
    parser.add_argument("--sets", nargs="+", default=["textbook", "nguyen", "keijzer", "wide"])
    parser.add_argument("--proposers", nargs="+", default=None)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--every", type=int, default=1, help="take every k-th problem")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, help="network that takes part, loaded before the first search")
    parser.add_argument("--cpu", action="store_true", help="seconds of CPU time on one thread, for a busy machine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=None, help="problems whose name contains this")
    parser.add_argument("--show", action="store_true", help="print what was missed, approximate or too long")
    options = parser.parse_args()
    if options.cpu:
        count_cpu_time()
        options.jobs = 1
    if options.checkpoint is not None:
        import flash_ansr.infer.proposers.neural.proposer  # noqa: F401
    print("set          n recovered     held   length  mean s  longest    drawn/s  recovered by")
    everything: list[Outcome] = []
    for name in options.sets:
        outcomes = []
        for problem in problems_of(name, options):
            if options.only and options.only not in problem.name:
                continue
            outcome = run(problem, options)
            outcomes.append(outcome)
            if options.show and (not outcome.recovered or outcome.held is False or outcome.ratio > 1.15):
                kind = "long" if outcome.recovered and outcome.held is not False else "approximate"
                print(f"    {kind if outcome.recovered else 'missed'} {problem.name}: {outcome.law}")
                print(f"        truth {outcome.truth}; FVU {outcome.fvu:.1e}, length {outcome.ratio:.2f}", flush=True)
        if outcomes:
            print_totals(name, outcomes)
        everything += outcomes
    print_totals("all", everything)


if __name__ == "__main__":
    main()
