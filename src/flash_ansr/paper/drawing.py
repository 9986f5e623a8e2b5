"""Panels, empirical distributions and bars, in the benchmark's colours, which the colour-blind can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flash_ansr.bench.figures import COLOURS, STYLE
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS

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


def bar_figure(title: str, unit: str, values: Mapping[str, float], reference: Mapping[str, float]) -> Figure:
    """Values beside those of the paper, on a logarithmic scale; what only one side has stands alone."""
    names = list(dict.fromkeys([*values, *reference]))
    figure, (axes,) = panels(1, 1, 7.5, 0.55 * len(names) + 1.4)
    for offset, (label, found, colour) in enumerate(
        (("here", values, COLOURS[0]), ("the paper", reference, COLOURS[1]))
    ):
        heights = [k + 0.38 * (offset - 0.5) for k, name in enumerate(names) if name in found]
        shown = [found[name] for name in names if name in found]
        bars = axes.barh(heights, shown, height=0.36, color=colour, label=label)
        axes.bar_label(bars, labels=[f"{value:.3g}" for value in shown], padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    known = [*values.values(), *reference.values()]
    axes.set_xlim(min(known) / 3, max(known) * 5)
    axes.set_xlabel(unit)
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
        What else to show.
    names : mapping of label to str, optional
        What to write instead of a label.
    """
    labels = [group.label for group in groups]
    known = [METRICS[name] for name in metrics if any(group.estimates[name].n for group in groups)]
    figure, drawn = panels(1, len(known) + len(extra), 2.1, 0.42 * len(labels) + 1.2, sharey=True)
    for axes, metric in zip(drawn, known, strict=False):
        for k, group in enumerate(groups):
            found = group.estimates[metric.name]
            if not found.n:
                continue
            value, low, high = (metric.shown(v) for v in (found.value, found.low, found.high))
            axes.barh(k, value, color=COLOURS[k % len(COLOURS)], height=0.7)
            if np.isfinite([low, high]).all():
                axes.errorbar(
                    value, k, xerr=[[max(0.0, value - low)], [max(0.0, high - value)]], color="0.55", capsize=2
                )
        axes.set_title(metric.heading, fontsize=8)
    for axes, (title, values) in zip(drawn[len(known) :], extra.items(), strict=True):
        for k, label in enumerate(labels):
            if label in values:
                axes.barh(k, values[label], color=COLOURS[k % len(COLOURS)], height=0.7)
        axes.set_title(title, fontsize=8)
    drawn[0].set_yticks(range(len(labels)), [(names or {}).get(label, label) for label in labels])
    drawn[0].invert_yaxis()
    return figure


def markdown(header: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)
