"""The choice of the law among the candidates: by score, on held-out rows, or by the information criterion."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from flash_ansr.infer.archive import Candidate
from flash_ansr.infer.proposals import Table
from flash_ansr.infer.score import exact_fvu, score


def choose(
    candidates: Sequence[Candidate],
    baseline: Candidate,
    rows: Table,
    held_out: Table | None,
    selection: str,
    gamma: float,
) -> tuple[Candidate, list[Candidate]]:
    """The law, and all candidates, best first.

    The linear baseline is the law where it scores better than everything that was found, or nothing was.
    """
    if selection == "validation" and held_out is not None:
        floor = exact_fvu(held_out)
        ranked = [_scored(c, score(fvu_on(c, held_out), c.length, gamma, floor)) for c in (*candidates, baseline)]
    elif selection == "bic":
        ranked = [_scored(c, _bic(c, rows.n_rows)) for c in (*candidates, baseline)]
    else:
        ranked = [*candidates, baseline]
    *found, base = ranked
    found = sorted((c for c in found if math.isfinite(c.score)), key=lambda c: c.rank)
    law = found[0] if found and found[0].rank <= base.rank else base
    return (baseline if law is base else law), found


def fvu_on(candidate: Candidate, table: Table) -> float:
    """Fraction of variance unexplained on other rows; infinite where the formula is undefined on one."""
    values = candidate.expression(table.X)
    weights = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
    if not np.isfinite(values).all():
        return math.inf
    mean = np.average(table.y, weights=weights)
    spread = float(np.sum(weights * (table.y - mean) ** 2))
    rest = float(np.sum(weights * (table.y - values) ** 2))
    return rest / spread if spread > 0 else rest


def _bic(candidate: Candidate, n_rows: int) -> float:
    """N log(FVU) + k log(n): the likelihood of Gaussian errors and a price for every fitted number."""
    return n_rows * math.log(max(candidate.fvu, 1e-300)) + (candidate.n_constants + 1) * math.log(n_rows)


def _scored(candidate: Candidate, value: float) -> Candidate:
    return dataclasses.replace(candidate, score=value)
