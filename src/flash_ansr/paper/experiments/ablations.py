"""Results of the trained ablations: curves of training, recovery and length against time, differences from B0.

Which runs can be compared at all is for trained_runs.py. A difference counts only where the value lies outside the
interval in which 95 % of further seeds of B0 would lie, by Student's distribution; two seeds make it wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.report.figures import AXES, COLOURS, few_ticks, metric_figure
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.paper.ablations.networks import ABLATIONS, checkpoint_of
from flash_ansr.paper.ablations.trained_runs import Trained, comparable, trained_runs
from flash_ansr.paper.context import Context
from flash_ansr.paper.drawing import INTERVALS, fingerprint_figure, panels
from flash_ansr.paper.experiment import Exhibit, experiment
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
_OF_FITS = ("vnrr", "length_ratio", "fit_seconds")
_OF_CANDIDATES = {
    "distinct": "distinct forms of the budget [%]",
    "rewrites": "rewrites among distinct [%]",
    "bloat": "bloat [%]",
}
# what weights are responsible for: times are those of the hour too
_JUDGED = ("vnrr", "length_ratio", "distinct", "bloat", "loss")
_TIME = AXES[0]
_BLACK = "#000000"
# a candidate takes a third of a second
_MOST_OF_BFGS = 64


@experiment(minutes=12.0, needs=("runs",))
def ablations(context: Context) -> Exhibit:
    """Trained ablations: training curves, and recovery, length, rewrites, bloat and time at equal samples.

    Paper: Figures 'Test-time compute scaling for ablations', 'Training dynamics of the ablations', 'Detailed Ablation
    Metrics'

    Claim: A-U and B2 move recovery and length most, A-U to 40 to 50 % above the canonical length with the highest loss;
    B1 (post-norm) fails in training; B3 and C1 have small effects, largest at 1 to 10 s.

    Small: the trained runs in --runs, 40 problems, 256 points, 16, 64 and 256 candidates

    Full: 115 problems, 512 points, 1 to 4,096 candidates, 5 data sets; runs of the config 120M (paper train --config)
    """
    found, left_out = comparable(trained_runs(context))
    trained = {t.run.title: t for t in found}
    sizes = context.pick(
        Sizes(2, 32, (3, 6), 1), Sizes(40, 256, (16, 64, 256), 1), Sizes(None, 512, tuple(4**k for k in range(7)), 5)
    )
    sources = {
        title: Source(t.checkpoint, "beam" if t.run.switches.get("decoding") == "beam" else "sample")
        for title, t in trained.items()
    }
    # candidates first: loading torch is no part of a fit's time
    prints = fingerprints(context, sizes, sources)
    own = {title: own_sizes(t, sizes) for title, t in trained.items()}
    plans = [variant_plans(own[title], {title: t.run.switches}, t.checkpoint) for title, t in trained.items()]
    groups = context.bench(list(chain.from_iterable(plans)))
    largest = in_order([g for g in groups if g.settings["n_samples"] == own[g.label].most], trained)
    fewer = [g for g in largest if g.settings["n_samples"] < sizes.most]
    table, findings = against_b0(found, largest, prints)
    findings += [beside_b0(group, groups) for group in fewer]
    marked = {g.label: f"{g.label}\n({g.settings['n_samples']} fitted)" for g in fewer}
    figures = {
        "ablations": metric_figure(groups, _TIME, ("vnrr", "length_ratio"), columns=2),
        "ablations_metrics": metric_figure(groups, _TIME, tuple(METRICS)),
        "ablations_bars": fingerprint_figure(largest, _OF_FITS, fingerprint_panels(prints), marked),
        "ablations_training": _training_figure(found),
    }
    n_seeds = len(_seeds_of_b0(found))
    seeds = f"{n_seeds} of B0" if n_seeds > 1 else "of B0 too, so that no spread is known"
    missing = [name for name in ABLATIONS if checkpoint_of(context.runs, name) is None]
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
        *([f"not trained yet: {', '.join(missing)}"] if missing else []),
    ]
    shown = {name: figure for name, figure in figures.items() if figure is not None}
    return Exhibit(shown, [*findings, *compared(largest)], table, notes)


def own_sizes(trained: Trained, sizes: Sizes) -> Sizes:
    """Of a run that BFGS fits, those numbers of candidates that take minutes, not hours."""
    if trained.run.switches.get("refiner") != "bfgs":
        return sizes
    return replace(sizes, n_samples=tuple(n for n in sizes.n_samples if n <= _MOST_OF_BFGS))


def beside_b0(group: Group, groups: Sequence[Group]) -> str:
    """A run with fewer candidates beside B0 with as many."""
    n = group.settings["n_samples"]
    base = next(g for g in groups if g.label == ABLATIONS["b0"].title and g.settings["n_samples"] == n)
    ours, theirs = (METRICS["vnrr"].shown(g.estimates["vnrr"]).value for g in (group, base))
    return f"{group.label}: vNRR {ours:.3g} % with {n} candidates, where B0 has {theirs:.3g} %"


def against_b0(
    found: Sequence[Trained], groups: Sequence[Group], prints: Mapping[str, Mapping[str, float]]
) -> tuple[list[dict[str, object]], list[str]]:
    """The lines of the table, and what lies outside the spread of B0's seeds."""
    by_title = {group.label: group for group in groups}
    values = {t.run.name: _values(t, by_title[t.run.title], prints[t.run.title]) for t in found}
    expected = spread([values[name] for name in _seeds_of_b0(found)], groups[0].estimates["vnrr"].n)
    lines, findings, n_comparisons = [], [], 0
    for t in found:
        group, row, vnrr = by_title[t.run.title], values[t.run.name], by_title[t.run.title].estimates["vnrr"]
        incomparable = ["loss"] if t.run.has_own_prior else []
        incomparable += _OF_FITS if group.settings["n_samples"] != groups[0].settings["n_samples"] else ()
        names = set() if t.run.name.startswith("b0") else expected.keys() - {*incomparable}
        judged = {name: value for name, value in row.items() if name in names and not math.isnan(value)}
        n_comparisons += len(judged)
        beyond = [name for name, value in judged.items() if abs(value - expected[name][0]) > expected[name][1]]
        cells = {name: "-" if math.isnan(value) else f"{value:.3g}" for name, value in row.items()}
        cells["vnrr"] += f" ({100 * vnrr.low:.3g} to {100 * vnrr.high:.3g})"
        lines.append(
            {
                "run": t.run.title,
                "seed": t.config.seed,
                "problems seen": f"{t.n_seen:,}",
                "candidates": group.settings["n_samples"],
                "problems evaluated": vnrr.n,
                f"{METRICS['vnrr'].title}, 95 % interval": cells["vnrr"],
                **{METRICS[name].title: cells[name] for name in _OF_FITS[1:]},
                **{title: cells[name] for name, title in _OF_CANDIDATES.items()},
                "validation loss": cells["loss"],
                "outside the spread": ", ".join(beyond),
            }
        )
        if beyond:
            findings.append(f"{t.run.title}: outside the spread of B0's seeds: {', '.join(beyond)}")
    if not expected:
        findings.append("without a second seed of B0 (b0_seed1) no spread is known: small differences mean nothing")
    else:
        findings = findings or ["no run lies outside the spread of B0's seeds"]
        findings.append(f"{n_comparisons} comparisons, of which one in twenty would be outside by chance")
    return lines, [*findings, *_compare_static_corpora(values)]


