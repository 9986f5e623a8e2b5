"""Statistics and figure of the simplifier benchmark, from its rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
# Okabe and Ito's colours tell apart for every kind of colour vision; ours are shades of blue, as in the paper's figure.
STYLES: dict[str, tuple[str, str, str]] = {
    "ours_extend_L0": ("#9ecae9", "-", "ours, $L_{max}$ 0"),
    "ours_extend_L4": ("#56b4e9", "-", "ours, $L_{max}$ 4"),
    "ours_extend_L5": ("#2b8cc4", "-", "ours, $L_{max}$ 5"),
    "ours_extend_L7": ("#08519c", "-", "ours, $L_{max}$ 7"),
    "ours_preserve_L7": ("#08519c", "--", "ours, $L_{max}$ 7, domain kept"),
    "paper_L4": ("#009e73", "-", "the paper's algorithm, Python, $L_{max}$ 4"),
    "published": ("#000000", ":", "simplipy, published"),
    "published_lossy": ("#000000", "-.", "simplipy, published, lossy"),
    "symengine": ("#cc79a7", "-", "SymEngine, construction only"),
    "sympy": ("#d55e00", "-", "SymPy simplify"),
    "sympy_ratio1": ("#e69f00", "--", "SymPy simplify, ratio=1"),
}


def seconds_of(rows: Sequence[Row]) -> np.ndarray:
    """Times; one that ran out of time counts with the limit."""
    return np.array([row["seconds"] for row in rows if row["status"] in ("ok", "timeout")], dtype=float)


def ratios_of(rows: Sequence[Row]) -> np.ndarray:
    """Length of the output over the length of the input; without an output, as long as before."""
    return np.array([row["length_out"] / row["length_in"] if row["status"] == "ok" else 1.0 for row in rows])


def summary_of(rows: Sequence[Row], engines: dict[str, Any]) -> dict[str, Any]:
    """One entry an engine.

    Parameters
    ----------
    rows : of "engine", "row", "status", "seconds", "length_in", "length_out".
    engines : what is measured once an engine: "version", "megabytes_over_interpreter", "batch_seconds".
    """
    by_engine: dict[str, list[Row]] = {}
    for row in rows:
        by_engine.setdefault(row["engine"], []).append(row)
    sympy_rows = by_engine.get("sympy", [])
    sympy_median = float(np.median(seconds_of(sympy_rows))) if sympy_rows else None
    shared = {row["row"] for row in sympy_rows}
    return {name: _entry(own, shared, sympy_median) | engines.get(name, {}) for name, own in sorted(by_engine.items())}


def _entry(rows: list[Row], shared: set[int], sympy_median: float | None) -> dict[str, Any]:
    seconds, ratios = seconds_of(rows), ratios_of(rows)
    ours_on_shared = ratios_of([row for row in rows if row["row"] in shared])
    median = float(np.median(seconds)) if len(seconds) else None
    mean = float(seconds.mean()) if len(seconds) else None
    return {
        "n_rows": len(rows),
        "median_us": _micro(median),
        "mean_us": _micro(mean),
        "p99_us": _micro(float(np.quantile(seconds, 0.99))) if len(seconds) else None,
        "p99.9_us": _micro(float(np.quantile(seconds, 0.999))) if len(seconds) else None,
        "times_faster_than_sympy_median": round(sympy_median / median, 1) if sympy_median and median else None,
        "hours_for_100M_one_thread": round(mean * 1e8 / 3600, 3) if mean is not None else None,
        "mean_length_ratio": round(float(ratios.mean()), 4),
        "mean_length_ratio_on_sympy_rows": round(float(ours_on_shared.mean()), 4) if len(ours_on_shared) else None,
        "share_longer": round(float((ratios > 1).mean()), 4),
        "share_timed_out": round(sum(row["status"] == "timeout" for row in rows) / len(rows), 4),
        "share_failed": round(sum(row["status"] == "error" for row in rows) / len(rows), 4),
    }


def _micro(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e6, 3)


def table_of(summary: dict[str, Any]) -> str:
    """The summary as a Markdown table."""
    columns = {
        "engine": "engine",
        "n_rows": "rows",
        "median_us": "median µs",
        "mean_us": "mean µs",
        "p99_us": "p99 µs",
        "p99.9_us": "p99.9 µs",
        "times_faster_than_sympy_median": "× SymPy",
        "mean_length_ratio": "length ratio",
        "mean_length_ratio_on_sympy_rows": "on SymPy's rows",
        "share_longer": "longer",
        "share_timed_out": "timed out",
        "share_failed": "failed",
        "megabytes_over_interpreter": "MB",
        "hours_for_100M_one_thread": "hours for 100M",
    }
    lines = ["| " + " | ".join(columns.values()) + " |", "|" + " --- |" * len(columns)]
    for name, entry in summary.items():
        cells = [name, *(entry.get(key) for key in list(columns)[1:])]
        lines.append("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |")
    batches = [(name, entry["batch_us"]) for name, entry in summary.items() if "batch_us" in entry]
    if batches:
        lines += [
            "",
            "| simplify_many | 1 thread, µs each | 2 threads, µs each | speed-up |",
            "| --- | --- | --- | --- |",
        ]
        lines += [f"| {name} | {us['1']} | {us['2']} | {us['1'] / us['2']:.2f} |" for name, us in batches]
    return "\n".join(lines)


def draw(rows: Sequence[Row], path: Path) -> None:
    """ECDFs of time and of length ratio, as in the paper."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    tail = right.inset_axes((0.08, 0.48, 0.42, 0.44))
    for name, (colour, line, label) in STYLES.items():
        own = [row for row in rows if row["engine"] == name]
        if not own:
            continue
        style = {"color": colour, "linestyle": line, "linewidth": 1.6}
        # a row that ran out of time has no time below the limit: its curve ends short of 1
        done = np.array([row["seconds"] for row in own if row["status"] == "ok"])
        x = np.sort(done) * 1e3
        left.step(x, np.arange(1, len(x) + 1) / len(own), where="post", label=label, **style)
        ratios = np.sort(ratios_of(own))
        y = np.arange(1, len(ratios) + 1) / len(ratios)
        for axes in (right, tail):
            axes.step(ratios, y, where="post", **style)
    left.set(xscale="log", xlabel="time of one simplification, ms", ylabel="share of expressions", ylim=(0, 1.01))
    right.set(xlabel="length after / length before", ylabel="share of expressions", xlim=(0, 1.4), ylim=(0, 1.01))
    right.axvline(1.0, color="0.6", linewidth=0.8)
    tail.set(xlim=(0.95, 2.0), ylim=(0.5, 1.005))
    tail.set_title("tail", fontsize=8, pad=3)
    tail.tick_params(labelsize=7)
    for axes in (left, right):
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    plt.close(figure)
