"""Recovery and length on FastSRB against time, points and noise; the scaling law; the fit of every equation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

import simplipy
from flash_ansr.bench.figures import AXES, COLOURS, MARKERS, Axis, metric_figure, problem_figure
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.numeric import is_perfect
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.tables import table
from flash_ansr.catalogues import load
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import INTERVALS, panels
from flash_ansr.paper.experiment import Experiment, Outcome, PaperError
from flash_ansr.regressor import FlashANSR

FloatArray = npt.NDArray[np.float64]
_TIME, _POINTS, _NOISE = AXES
_CATALOGUE = "fastsrb"
_PAPER_PIPELINE = "the paper's pipeline"
# about 10 s on the paper's workstation, of the networks 20M and 120M
N_SAMPLES = 2048
N_ITERATIONS = 128
_GAMMA = 0.15
_LEAST_POINTS = 5
# with fewer rows the estimator raises the price of a token in proportion
_ROWS_OF_GAMMA = 60
# log10 of a time in seconds has a zero among the points, where log log T has none
_IN_MILLISECONDS = 3.0
# a few points are soon met by waves, which recovery does not have
_OPERATORS = "+ - * / neg inv pow2 pow1_2 exp log tanh".split()


def time_plans(context: Context, with_network: bool) -> list[Plan]:
    """The sweep over inference budgets, which three figures share."""
    budgets: list[float | None] = context.pick([0.1, 0.2], [0.1, 0.2, 0.5, 1, 2], [0.25 * 2**k for k in range(13)])
    by_seconds: Facts = {
        "catalogue": _CATALOGUE,
        "limit": context.pick(2, 40, None),
        "points": [context.pick(64, 256, 512)],
        "budget": budgets,
        "datasets": context.pick(1, 1, 10),
    }
    plans = [Plan(label="ours", system="ours", **by_seconds)]
    if with_network:
        samples = context.pick([4, 8], [16, 64, 256], [2**k for k in range(15)] + [2**16, 2**18])
        plans.append(
            Plan(
                label=_PAPER_PIPELINE,
                system="ours",
                settings={"pipeline": "paper"},
                sweep={"n_samples": samples},
                **by_seconds | {"budget": [None]},
            )
        )
    if context.pick(False, True, True):
        plans.append(Plan(label="Operon", system="operon", **by_seconds))
    if context.pick(False, False, True):
        floor = {"proposers": ["prior"]}
        plans.append(Plan(label="prior alone", system="ours", settings=floor, **by_seconds))
        iterations = {"niterations": [2**k for k in range(11)] + [2**12, 2**14]}
        plans.append(Plan(label="PySR", system="pysr", sweep=iterations, **by_seconds | {"budget": [None]}))
    return plans


def recovery_time(context: Context) -> Outcome:
    """Recovery against time, and every other metric."""
    groups = context.bench(time_plans(context, _has_network(context)))
    return _outcome(groups, _TIME, "recovery_time", ("vnrr", "xnrr"), ("vnrr",))


def length_time(context: Context) -> Outcome:
    """Length ratio against time, as returned and over recovered problems."""
    groups = context.bench(time_plans(context, _has_network(context)))
    shown = ("length_ratio", "length_ratio_recovered")
    return _outcome(groups, _TIME, "length_time", shown, shown)


def points(context: Context) -> Outcome:
    """Recovery and length against the number of points."""
    sizes = context.pick([8, 16], [4, 8, 16, 64, 256], [2**k for k in range(12)])
    plans = fixed_plans(context, {"points": sizes}, _has_network(context))
    shown = ("vnrr", "length_ratio")
    return _outcome(context.bench(plans), _POINTS, "points", shown, shown)


def noise(context: Context) -> Outcome:
    """Recovery and length against noise."""
    levels = context.pick([0.0, 0.01], [0.0, 0.001, 0.01, 0.1], [0.0, 0.001, 0.01, 0.1])
    plans = fixed_plans(context, {"noise": levels, "points": [context.pick(64, 256, 512)]}, _has_network(context))
    shown = ("vnrr", "length_ratio")
    return _outcome(context.bench(plans), _NOISE, "noise", shown, shown)


def fixed_plans(context: Context, swept: Facts, with_network: bool) -> list[Plan]:
    """Every system at about the same time, which at full size is the paper's 10 s."""
    common: Facts = {"catalogue": _CATALOGUE, "limit": context.pick(2, 24, None), **swept}
    common |= {"budget": [context.pick(0.2, 0.5, 10.0)], "datasets": context.pick(1, 1, 10)}
    plans = [Plan(label="ours", system="ours", **common)]
    by_work = common | {"budget": [None]}
    if with_network:
        settings = {"pipeline": "paper", "n_samples": context.pick(4, 64, N_SAMPLES)}
        plans.append(Plan(label=_PAPER_PIPELINE, system="ours", settings=settings, **by_work))
    if context.pick(False, True, True):
        plans.append(Plan(label="Operon", system="operon", **common))
    if context.pick(False, False, True):
        plans.append(Plan(label="PySR", system="pysr", settings={"niterations": N_ITERATIONS}, **by_work))
    return plans