def _seeds_of_b0(found: Sequence[Trained]) -> list[str]:
    return [t.run.name for t in found if t.run.name.startswith("b0")]


def _compare_static_corpora(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The two simplifiers on the same draws: all that these runs differ in."""
    by_sympy, by_simplipy = values.get("a_s"), values.get("a_p")
    if by_sympy is None or by_simplipy is None:
        return []
    parts = [
        f"{name} {a:.3g} and {b:.3g}"
        for name in ("vnrr", "length_ratio", "distinct", "bloat")
        if not math.isnan((a := by_sympy[name]) - (b := by_simplipy[name]))
    ]
    return [
        f"static corpora by SymPy and by SimpliPy: {', '.join(parts)}; both hold only draws that SymPy simplifies in "
        "time"
    ]


def _values(trained: Trained, group: Group, prints: Mapping[str, float]) -> dict[str, float]:
    """What runs are compared in; NaN where it is not known."""
    found = {name: METRICS[name].shown(group.estimates[name]).value for name in _OF_FITS}
    return found | {name: 100 * prints[name] for name in _OF_CANDIDATES} | {"loss": trained.loss}


def spread(seeds: Sequence[Mapping[str, float]], n_problems: int) -> dict[str, tuple[float, float]]:
    """Middle of B0's seeds and half the width of the interval for one more seed, for each value that all of them have.

    Seeds differ in recovery by one problem at least, however equal they happen to be.
    """
    from scipy import stats

    n = len(seeds)
    if n < 2:
        return {}
    known = pd.DataFrame(seeds, dtype=float)[list(_JUDGED)].dropna(axis=1)
    deviations = known.std().clip(lower=pd.Series({"vnrr": 100 / n_problems}).reindex(known.columns, fill_value=0.0))
    widths = float(stats.t.ppf(0.975, n - 1)) * deviations * math.sqrt(1 + 1 / n)
    return {str(name): (middle, width) for name, middle, width in zip(known, known.mean(), widths, strict=True)}


def _training_figure(found: Sequence[Trained]) -> Figure:
    """Loss and gradient norms, architecture above and data below, B0 in both."""
    figure, drawn = panels(2, 2, 5.2, 3.2)
    colours = [colour for colour in COLOURS if colour != _BLACK]
    for (left, right), is_architecture in zip((drawn[:2], drawn[2:]), (True, False), strict=True):
        shown = [t for t in found if t.run.name == "b0" or (t.run.name in _ARCHITECTURE) == is_architecture]
        for k, trained in enumerate(shown):
            curve = trained.curve
            if curve is None:
                continue
            colour = _BLACK if trained.run.name == "b0" else colours[k % len(colours)]
            left.plot(curve.flops, curve.loss, label=trained.run.title, color=colour, lw=1.2)
            right.plot(curve.steps, curve.gradient_norms, color=colour, lw=0.7)
        left.set(xscale="log", xlabel="training FLOPs (6 N D)", ylabel="validation loss a token")
        if left.lines:
            left.legend(fontsize=7)
        right.set(yscale="log", xlabel="step", ylabel="gradient norm before clipping")
        few_ticks(left.xaxis, ".0e")
        few_ticks(right.yaxis, "g")
    return figure
