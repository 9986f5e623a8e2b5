"""What the trained ablations came to: curves of training, recovery and length against time, and what differs from B0.

Only runs that are comparable are compared: finished, with the optimizer of B0, on as many problems as B0 saw, and other
than B0 in what they are named for alone. A difference counts only where it exceeds that between the two seeds of B0,
from either of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flash_ansr.bench.figures import AXES, COLOURS, metric_figure
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.paper.ablations import ABLATIONS, Ablation, checkpoint_of
from flash_ansr.paper.context import Context
from flash_ansr.paper.decoding import (
    Sizes,
    Source,
    compared,
    fingerprint_panels,
    fingerprints,
    in_order,
    variant_plans,
    with_most_candidates,
)
from flash_ansr.paper.drawing import INTERVALS, fingerprint_figure, markdown, panels
from flash_ansr.paper.experiment import Experiment, MissingError, Outcome, need_torch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flash_ansr.model.config import ModelConfig
    from flash_ansr.train.config import TrainConfig
    from flash_ansr.train.report import Curve

_ARCHITECTURE = ("b0", "b0_seed1", "b1", "b2", "b3", "nesymres")
_COMPARED = ("vnrr", "length_ratio", "fit_seconds")
_OF_CANDIDATES = ("rewrites", "bloat")
_TIME = AXES[0]


@dataclass(frozen=True, slots=True)
class Trained:
    """A run with its newest checkpoint, the step of this, and its curve where there was a validation."""

    run: Ablation
    checkpoint: Path
    step: int
    config: TrainConfig
    curve: Curve | None

    @property
    def n_seen(self) -> int:
        """Problems that it was trained on."""
        return self.step * self.config.optimizer.batch_size

    @property
    def n_skeletons(self) -> str:
        """Of its static corpus, which is named by it."""
        return Path(self.config.data.prior).stem.rpartition("_")[2]

    @property
    def loss(self) -> float | None:
        """The last validation loss."""
        return None if self.curve is None else float(self.curve.loss[-1])


def ablations(context: Context) -> Outcome:
    """Trained ablations: training curves, and recovery, length, rewrites, bloat and time at equal samples."""
    need_torch("ablations")
    found, left_out = comparable(trained_runs(context))
    labels = {t.run.title: t for t in found}
    sizes = context.pick(
        Sizes(2, 32, (3, 6), 1), Sizes(40, 256, (16, 64, 256), 1), Sizes(None, 512, tuple(4**k for k in range(7)), 5)
    )
    # these first: loading torch is no part of a fit's time
    sources = {
        t.run.title: Source(t.checkpoint, "beam" if t.run.switches.get("decoding") == "beam" else "sample")
        for t in found
    }
    prints = fingerprints(context, sizes, sources)
    plans = [plan for t in found for plan in variant_plans(sizes, {t.run.title: t.run.switches}, t.checkpoint)]
    groups = context.bench(plans)
    largest = in_order(with_most_candidates(groups, sizes), labels)
    table, findings = against_b0(found, largest, prints)
    curves = {
        "ablations": metric_figure(groups, _TIME, ("vnrr", "length_ratio"), columns=2),
        "ablations_metrics": metric_figure(groups, _TIME, tuple(METRICS)),
    }
    figures = {name: figure for name, figure in curves.items() if figure is not None}
    figures["ablations_bars"] = fingerprint_figure(largest, _COMPARED, fingerprint_panels(prints))
    figures["ablations_training"] = _training_rows(found)
    seeds = "two of B0" if "b0_seed1" in {t.run.name for t in found} else "of B0 too, so that no spread is known"
    notes = [
        f"{sizes}; sentences, table and bars: {sizes.most:,} candidates",
        INTERVALS,
        f"one seed of each network, {seeds}",
        "validation losses of runs with another prior are on problems of that prior, so they are not compared",
        *left_out,
        *(f"{t.run.name} has no validation: it has no curve of training" for t in found if t.curve is None),
    ]
    missing = [name for name in ABLATIONS if checkpoint_of(context.runs, name) is None]
    notes += [f"not trained yet: {', '.join(missing)}"] if missing else []
    return Outcome(figures, [*findings, *compared(largest)], table, notes)


def trained_runs(context: Context) -> list[Trained]:
    """All runs that have a checkpoint."""
    from flash_ansr.model import read_checkpoint
    from flash_ansr.model.config import ConfigError
    from flash_ansr.train.report import read_curve
    from flash_ansr.train.run_folder import RunFolder

    found = []
    for run in ABLATIONS.values():
        checkpoint = checkpoint_of(context.runs, run.name)
        if checkpoint is None:
            continue
        folder = RunFolder(checkpoint.parent.parent)
        try:
            curve = read_curve(folder.path)
        except ConfigError:  # no validation yet
            curve = None
        found.append(Trained(run, checkpoint, read_checkpoint(checkpoint).step, folder.config(), curve))
    if not any(t.run.name == "b0" for t in found):
        raise MissingError(
            f"ablations need trained runs, at least b0, in {context.runs or 'a folder named by --runs'}; train them by "
            f"`flash-ansr paper train NAME --runs RUNS`, NAME one of {', '.join(ABLATIONS)}, or all"
        )
    return found


def comparable(found: Sequence[Trained]) -> tuple[list[Trained], list[str]]:
    """The runs that can be compared with B0, and why others cannot.

    Raises
    ------
    MissingError
        When B0 is not finished.
    """
    base = next(t for t in found if t.run.name == "b0")
    reasons = {t.run.name: reason for t in found if (reason := _why_not(t, base)) is not None}
    static = [t for t in found if t.run.corpus is not None and t.run.name not in reasons]
    if len({t.n_skeletons for t in static}) > 1:
        said = ", ".join(f"{t.run.name} {t.n_skeletons}" for t in static)
        reasons |= {t.run.name: f"static corpora must have equal numbers of skeletons, got {said}" for t in static}
    if "b0" in reasons:
        raise MissingError(f"ablations need a finished b0, but {reasons['b0']}")
    kept = [t for t in found if t.run.name not in reasons]
    return kept, [f"{name} is left out: {reason}" for name, reason in reasons.items()]


def _why_not(trained: Trained, base: Trained) -> str | None:
    name, n_steps = trained.run.name, trained.config.optimizer.steps
    if trained.step < n_steps:
        return (
            f"it is at step {trained.step:,} of {n_steps:,}; "
            f"go on by `flash-ansr paper train {name} --runs {trained.checkpoint.parents[2]}`"
        )
    if trained.n_seen != base.n_seen:
        return f"it saw {trained.n_seen:,} problems, b0 saw {base.n_seen:,}; train it as b0 in another folder of --runs"
    ours, theirs = trained.config.optimizer, base.config.optimizer
    for field in fields(ours):
        values = getattr(ours, field.name), getattr(theirs, field.name)
        if values[0] != values[1]:
            return f"its optimizer.{field.name} is {values[0]}, that of b0 {values[1]}"
    if trained.config.data.max_rows != base.config.data.max_rows:
        return f"its data.max_rows is {trained.config.data.max_rows}, that of b0 {base.config.data.max_rows}"
    if trained.run.config == base.run.config and trained.config.model != _expected_model(trained.run, base):
        return "its network differs from that of b0 in more than its name says"
    return None


def _expected_model(run: Ablation, base: Trained) -> ModelConfig:
    """The network of B0 with the change that a run is named for."""
    from flash_ansr.train.config import changed_config

    return changed_config(base.config, [text for text in run.assignments if text.startswith("model.")]).model


def against_b0(
    found: Sequence[Trained], groups: Sequence[Group], prints: Mapping[str, Mapping[str, float]]
) -> tuple[str, list[str]]:
    """The table, and what differs from B0 by more than its seeds do."""
    by_title = {group.label: group for group in groups}
    values = {t.run.name: _values(t, by_title[t.run.title], prints[t.run.title]) for t in found}
    n_problems = groups[0].estimates["vnrr"].n
    least = spread(values["b0"], values.get("b0_seed1"), n_problems)
    lines, findings = [], []
    for t in found:
        group, row = by_title[t.run.title], values[t.run.name]
        vnrr = METRICS["vnrr"]
        low, high = (vnrr.shown(bound) for bound in (group.estimates["vnrr"].low, group.estimates["vnrr"].high))
        beyond = [] if t.run.name.startswith("b0") else _beyond(row, values, least, t.run.has_own_prior)
        cells = ["-" if row[k] is None else f"{row[k]:.3g}" for k in (*_COMPARED, *_OF_CANDIDATES, "loss")]
        cells[0] += f" ({low:.3g} to {high:.3g})"
        sizes = [t.config.seed, f"{t.n_seen:,}", group.settings["n_samples"], group.estimates["vnrr"].n]
        lines.append([t.run.title, *sizes, *cells, ", ".join(beyond)])
        if beyond:
            findings.append(f"{t.run.title}: beyond the spread of B0's seeds: {', '.join(beyond)}")
    if least is None:
        findings.append("without a second seed of B0 (b0_seed1) no spread is known: small differences mean nothing")
    elif not findings:
        findings.append("no run differs from B0 by more than its two seeds do")
    titles = [METRICS[name].title for name in _COMPARED]
    titles[0] += ", 95 % interval"
    header = ["run", "seed", "problems seen", "candidates", "problems evaluated", *titles]
    header += ["rewrites among distinct [%]", "bloat [%]", "validation loss", "beyond the spread"]
    return markdown(header, lines), findings


def _values(trained: Trained, group: Group, prints: Mapping[str, float]) -> dict[str, float | None]:
    found: dict[str, float | None] = {
        name: METRICS[name].shown(group.estimates[name].value) if group.estimates[name].n else None
        for name in _COMPARED
    }
    return found | {name: 100 * prints[name] for name in _OF_CANDIDATES} | {"loss": trained.loss}


def spread(
    base: Mapping[str, float | None], second: Mapping[str, float | None] | None, n_problems: int
) -> dict[str, float] | None:
    """Difference of B0's seeds in each value that both have; in recovery at least what one problem is worth."""
    if second is None:
        return None
    known = {name: (value, second[name]) for name, value in base.items()}
    found = {name: abs(a - b) for name, (a, b) in known.items() if a is not None and b is not None}
    return found | {"vnrr": max(found.get("vnrr", 0.0), 100 / n_problems)}