def _has_network(context: Context) -> bool:
    """Whether the paper's own pipeline can run; a note where it cannot."""
    if not context.has_network:
        context.notes.append("without a network the paper's own pipeline is left out")
    return context.has_network


def _outcome(
    groups: Sequence[Group], axis: Axis, name: str, metrics: Sequence[str], headlines: Sequence[str]
) -> Outcome:
    """The paper's two panels, all metrics in a second figure, and the values of every curve."""
    figures = {}
    for stem, fields in ((name, metrics), (f"{name}_metrics", tuple(METRICS))):
        figure = metric_figure(groups, axis, fields)
        if figure is not None:
            figures[stem] = figure
    if not figures:
        raise PaperError(f"{name}: there are too few rows for a curve")
    n = max(group.estimates["vnrr"].n for group in groups)
    findings = []
    by_label: defaultdict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_label[group.label].append(group)
    for label, members in by_label.items():
        members = sorted(members, key=axis.position)
        for metric in map(METRICS.__getitem__, headlines):
            known = [g for g in members if g.estimates[metric.name].n]
            if not known:
                continue
            steps = (f"{metric.shown(g.estimates[metric.name].value):.3g} at {axis.position(g):.3g}" for g in known)
            findings.append(f"{label}: {metric.title} {', '.join(steps)} ({axis.label})")
    notes = [f"{n} of 115 problems, {len(groups[0].rows) // max(n, 1)} data sets each", INTERVALS]
    return Outcome(figures, findings, table(groups, "markdown"), notes)


