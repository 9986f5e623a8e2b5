"""Runs an experiment and writes what it shows: figures, a table, and a caption that says how it came about."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flash_ansr.bench.execute import machine
from flash_ansr.paper.context import Context
from flash_ansr.paper.experiment import Exhibit, Experiment, Scale, markdown, need_torch
from flash_ansr.versions import versions
from simplipy.files.output_files import make_folder, replacing, write_whole

_SUMMARY = "summary.json"


def folder_of(out: Path, experiment: Experiment, scale: Scale) -> Path:
    """Folder of an experiment at a scale: scales do not mix."""
    return out / (experiment.name if scale is Scale.SMALL else f"{experiment.name}-{scale.value}")


def run_experiment(
    experiment: Experiment,
    out: Path,
    scale: Scale = Scale.SMALL,
    seed: int = 0,
    checkpoint: Path | None = None,
    runs: Path | None = None,
    show_progress: bool = False,
) -> list[Path]:
    """Run or continue an experiment.

    Parameters
    ----------
    experiment : Experiment
    out : Path
        Gets a folder of the experiment's name, and the folder ``rows`` of benchmark rows that experiments share.
    scale, seed, checkpoint, runs, show_progress
        As in ``flash_ansr.paper.context.Context``.

    Returns
    -------
    list of Path
        The files that were written, the caption last.
    """
    if experiment.needs:
        need_torch(experiment.name)
    folder = folder_of(out, experiment, scale)
    make_folder(folder)
    context = Context(folder, out / "rows", scale, seed, checkpoint, runs, show_progress)
    weights = context.weights  # before any work: what --checkpoint names may be none
    before, started = _summary_before(folder), time.monotonic()
    try:
        exhibit = experiment.make(context)
    finally:
        # an interrupted run counts too, and leaves the rest of an earlier summary as it was
        minutes = before.get("minutes", 0.0) + (time.monotonic() - started) / 60
        _write_summary(folder, before | {"minutes": minutes})
    facts = {
        "name": experiment.name,
        "where": experiment.where,
        "claim": experiment.claim,
        "scale": scale.value,
        "seed": seed,
        "weights": weights,
        "command": _command_of(experiment, context),
        "minutes": minutes,
        "machine": machine(),
        "versions": versions(),
        "findings": list(exhibit.findings),
        "notes": [*exhibit.notes, *context.notes],
    }
    _write_summary(folder, facts)
    done = {Scale.SMALL: experiment.small, Scale.FULL: experiment.full, Scale.TINY: "only to see it run"}
    return _write(folder, experiment.name, exhibit, caption(facts, done[scale]))


def _command_of(experiment: Experiment, context: Context) -> str:
    """The command that makes this anew."""
    words = ["flash-ansr paper run", experiment.name, f"--scale {context.scale.value}", f"--seed {context.seed}"]
    words += [f"--checkpoint {context.checkpoint}"] if context.checkpoint else []
    words += [f"--runs {context.runs}"] if context.runs else []
    return " ".join(words)


def _write(folder: Path, name: str, exhibit: Exhibit, text: str) -> list[Path]:
    figures = exhibit.figures if isinstance(exhibit.figures, Mapping) else {name: exhibit.figures}
    files = [folder / f"{stem}.png" for stem in figures]
    for file, figure in zip(files, figures.values(), strict=True):
        with replacing(file) as part:
            figure.savefig(part, format="png", dpi=150)
    if exhibit.table:
        files.append(folder / "table.md")
        write_whole(files[-1], (exhibit.table if isinstance(exhibit.table, str) else markdown(exhibit.table)) + "\n")
    write_whole(folder / "caption.txt", text)
    rows = folder / "rows.jsonl"
    return [rows] * rows.exists() + [*files, folder / "caption.txt"]


def caption(facts: Mapping[str, Any], done: str) -> str:
    """Facts that a reader must know about the figure."""
    packages = {name: text for name, text in facts["versions"].items() if name not in ("rules", "machine")}
    lines = [
        f"{facts['name']}: {facts['where']}",
        f"The paper: {facts['claim']}",
        "Here:",
        *(f"  - {finding}" for finding in facts["findings"]),
        f"What was done ({facts['scale']}): {done}",
        *(f"  - {note}" for note in dict.fromkeys(facts["notes"])),
        f"Command: {facts['command']}",
        f"Seed: {facts['seed']}. Network of the package or of --checkpoint, where it takes part: weights "
        f"{facts['weights']}.",
        f"Minutes: {facts['minutes']:.2f}, over all runs of this folder.",
        f"Machine: {facts['machine']}. Versions: {', '.join(f'{name} {text}' for name, text in packages.items())}.",
    ]
    return "\n".join(lines) + "\n"


def _write_summary(folder: Path, facts: dict[str, Any]) -> None:
    write_whole(folder / _SUMMARY, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def _summary_before(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("minutes"), float) else {}
