"""Panels, tables, distributions and bars, in the benchmark's colours, which the colour-blind can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.report.figures import COLOURS, STYLE

INTERVALS = "whiskers and bands: 95 % of bootstrap samples over problems"


def panels(n_rows: int, n_columns: int, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with a grid of panels of this size in inches, in the house style."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
        found = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(found.ravel())


def draw_ecdf(axes: Axes, values: npt.ArrayLike, n: int | None = None, **style: Any) -> None:
    """Draw the share of values up to x; with n, of n values of which the others are larger than all."""
    x = np.sort(np.asarray(values, dtype=np.float64))
    axes.step(x, np.arange(1, len(x) + 1) / (n or len(x)), where="post", **style)


def table_figure(rows: Sequence[Mapping[str, object]]) -> Figure:
    """A table as a figure, from its lines by column; a column is as wide as its longest text."""
    cells = [[str(cell).strip("`") for cell in row.values()] for row in rows]
    lengths = [4 + max(map(len, column)) for column in zip(rows[0], *cells, strict=True)]
    figure, (axes,) = panels(1, 1, 0.07 * sum(lengths), 0.2 * len(rows) + 0.6)
    axes.set_axis_off()
    widths = [length / sum(lengths) for length in lengths]
    drawn = axes.table(cellText=cells, colLabels=list(rows[0]), loc="center", cellLoc="left", colWidths=widths)
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    return figure


def draw_pairs(axes: Axes, series: Mapping[str, Mapping[str, float]], form: str) -> None:
    """Draw two series, by label, as pairs of horizontal bars; a name that one of them lacks has one bar."""
    names = list(dict.fromkeys(name for values in series.values() for name in values))
    for k, (label, values) in enumerate(series.items()):
        heights = [names.index(name) + 0.38 * (k - 0.5) for name in values]
        bars = axes.barh(heights, list(values.values()), height=0.36, color=COLOURS[k], label=label)
        axes.bar_label(bars, fmt=form, padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()


def compared_with_paper(title: str, unit: str, here: Mapping[str, float], paper: Mapping[str, float]) -> Figure:
    """Values beside those of the paper, on a logarithmic scale."""
    figure, (axes,) = panels(1, 1, 7.5, 0.55 * len({*here, *paper}) + 1.4)
    draw_pairs(axes, {"here": here, "the paper": paper}, "{:.3g}")
    known = [*here.values(), *paper.values()]
    axes.set(xscale="log", xlim=(min(known) / 3, max(known) * 5), xlabel=unit)
    axes.set_title(title, loc="left", fontsize=9)
    axes.legend(loc="best")
    return figure


def fingerprint_figure(
    groups: Sequence[Group],
    metrics: Sequence[str],
    extra: Mapping[str, Mapping[str, float]],
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Groups side by side, a panel for each metric; whiskers hold 95 % of bootstrap samples over problems.

    Parameters
    ----------
    groups : sequence of Group
        One for each label.
    metrics : sequence of str
        Fields of the benchmark's metrics; those without values are left out.
    extra : mapping of panel title to mapping of label to value
        More panels to show.
    names : mapping of label to str, optional
        Texts to write instead of labels.
    """
    labels = [group.label for group in groups]
    shown: dict[str, dict[str, tuple[float, float, float]]] = {}
    for metric in map(METRICS.__getitem__, metrics):
        found = {g.label: g.estimates[metric.name] for g in groups if g.estimates[metric.name].n}
        if found:
            shown[metric.heading] = {label: metric.shown(estimate)[:3] for label, estimate in found.items()}
    shown |= {title: {label: (v, np.nan, np.nan) for label, v in values.items()} for title, values in extra.items()}
    figure, drawn = panels(1, len(shown), 2.1, 0.42 * len(labels) + 1.2, sharey=True)
    for axes, (title, values) in zip(drawn, shown.items(), strict=True):
        for k, label in enumerate(labels):
            if label not in values:
                continue
            value, low, high = values[label]
            axes.barh(k, value, color=COLOURS[k % len(COLOURS)], height=0.7)
            if np.isfinite([low, high]).all():
                whiskers = [[max(0.0, value - low)], [max(0.0, high - value)]]
                axes.errorbar(value, k, xerr=whiskers, color="0.55", capsize=2)
        axes.set_title(title, fontsize=8)
    drawn[0].set_yticks(range(len(labels)), [(names or {}).get(label, label) for label in labels])
    drawn[0].invert_yaxis()
    return figure
