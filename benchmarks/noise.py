"""Recovery of own laws from noisy targets, and what is found in pure noise.

    python benchmarks/noise.py [--noise 0 0.01 0.1] [--budget 5] [--points 512] [--every 1] [--pure 0] [--cpu]

Noise is added to the targets of the fit alone; a law counts as recovered (vNRR) where its FVU on clean fresh rows is
below the resolution of float32, 1.19e-7, and as held (xNRR) where it is on widened ranges too. "form" counts laws that
fit the clean rows once their numbers are freed: there, numbers alone are to blame. In pure noise nothing is to be
found: a constant or a linear function is the right answer. Exit code 1 where it is found in less than 95 % of them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import functools
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import flash_ansr.regressor
from flash_ansr import FlashANSR, catalogues
from flash_ansr.bench.datasets import DataSet, make_data_set
from flash_ansr.infer.proposers import data as closed_form_data
from flash_ansr.infer.search.budget import Budget
from simplipy import Expression, fit_constants, simplify

CATALOGUES = (str(Path(__file__).with_name("textbook_laws.yaml")), "nguyen", "keijzer")
RECOVERED = 1.19e-7
SAME_FORM = 1e-10
NOISE_SEEN = 0.95


@dataclass
class Outcome:
    """What a search gave on one problem."""

    recovered: bool
    held: bool
    form: bool
    ratio: float
    proposer: str
    law: str


def fvu(expression: Expression, X: np.ndarray, y: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        scale = np.abs(y).max()
        value = float(np.mean((expression(X) / scale - y / scale) ** 2) / np.var(y / scale))
    return value if np.isfinite(value) else np.inf


def has_form(law: Expression, rows: DataSet) -> bool:
    """Whether some numbers in the place of the law's own make it fit the clean rows."""
    fit = fit_constants(law.skeleton(), rows.fit.X, rows.fit.y, n_threads=1)
    return fit.fvu < SAME_FORM


def solve(problem: catalogues.Problem, rows: DataSet, options: argparse.Namespace) -> Outcome:
    model = FlashANSR(time_limit=options.budget, random_state=0, n_jobs=options.jobs, proposers=options.proposers)
    model.fit(rows.fit.X, rows.y_fit)
    law = model.expression_
    recovered = fvu(law, rows.validation.X, rows.validation.y) < RECOVERED
    held = recovered and fvu(law, rows.widened.X, rows.widened.y) < RECOVERED
    ratio = len(law) / len(simplify(problem.expression))
    proposer = str(model.candidates_["proposer"].iloc[0])
    return Outcome(recovered, held, recovered or has_form(law, rows), ratio, proposer, law.infix(5))


def recovery(problems: list[catalogues.Problem], noise: float, options: argparse.Namespace) -> None:
    start = time.perf_counter(), time.process_time()
    outcomes = {p.name: solve(p, make_data_set(p, 0, options.points, noise), options) for p in problems}
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    every = list(outcomes.values())
    good = [o for o in every if o.recovered]
    shares = [np.mean([getattr(o, name) for o in every]) for name in ("recovered", "held", "form")]
    ratios = [np.mean([o.ratio for o in group]) if group else np.nan for group in (good, every)]
    print(
        f"{noise:5g}  {shares[0]:6.1%}  {shares[1]:6.1%}  {shares[2]:6.1%}  {ratios[0]:9.2f}  {ratios[1]:8.2f}"
        f"  {wall / len(every):6.2f}  {cpu / len(every):6.2f}  {dict(Counter(o.proposer for o in good))}",
        flush=True,
    )
    if options.show:
        for name, o in outcomes.items():
            mark = "held" if o.held else "recovered" if o.recovered else "form" if o.form else "missed"
            print(f"    {mark:9s} {o.ratio:5.2f} {name}: {o.law}", flush=True)


def pure_noise(n: int, options: argparse.Namespace) -> float:
    """The share of constant or linear answers where y is independent of X: 1 to 5 columns, 16 to 512 rows."""
    kinds: Counter[str] = Counter()
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0.1, 5.0, (int(2 ** rng.uniform(4, 9)), int(rng.integers(1, 6))))
        y = rng.normal(rng.normal(), 1.0, len(X))
        model = FlashANSR(
            time_limit=options.budget, random_state=seed, n_jobs=options.jobs, proposers=options.proposers
        )
        law = model.fit(X, y).expression_
        kind = "other"
        if not law.variables:
            kind = "constant"
        elif all(not law.diff(name).variables for name in law.variables):
            kind = "linear"
        kinds[kind] += 1
        if options.show and kind == "other":
            print(f"    {X.shape} seed {seed}: {law.infix(4)}", flush=True)
    print(f"pure noise, {n} data sets: {dict(kinds)}")
    return 1 - kinds["other"] / n


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.01, 0.1])
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--catalogues", nargs="+", default=CATALOGUES)
    parser.add_argument("--every", type=int, default=1, help="take each k-th law")
    parser.add_argument("--from", type=int, default=0, dest="first", help="starting with this one")
    parser.add_argument("--only", nargs="+", help="laws of these names")
    parser.add_argument("--pure", type=int, default=0, help="data sets of pure noise")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--proposers", nargs="+", default="auto")
    parser.add_argument("--cpu", action="store_true", help="budget in seconds of CPU time on one thread")
    parser.add_argument("--show", action="store_true", help="print every law")
    options = parser.parse_args()
    if options.cpu:
        options.jobs = 1
        closed_form_data.now = time.process_time
        flash_ansr.regressor.Budget = functools.partial(Budget, clock=time.process_time)
    problems = [p for name in options.catalogues for p in catalogues.load(name) if not p.excluded]
    problems = problems[options.first :: options.every]
    if options.only:
        problems = [p for p in problems if p.name in options.only]
    if options.noise:
        print(f"{len(problems)} laws, {options.points} points, {options.budget:g} s{' of CPU' * options.cpu}")
        print("noise  vNRR    xNRR    form    ratio rec  ratio all  wall s  cpu s  recovered by")
    for noise in options.noise:
        recovery(problems, noise, options)
    return int(options.pure > 0 and pure_noise(options.pure, options) < NOISE_SEEN)


if __name__ == "__main__":
    sys.exit(main())
