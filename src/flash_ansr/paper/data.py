"""The training data: what the prior gives, and the equations of the benchmark that are left out."""

from __future__ import annotations

import numpy as np

from flash_ansr.bench.figures import COLOURS
from flash_ansr.catalogues import Problem, load
from flash_ansr.data import Generator
from flash_ansr.data.figure import statistics_figure
from flash_ansr.data.statistics import collect
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome

_MEDIANS = {"n_unique_variables": "unique variables", "lengths": "symbols", "n_constants": "constants"}


def data_statistics(context: Context) -> Outcome:
    """Counts of the problems that training sees."""
    n = context.pick(200, 20_000, 1_000_000)
    statistics = collect(Generator("paper"), n, context.seed, context.n_threads)
    summary = statistics.summary()
    context.each([f"paper {n}"], lambda _: summary, "statistics")
    accepted = summary["medians"]["accepted"]
    medians = ", ".join(f"{accepted[key]:g} {name}" for key, name in _MEDIANS.items())
    findings = [
        f"medians of the accepted problems: {medians}",
        f"{100 * summary['acceptance']:.0f} % of the attempts are accepted",
        f"median length as drawn {summary['medians']['drawn']['lengths']:g}, simplified "
        f"{summary['medians']['simplified']['lengths']:g}",
    ]
    header = ["stage", *(name for name in _MEDIANS.values())]
    lines = [[stage, *(values[key] for key in _MEDIANS)] for stage, values in summary["medians"].items()]
    return Outcome({"data_statistics": statistics_figure(statistics)}, findings, markdown(header, lines))


def excluded_equations(context: Context) -> Outcome:
    """How often the law of an equation that is left out is finite, as a double and as a 32-bit float."""
    catalogue = load("fastsrb")
    n = context.pick(100, 20_000, 200_000)
    excluded = [problem for problem in catalogue if problem.excluded is not None]

    def work(name: str) -> Facts:
        return _finite_shares(catalogue[name.split()[0]], n, context.seed)

    rows = context.each([f"{problem.name} {n}" for problem in excluded], work, "drawing rows")
    figure, (axes,) = panels(1, 1, 7.0, 3.0)
    for offset, (key, label) in enumerate((("as_double", "64-bit"), ("as_float", "32-bit"))):
        heights = np.arange(len(excluded)) + 0.38 * (offset - 0.5)
        bars = axes.barh(heights, [100 * row[key] for row in rows], height=0.36, color=COLOURS[offset], label=label)
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
    axes.set_yticks(range(len(excluded)), [problem.name for problem in excluded])
    axes.invert_yaxis()
    axes.set(xlabel="rows with a finite law [%]", xlim=(0, 112))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
    findings = [
        f"{problem.name}: finite at {100 * row['as_double']:.1f} % of the rows as a double, at "
        f"{100 * row['as_float']:.1f} % as a 32-bit float; {problem.excluded}"
        for problem, row in zip(excluded, rows, strict=True)
    ]
    findings.append(f"{len(catalogue)} equations, {len(catalogue.included)} used")
    header = ["equation", "formula", "finite, 64-bit %", "finite, 32-bit %"]
    lines = [
        [problem.name, f"`{problem.formula}`", f"{100 * row['as_double']:.1f}", f"{100 * row['as_float']:.1f}"]
        for problem, row in zip(excluded, rows, strict=True)
    ]
    return Outcome({"excluded_equations": figure}, findings, markdown(header, lines))


def _finite_shares(problem: Problem, n: int, seed: int) -> Facts:
    draws = np.random.default_rng(seed).random((n, len(problem.variables), 2))
    columns = [v.range.values(draws[:, k, 0], draws[:, k, 1]) for k, v in enumerate(problem.variables)]
    y = np.asarray(problem.expression(np.column_stack(columns)), dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        narrow = y.astype(np.float32)
    return {"as_double": float(np.isfinite(y).mean()), "as_float": float(np.isfinite(narrow).mean())}


EXPERIMENTS = (
    Experiment(
        "data_statistics",
        "Figure 'Training data statistics' (Appendix Data Statistics)",
        "Half of the simplified training expressions contain at least 5 unique variables and 24 symbols.",
        data_statistics,
        "20,000 problems of the paper's prior",
        "a million problems",
        0.2,
    ),
    Experiment(
        "excluded_equations",
        "Appendix Excluded FastSRB Equations",
        "B4, B7, B17, II.24.17 and III.14.14 are left out: their ranges lead to roots of negative numbers or to "
        "exponentials that overflow 32-bit floats.",
        excluded_equations,
        "20,000 rows of each",
        "200,000 rows of each",
        0.1,
    ),
)
