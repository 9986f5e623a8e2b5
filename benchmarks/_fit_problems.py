"""Problems for the fitter: skeletons of the paper's prior with 1-5 constants, and data from random true constants.

Skeletons come from a file of token lists, or are drawn here as the paper describes. All are simplified with numbers
masked, as before every fit of the pipeline; the file's own tokens can be kept with ``simplify=False``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import simplipy
from simplipy import OPERATORS, Expression

MAX_OPERATORS = 17
MAX_LENGTH = 35
N_VARIABLES = 17
MULTIPLIERS = {f"{kind}{k}" for kind in ("mult", "div") for k in range(2, 6)}


@dataclass(frozen=True)
class Problem:
    skeleton: Expression
    truth: np.ndarray
    X: np.ndarray
    y: np.ndarray
    starts: np.ndarray  # (n_restarts, n_constants), N(0, 5)


def drawn_skeletons(rng: np.random.Generator) -> Iterator[list[str]]:
    """Endless token lists of the paper's prior."""
    counts = np.arange(MAX_OPERATORS + 1)
    p_counts = np.exp(counts**0.7)
    p_counts /= p_counts.sum()
    names = list(OPERATORS)
    weights = np.array([OPERATORS[name].weight for name in names])
    weights /= weights.sum()
    while True:
        shape = _tree(rng, int(rng.choice(counts, p=p_counts)), names, weights)
        n_leaves = sum(token is None for token in shape)
        pool = [*(f"x{k}" for k in range(1, N_VARIABLES + 1)), "<constant>"]
        n_unique = int(rng.integers(1, min(n_leaves, N_VARIABLES) + 1))
        chosen = list(rng.choice(pool, n_unique, replace=False))
        leaves = chosen + list(rng.choice(chosen, n_leaves - n_unique))
        rng.shuffle(leaves)
        tokens = [leaves.pop() if token is None else token for token in shape]
        if len(tokens) <= MAX_LENGTH:
            yield [str(token) for token in tokens]


def _tree(rng: np.random.Generator, n: int, names: list[str], weights: np.ndarray) -> list[str | None]:
    """Prefix tokens of a tree with n operators, None for its leaves."""
    if n == 0:
        return [None]
    name = str(rng.choice(names, p=weights))
    if OPERATORS[name].arity == 1:
        return [name, *_tree(rng, n - 1, names, weights)]
    left = int(rng.integers(n))
    return [name, *_tree(rng, left, names, weights), *_tree(rng, n - 1 - left, names, weights)]


def read_skeletons(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def freed(tokens: list[str]) -> list[str]:
    """Integer multipliers become free constants, as at inference."""
    out: list[str] = []
    for token in tokens:
        out += ["*", "<constant>"] if token in MULTIPLIERS else [token]
    return out


def renumbered(expression: Expression) -> Expression:
    return expression.rename({name: f"x{k}" for k, name in enumerate(expression.variables, start=1)})


def problem(tokens: list[str], n_rows: int, n_restarts: int, rng: np.random.Generator) -> Problem | None:
    """Data for a skeleton, or None where four draws give no finite values or nothing that depends on a constant."""
    skeleton = renumbered(simplipy.parse(simplipy.simplify(freed(tokens), mask_numbers=True)))
    if not 1 <= skeleton.n_constants <= 5 or not skeleton.variables:
        return None
    n_variables = len(skeleton.variables)
    for _ in range(4):
        ends = np.clip(rng.normal(scale=10, size=(2, n_variables)), -30, 30)
        X = rng.uniform(ends.min(axis=0), ends.max(axis=0), (n_rows, n_variables))
        truth = rng.normal(scale=5, size=skeleton.n_constants)
        with np.errstate(all="ignore"):
            y = skeleton(X, truth)
            if np.isfinite(y).all() and np.abs(y).max() < 1e100 and y.std() > 1e-12 * np.abs(y).max():
                return Problem(skeleton, truth, X, y, rng.normal(scale=5, size=(n_restarts, skeleton.n_constants)))
    return None


def problems(n: int, path: Path | None, n_rows: int, n_restarts: int, seed: int) -> list[Problem]:
    """n problems; a file that has too few is followed by draws. Duplicates are left out."""
    rng = np.random.default_rng(seed)
    found: list[Problem] = []
    seen = set()
    sources = [read_skeletons(path)] if path else []
    for tokens in (t for source in [*sources, drawn_skeletons(rng)] for t in source):
        if "<constant>" not in tokens and not MULTIPLIERS & set(tokens):
            continue
        made = problem(tokens, n_rows, n_restarts, rng)
        if made is None or made.skeleton in seen:
            continue
        seen.add(made.skeleton)
        found.append(made)
        if len(found) == n:
            break
    return found
