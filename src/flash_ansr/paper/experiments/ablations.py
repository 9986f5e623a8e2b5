"""What the trained ablations came to: curves of training, recovery and length against time, and what differs from B0.

Which runs can be compared at all is for trained_runs.py. A difference counts only where the value lies outside the
interval in which 95 % of further seeds of B0 would lie, by Student's distribution; two seeds make it wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flash_ansr.bench.figures import AXES, COLOURS, few_ticks, metric_figure
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.paper.ablations.networks import ABLATIONS, checkpoint_of
from flash_ansr.paper.ablations.trained_runs import Trained, comparable, trained_runs
from flash_ansr.paper.context import Context
from flash_ansr.paper.drawing import INTERVALS, fingerprint_figure, markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome, need_torch
from flash_ansr.paper.experiments.decoding import (
    Sizes,
    Source,
    compared,
    fingerprint_panels,
    fingerprints,
    in_order,
    variant_plans,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ARCHITECTURE = ("b0", "b0_seed1", "b0_seed2", "b1", "b2", "b3", "nesymres")
_COMPARED = ("vnrr", "length_ratio", "fit_seconds")
_OF_CANDIDATES = ("distinct", "rewrites", "bloat")
# what weights are responsible for: times are those of the hour too
_JUDGED = ("vnrr", "length_ratio", "distinct", "bloat", "loss")
_STATIC = ("a_s", "a_p")
_TIME = AXES[0]
_BLACK = "#000000"
# a candidate takes a third of a second
_MOST_OF_BFGS = 64


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
    own = {t.run.title: _own_sizes(t, sizes) for t in found}
    plans = [
        plan for t in found for plan in variant_plans(own[t.run.title], {t.run.title: t.run.switches}, t.checkpoint)
    ]
    groups = context.bench(plans)
    largest = in_order([g for g in groups if g.settings["n_samples"] == own[g.label].most], labels)
    table, findings = against_b0(found, largest, prints)
    fewer = [g for g in largest if g.settings["n_samples"] < sizes.most]
    findings += [_beside_b0(group, groups) for group in fewer]
    curves = {
        "ablations": metric_figure(groups, _TIME, ("vnrr", "length_ratio"), columns=2),
        "ablations_metrics": metric_figure(groups, _TIME, tuple(METRICS)),
    }
    figures = {name: figure for name, figure in curves.items() if figure is not None}
    figures["ablations_bars"] = fingerprint_figure(largest, _COMPARED, fingerprint_panels(prints), _marked(fewer))
    figures["ablations_training"] = _training_rows(found)
    n_seeds = len(_seeds_of_b0(found))
    seeds = f"{n_seeds} of B0" if n_seeds > 1 else "of B0 too, so that no spread is known"
    notes = [
        f"{sizes}; sentences, table and bars: {sizes.most:,} candidates",
        *(
            f"{g.label}: {g.settings['n_samples']} candidates are fitted, as BFGS takes its time; distinct forms, "
            f"rewrites and bloat are of {sizes.most:,} draws, as those of B0"
            for g in fewer
        ),
        INTERVALS,
        f"one seed of each network, {seeds}",
        f"weights: {', '.join(f'{t.run.name} {weights_hash(t.checkpoint)}' for t in found)}",
        "validation losses of runs with another prior are on problems of that prior, so they are not compared",
        *left_out,
        *(f"{t.run.name} has no validation: it has no curve of training" for t in found if t.curve is None),
    ]
    missing = [name for name in ABLATIONS if checkpoint_of(context.runs, name) is None]
    notes += [f"not trained yet: {', '.join(missing)}"] if missing else []
    return Outcome(figures, [*findings, *compared(largest)], table, notes)


def _own_sizes(trained: Trained, sizes: Sizes) -> Sizes:
    """Of a run that BFGS fits, those numbers of candidates that take minutes, not hours."""
    if trained.run.switches.get("refiner") != "bfgs":
        return sizes
    return replace(sizes, n_samples=tuple(n for n in sizes.n_samples if n <= _MOST_OF_BFGS))


def _marked(fewer: Sequence[Group]) -> dict[str, str]:
    """Labels of the runs with fewer candidates than the others, which say so."""
    return {g.label: f"{g.label}\n({g.settings['n_samples']} fitted)" for g in fewer}


def _beside_b0(group: Group, groups: Sequence[Group]) -> str:
    """A run with fewer candidates beside B0 with as many."""
    n = group.settings["n_samples"]
    base = next(g for g in groups if g.label == ABLATIONS["b0"].title and g.settings["n_samples"] == n)
    ours, theirs = (METRICS["vnrr"].shown(g.estimates["vnrr"].value) for g in (group, base))
    return f"{group.label}: vNRR {ours:.3g} % with {n} candidates, where B0 has {theirs:.3g} %"


def against_b0(
    found: Sequence[Trained], groups: Sequence[Group], prints: Mapping[str, Mapping[str, float]]
) -> tuple[str, list[str]]:
    """The table, and what lies outside the spread of B0's seeds."""
    by_title = {group.label: group for group in groups}
    values = {t.run.name: _values(t, by_title[t.run.title], prints[t.run.title]) for t in found}
    n_problems = groups[0].estimates["vnrr"].n
    expected = spread([values[name] for name in _seeds_of_b0(found)], n_problems)
    lines, findings, n_comparisons = [], [], 0
    for t in found:
        group, row = by_title[t.run.title], values[t.run.name]
        vnrr = METRICS["vnrr"]
        low, high = (vnrr.shown(bound) for bound in (group.estimates["vnrr"].low, group.estimates["vnrr"].high))
        judged = [] if t.run.name.startswith("b0") else _judged(row, expected, t.run.has_own_prior)
        if group.settings["n_samples"] != groups[0].settings["n_samples"]:
            judged = [(name, is_beyond) for name, is_beyond in judged if name not in _COMPARED]
        n_comparisons += len(judged)
        beyond = [name for name, is_beyond in judged if is_beyond]
        cells = ["-" if row[k] is None else f"{row[k]:.3g}" for k in (*_COMPARED, *_OF_CANDIDATES, "loss")]
        cells[0] += f" ({low:.3g} to {high:.3g})"
        sizes = [t.config.seed, f"{t.n_seen:,}", group.settings["n_samples"], group.estimates["vnrr"].n]
        lines.append([t.run.title, *sizes, *cells, ", ".join(beyond)])
        if beyond:
            findings.append(f"{t.run.title}: outside the spread of B0's seeds: {', '.join(beyond)}")
    if not expected:
        findings.append("without a second seed of B0 (b0_seed1) no spread is known: small differences mean nothing")
    else:
        if not findings:
            findings.append("no run lies outside the spread of B0's seeds")
        findings.append(f"{n_comparisons} comparisons, of which one in twenty would be outside by chance")
    titles = [METRICS[name].title for name in _COMPARED]
    titles[0] += ", 95 % interval"
    header = ["run", "seed", "problems seen", "candidates", "problems evaluated", *titles]
    header += ["distinct forms of the budget [%]", "rewrites among distinct [%]", "bloat [%]", "validation loss"]
    return markdown([*header, "outside the spread"], lines), [*findings, *_static_corpora(values)]


