"""Other formulas that describe few rows about as well as the law: another seed could have made one of them the law."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from flash_ansr.infer.candidates.description import decades
from flash_ansr.infer.selection.predictive_choice import FEW_ROWS
from simplipy.fit.score import EXACT_FVU

# nats of description length that few rows cannot tell apart
_MARGIN = 2.0


def rivals(candidates: pd.DataFrame, n_rows: int) -> list[str]:
    """Formulas whose score is at most so much above that of the law, in row 0; none beside an exact law or many rows.

    Parameters
    ----------
    candidates : DataFrame
        With scores in decades of unexplained variance.
    n_rows : int
        Of the fit.
    """
    law = candidates.iloc[0]
    if n_rows >= FEW_ROWS or law["fvu"] < EXACT_FVU:
        return []
    near = candidates["score"] <= law["score"] + decades(_MARGIN, n_rows)
    if not math.isnan(law["r2_cv"]):  # where errors in other rows decided, the scores of the others are no such errors
        near &= candidates["r2_cv"].notna()
    return [formula.infix(precision=4) for formula in candidates["expression"][1:][near[1:]]]


def rivals_text(formulas: Sequence[str]) -> str:
    """A sentence about them; "" without any.

    Examples
    --------
    >>> rivals_text(["2*x", "3*x - 1"])
    '2 other formulas describe the rows about as well, for example 2*x'
    """
    n = len(formulas)
    if n < 2:
        return f"another formula describes the rows about as well: {formulas[0]}" if n else ""
    return f"{n} other formulas describe the rows about as well, for example {formulas[0]}"
