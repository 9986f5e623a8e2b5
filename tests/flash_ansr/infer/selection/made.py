"""Candidates made by hand, without a search."""

from __future__ import annotations

import math

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.table.table import Table
from simplipy import fit_constants


def candidate(table: Table, formula: str, proposer: str = "test", drawn: int = 0) -> Candidate:
    """The formula with its constants fitted to the table, scored as in the paper."""
    fit = fit_constants(formula, table.X, table.y, sample_weight=table.sample_weight, n_threads=1)
    score = math.log10(max(fit.fvu, 1e-24)) + 0.05 * len(fit.expression)
    return Candidate(fit.expression, b"", fit.fvu, score, len(fit.constants), math.nan, proposer, drawn)
