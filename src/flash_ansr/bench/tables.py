"""Groups as a table: text for a terminal, Markdown, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS, Metric

HEADLINE = ("vnrr", "xnrr", "symbolic_recovery", "length_ratio_recovered", "length_ratio_simplified_recovered")
_LATEX_ARROWS = {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "→ 0": r"$\to 0$"}


# the first columns of the table, which tell its lines apart: system, effort, points, noise, cores
_N_KEYS = 5


class Format(Enum):
    """How a table is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"


def table(
    groups: Sequence[Group], fmt: Format = Format.TEXT, every_metric: bool = False, width: int | None = None
) -> str:
    """One line for each group; intervals hold 95 % of bootstrap samples over problems.

    Parameters
    ----------
    groups : sequence of Group
    fmt : Format
    every_metric : bool
        All metrics as rows and groups as columns, rather than the few that matter most.
    width : int, optional
        Characters of a line of text at most; a wider table goes on below, with the columns that name its lines again.
    """
    header, lines = _full(groups) if every_metric else _headline(groups)
    if fmt is Format.TEXT and width is not None:
        return "\n\n".join(_text(*part) for part in _parts(header, lines, width))
    return _WRITERS[fmt](header, lines)


def _parts(header: list[str], lines: list[list[str]], width: int) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The table cut into parts that are narrow enough, where their columns are."""
    widths = [max(map(len, column)) + 2 for column in zip(header, *lines, strict=True)]
    n_keys = next((n for n in range(1, _N_KEYS) if len({tuple(line[:n]) for line in lines}) == len(lines)), _N_KEYS)
    chosen = list(range(n_keys))
    for k in range(n_keys, len(header)):
        if len(chosen) > n_keys and sum(widths[c] for c in chosen) + widths[k] - 2 > width:
            yield [header[c] for c in chosen], [[line[c] for c in chosen] for line in lines]
            chosen = list(range(n_keys))
        chosen.append(k)
    yield [header[c] for c in chosen], [[line[c] for c in chosen] for line in lines]


def _headline(groups: Sequence[Group]) -> tuple[list[str], list[list[str]]]:
    difficulties = list(dict.fromkeys(d for g in groups for d in g.recovery_by_difficulty()))
    header = ["system", "effort", "points", "noise", "cores", "problems", *(METRICS[name].heading for name in HEADLINE)]
    header += [f"vNRR {d} [%]" for d in difficulties] + ["fit time [s]"]
    lines = []
    for g in groups:
        by_difficulty = g.recovery_by_difficulty()
        lines.append(
            [
                *(g.label, g.effort, str(g.points), f"{g.noise:g}", str(g.n_threads), str(g.estimates["vnrr"].n)),
                *(_cell(METRICS[name], g.estimates[name]) for name in HEADLINE),
                *(f"{100 * by_difficulty[d]:.0f}" if d in by_difficulty else "-" for d in difficulties),
                f"{g.seconds:.3g}",
            ]
        )
    return header, lines


def _full(groups: Sequence[Group]) -> tuple[list[str], list[list[str]]]:
    header = ["metric", *(f"{g.label}, {g.effort}, {g.points} points, noise {g.noise:g}" for g in groups)]
    lines = [[m.heading, *(_cell(m, g.estimates[name]) for g in groups)] for name, m in METRICS.items()]
    return header, lines


def _cell(metric: Metric, found: Estimate) -> str:
    if found.n == 0:
        return "-"
    digits = 1 if metric.percent else 2
    value, low, high = (_number(metric.shown(v), digits) for v in (found.value, found.low, found.high))
    return f"{value} ({low}–{high})"


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _text(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    sides = ["<", *(">" for _ in header[1:])]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True))
        for line in (header, rule, *lines)
    )


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in (header, rule, *lines)
    )


def _latex(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def row(line: Sequence[str]) -> str:
        return " & ".join(map(_escape, line)) + r" \\"

    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            row(header),
            r"\midrule",
            *map(row, lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


_LATEX = {symbol: "\\" + symbol for symbol in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "–": "--",
    "∞": r"$\infty$",
}


def _escape(text: str) -> str:
    text = "".join(_LATEX.get(symbol, symbol) for symbol in text)
    for symbol, command in _LATEX_ARROWS.items():
        text = text.replace(symbol, command)
    return text


_WRITERS: dict[Format, Callable[[Sequence[str], Sequence[Sequence[str]]], str]] = {
    Format.TEXT: _text,
    Format.MARKDOWN: _markdown,
    Format.LATEX: _latex,
}
