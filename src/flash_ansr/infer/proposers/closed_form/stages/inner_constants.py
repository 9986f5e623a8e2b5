"""Sums with one constant inside a term: y = c0 + c1*x1 + ... + c*m*h(c'*u), m and u monomials."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.closed_form.candidates import Draft
from flash_ansr.infer.proposers.closed_form.data import Data
from flash_ansr.infer.proposers.closed_form.features.families import TERMS
from flash_ansr.infer.proposers.closed_form.features.library import Features, arguments
from flash_ansr.infer.proposers.closed_form.least_squares.scan import Unexplained, scan
from flash_ansr.infer.proposers.closed_form.least_squares.solve import orthonormal, project_out, solve, solve_pruned

_N_ARGUMENTS = 30
_N_FACTORS = 8
_N_HITS = 4
_ROUNDING = 1e-10


def sums_with_inner_constants(data: Data, features: Features | None = None) -> Iterator[Draft]:
    """Drafts whose constants are all free, from the linear solution at the best inner constant.

    Parameters
    ----------
    features : Features, optional
        The first of them are arguments u and factors m.
    """
    features = features or arguments(data, _N_ARGUMENTS)
    linear = list(data.active)
    if data.n_rows < len(linear) + 6:
        return
    base = np.vstack([np.ones(data.n_rows), data.columns[linear]])
    texts = ["<constant>", *(f"<constant>*x{k + 1}" for k in linear)]
    weight = data.weight
    basis = orthonormal(base * weight)
    left = project_out((data.y * weight)[None], basis)[0]
    norm = float(np.linalg.norm(left))
    if norm < _ROUNDING * float(np.linalg.norm(data.y * weight)):
        coefficients, _ = solve(base, data.y, weight)
        yield Draft(" + ".join(texts), tuple(map(float, coefficients)))
        return
    unexplained = Unexplained(basis, left / norm, weight)
    u = features.values[:_N_ARGUMENTS]
    factors = [(np.ones(data.n_rows), ""), *zip(features.values[:_N_FACTORS], features.texts, strict=False)]
    for factor, name in factors:
        for hit in scan(unexplained, u, TERMS, data.clock, _N_HITS, np.tile(factor, (len(u), 1)))[:_N_HITS]:
            with np.errstate(all="ignore"):
                term = hit.family.value(hit.c * u[hit.argument]) * factor
            if np.isfinite(term).all():
                inner = hit.family.text.format(f"<constant>*{features.texts[hit.argument]}")
                every = [*texts, f"<constant>*{name}*{inner}" if name else f"<constant>*{inner}"]
                kept, coefficients, _ = solve_pruned(np.vstack([base, term]), data.y, weight)
                own = (hit.c,) if len(base) in kept else ()
                yield Draft(" + ".join(every[i] for i in kept), (*map(float, coefficients), *own))
