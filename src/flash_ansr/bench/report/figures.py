"""Figures of the report: curves against time, points and noise, the fit of every problem, and R2 against size.

Colours are those of Okabe and Ito, which the colour-blind can distinguish; every curve has a marker of its own too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from flash_ansr.bench.groups import Group, grouped
from flash_ansr.bench.metrics import METRICS, Metric
from flash_ansr.bench.numeric import EPSILON_32, is_perfect
from flash_ansr.bench.report.standings import is_dominated, standings
from flash_ansr.catalogues import FloatArray, Kind, Problem, load

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# inches of a legend: the mark of an entry with its margins, a letter, a line
_LEGEND_MARK, _LETTER, _LEGEND_LINE = 0.6, 0.075, 0.22
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# of the first seven curves, of the next seven, and so on, whose markers are shifted
_LINE_STYLES = ("-", "--", ":")
# ours has the same colour in every figure, and others keep theirs whether or not baselines are drawn; others are 1
_COLOUR_ORDER = {"ours": 0, "linear": 2, "power_law": 2}
_PARETO_WIDTH = 6.4
_FVU_FLOOR = 1e-32
_FVU_CEILING = 1e2
_FAILED_FVU = 0.5
# a data set that spans more is drawn on a logarithmic scale; an axis that spans less has ticks at 1, 2 and 5
_DECADES = 2
_N_TICKS = 3

STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "figure.dpi": 150,
}


@dataclass(frozen=True, slots=True)
class Axis:
    """The quantity along the x axis of a figure.

    Attributes
    ----------
    name, label : str
    position : callable
        Of a group, on the axis.
    fixed, effort : callables
        Give values that are equal for all groups of the figure, and for those of one curve.
    """

    name: str
    label: str
    position: Callable[[Group], float]
    fixed: Callable[[Group], object]
    effort: Callable[[Group], object]


AXES = (
    Axis("time", "mean fit time [s]", lambda g: g.seconds, lambda g: (g.points, g.noise), lambda _: None),
    Axis("points", "points to fit", lambda g: float(g.points), lambda g: g.noise, lambda g: g.effort),
    Axis("noise", "noise on the targets, relative", lambda g: g.noise, lambda g: g.points, lambda g: g.effort),
)


def curves(groups: Sequence[Group], axis: Axis) -> dict[str, list[Group]]:
    """Groups of one figure by curve, ordered along the axis; empty unless some curve has at least two positions.

    Whatever the axis does not show is held fixed, at the values for which most of the axis is covered. Groups on other
    problems than most, as an unfinished run has them, are left out.
    """
    best: dict[str, list[Group]] = {}
    for members in grouped(groups, axis.fixed).values():
        found = {}
        for curve, alike in grouped(_on_usual_problems(members), lambda g: g.curve).items():
            efforts = grouped(alike, axis.effort).values()
            found[curve] = sorted(max(efforts, key=lambda gs: len(_positions(gs, axis))), key=axis.position)
        if _coverage(found, axis) > _coverage(best, axis):
            best = found
    return best if any(len(_positions(gs, axis)) > 1 for gs in best.values()) else {}


def _on_usual_problems(groups: Sequence[Group]) -> list[Group]:
    """The groups on the set of problems that most of them have; of equally usual sets the larger one."""
    counts = Counter(group.problems for group in groups)
    usual = max(counts, key=lambda problems: (counts[problems], len(problems)))
    return [g for g in groups if g.problems == usual]


def metric_figure(groups: Sequence[Group], axis: Axis, names: Sequence[str], columns: int = 3) -> Figure | None:
    """Metrics against an axis, one panel each, with 95 % bands; None where nothing varies along the axis."""
    found = curves(groups, axis)
    shown = [
        m for m in map(METRICS.__getitem__, names) if any(g.estimates[m.name].n for gs in found.values() for g in gs)
    ]
    if not found or not shown:
        return None
    n_columns = min(columns, len(shown))
    n_rows = math.ceil(len(shown) / n_columns)
    with mpl.rc_context(STYLE):
        # fixed margins: matplotlib's layout engines take seconds for a grid of this size
        width = 3.4 * n_columns
        in_a_line = _legend_columns(found, width)
        top = 0.4 + _LEGEND_LINE * math.ceil(len(found) / in_a_line)
        height = 2.7 * n_rows + top - 0.15
        margins = {"left": 0.5 / width, "right": 1 - 0.15 / width, "bottom": 0.55 / height, "top": 1 - top / height}
        figure = Figure(figsize=(width, height))
        spacing = {"wspace": 0.22, "hspace": 0.5, **margins}
        panels = _grid(figure, len(shown), n_columns, gridspec_kw=spacing)
        for panel, metric in zip(panels, shown, strict=True):
            _draw_metric(panel, found, axis, metric)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=in_a_line)
    return figure


def problem_figure(group: Group) -> Figure:
    """The FVU of every problem of a group on its validation rows, by difficulty; lines span all data sets of one."""
    difficulty = {p.name: p.difficulty or "all" for p in load(group.catalogue)}
    fvus = group.scores["fvu_validation"].rename_axis("problem")
    spread = fvus.groupby("problem").agg(["min", "median", "max"]).sort_values(["median", "problem"])
    parts = grouped(spread.index, difficulty.__getitem__)
    with mpl.rc_context(STYLE):
        height = 0.14 * max(map(len, parts.values())) + 1.4
        figure = Figure(figsize=(3.4 * len(parts) + 0.6, height), layout="constrained")
        panels = figure.subplots(1, len(parts), squeeze=False, sharex=True).ravel()
        order = [d for d in dict.fromkeys(difficulty.values()) if d in parts]
        for panel, name in zip(panels, order, strict=True):
            _draw_problems(panel, spread.loc[parts[name]], name)
        figure.suptitle(f"{group.label}, {group.effort}, {group.points} points, noise {group.noise:g}")
        handles = [panels[0].scatter([], [], color=c, label=text, s=14) for text, c in _OUTCOMES.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def pareto_figure(groups: Sequence[Group]) -> Figure | None:
    """R2 against size of systems on tables, with 95 % intervals; a line joins those that no other dominates.

    Groups on other tables than most are left out; None where no group has an answer.
    """
    known = [s for s in standings(_on_usual_problems(groups)) if s.size.n]
    if not known:
        return None
    known.sort(key=lambda s: _COLOUR_ORDER.get(s.group.system, 1))
    labels = [f"{s.group.curve}, {s.group.effort}" for s in known]
    in_a_line = _legend_columns(labels, _PARETO_WIDTH)
    with mpl.rc_context(STYLE):
        height = 3.2 + _LEGEND_LINE * math.ceil(len(labels) / in_a_line)
        figure = Figure(figsize=(_PARETO_WIDTH, height), layout="constrained")
        panel = figure.subplots()
        front = sorted((s.size.value, s.mean_r2.value) for s in known if not is_dominated(s, known))
        panel.plot(*zip(*front, strict=True), "--", color="0.5", lw=1)
        for k, (found, label) in enumerate(zip(known, labels, strict=True)):
            r2, size = found.mean_r2, found.size
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
            panel.plot(size.value, r2.value, ls="", color=colour, marker=marker, ms=6, label=label)
            panel.vlines(size.value, r2.low, r2.high, colors=colour, lw=1)
            panel.hlines(r2.value, size.low, size.high, colors=colour, lw=1)
        panel.set(xscale="log", ylim=(0, 1.02), xlabel="mean size: tokens of a formula, or nodes of trees")
        panel.set_ylabel("mean of max(R2, 0), tested rows")
        figure.legend(loc="outside upper center", ncols=in_a_line)
    return figure


_OUTCOMES = {
    "recovered": COLOURS[2],
    "approximate": COLOURS[4],
    f"FVU ≥ {_FAILED_FVU:g}, little better than the mean": COLOURS[1],
}


def _draw_problems(panel: Axes, spread: pd.DataFrame, title: str) -> None:
    recovered, approximate, failed = _OUTCOMES.values()
    colours = [recovered if is_perfect(m) else approximate if m < _FAILED_FVU else failed for m in spread["median"]]
    shown = spread.clip(_FVU_FLOOR, _FVU_CEILING)
    heights = range(len(spread))
    panel.hlines(heights, shown["min"], shown["max"], colors=colours, lw=1)
    panel.scatter(shown["median"], heights, color=colours, s=14, zorder=3)
    panel.axvline(EPSILON_32, color="0.3", lw=0.8, ls=":")
    panel.axvline(1, color="0.5", lw=0.8, ls="--")
    panel.set(xscale="log", xlim=(_FVU_FLOOR / 10, _FVU_CEILING * 10), xlabel="FVU on validation rows", title=title)
    panel.set_ylim(-1, len(spread))
    panel.set_yticks(heights, spread.index, fontsize=5)


def _draw_metric(panel: Axes, found: dict[str, list[Group]], axis: Axis, metric: Metric) -> None:
    in_order = sorted(found.items(), key=lambda curve: (_COLOUR_ORDER.get(curve[1][0].system, 1), curve[0]))
    for k, (label, groups) in enumerate(in_order):
        known = [g for g in groups if g.estimates[metric.name].n]
        x = np.array([axis.position(g) for g in known])
        value, low, high, _ = np.reshape([metric.shown(g.estimates[metric.name]) for g in known], (-1, 4)).T
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
        line = _LINE_STYLES[k // len(COLOURS) % len(_LINE_STYLES)]
        panel.plot(x, value, line, color=colour, marker=marker, ms=4, lw=1.3, label=label)
        if len(x) > 1:
            panel.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        else:
            panel.errorbar(x, value, [value - low, high - value], color=colour, capsize=2, lw=1)
    _scale_x(panel, found, axis)
    if metric.unit in ("share", "rate"):
        panel.set_ylim(-2, 102)
    elif metric.unit == "ratio":
        panel.axhline(1, color="0.5", lw=0.8, ls="--")
    panel.set_xlabel(axis.label)
    panel.set_title(metric.heading, loc="left", fontsize=9)


def _scale_x(panel: Axes, found: dict[str, list[Group]], axis: Axis) -> None:
    positions = sorted({axis.position(g) for groups in found.values() for g in groups})
    if positions[0] == 0:
        # no noise has a place of its own, left of the least
        panel.set_xscale("symlog", linthresh=positions[1] if len(positions) > 1 else 1.0)
        panel.set_xticks(positions, [f"{p:g}" for p in positions])
    else:
        panel.set_xscale("log", base=2 if axis.name == "points" else 10)
        if axis.name == "points":
            panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        elif positions[-1] < 10**_DECADES * positions[0]:
            few_ticks(panel.xaxis, "g")


def few_ticks(axis: XAxis | YAxis, form: str) -> None:
    """Label 1, 2 and 5 of a logarithmic axis: matplotlib's own labels on less than two decades overlap."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda value, _: f"{value:{form}}")
    axis.set_minor_formatter(NullFormatter())


