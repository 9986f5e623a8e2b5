"""The front of candidates as people read it: four significant digits, one line a formula, the law marked.

The command line, the log of a search and notebooks show the same columns. The first one is the row of ``candidates_``.
"""

from __future__ import annotations

import math

import pandas as pd
from rich.console import Console
from rich.table import Table

from flash_ansr.infer.result.progress_display import fvu_text

_MAX_ROWS = 12
CAPTION = "→ the law; usual forms have a low price"


def shown_front(candidates: pd.DataFrame, also: int | None = None) -> pd.DataFrame:
    """The best candidates of the front, by length, with their rows in the table of all as index.

    Parameters
    ----------
    candidates : DataFrame
    also : int, optional
        A row that is to be among them.
    """
    front = candidates[candidates["pareto"]]
    best = set(front["score"].nsmallest(_MAX_ROWS).index) | {0} | ({also} if also is not None else set())
    return candidates.loc[sorted(best)].sort_values("length", kind="stable")


def quality_head(front: pd.DataFrame) -> str:
    """The head of the column that says how good formulas are, where that is known in unseen rows."""
    return "R2 on unseen rows" if front["r2_cv"].notna().any() else "FVU"


def quality(r2_cv: float, fvu: float, head: str) -> str:
    """How good a formula is; where that is not known in unseen rows, the variance unexplained in those of the fit.

    Examples
    --------
    >>> quality(0.98765432, 0.01, "R2 on unseen rows"), quality(math.nan, 0.0123456, "R2 on unseen rows")
    ('0.9877', 'FVU 1.235e-02')
    """
    if not math.isnan(r2_cv):
        return f"{r2_cv:.4f}" if abs(r2_cv) < 10 else f"{r2_cv:.4g}"
    left = fvu_text(fvu, digits=4)
    return left if head == "FVU" else f"FVU {left}"


def front_cells(front: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heads and lines: row, formula, size, quality, price."""
    head = quality_head(front)
    columns = front[["expression", "length", "r2_cv", "fvu", "price"]].itertuples(name=None)
    lines = [
        [str(row), formula.infix(precision=4), str(length), quality(r2_cv, fvu, head), f"{price:.4g}"]
        for row, formula, length, r2_cv, fvu, price in columns
    ]
    return ["row", "formula", "size", head, "price"], lines


def front_table(candidates: pd.DataFrame, target: str, also: int | None = None) -> Table:
    """The front for a terminal; parameters as of ``shown_front``."""
    heads, lines = front_cells(shown_front(candidates, also))
    shown = Table(title=f"candidates for {target}", caption=CAPTION)
    shown.add_column("")
    for head in heads:
        shown.add_column(head, justify="left" if head == "formula" else "right", overflow="fold")
    for line in lines:
        shown.add_row("→" if line[0] == "0" else "", *line)
    return shown


def print_front(candidates: pd.DataFrame, target: str) -> None:
    """Print the front to stderr."""
    Console(stderr=True, markup=False, emoji=False, highlight=False).print(front_table(candidates, target))
