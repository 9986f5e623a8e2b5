"""Constant fitting against scipy.optimize.curve_fit: speed and loss in one run, one core.

    python benchmarks/fit.py [--n 1000] [--rows 64] [--skeletons FILE] [--seed 0] [--out results/fit]

Skeletons of the paper's prior with 1-5 constants, data from random true constants, 8 starts of N(0, 5) each. SciPy runs
curve_fit from every start, as the paper does, on the NumPy function that sympy.lambdify makes of it; ours gets
the same starts. Times are CPU seconds of one call a skeleton on one thread, one run each, what `fit_constants` does in
Python included; the two sides run one after the other, all skeletons each, so that neither works in caches that the
other has filled. Two harder comparisons are in the summary: SciPy on our evaluator, and SciPy that stops at its first
exact fit (FVU < 1e-24).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sympy
from _fit_problems import Problem, problems
from scipy.optimize import curve_fit

import simplipy

N_RESTARTS = 8
EXACT = 1e-24
EQUAL = 1e-20
RECOVERED = 1e-12


@dataclass
class Row:
    skeleton: str
    n_constants: int
    scipy_fvu: float
    our_fvu: float
    scipy_seconds: float
    scipy_seconds_to_exact: float
    scipy_seconds_on_core: float
    our_seconds: float


def fvu(problem: Problem, constants: np.ndarray) -> float:
    residual = problem.skeleton(problem.X, constants) - problem.y
    value = float(np.mean((residual / problem.y.std()) ** 2))
    return value if np.isfinite(value) else np.inf


def numpy_function(problem: Problem) -> Callable[..., np.ndarray]:
    """The skeleton as anybody would hand it to curve_fit: f(X, c1, c2, ...)."""
    named = iter(range(1, problem.skeleton.n_constants + 1))
    tokens = [f"c{next(named)}" if token == "<constant>" else token for token in problem.skeleton.tokens]
    variables = problem.skeleton.variables
    constants = [f"c{k}" for k in range(1, problem.skeleton.n_constants + 1)]
    function = sympy.lambdify([*variables, *constants], simplipy.parse(tokens).to_sympy(), "numpy")
    n_rows = len(problem.y)
    columns = [problem.X[:, k] for k in range(len(variables))]
    return lambda _, *c: np.broadcast_to(function(*columns, *c), n_rows)


def core_function(problem: Problem) -> Callable[..., np.ndarray]:
    return lambda _, *c: problem.skeleton(problem.X, c)


def fit_by_scipy(problem: Problem, function: Callable[..., np.ndarray]) -> tuple[float, float, float]:
    """Best FVU over all starts, CPU seconds of all starts, and until the first exact fit."""
    best = np.inf
    seconds = seconds_to_exact = 0.0
    for start in problem.starts:
        started = time.process_time()
        try:
            found, _ = curve_fit(function, None, problem.y, p0=start)
        except (RuntimeError, ValueError, TypeError, np.linalg.LinAlgError):
            found = None
        seconds += time.process_time() - started
        if best >= EXACT:
            seconds_to_exact = seconds
        if found is not None:
            best = min(best, fvu(problem, found))
    return best, seconds, seconds_to_exact


def fit_by_us(problem: Problem) -> tuple[float, float]:
    """FVU and CPU seconds."""
    started = time.process_time()
    fit = simplipy.fit_constants(problem.skeleton, problem.X, problem.y, x0=problem.starts, n_threads=1)
    seconds = time.process_time() - started
    return fvu(problem, fit.constants) if fit.ok else np.inf, seconds


def run(made: list[Problem]) -> list[Row]:
    ours = [fit_by_us(problem) for problem in made]
    numpy_functions = [numpy_function(problem) for problem in made]
    theirs = [fit_by_scipy(problem, f) for problem, f in zip(made, numpy_functions, strict=True)]
    on_core = [fit_by_scipy(problem, core_function(problem)) for problem in made]
    return [
        Row(
            skeleton=problem.skeleton.infix(),
            n_constants=problem.skeleton.n_constants,
            scipy_fvu=min(first_fvu, second_fvu),
            our_fvu=our_fvu,
            scipy_seconds=scipy_seconds,
            scipy_seconds_to_exact=to_exact,
            scipy_seconds_on_core=core_seconds,
            our_seconds=our_seconds,
        )
        for problem, (our_fvu, our_seconds), (first_fvu, scipy_seconds, to_exact), (second_fvu, core_seconds, _) in zip(
            made, ours, theirs, on_core, strict=True
        )
    ]


def summary(rows: list[Row], n_rows: int) -> dict[str, float]:
    ours = np.array([row.our_fvu for row in rows])
    theirs = np.array([row.scipy_fvu for row in rows])
    not_worse = (ours <= 1.01 * theirs) | (ours < EQUAL)
    missed = theirs >= RECOVERED
    scipy_seconds = sum(row.scipy_seconds for row in rows)
    our_seconds = sum(row.our_seconds for row in rows)
    return {
        "rows": n_rows,
        "skeletons": len(rows),
        "scipy_skeletons_per_second": len(rows) / scipy_seconds,
        "our_skeletons_per_second": len(rows) / our_seconds,
        "speed_ratio": scipy_seconds / our_seconds,
        "speed_ratio_on_core": sum(row.scipy_seconds_on_core for row in rows) / our_seconds,
        "speed_ratio_to_exact": sum(row.scipy_seconds_to_exact for row in rows) / our_seconds,
        "median_speed_ratio": float(np.median([row.scipy_seconds / row.our_seconds for row in rows])),
        "loss_not_worse": float(not_worse.mean()),
        "scipy_recovered": float(1 - missed.mean()),
        "our_recovered": float((ours < RECOVERED).mean()),
        "scipy_misses_recovered": float((ours[missed] < RECOVERED).mean()) if missed.any() else 1.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--skeletons", type=Path, help="token lists, one JSON list a line; without it they are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for summary.json and summary.txt")
    parser.add_argument("--show", type=int, default=0, help="print so many of the worst rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    results = []
    for n_rows in options.rows:
        made = problems(options.n, options.skeletons, n_rows, N_RESTARTS, options.seed)
        rows = run(made)
        results.append(summary(rows, n_rows))
        print(report(results[-1]))
        worst = [r for r in rows if not (r.our_fvu <= 1.01 * r.scipy_fvu or r.our_fvu < EQUAL)]
        for row in worst[: options.show]:
            print(f"  {row.scipy_fvu:.2e} {row.our_fvu:.2e} {row.skeleton}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "summary.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        (options.out / "summary.txt").write_text("\n".join(map(report, results)) + "\n", encoding="utf-8")


def report(result: dict[str, float]) -> str:
    return "\n".join(
        [
            f"{result['skeletons']} skeletons, {result['rows']} rows",
            f"  skeletons per second and core: ours {result['our_skeletons_per_second']:.0f}, "
            f"SciPy {result['scipy_skeletons_per_second']:.1f}: {result['speed_ratio']:.0f}x "
            f"(median of ratios {result['median_speed_ratio']:.0f}x; SciPy on our evaluator: "
            f"{result['speed_ratio_on_core']:.0f}x; SciPy stopped at its first exact fit: "
            f"{result['speed_ratio_to_exact']:.0f}x)",
            f"  loss not above SciPy's: {result['loss_not_worse']:.2%}",
            f"  recovered: ours {result['our_recovered']:.2%}, SciPy {result['scipy_recovered']:.2%}; "
            f"of SciPy's misses {result['scipy_misses_recovered']:.1%}",
        ]
    )


if __name__ == "__main__":
    main()