def scaling_law(context: Context) -> Outcome:
    """Laws of recovery against log10 of the time, found by our own search."""
    groups = context.bench(time_plans(context, _has_network(context)))
    seconds = context.pick(0.5, 5.0, 600.0)
    by_label: defaultdict[str, list[Group]] = defaultdict(list)
    for group in sorted(groups, key=lambda g: g.seconds):
        by_label[group.label].append(group)
    figure, (axes,) = panels(1, 1, 7.0, 4.4)
    findings = []
    grid = np.linspace(-1.5, 5, 400)
    for k, (label, members) in enumerate(by_label.items()):
        x = np.log10([g.seconds for g in members])
        y = np.array([100 * g.estimates["vnrr"].value for g in members])
        colour = COLOURS[k % len(COLOURS)]
        axes.plot(x, y, MARKERS[k % len(MARKERS)], color=colour, label=label)
        if np.ptp(y) == 0 or len(y) < _LEAST_POINTS:
            reason = f"recovery is {y[0]:.1f} % everywhere" if np.ptp(y) == 0 else f"{len(y)} points are too few"
            findings.append(f"{label}: no law, since {reason}")
            continue
        found = _law(context, label, _IN_MILLISECONDS + x, y, 100 / members[0].estimates["vnrr"].n, seconds)
        with np.errstate(all="ignore"):
            law = np.asarray(simplipy.parse(found["law"])({"t": _IN_MILLISECONDS + grid}), dtype=np.float64)
        law = np.broadcast_to(law, grid.shape)
        shown = np.where((law > -5) & (law < 105), law, np.nan)
        axes.plot(grid, shown, color=colour, lw=1.0, ls=":")
        axes.plot(grid, np.where((grid >= x[0]) & (grid <= x[-1]), shown, np.nan), color=colour, lw=1.4)
        text = simplipy.parse(found["law"]).infix(precision=3)
        findings.append(
            f"{label}: vNRR = {text} with t = log10 of the milliseconds, FVU {found['fvu']:.2g} on {len(x)} points"
        )
        later = float(np.interp(4.0, grid, law))
        sense = f"gives {later:.0f} %" if 0 <= later <= 100 else "leaves 0 to 100 %"
        sense = sense if np.isfinite(later) else "is not defined"
        findings.append(f"{label}: extrapolated to 10,000 s, the law {sense}")
    axes.set(xlabel="log10 of the mean fit time [s]", ylabel="vNRR [%]", ylim=(-2, 102), xlim=(grid[0], grid[-1]))
    axes.legend(loc="best")
    notes = [f"gamma = {_GAMMA}, {seconds:g} s a search over {' '.join(_OPERATORS)}; dotted: beyond the measured times"]
    notes.append("errors below half a problem count as half a problem in the score: recovery comes in steps of one")
    notes.append("an extrapolation from so few points is an illustration, no forecast")
    return Outcome({"scaling_law": figure}, findings, table(groups, "markdown"), notes)


def _law(context: Context, label: str, t: FloatArray, y: FloatArray, step: float, seconds: float) -> Facts:
    """The law of a curve and its error, searched once for these points; chosen by the paper's score.

    Recovery comes in steps of a problem: errors of less than half of one are none, or few points would be interpolated.
    """

    def work(_: str) -> Facts:
        model = FlashANSR(
            # the estimator's price of a token on so few rows, so that it comes out at the paper's gamma
            gamma=_GAMMA * min(1.0, len(t) / _ROWS_OF_GAMMA),
            time_limit=seconds,
            operators=_OPERATORS,
            random_state=context.seed,
            checkpoint=context.checkpoint,
        ).fit(pd.DataFrame({"t": t}), y)
        found = model.candidates_
        least = (0.5 * step) ** 2 / float(np.var(y))
        scores = np.log10(np.maximum(found["fvu"], least)) + _GAMMA * found["length"]
        best = found.iloc[int(np.argmin(scores))]
        return {"law": best["expression"].infix(), "fvu": float(best["fvu"])}

    key = f"{label} {seconds:g} s by score {context.weights} {t.round(12).tolist()} {y.round(9).tolist()}"
    return context.apart("laws").each([key], work, f"law of {label}")[0]


def per_expression(context: Context) -> Outcome:
    """The FVU of every equation, by difficulty."""
    common: Facts = {"catalogue": _CATALOGUE, "limit": context.pick(4, None, None)}
    common |= {"points": [context.pick(64, 256, 512)], "datasets": context.pick(1, 1, 5)}
    plans = [Plan(label="ours", budget=[context.pick(0.2, 0.5, 1000.0)], **common)]
    if context.pick(False, False, True) and _has_network(context):
        settings = {"pipeline": "paper", "n_samples": 2**18}
        plans.append(Plan(label=_PAPER_PIPELINE, settings=settings, budget=[None], **common))
    groups = sorted(context.bench(plans), key=lambda group: group.label != "ours")
    figures: dict[str, Figure] = {}
    findings = []
    for group in groups:
        fvus = group.scores["fvu_validation"].groupby(level=0, sort=False).median()
        missed = [str(name) for name, value in fvus.items() if not is_perfect(value)]
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in group.recovery_by_difficulty().items())
        findings += [
            f"{group.label}: recovered (vNRR): {shares}",
            f"{group.label}: {len(fvus) - len(missed)} of {len(fvus)} equations recovered in the median of their data "
            f"sets; missed: {_by_difficulty(missed)}",
        ]
        figures["per_expression_paper" if figures else "per_expression"] = problem_figure(group)
    notes = ["dots: medians over the data sets of an equation; lines: the least to the largest of them, no interval"]
    return Outcome(figures, findings, table(groups, "markdown"), notes)


