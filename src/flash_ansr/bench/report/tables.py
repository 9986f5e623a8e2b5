"""Groups as tables, one of laws and one of black boxes: text for a terminal, Markdown, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import pandas as pd

from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS, Metric
from flash_ansr.bench.report.standings import by_table, standings

Format = Literal["text", "markdown", "latex"]
# the first columns of the table name its lines: system, effort, points, noise, cores
_MAX_KEYS = 5
_LATEX = str.maketrans(
    {symbol: "\\" + symbol for symbol in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    | {"–": "--", "∞": r"$\infty$", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}
)


def table(groups: Sequence[Group], fmt: Format = "text", every_metric: bool = False, width: int | None = None) -> str:
    """One line for each group; intervals hold 95 % of bootstrap samples over problems.

    Parameters
    ----------
    groups : sequence of Group
    fmt : {"text", "markdown", "latex"}
    every_metric : bool
        All metrics as rows and groups as columns, rather than the few that matter most.
    width : int, optional
        Characters of a line of text at most; a wider table goes on below, with the columns that name its lines again.
    """
    on_tables = [g for g in groups if g.is_on_tables]
    on_laws = [g for g in groups if not g.is_on_tables]
    parts = []
    if on_laws:
        parts.append(_every_metric(on_laws) if every_metric else _summary(on_laws))
    if on_tables:
        parts.append(_every_table(on_tables) if every_metric else _standings(on_tables))
    return "\n\n".join(_written(cells, fmt, width) for cells in parts)


def _written(cells: pd.DataFrame, fmt: Format, width: int | None) -> str:
    if fmt == "markdown":
        return _markdown(cells)
    if fmt == "latex":
        return _latex(cells)
    return "\n\n".join(map(_text, [cells] if width is None else _parts(cells, width)))


def _summary(groups: Sequence[Group]) -> pd.DataFrame:
    shown = [m for m in METRICS.values() if m.shown_in != "full"]
    lines = [
        {"system": g.label, "effort": g.effort, "points": g.points, "noise": f"{g.noise:g}", "cores": g.n_threads}
        | {"problems": g.estimates["vnrr"].n}
        | {m.heading: _cell(m, g.estimates[m.name]) for m in shown}
        | {f"vNRR {name} [%]": f"{100 * share:.0f}" for name, share in g.recovery_by_difficulty().items()}
        for g in groups
    ]
    times = {"fit time [s]": [f"{g.seconds:.3g}" for g in groups]}
    return pd.DataFrame(lines, dtype=str).fillna("-").assign(**times)


def _standings(groups: Sequence[Group]) -> pd.DataFrame:
    lines = [
        {"system": s.group.label, "effort": s.group.effort, "points": f"<= {s.group.points}"}
        | {"cores": str(s.group.n_threads), "tables": str(s.mean_r2.n)}
        | {"mean R2 ↑": _interval(s.mean_r2, 3), "median R2 ↑": _interval(s.median_r2, 3)}
        | {"mean rank ↓": _interval(s.rank, 2), "mean size ↓": _interval(s.size, 0)}
        | {"|r2_cv - R2| ↓": _interval(s.gap, 3), "failed": str(s.n_failed), "fit time [s]": f"{s.group.seconds:.3g}"}
        for s in standings(groups)
    ]
    return pd.DataFrame(lines, dtype=str)


def _every_table(groups: Sequence[Group]) -> pd.DataFrame:
    """Mean max(R2, 0) and mean size on each table."""
    columns = {}
    for g in groups:
        r2, size = by_table(g, "r2"), by_table(g, "size")
        cells = {name: f"{r2[name]:.3f}; " + (f"{size[name]:.0f}" if size[name] > 0 else "-") for name in r2.index}
        columns[f"{g.label}, {g.effort}, <= {g.points} points: R2; size"] = cells
    return pd.DataFrame(columns).rename_axis("table").sort_index().fillna("-").reset_index()


def _every_metric(groups: Sequence[Group]) -> pd.DataFrame:
    header = ["metric", *(f"{g.label}, {g.effort}, {g.points} points, noise {g.noise:g}" for g in groups)]
    lines = [[m.heading, *(_cell(m, g.estimates[name]) for g in groups)] for name, m in METRICS.items()]
    return pd.DataFrame(lines, columns=header)


def _cell(metric: Metric, found: Estimate) -> str:
    return _interval(metric.shown(found), 1 if metric.percent else 2)


def _interval(found: Estimate, digits: int) -> str:
    if found.n == 0:
        return "-"
    value, low, high = (_number(v, digits) for v in found[:3])
    return f"{value} ({low}–{high})"


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _parts(cells: pd.DataFrame, width: int) -> Iterator[pd.DataFrame]:
    """The table cut into parts that are narrow enough, where their columns are."""
    widths = [max(map(len, column)) + 2 for column in zip(*_lines(cells), strict=True)]
    n_keys = next((n for n in range(1, _MAX_KEYS) if not cells.iloc[:, :n].duplicated().any()), _MAX_KEYS)
    keys = list(range(n_keys))
    chosen = keys
    for k in range(n_keys, len(widths)):
        if len(chosen) > n_keys and sum(widths[c] for c in chosen) + widths[k] - 2 > width:
            yield cells.iloc[:, chosen]
            chosen = keys
        chosen = [*chosen, k]
    yield cells.iloc[:, chosen]


def _lines(cells: pd.DataFrame) -> list[list[str]]:
    return [list(cells.columns), *cells.to_numpy().tolist()]


def _text(cells: pd.DataFrame) -> str:
    header, *lines = _lines(cells)
    sides = ["<", *(">" for _ in header[1:])]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True))
        for line in (header, ["-" * width for width in widths], *lines)
    )


def _markdown(cells: pd.DataFrame) -> str:
    header, *lines = _lines(cells)
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in (header, rule, *lines)
    )


def _latex(cells: pd.DataFrame) -> str:
    header, *lines = (
        " & ".join(cell.translate(_LATEX).replace("→ 0", r"$\to 0$") for cell in line) + r" \\"
        for line in _lines(cells)
    )
    begin, end = rf"\begin{{tabular}}{{l{'r' * (len(cells.columns) - 1)}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", header, r"\midrule", *lines, r"\bottomrule", end])
