"""The picture of a result: the law against the data, its residuals by row, the front of candidates."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from flash_ansr.infer.result.law import Law, shortened
from flash_ansr.infer.table.table import FloatArray, Rows, Table

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#999999"
# characters of a line of the title, of its lines, and of names on axes
_TITLE_WIDTH = 110
_TITLE_LINES = 3
_NAME_WIDTH = 30
# points of a curve, and rows that are drawn
_N_POINTS = 1000
_MAX_ROWS = 5000
# a span from which an axis is logarithmic
_WIDE = 100.0
# of the height of the data, above and below them
_MARGIN = 0.08
# FVUs below it are rounding
_LEAST_FVU = 1e-32


@dataclass(frozen=True, eq=False, slots=True)
class ShownRows:
    """The rows that are drawn.

    Attributes
    ----------
    table : Table
    numbers : array (n_rows,)
        Of its rows in the user's table, from 1.
    target : str
        Name of y.
    """

    table: Table
    numbers: Rows
    target: str


def plot_result(rows: ShownRows, law: Law, candidates: pd.DataFrame) -> Figure:
    """Three panels; with one column the first shows the curve, otherwise the law's values against the target's."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    shown = np.linspace(0, rows.table.n_rows - 1, min(rows.table.n_rows, _MAX_ROWS)).astype(np.int64)
    rows = ShownRows(rows.table.at(shown), rows.numbers[shown], rows.target)
    left, middle, right = figure.subplots(1, 3)
    formula = law.named.infix(precision=4).replace("`", "")
    lines = textwrap.wrap(f"{shortened(rows.target, _NAME_WIDTH)} = {formula}", _TITLE_WIDTH)
    title = "\n".join(lines[:_TITLE_LINES]) + ("…" if len(lines) > _TITLE_LINES else "")
    figure.suptitle(title, fontsize=10, parse_math=False)
    values = law.values(rows.table.X)
    if rows.table.n_columns == 1:
        _draw_curve(left, rows, law)
    else:
        _draw_values(left, rows, values)
    _draw_residuals(middle, rows, values)
    _draw_front(right, candidates)
    return figure


def _draw_curve(axes: Axes, rows: ShownRows, law: Law) -> None:
    """The data and the curve of the law, with gaps where it is undefined."""
    x, y = rows.table.X[:, 0], rows.table.y
    make = np.geomspace if _is_wide(x) else np.linspace
    grid = make(x.min(), x.max(), _N_POINTS)
    axes.plot(x, y, "o", markersize=4, color=_GREY, label="data")
    axes.plot(grid, law.values(grid[:, None]), color=_BLUE, label="law")
    axes.set_xscale("log" if _is_wide(x) else "linear")
    _scale(axes.set_yscale, axes.set_ylim, y)
    _name(axes, law.names[0], rows.target)
    axes.legend()


def _draw_values(axes: Axes, rows: ShownRows, values: FloatArray) -> None:
    """The law's values against the target's: the diagonal is a perfect law."""
    y = rows.table.y
    ends = [y.min(), y.max()]
    axes.plot(ends, ends, color=_GREY, linewidth=1)
    axes.plot(y, values, ".", color=_BLUE)
    both = np.concatenate([y, values[np.isfinite(values)]])
    is_wide = _is_wide(y) and both.min() > 0
    axes.set_xscale("log" if is_wide else "linear")
    axes.set_yscale("log" if is_wide else "linear")
    _name(axes, rows.target, f"{shortened(rows.target, _NAME_WIDTH - 12)} by the law")


def _draw_residuals(axes: Axes, rows: ShownRows, values: FloatArray) -> None:
    """Residuals in the order of the rows; relative to the target where that spans decades."""
    y = rows.table.y
    is_wide = _is_wide(y)
    axes.axhline(0.0, color=_GREY, linewidth=1)
    axes.plot(rows.numbers, (y - values) / (y if is_wide else 1.0), ".", color=_BLUE)
    target = shortened(rows.target, _NAME_WIDTH - 12)
    _name(axes, "row", f"residual / {target}" if is_wide else f"residual of {target}")


def _draw_front(axes: Axes, candidates: pd.DataFrame) -> None:
    """Length against error of all candidates, the front as a line, the law as a star."""
    table = candidates.assign(fvu=candidates["fvu"].clip(lower=_LEAST_FVU))
    front, law = table[table["pareto"]].sort_values("length"), table.iloc[0]
    axes.semilogy(table["length"], table["fvu"], ".", color=_GREY, label="candidates")
    axes.semilogy(front["length"], front["fvu"], "o-", markersize=4, color=_ORANGE, label="front")
    axes.semilogy([law["length"]], [law["fvu"]], "*", markersize=14, color=_BLUE, label="law")
    axes.set(xlabel="size (tokens)", ylabel="fraction of variance unexplained")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()


def _is_wide(values: FloatArray) -> bool:
    """Whether positive values span more than two decades."""
    low, high = float(values.min()), float(values.max())
    return low > 0 and high > _WIDE * low


def _scale(set_scale: Any, set_limits: Any, values: FloatArray) -> None:
    """An axis that shows these values: a pole of the law must not stretch it."""
    low, high = float(values.min()), float(values.max())
    if _is_wide(values):
        set_scale("log")
        margin = (high / low) ** _MARGIN
        set_limits(low / margin, high * margin)
    elif high > low:
        margin = _MARGIN * (high - low)
        set_limits(low - margin, high + margin)


def _name(axes: Axes, x: str, y: str) -> None:
    """Names of axes are those of the user: a dollar sign begins no formula."""
    axes.set_xlabel(shortened(x, _NAME_WIDTH), parse_math=False)
    axes.set_ylabel(shortened(y, _NAME_WIDTH), parse_math=False)
