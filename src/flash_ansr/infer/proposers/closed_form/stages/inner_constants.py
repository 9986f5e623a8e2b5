"""Sums with one constant inside a term: y = c0 + c1*x1 + ... + c*m*h(c'*u), m and u monomials."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.candidates import Draft
from flash_ansr.infer.proposers.closed_form.data import Data
from flash_ansr.infer.proposers.closed_form.features.families import TERMS
from flash_ansr.infer.proposers.closed_form.features.library import Features
from flash_ansr.infer.proposers.closed_form.least_squares.scan import Hit, Problem, scan
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out, solve, solve_pruned


def sums_with_inner_constants(data: Data, features: Features, n_arguments: int, n_factors: int) -> Iterator[Draft]:
    """Drafts whose constants are all free, from the linear solution at the best inner constant.

    Parameters
    ----------
    features : Features
        The first of them are arguments u and factors m.
    """
    linear = list(data.active)
    if data.n_rows < len(linear) + 6:
        return
    base = np.vstack([np.ones(data.n_rows), data.columns[linear]])
    names = ["", *(f"x{k + 1}" for k in linear)]
    weight = data.weight
    basis = orthonormal(base * weight)
    left = project_out((data.y * weight)[None], basis)[0]
    norm = float(np.linalg.norm(left))
    if norm < 1e-10 * float(np.linalg.norm(data.y * weight)):
        coefficients, _ = solve(base, data.y, weight)
        yield Draft(
            " + ".join(f"<constant>*{n}" if n else "<constant>" for n in names), tuple(map(float, coefficients))
        )
        return
    problem = Problem(basis, left / norm, weight)
    u, m = features.values[:n_arguments], features.values[:n_factors]
    factors = [np.ones((1, data.n_rows)), *(row[None] for row in m)]
    for index, factor in enumerate(factors):
        for hit in scan(problem, u, TERMS, data.clock, 4, np.repeat(factor, len(u), axis=0))[:4]:
            text = "" if index == 0 else f"*{features.texts[index - 1]}"
            yield from _draft(data, base, names, hit, features, factor[0], text)


def _draft(
    data: Data, base: np.ndarray, names: list[str], hit: Hit, features: Features, factor: np.ndarray, text: str
) -> Iterator[Draft]:
    weight = data.weight
    with np.errstate(all="ignore"):
        term = hit.family.value(hit.c * features.values[hit.argument]) * factor
    if not np.isfinite(term).all():
        return
    kept, coefficients, _ = solve_pruned(np.vstack([base, term]), data.y, weight)
    inner = hit.family.text.format(f"<constant>*{features.texts[hit.argument]}")
    parts: list[str] = []
    start: list[float] = []
    for i, c in zip(kept, coefficients, strict=True):
        start.append(float(c))
        if i < len(names):
            parts.append(f"<constant>*{names[i]}" if names[i] else "<constant>")
        else:
            parts.append(f"<constant>{text}*{inner}")
            start.append(hit.c)
    yield Draft(" + ".join(parts), tuple(start))
