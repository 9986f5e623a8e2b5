"""The figure of a prior's statistics: the paper's ECDFs and histogram, magnitudes, and reasons of rejection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simplipy.files.output_files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flash_ansr.data.statistics import Statistics

_LABELS = {
    "n_constants": "constants",
    "n_unique_variables": "unique variables",
    "n_variable_nodes": "variable nodes",
    "lengths": "length",
}


def draw_statistics(statistics: Statistics, path: Path) -> None:
    """Write the figure; the ending of the path says the format."""
    with replacing(path) as temporary:
        statistics_figure(statistics).savefig(temporary, dpi=130, format=path.suffix.removeprefix(".") or "png")


def statistics_figure(statistics: Statistics) -> Figure:
    """Four panels: counts, unique variables against nodes, magnitudes, outcomes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_ecdfs(axes[0, 0], statistics)
    _draw_histogram(axes[0, 1], statistics)
    _draw_magnitudes(axes[1, 0], statistics)
    _draw_outcomes(axes[1, 1], statistics)
    figure.suptitle(f"prior {statistics.prior}, {statistics.n:,} problems")
    return figure


def _draw_ecdfs(axes: Axes, statistics: Statistics) -> None:
    for name, label in _LABELS.items():
        values = np.sort(getattr(statistics.accepted, name))
        median = int(np.median(values))
        share = np.arange(1, len(values) + 1) / len(values)
        axes.step(values, share, where="post", label=f"{label} (median {median})")
    axes.axhline(0.5, color="grey", linewidth=0.6, linestyle=":")
    axes.set(xlabel="count", ylabel="share of problems", ylim=(0, 1), title="ECDFs of accepted skeletons")
    axes.legend(loc="lower right", fontsize=8)


def _draw_histogram(axes: Axes, statistics: Statistics) -> None:
    from matplotlib.ticker import MaxNLocator

    x, y = statistics.accepted.n_unique_variables, statistics.accepted.n_variable_nodes
    bins = [np.arange(-0.5, x.max() + 1.5), np.arange(-0.5, y.max() + 1.5)]
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=bins)
    shown = np.ma.masked_equal(counts.T / counts.sum(), 0)
    mesh = axes.pcolormesh(x_edges, y_edges, shown, cmap="viridis", rasterized=True)
    axes.figure.colorbar(mesh, ax=axes, label="share of problems")
    axes.set(xlabel="unique variables", ylabel="variable nodes", title="unique variables and variable nodes")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_magnitudes(axes: Axes, statistics: Statistics) -> None:
    both = np.concatenate([statistics.log10_x, statistics.log10_y])
    low, high = np.quantile(both, [0.002, 0.998])
    bins = np.linspace(np.floor(low), np.ceil(high), 80).tolist()
    for values, label in ((statistics.log10_x, "|x|"), (statistics.log10_y, "|y|")):
        axes.hist(values, bins=bins, density=True, histtype="step", label=label)
    axes.set(xlabel="log10 of the magnitude", ylabel="density", title="magnitudes, zeros left out")
    axes.legend(fontsize=8)


def _draw_outcomes(axes: Axes, statistics: Statistics) -> None:
    total = sum(statistics.outcomes.values())
    names = [name for name, count in statistics.outcomes.items() if count]
    shares = [statistics.outcomes[name] / total for name in names]
    bars = axes.barh([name.replace("_", " ") for name in names], shares)
    axes.bar_label(bars, labels=[f"{share:.2%}" for share in shares], fontsize=8, padding=2)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.25 * max(shares)), xlabel="share of attempts", title="outcome of attempts")