def _by_difficulty(names: Sequence[str]) -> str:
    """Names of problems by their difficulty."""
    known = {problem.name: problem.difficulty or "all" for problem in load(_CATALOGUE)}
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[known[name]].append(name)
    return "; ".join(f"{difficulty} {', '.join(found)}" for difficulty, found in groups.items()) or "none"


_TIME_SMALL = (
    "40 problems, 256 points, 0.1 to 2 s, the paper's pipeline with 16, 64 and 256 samples; Operon where installed"
)
_TIME_FULL = (
    "115 problems, 512 points, 10 data sets, 0.25 to 1024 s and 1 to 256k samples; Operon and PySR where installed"
)

EXPERIMENTS = (
    Experiment(
        "recovery_time",
        "Figure 'vNRR and length ratio against inference time', left, and Appendix Detailed Test Time Scaling",
        "Recovery grows with compute: 120M reaches parity with PySR at 10 s and 58 % at most (PySR 50 %); NeSymReS "
        "saturates at 10 %, E2E stays below 2.5 %.",
        recovery_time,
        _TIME_SMALL,
        _TIME_FULL,
        2.1,
    ),
    Experiment(
        "length_time",
        "Figure 'vNRR and length ratio against inference time', right",
        "Parsimony inversion: with more time the length ratio falls (1.40 to 1.27) while PySR's rises (0.94 to 1.85).",
        length_time,
        _TIME_SMALL + "; the rows of recovery_time",
        _TIME_FULL,
        0.2,
    ),
    Experiment(
        "scaling_law",
        "Figure 'Flash-ANSR fits to its own and PySR's scaling curves'",
        "With gamma = 0.15 the laws found suggest vNRR ~ log log T for Flash-ANSR and a limit of 53 % for PySR.",
        scaling_law,
        "the rows of recovery_time; 5 s a search",
        "the same at full size; 600 s a search",
        0.3,
    ),
    Experiment(
        "points",
        "Figure 'vNRR and length ratio against the number of points', and Appendix Detailed Data Sparsity",
        "Better than PySR beyond 64 points; length peaks at about 8 points, up to twice the truth.",
        points,
        "24 problems, 4 to 256 points, 0.5 s, the paper's pipeline with 64 samples; Operon where installed",
        "115 problems, 1 to 2,048 points, 10 data sets, 10 s, 2,048 samples; Operon and PySR where installed",
        1.2,
    ),
    Experiment(
        "noise",
        "Figure 'vNRR and length ratio against noise', and Appendix Detailed Noise Level Scaling",
        "Ahead of PySR in low-noise settings (120M), behind it from 1 % on; lengths stay above the truth.",
        noise,
        "24 problems, 256 points, noise of 0, 0.1, 1 and 10 %, 0.5 s, the paper's pipeline with 64 samples; Operon "
        "where installed",
        "115 problems, 512 points, 10 data sets, 10 s, 2,048 samples; Operon and PySR where installed",
        1.1,
    ),
    Experiment(
        "per_expression",
        "Figure 'FVU of individual expressions by difficulty' (Appendix Per-Expression Results)",
        "All but three easy expressions are solved; approximate fits and failures grow with difficulty.",
        per_expression,
        "all 115 problems, 256 points, 0.5 s",
        "all 115 problems, 512 points, 5 data sets, 1,000 s, and the paper's pipeline with 256k samples",
        0.9,
    ),
)
