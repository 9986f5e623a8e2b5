"""The figure of README.md: correct answers and lengths of formulas against the time limit.

    python benchmarks/make_readme_figure.py [results/time/report/summary.md] [--out docs/figures/recovery.png]

It is drawn from the committed table of `flash-ansr bench report`. Shaded areas are 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from matplotlib.figure import Figure

PANELS = {
    "correct on new data [%]": "vNRR [%]",
    "same formula as the true law [%]": "symbolic recovery",
    "length / length of the true law": "length ratio, recovered, both simplified",
}
SYSTEMS = {"ours": ("this package", "#0072B2", "o"), "operon": ("Operon", "#D55E00", "s")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, nargs="?", default=Path("results/time/report/summary.md"))
    parser.add_argument("--out", type=Path, default=Path("docs/figures/recovery.png"))
    options = parser.parse_args()
    lines = options.table.read_text(encoding="utf-8").splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    figure = Figure(figsize=(10, 3.2), layout="constrained", dpi=120)
    for panel, (title, column) in zip(figure.subplots(1, 3), PANELS.items(), strict=True):
        place = next(i for i, name in enumerate(head) if name.startswith(column))
        for system, (label, colour, marker) in SYSTEMS.items():
            own = [row for row in rows if row[0] == system]
            seconds = [float(row[1].removesuffix(" s")) for row in own]
            middle, low, high = zip(
                *([float(x) for x in re.findall(r"[\d.]+", row[place])] for row in own), strict=True
            )
            panel.plot(seconds, middle, color=colour, marker=marker, label=label)
            panel.fill_between(seconds, low, high, color=colour, alpha=0.15, linewidth=0)
        panel.set_title(title, loc="left", fontsize=10)
        panel.set(xscale="log", xlabel="time limit [s]", xticks=[0.25, 1, 5, 30], xticklabels=["0.25", "1", "5", "30"])
        panel.set_ylim(*((0, 100) if "%" in title else (0.8, 1.7)))
        panel.minorticks_off()
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panel.axhline(1, color="black", linestyle="--", linewidth=0.8)
    figure.axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(options.out)


if __name__ == "__main__":
    main()
