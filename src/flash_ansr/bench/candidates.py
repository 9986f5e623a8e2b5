"""Metrics over the candidates that a system proposed for one problem, before simplification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import simplipy


@dataclass(frozen=True, slots=True)
class CandidateSummary:
    """Counts over a list of candidates.

    Attributes
    ----------
    n_candidates : int
    rewrite_fraction : float
        Share of candidates that repeat another one's simplified skeleton: 1 - distinct / n_candidates.
    bloat : float
        Mean of length over simplified length, minus 1.
    """

    n_candidates: int
    rewrite_fraction: float
    bloat: float


def summarize_candidates(candidates: Sequence[Sequence[str]], n_threads: int | None = None) -> CandidateSummary:
    """Summary of candidates in prefix tokens.

    Examples
    --------
    >>> summarize_candidates([["+", "x1", "x1"], ["mult2", "x1"], ["sin", "x1"]]).rewrite_fraction
    0.3333333333333333
    """
    if not candidates:
        return CandidateSummary(0, float("nan"), float("nan"))
    short = simplipy.simplify_many([list(c) for c in candidates], mask_numbers=True, n_threads=n_threads)
    distinct = {tuple(tokens) for tokens in short}
    inflation = [len(c) / len(s) for c, s in zip(candidates, short, strict=True)]
    n = len(candidates)
    return CandidateSummary(n, (n - len(distinct)) / n, float(np.mean(inflation)) - 1)
