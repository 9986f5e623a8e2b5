"""The picture of a result: the law against the data, its residuals, the front of candidates."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from flash_ansr.infer.result.law import Law, shortened
from flash_ansr.infer.table.table import Table

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#999999"
_TITLE_WIDTH = 60


def plot_result(table: Table, law: Law, candidates: pd.DataFrame) -> Figure:
    """Three panels; with one column the first shows the curve, otherwise predicted against given values."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    values = law.values(table.X)
    if table.n_columns == 1:
        order = np.argsort(table.X[:, 0])
        left.plot(table.X[:, 0], table.y, ".", color=_GREY, label="data")
        left.plot(table.X[order, 0], values[order], color=_BLUE, label="law")
        left.set(xlabel=law.names[0], ylabel="y")
        left.legend()
    else:
        ends = [np.nanmin(table.y), np.nanmax(table.y)]
        left.plot(ends, ends, color=_GREY, linewidth=1)
        left.plot(table.y, values, ".", color=_BLUE)
        left.set(xlabel="y", ylabel="law")
    left.set_title(shortened(law.named.infix(precision=3).replace("`", ""), _TITLE_WIDTH), fontsize=9)
    middle.axhline(0.0, color=_GREY, linewidth=1)
    middle.plot(values, table.y - values, ".", color=_BLUE)
    middle.set(xlabel="law", ylabel="residual")
    front = candidates[candidates["pareto"]].sort_values("length")
    right.semilogy(candidates["length"], candidates["fvu"], ".", color=_GREY, label="candidates")
    right.semilogy(front["length"], front["fvu"], "o-", color=_ORANGE, label="front")
    right.set(xlabel="length (tokens)", ylabel="fraction of variance unexplained")
    right.legend()
    return figure