def _seeds_of_b0(found: Sequence[Trained]) -> list[str]:
    return [t.run.name for t in found if t.run.name.startswith("b0")]


def _static_corpora(values: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """The two simplifiers on the same draws: all that these runs differ in."""
    if not set(_STATIC) <= set(values):
        return []
    by_sympy, by_simplipy = (values[name] for name in _STATIC)
    parts = [
        f"{name} {a:.3g} and {b:.3g}"
        for name in ("vnrr", "length_ratio", "distinct", "bloat")
        if (a := by_sympy[name]) is not None and (b := by_simplipy[name]) is not None
    ]
    said = f"static corpora by SymPy and by SimpliPy: {', '.join(parts)}"
    return [f"{said}; both hold only draws that SymPy simplifies in time"]


def _values(trained: Trained, group: Group, prints: Mapping[str, float]) -> dict[str, float | None]:
    found: dict[str, float | None] = {
        name: METRICS[name].shown(group.estimates[name].value) if group.estimates[name].n else None
        for name in _COMPARED
    }
    return found | {name: 100 * prints[name] for name in _OF_CANDIDATES} | {"loss": trained.loss}


def spread(seeds: Sequence[Mapping[str, float | None]], n_problems: int) -> dict[str, tuple[float, float]]:
    """Middle of B0's seeds and half the width of the interval for one more seed, for each value that all of them have.

    Seeds differ in recovery by one problem at least, however equal they happen to be.
    """
    from scipy import stats

    found: dict[str, tuple[float, float]] = {}
    n = len(seeds)
    for name in _JUDGED if n > 1 else ():
        known = [value for seed in seeds if (value := seed[name]) is not None]
        if len(known) < n:
            continue
        deviation = max(float(np.std(known, ddof=1)), 100 / n_problems if name == "vnrr" else 0.0)
        width = float(stats.t.ppf(0.975, n - 1)) * deviation * math.sqrt(1 + 1 / n)
        found[name] = float(np.mean(known)), width
    return found


def _judged(
    row: Mapping[str, float | None], expected: Mapping[str, tuple[float, float]], has_own_prior: bool
) -> list[tuple[str, bool]]:
    """The values that can be compared with B0's, and whether they lie outside its spread."""
    return [
        (name, abs(value - middle) > width)
        for name, (middle, width) in expected.items()
        if (value := row[name]) is not None and not (name == "loss" and has_own_prior)
    ]


def _training_rows(found: Sequence[Trained]) -> Figure:
    """Loss and gradient norms, architecture above and data below, B0 in both."""
    figure, drawn = panels(2, 2, 5.2, 3.2)
    colours = [colour for colour in COLOURS if colour != _BLACK]
    for row, is_architecture in enumerate((True, False)):
        shown = [t for t in found if t.run.name == "b0" or (t.run.name in _ARCHITECTURE) == is_architecture]
        for k, trained in enumerate(shown):
            curve = trained.curve
            if curve is None:
                continue
            is_base = trained.run.name == "b0"
            style: dict[str, Any] = {"color": _BLACK if is_base else colours[k % len(colours)], "lw": 1.2}
            drawn[2 * row].plot(curve.flops, curve.loss, label=trained.run.title, **style)
            drawn[2 * row + 1].plot(curve.steps, curve.gradient_norms, **style | {"lw": 0.7})
        drawn[2 * row].set(xscale="log", xlabel="training FLOPs (6 N D)", ylabel="validation loss a token")
        if drawn[2 * row].lines:
            drawn[2 * row].legend(fontsize=7)
        drawn[2 * row + 1].set(yscale="log", xlabel="step", ylabel="gradient norm before clipping")
        for axis, form in ((drawn[2 * row].xaxis, ".0e"), (drawn[2 * row + 1].yaxis, "g")):
            few_ticks(axis, form)
    return figure


EXPERIMENTS = (
    Experiment(
        "ablations",
        "Figures 'Test-time compute scaling for ablations', 'Training dynamics of the ablations', 'Detailed Ablation "
        "Metrics'",
        "A-U and B2 move recovery and length most, A-U to 40 to 50 % above the canonical length with the highest loss; "
        "B1 (post-norm) fails in training; B3 and C1 have small effects, largest at 1 to 10 s.",
        ablations,
        "the trained runs in --runs, 40 problems, 256 points, 16, 64 and 256 candidates",
        "115 problems, 512 points, 1 to 4,096 candidates, 5 data sets; runs of the config 120M (paper train --config)",
        12.0,
        ("runs",),
    ),
)
