"""Sums with one constant inside a term: y = c0 + c1*x1 + ... + c*m*h(c'*u), m and u monomials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flash_ansr.infer.proposers.closed_form.families import TERMS
from flash_ansr.infer.proposers.closed_form.library import Features, arguments
from flash_ansr.infer.proposers.closed_form.scan import Unexplained, scan
from flash_ansr.infer.proposers.closed_form.solve import solve, solve_pruned
from flash_ansr.infer.proposers.data import Data
from flash_ansr.infer.proposers.drafts import Draft

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
    unexplained = Unexplained.beyond(base, data.y, data.weight)
    if unexplained.share < _ROUNDING:
        coefficients, _ = solve(base, data.y, data.weight)
        yield Draft(" + ".join(texts), tuple(map(float, coefficients)))
        return
    u = features.values[:_N_ARGUMENTS]
    factors = [(np.ones(data.n_rows), ""), *zip(features.values[:_N_FACTORS], features.texts, strict=False)]
    for factor, name in factors:
        multiplied = replace(unexplained, factor=factor)
        for hit in scan(multiplied, u, TERMS, data.clock, _N_HITS)[:_N_HITS]:
            term = multiplied.term(hit.family, hit.c * u[hit.argument])
            if np.isfinite(term).all():
                inner = hit.family.text.format(f"<constant>*{features.texts[hit.argument]}")
                every = [*texts, f"<constant>*{name}*{inner}" if name else f"<constant>*{inner}"]
                kept, coefficients, _ = solve_pruned(np.vstack([base, term]), data.y, data.weight)
                own = (hit.c,) if len(base) in kept else ()
                yield Draft(" + ".join(every[i] for i in kept), (*map(float, coefficients), *own))
