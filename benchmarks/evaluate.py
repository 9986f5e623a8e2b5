"""Evaluation and derivatives against sympy.lambdify on NumPy: ratios in one run, one thread.

    python benchmarks/evaluate.py [--n 500] [--rows 1000] [--out results/evaluate]

Expressions follow the paper's prior: binary-unary trees with arithmetic ten times as likely as other operators.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sympy

import simplipy
from simplipy import OPERATORS, Expression
from simplipy.files.output_files import write_whole

N_VARIABLES = 5


def random_expression(rng: np.random.Generator, n_operators: int) -> Expression:
    """Tree with so many operators, drawn by the table's weights, over x1..x5 and the free constant."""
    names = list(OPERATORS)
    weights = np.array([OPERATORS[name].weight for name in names])
    leaves = [*(f"x{k}" for k in range(1, N_VARIABLES + 1)), "<constant>"]

    def draw(n: int) -> list[str]:
        if n == 0:
            return [str(rng.choice(leaves))]
        name = str(rng.choice(names, p=weights / weights.sum()))
        if OPERATORS[name].arity == 1:
            return [name, *draw(n - 1)]
        left = int(rng.integers(0, n))
        return [name, *draw(left), *draw(n - 1 - left)]

    return simplipy.parse(draw(n_operators))


def seconds(function: Callable[..., object], *arguments: object, repeats: int = 5) -> float:
    """Best of a few runs of ``function(*arguments)``, each long enough to time."""
    function(*arguments)
    start = time.perf_counter()
    function(*arguments)
    loops = max(1, int(2e-3 / max(time.perf_counter() - start, 1e-7)))
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(loops):
            function(*arguments)
        best = min(best, (time.perf_counter() - start) / loops)
    return float(best)


def geometric_mean(values: list[float]) -> float:
    """Mean of ratios."""
    return float(np.exp(np.mean(np.log(values))))


def main() -> None:
    """Time both sides on every expression and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="a folder for summary.json")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.uniform(0.1, 3.0, (options.rows, N_VARIABLES))
    columns = list(np.ascontiguousarray(X.T))
    symbols = [sympy.Symbol(f"x{k}", real=True) for k in range(1, N_VARIABLES + 1)]
    ratios, gradient_ratios = [], []
    warnings.simplefilter("ignore")
    while len(ratios) < options.n:
        expression = random_expression(rng, int(rng.integers(6, 18)))
        constants = rng.normal(0.0, 5.0, expression.n_constants)
        filled = expression.with_constants(constants)
        if not filled.variables:
            continue
        peer = sympy.lambdify(symbols, filled.to_sympy(), "numpy")
        try:
            peer(*columns)
        except (TypeError, ZeroDivisionError, OverflowError, AttributeError):
            continue  # a constant part that lambdify hands to Python's own math
        ratios.append(seconds(peer, *columns) / seconds(filled, X))
        if expression.n_constants:
            value = seconds(expression, X, constants)
            gradient_ratios.append(seconds(expression.gradient, X, constants) / value)
    big = rng.uniform(0.1, 3.0, (100_000, 50))
    law = simplipy.parse("x1*sin(x7) + exp(-x20^2)/(x33 + x50)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = law(big)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    texts = [random_expression(rng, 12).infix() for _ in range(10_000)]
    summary = {
        "n_expressions": len(ratios),
        "n_rows": options.rows,
        "lambdify_over_ours": geometric_mean(ratios),
        "lambdify_over_ours_10th_percentile": float(np.quantile(ratios, 0.1)),
        "gradient_over_evaluation": geometric_mean(gradient_ratios),
        "gradient_over_evaluation_largest": max(gradient_ratios),
        "megabytes_beyond_result": max(grown - result.nbytes / 2**20, 0.0),
        "seconds_to_parse_10000": seconds(simplipy.parse_many, texts),
    }
    for name, value in summary.items():
        print(f"{name:36} {value:8.4g}")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write_whole(options.out / "summary.json", json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