def _beyond(
    row: Mapping[str, float | None],
    values: Mapping[str, Mapping[str, float | None]],
    least: Mapping[str, float] | None,
    has_own_prior: bool,
) -> list[str]:
    """Values further from both seeds of B0 than these are from each other."""
    if least is None:
        return []
    names = [name for name in least if not (name == "loss" and has_own_prior)]
    return [name for name in names if all(_differ(row[name], values[b][name], least[name]) for b in ("b0", "b0_seed1"))]


def _differ(a: float | None, b: float | None, least: float) -> bool:
    return a is not None and b is not None and abs(a - b) > least


def _training_rows(found: Sequence[Trained]) -> Figure:
    """Loss and gradient norms, architecture above and data below, B0 in both."""
    figure, drawn = panels(2, 2, 5.2, 3.2)
    for row, is_architecture in enumerate((True, False)):
        shown = [t for t in found if t.run.name == "b0" or (t.run.name in _ARCHITECTURE) == is_architecture]
        for k, trained in enumerate(shown):
            curve = trained.curve
            if curve is None:
                continue
            is_base = trained.run.name == "b0"
            style: dict[str, Any] = {"color": "#000000" if is_base else COLOURS[k % len(COLOURS)], "lw": 1.2}
            drawn[2 * row].plot(curve.flops, curve.loss, label=trained.run.title, **style)
            drawn[2 * row + 1].plot(curve.steps, curve.gradient_norms, **style | {"lw": 0.7})
        drawn[2 * row].set(xscale="log", xlabel="training FLOPs (6 N D)", ylabel="validation loss a token")
        if drawn[2 * row].lines:
            drawn[2 * row].legend(fontsize=7)
        drawn[2 * row + 1].set(yscale="log", xlabel="step", ylabel="gradient norm before clipping")
    return figure


EXPERIMENTS = (
    Experiment(
        "ablations",
        "Figures 'Test-time compute scaling for ablations', 'Training dynamics of the ablations', 'Detailed Ablation "
        "Metrics'",
        "A-U and B2 move recovery and length most; B1 (post-norm) fails in training; B3 and C1 have small effects.",
        ablations,
        "the trained runs in --runs, 40 problems, 256 points, 16, 64 and 256 candidates",
        "115 problems, 512 points, 1 to 4,096 candidates, 5 data sets; runs of the config 120M (paper train --config)",
        12.0,
        ("runs",),
    ),
)
