"""What each proposer is worth: recovery of own laws by each alone, by all but one, by all.

    python benchmarks/make_proposers_figure.py [results/proposers] [--out results/proposers/report/proposers.png]

Dots are shares of laws recovered (vNRR) at each time limit, lines 95 % bootstrap intervals; a panel for each noise.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flash_ansr.bench.groups import Group, group_rows
from flash_ansr.bench.report.figures import COLOURS, MARKERS, STYLE
from flash_ansr.bench.rows import read_rows
from simplipy.files.output_files import write_whole

SHIFT = 0.22


def draw(panel: Axes, groups: list[Group], labels: list[str]) -> None:
    """A row for each label, a dot for each time limit."""
    budgets = sorted({group.budget for group in groups if group.budget is not None})
    for k, budget in enumerate(budgets):
        found = [group for group in groups if group.budget == budget]
        estimates = [group.estimates["vnrr"] for group in found]
        places = [labels.index(group.label) + (k - (len(budgets) - 1) / 2) * SHIFT for group in found]
        values = [100 * e.value for e in estimates]
        sides = [[100 * (e.value - e.low) for e in estimates], [100 * (e.high - e.value) for e in estimates]]
        style = {"color": COLOURS[k], "marker": MARKERS[k], "ms": 4, "lw": 1, "ls": "none", "label": f"{budget:g} s"}
        panel.errorbar(values, places, xerr=sides, **style)
    panel.set(xlim=(-2, 102), xlabel="vNRR [%]", yticks=range(len(labels)), yticklabels=labels)
    panel.set_ylim(len(labels) - 0.5, -0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results/proposers"))
    parser.add_argument("--out", type=Path, default=Path("results/proposers/report/proposers.png"))
    options = parser.parse_args()
    groups = group_rows(list(read_rows(sorted(options.folder.glob("*.jsonl")))))
    labels = sorted({g.label for g in groups}, key=lambda name: (name != "all", "alone" in name, name))
    noises = sorted({group.noise for group in groups})
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.2 * len(noises) + 1, 0.42 * len(labels) + 1.2), layout="constrained")
        panels = figure.subplots(1, len(noises), sharey=True, squeeze=False).ravel()
        for panel, noise in zip(panels, noises, strict=True):
            draw(panel, [group for group in groups if group.noise == noise], labels)
            panel.set_title(f"noise {100 * noise:g} %", loc="left")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(options.out, buffer.getvalue())


if __name__ == "__main__":
    main()
