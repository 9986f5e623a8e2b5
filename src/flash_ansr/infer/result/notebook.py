"""A result in a notebook: the law as LaTeX, the front as a table."""

from __future__ import annotations

from html import escape

import pandas as pd

from simplipy import Expression


def result_html(law: Expression, candidates: pd.DataFrame) -> str:
    """HTML of the law and of the Pareto front."""
    front = candidates[candidates["pareto"]].sort_values("length")
    formulas: list[Expression] = front["expression"].tolist()
    rows = "".join(
        f"<tr><td>{length}</td><td>{fvu:.2e}</td><td>{score:.2f}</td>"
        f"<td style='text-align:left'><code>{escape(formula.infix(precision=4))}</code></td></tr>"
        for length, fvu, score, formula in zip(front["length"], front["fvu"], front["score"], formulas, strict=True)
    )
    head = "<tr><th>length</th><th>FVU</th><th>score</th><th style='text-align:left'>formula</th></tr>"
    return f"<p>$\\displaystyle {escape(law.latex(precision=4))}$</p><table>{head}{rows}</table>"
