"""What longer replacements with free constants, sought by fits, would add to the rules.

    python benchmarks/families.py [--patterns 500] [--seed 5] [--out results/rules]

Random terms of six tokens with one variable and one or two free constants that the simplifier leaves as they are, each
against every family of four tokens and every family of five tokens with two free constants that it leaves as they are
too, with no more free constants than the term. A family has the term among its members if fits reach the values of
three draws of the term's constants; what fits is then checked like any two families, by `simplipy.equivalent`.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import simplipy
from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.files.output_files import write_whole

ROOT = Path(__file__).parents[1]
LEAVES = ("x1", CONSTANT)
N_DRAWS = 3
CLOSE = 1e-16  # fraction of variance unexplained

Tokens = tuple[str, ...]


def terms(length: int) -> Iterator[Tokens]:
    """All terms of a length over one variable and free constants."""
    if length == 1:
        yield from ((leaf,) for leaf in LEAVES)
        return
    for token, operator in OPERATORS.items():
        if operator.arity == 1:
            yield from ((token, *inner) for inner in terms(length - 1))
        else:
            for n in range(1, length - 1):
                yield from (
                    (token, *a, *b) for a, b in itertools.product(tuple(terms(n)), tuple(terms(length - 1 - n)))
                )


def is_family(tokens: Sequence[str], least: int) -> bool:
    """Whether a term has the variable, so many free constants or a few more, and no shorter form."""
    n = tokens.count(CONSTANT)
    return "x1" in tokens and least <= n <= 2 and len(simplipy.simplify(list(tokens))) == len(tokens)


def families() -> list[Tokens]:
    """Families of four tokens, and of five tokens with two free constants."""
    return [t for t in terms(4) if is_family(t, 1)] + [t for t in terms(5) if is_family(t, 2)]


def patterns(n: int, rng: np.random.Generator) -> list[Tokens]:
    """Random irreducible terms of six tokens with free constants."""
    found: dict[Tokens, None] = {}
    while len(found) < n:
        tokens = random_term(6, rng)
        if is_family(tokens, 1):
            found[tokens] = None
    return list(found)


def random_term(length: int, rng: np.random.Generator) -> Tokens:
    """A random term; binary operators are drawn as often as unary ones, since they make the interesting terms."""
    if length == 1:
        return (str(rng.choice(LEAVES)),)
    arity = 1 if length == 2 else int(rng.integers(1, 3))
    token = str(rng.choice([name for name, operator in OPERATORS.items() if operator.arity == arity]))
    if arity == 1:
        return (token, *random_term(length - 1, rng))
    n = int(rng.integers(1, length - 1))
    return (token, *random_term(n, rng), *random_term(length - 1 - n, rng))


def members(tokens: Tokens, among: Sequence[simplipy.Expression], rng: np.random.Generator) -> list[int]:
    """Families whose constants can be fitted to every draw of the term's."""
    pattern = simplipy.parse(list(tokens))
    left = list(range(len(among)))
    x = np.concatenate([rng.uniform(0.2, 3, 12), rng.uniform(-3, -0.2, 12)])[:, None]
    for _ in range(N_DRAWS):
        constants = rng.choice([-1.0, 1.0], pattern.n_constants) * rng.uniform(0.3, 2.5, pattern.n_constants)
        y = np.asarray(pattern(x, constants), dtype=np.float64)
        defined = np.isfinite(y) & (np.abs(y) < 1e6)
        if defined.sum() < 6 or np.ptp(y[defined]) < 1e-6:
            continue
        fits = simplipy.fit_constants(
            [among[i] for i in left], x[defined], y[defined], n_restarts=8, random_state=0, n_threads=1
        )
        left = [i for i, fit in zip(left, fits, strict=True) if fit.fvu is not None and fit.fvu < CLOSE]
    return left if len(left) < len(among) else []


def main() -> None:
    """Fit, check, print and write a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patterns", type=int, default=500)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "rules")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    known = families()
    among = [simplipy.parse(list(tokens)) for tokens in known]
    found: list[dict[str, Any]] = []
    n_candidates = 0
    for tokens in track(patterns(options.patterns, rng), "terms", transient=True):
        for i in members(tokens, among, rng):
            if known[i].count(CONSTANT) > tokens.count(CONSTANT):
                continue
            n_candidates += 1
            verdict = simplipy.equivalent(list(tokens), list(known[i]))
            if verdict.family in ("same", "b wider") and verdict.domain in ("same", "b wider"):
                a, b = simplipy.parse(list(tokens)).infix(), among[i].infix()
                found.append({"pattern": a, "replacement": b, "family": verdict.family, "domain": verdict.domain})
    result = {"n_patterns": options.patterns, "n_families": len(known), "n_fitted": n_candidates, "hold": found}
    write_whole(options.out / "families.json", json.dumps(result, indent=1) + "\n")
    print(f"{options.patterns} terms, {len(known)} families: {n_candidates} fitted, {len(found)} hold")
    for row in found:
        print(f"  {row['pattern']} -> {row['replacement']} ({row['family']}, {row['domain']})")


if __name__ == "__main__":
    main()
