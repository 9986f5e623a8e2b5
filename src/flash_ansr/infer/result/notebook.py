"""A result in a notebook: the law as LaTeX, the front as a table."""

from __future__ import annotations

from html import escape

import pandas as pd

from flash_ansr.infer.result.front_table import front_cells
from simplipy import Expression


def result_html(law: Expression, candidates: pd.DataFrame) -> str:
    """HTML of the law and of the Pareto front."""
    heads, lines = front_cells(candidates[candidates["pareto"]].sort_values("length"))
    head = "".join(f"<th>{name}</th>" for name in heads)
    rows = "".join(
        f"<tr><td>{row}</td><td style='text-align:left'><code>{escape(formula)}</code></td>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for row, formula, *cells in lines
    )
    return f"<p>$\\displaystyle {escape(law.latex(precision=4))}$</p><table><tr>{head}</tr>{rows}</table>"
