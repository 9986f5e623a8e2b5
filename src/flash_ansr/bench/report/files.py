"""The report of a benchmark: tables and figures from rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from flash_ansr.bench.groups import Group, group_rows
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.report.figures import AXES, metric_figure, pareto_figure, problem_figure
from flash_ansr.bench.report.tables import Format, table
from flash_ansr.bench.rows import read_rows
from flash_ansr.progress_bar import progress_bar
from simplipy.files.output_files import make_folder, replacing, write_whole

_SUFFIXES: dict[Format, str] = {"text": "txt", "markdown": "md", "latex": "tex"}


def read_groups(paths: Sequence[Path], show_progress: bool = True) -> list[Group]:
    """Scored groups of all rows in files and folders."""
    rows = list(read_rows(paths))
    with progress_bar("scoring rows", len(rows), show=show_progress) as bar:
        return group_rows(rows, bar.advance)


def write_report(groups: Sequence[Group], folder: Path) -> list[Path]:
    """Write the tables in every format, and every figure that the groups have data for; returns the files."""
    make_folder(folder)
    written = []
    for fmt, suffix in _SUFFIXES.items():
        for name, every_metric in (("summary", False), ("metrics", True)):
            path = folder / f"{name}.{suffix}"
            write_whole(path, table(groups, fmt, every_metric) + "\n")
            written.append(path)
    for catalogue in dict.fromkeys(g.catalogue for g in groups):
        of_catalogue = [g for g in groups if g.catalogue == catalogue]
        for name, figure in _figures(of_catalogue):
            path = folder / f"{_slug(Path(catalogue).stem)}-{name}.png"
            with replacing(path) as part:
                figure.savefig(part, format="png")
            written.append(path)
    return written


def _figures(groups: Sequence[Group]) -> Iterator[tuple[str, Figure]]:
    if groups[0].is_on_tables:
        pareto = pareto_figure(groups)
        yield from [] if pareto is None else [("pareto", pareto)]
        return
    few = [m.name for m in METRICS.values() if m.shown_in == "figure"]
    for axis in AXES:
        for name, metrics in ((axis.name, few), (f"{axis.name}-metrics", list(METRICS))):
            figure = metric_figure(groups, axis, metrics)
            if figure is not None:
                yield name, figure
    for label in dict.fromkeys(g.label for g in groups):
        # the group with most effort shows best which problems are left
        best = max((g for g in groups if g.label == label), key=lambda g: (-g.noise, g.seconds))
        yield f"problems-{_slug(label)}", problem_figure(best)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()
