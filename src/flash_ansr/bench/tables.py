"""Groups as a table: text for a terminal, Markdown, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

import pandas as pd

from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS, Metric

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
    cells = _every_metric(groups) if every_metric else _summary(groups)
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


def _every_metric(groups: Sequence[Group]) -> pd.DataFrame:
    header = ["metric", *(f"{g.label}, {g.effort}, {g.points} points, noise {g.noise:g}" for g in groups)]
    lines = [[m.heading, *(_cell(m, g.estimates[name]) for g in groups)] for name, m in METRICS.items()]
    return pd.DataFrame(lines, columns=header)


def _cell(metric: Metric, found: Estimate) -> str:
    if found.n == 0:
        return "-"
    value, low, high = (_number(v, 1 if metric.percent else 2) for v in metric.shown(found)[:3])
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