def _grid(figure: Figure, n: int, n_columns: int, **options: Any) -> list[Axes]:
    """Panels in rows; the places after the last one stay empty."""
    panels: list[Axes] = figure.subplots(math.ceil(n / n_columns), n_columns, squeeze=False, **options).ravel().tolist()
    for panel in panels[n:]:
        panel.set_axis_off()
    return panels[:n]


def _legend_columns(labels: Collection[str], width: float) -> int:
    """Entries of a legend side by side, on so many inches."""
    return max(1, min(4, len(labels), int(width / (_LEGEND_MARK + _LETTER * max(map(len, labels))))))


def _positions(groups: Iterable[Group], axis: Axis) -> set[float]:
    return {axis.position(g) for g in groups}


def _coverage(found: dict[str, list[Group]], axis: Axis) -> int:
    return sum(len(_positions(gs, axis)) for gs in found.values())


def data_figure(problem: Problem, X: FloatArray, y: FloatArray) -> Figure:
    """A sampled data set: the target against each variable."""
    variables = problem.variables
    n_columns = min(4, len(variables))
    n_rows = math.ceil(len(variables) / n_columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.8 * n_columns, 2.4 * n_rows + 0.4), layout="constrained")
        panels = _grid(figure, len(variables), n_columns, sharey=True)
        for k, (panel, variable) in enumerate(zip(panels, variables, strict=True)):
            panel.scatter(X[:, k], y, s=6, color=COLOURS[0], alpha=0.6, lw=0)
            panel.set_xlabel(f"x{k + 1} = {variable.name}")
            if variable.range.kind is Kind.LOG:
                _set_log_scale(panel, "x", X[:, k])
            if k % n_columns == 0:
                panel.set_ylabel("y")
        if np.ptp(np.log10(np.abs(y[y != 0]))) > _DECADES:
            _set_log_scale(panels[0], "y", y)
        figure.suptitle(f"{problem.name}: {problem.formula}")
    return figure


def _set_log_scale(panel: Axes, axis: Literal["x", "y"], values: FloatArray) -> None:
    """Set a logarithmic scale, on both sides of zero where values are negative."""
    set_scale = panel.set_xscale if axis == "x" else panel.set_yscale
    if (values > 0).all():
        set_scale("log")
    else:
        magnitudes = np.abs(values[values != 0])
        set_scale("symlog", linthresh=float(magnitudes.min()))
        first, last = math.floor(math.log10(magnitudes.min())), math.ceil(math.log10(magnitudes.max()))
        # matplotlib's own ticks on this scale overlap
        signs = [sign for sign in (-1, 1) if (sign * values > 0).any()]
        exponents = range(last, first - 1, -math.ceil(max(1, last - first) * len(signs) / _N_TICKS))
        ticks = [sign * 10.0**k for sign in signs for k in exponents]
        limits = {f"{axis}lim": (-(10.0**last), 0)} if signs == [-1] else {}
        panel.set(**{f"{axis}ticks": ticks}, **limits)
