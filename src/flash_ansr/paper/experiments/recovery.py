"""Recovery and length on FastSRB against time, points and noise; the scaling law; the fit of every equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

import simplipy
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.numeric import is_perfect
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.report.figures import AXES, COLOURS, MARKERS, Axis, metric_figure, problem_figure
from flash_ansr.bench.report.tables import table
from flash_ansr.catalogues import FloatArray, load
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import INTERVALS, panels
from flash_ansr.paper.experiment import Exhibit, PaperError, Scale, experiment
from flash_ansr.regressor import FlashANSR

_TIME, _POINTS, _NOISE = AXES
_CATALOGUE = "fastsrb"
PAPER_PIPELINE = "the paper's pipeline"
# about 10 s on the paper's workstation, of the networks 20M and 120M
_N_SAMPLES = 2048
_N_ITERATIONS = 128
_GAMMA = 0.15
_LEAST_POINTS = 5
# with fewer rows the estimator raises the price of a token in proportion
_ROWS_OF_GAMMA = 60
# log10 of a time in seconds has a zero among the points, where log log T has none
_IN_MILLISECONDS = 3.0
# a few points are soon met by waves, which recovery does not have
_OPERATORS = "+ - * / neg inv pow2 pow1_2 exp log tanh".split()


def system_plans(
    context: Context, tasks: Facts, samples: list[int], iterations: list[int], with_network: bool
) -> list[Plan]:
    """Every system on the same tasks: by seconds, or by its own measure of work."""
    by_seconds: Facts = {"catalogue": _CATALOGUE} | tasks
    by_work = by_seconds | {"budget": [None]}
    plans = [Plan(label="ours", **by_seconds)]
    if with_network:
        settings = {"pipeline": "paper"}
        plans.append(Plan(label=PAPER_PIPELINE, settings=settings, sweep={"n_samples": samples}, **by_work))
    if context.scale is not Scale.TINY:
        plans.append(Plan(label="Operon", system="operon", **by_seconds))
    if context.scale is Scale.FULL:
        plans.append(Plan(label="PySR", system="pysr", sweep={"niterations": iterations}, **by_work))
    return plans


def time_plans(context: Context, with_network: bool) -> list[Plan]:
    """The sweep over inference budgets, which three figures share."""
    tasks: Facts = {
        "limit": context.pick(2, 40, None),
        "points": context.pick(64, 256, 512),
        "budget": context.pick([0.1, 0.2], [0.1, 0.2, 0.5, 1, 2], [0.25 * 2**k for k in range(13)]),
        "datasets": context.pick(1, 1, 10),
    }
    samples = context.pick([4, 8], [16, 64, 256], [2**k for k in range(15)] + [2**16, 2**18])
    plans = system_plans(context, tasks, samples, [2**k for k in range(11)] + [2**12, 2**14], with_network)
    floor = Plan(_CATALOGUE, label="prior alone", settings={"proposers": ["prior"]}, **tasks)
    return [*plans, floor] if context.scale is Scale.FULL else plans


def fixed_plans(context: Context, swept: Facts, with_network: bool) -> list[Plan]:
    """Every system at about the same time, which at full size is the paper's 10 s."""
    tasks: Facts = {"limit": context.pick(2, 24, None), "budget": context.pick(0.2, 0.5, 10.0)}
    tasks |= {"datasets": context.pick(1, 1, 10)} | swept
    return system_plans(context, tasks, [context.pick(4, 64, _N_SAMPLES)], [_N_ITERATIONS], with_network)


def _has_network(context: Context) -> bool:
    """Whether the paper's own pipeline can run; a note where it cannot."""
    if not context.has_network:
        context.notes.append("without a network the paper's own pipeline is left out")
    return context.has_network


def _by_label(groups: Sequence[Group], position: Callable[[Group], float]) -> dict[str, list[Group]]:
    """Groups by their label, in order of their positions."""
    labels = dict.fromkeys(group.label for group in groups)
    return {label: sorted((g for g in groups if g.label == label), key=position) for label in labels}


def _curves(
    context: Context, plans: Sequence[Plan], axis: Axis, name: str, shown: Sequence[str], n_told: int = 2
) -> Exhibit:
    """The paper's two panels, all metrics in a second figure, and the values of every curve of the first metrics."""
    groups = context.bench(plans)
    drawn = {name: metric_figure(groups, axis, shown), f"{name}_metrics": metric_figure(groups, axis, tuple(METRICS))}
    figures = {stem: figure for stem, figure in drawn.items() if figure is not None}
    if not figures:
        raise PaperError(f"{name}: there are too few rows for a curve")
    findings = []
    for label, members in _by_label(groups, axis.position).items():
        for metric in map(METRICS.__getitem__, shown[:n_told]):
            known = [g for g in members if g.estimates[metric.name].n]
            steps = [f"{metric.shown(g.estimates[metric.name]).value:.3g} at {axis.position(g):.3g}" for g in known]
            findings += [f"{label}: {metric.title} {', '.join(steps)} ({axis.label})"] * bool(steps)
    n = max(group.estimates["vnrr"].n for group in groups)
    notes = [f"{n} of 115 problems, {len(groups[0].rows) // max(n, 1)} data sets each", INTERVALS]
    return Exhibit(figures, findings, table(groups, "markdown"), notes)


@experiment(minutes=2.1)
def recovery_time(context: Context) -> Exhibit:
    """Recovery against time, and every other metric.

    Paper: Figure 'vNRR and length ratio against inference time', left, and Appendix Detailed Test Time Scaling

    Claim: Recovery grows with compute: 120M reaches parity with PySR at 10 s and 58 % at most (PySR 50 %); NeSymReS
    saturates at 10 %, E2E stays below 2.5 %.

    Small: 40 problems, 256 points, 0.1 to 2 s, the paper's pipeline with 16, 64 and 256 samples; Operon where installed

    Full: 115 problems, 512 points, 10 data sets, 0.25 to 1024 s and 1 to 256k samples; Operon and PySR where installed
    """
    plans = time_plans(context, _has_network(context))
    return _curves(context, plans, _TIME, "recovery_time", ("vnrr", "xnrr"), n_told=1)


@experiment(minutes=0.2)
def length_time(context: Context) -> Exhibit:
    """Length ratio against time, as returned and over recovered problems.

    Paper: Figure 'vNRR and length ratio against inference time', right

    Claim: Parsimony inversion: with more time the length ratio falls (1.40 to 1.27) while PySR's rises (0.94 to 1.85).

    Small: 40 problems, 256 points, 0.1 to 2 s, the paper's pipeline with 16, 64 and 256 samples; Operon where
    installed; the rows of recovery_time

    Full: 115 problems, 512 points, 10 data sets, 0.25 to 1024 s and 1 to 256k samples; Operon and PySR where installed
    """
    plans = time_plans(context, _has_network(context))
    return _curves(context, plans, _TIME, "length_time", ("length_ratio", "length_ratio_recovered"))


@experiment(minutes=0.3)
def scaling_law(context: Context) -> Exhibit:
    """Laws of recovery against log10 of the time, found by our own search.

    Paper: Figure 'Flash-ANSR fits to its own and PySR's scaling curves'

    Claim: With gamma = 0.15 the laws found suggest vNRR ~ log log T for Flash-ANSR and a limit of 53 % for PySR.

    Small: the rows of recovery_time; 5 s a search

    Full: the same at full size; 600 s a search
    """
    groups = context.bench(time_plans(context, _has_network(context)))
    seconds = context.pick(0.5, 5.0, 600.0)
    figure, (axes,) = panels(1, 1, 7.0, 4.4)
    findings = []
    grid = np.linspace(-1.5, 5, 400)
    for k, (label, members) in enumerate(_by_label(groups, lambda g: g.seconds).items()):
        x = np.log10([g.seconds for g in members])
        y = np.array([100 * g.estimates["vnrr"].value for g in members])
        colour = COLOURS[k % len(COLOURS)]
        axes.plot(x, y, MARKERS[k % len(MARKERS)], color=colour, label=label)
        if np.ptp(y) == 0 or len(y) < _LEAST_POINTS:
            reason = f"recovery is {y[0]:.1f} % everywhere" if np.ptp(y) == 0 else f"{len(y)} points are too few"
            findings.append(f"{label}: no law, since {reason}")
            continue
        found = _law(context, label, _IN_MILLISECONDS + x, y, 100 / members[0].estimates["vnrr"].n, seconds)
        law = simplipy.parse(found["law"])
        with np.errstate(all="ignore"):
            values = np.broadcast_to(law({"t": _IN_MILLISECONDS + grid}), grid.shape).astype(np.float64)
        shown = np.where((values > -5) & (values < 105), values, np.nan)
        axes.plot(grid, shown, color=colour, lw=1.0, ls=":")
        axes.plot(grid, np.where((grid >= x[0]) & (grid <= x[-1]), shown, np.nan), color=colour, lw=1.4)
        later = float(np.interp(4.0, grid, values))
        sense = f"gives {later:.0f} %" if 0 <= later <= 100 else "leaves 0 to 100 %"
        findings += [
            f"{label}: vNRR = {law.infix(precision=3)} with t = log10 of the milliseconds, FVU {found['fvu']:.2g} on "
            f"{len(x)} points",
            f"{label}: extrapolated to 10,000 s, the law {sense if np.isfinite(later) else 'is not defined'}",
        ]
    axes.set(xlabel="log10 of the mean fit time [s]", ylabel="vNRR [%]", ylim=(-2, 102), xlim=(grid[0], grid[-1]))
    axes.legend(loc="best")
    notes = [
        f"gamma = {_GAMMA}, {seconds:g} s a search over {' '.join(_OPERATORS)}; dotted: beyond the measured times",
        "errors below half a problem count as half a problem in the score: recovery comes in steps of one",
        "an extrapolation from so few points is an illustration, no forecast",
    ]
    return Exhibit(figure, findings, table(groups, "markdown"), notes)


def _law(context: Context, label: str, t: FloatArray, y: FloatArray, step: float, seconds: float) -> Facts:
    """The law of a curve and its error, searched once for these points; chosen by the paper's score.

    Recovery comes in steps of a problem: errors of less than half of one are none, or few points would be interpolated.
    """

    def work(_: None) -> Facts:
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
    return context.apart("laws").each({key: None}, work, f"law of {label}")[0]


@experiment(minutes=1.2)
def points(context: Context) -> Exhibit:
    """Recovery and length against the number of points.

    Paper: Figure 'vNRR and length ratio against the number of points', and Appendix Detailed Data Sparsity

    Claim: Better than PySR beyond 64 points; length peaks at about 8 points, up to twice the truth.

    Small: 24 problems, 4 to 256 points, 0.5 s, the paper's pipeline with 64 samples; Operon where installed

    Full: 115 problems, 1 to 2,048 points, 10 data sets, 10 s, 2,048 samples; Operon and PySR where installed
    """
    sizes = context.pick([8, 16], [4, 8, 16, 64, 256], [2**k for k in range(12)])
    plans = fixed_plans(context, {"points": sizes}, _has_network(context))
    return _curves(context, plans, _POINTS, "points", ("vnrr", "length_ratio"))


@experiment(minutes=1.1)
def noise(context: Context) -> Exhibit:
    """Recovery and length against noise.

    Paper: Figure 'vNRR and length ratio against noise', and Appendix Detailed Noise Level Scaling

    Claim: Ahead of PySR in low-noise settings (120M), behind it from 1 % on; lengths stay above the truth.

    Small: 24 problems, 256 points, noise of 0, 0.1, 1 and 10 %, 0.5 s, the paper's pipeline with 64 samples; Operon
    where installed

    Full: 115 problems, 512 points, 10 data sets, 10 s, 2,048 samples; Operon and PySR where installed
    """
    levels = context.pick([0.0, 0.01], [0.0, 0.001, 0.01, 0.1], [0.0, 0.001, 0.01, 0.1])
    swept = {"noise": levels, "points": context.pick(64, 256, 512)}
    plans = fixed_plans(context, swept, _has_network(context))
    return _curves(context, plans, _NOISE, "noise", ("vnrr", "length_ratio"))


@experiment(minutes=0.9)
def per_expression(context: Context) -> Exhibit:
    """The FVU of every equation, by difficulty.

    Paper: Figure 'FVU of individual expressions by difficulty' (Appendix Per-Expression Results)

    Claim: All but three easy expressions are solved; approximate fits and failures grow with difficulty.

    Small: all 115 problems, 256 points, 0.5 s

    Full: all 115 problems, 512 points, 5 data sets, 1,000 s, and the paper's pipeline with 256k samples
    """
    tasks: Facts = {"limit": context.pick(4, None, None), "budget": context.pick(0.2, 0.5, 1000.0)}
    tasks |= {"points": context.pick(64, 256, 512), "datasets": context.pick(1, 1, 5)}
    plans = [Plan(_CATALOGUE, label="ours", **tasks)]
    if context.scale is Scale.FULL and _has_network(context):
        settings = {"pipeline": "paper", "n_samples": 2**18}
        plans.append(Plan(_CATALOGUE, label=PAPER_PIPELINE, settings=settings, **tasks | {"budget": None}))
    groups = sorted(context.bench(plans), key=lambda group: group.label != "ours")
    difficulties = {problem.name: problem.difficulty or "all" for problem in load(_CATALOGUE)}
    findings = []
    for group in groups:
        medians = group.scores["fvu_validation"].groupby(level=0, sort=False).median()
        missed = pd.Series([name for name in medians.index if not is_perfect(medians[name])], dtype=object)
        by_difficulty = [f"{d} {', '.join(names)}" for d, names in missed.groupby(missed.map(difficulties), sort=False)]
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in group.recovery_by_difficulty().items())
        findings += [
            f"{group.label}: recovered (vNRR): {shares}",
            f"{group.label}: {len(medians) - len(missed)} of {len(medians)} equations recovered in the median of their "
            f"data sets; missed: {'; '.join(by_difficulty) or 'none'}",
        ]
    stems = ["per_expression", "per_expression_paper"]
    figures = {stem: problem_figure(group) for stem, group in zip(stems, groups, strict=False)}
    notes = ["dots: medians over the data sets of an equation; lines: the least to the largest of them, no interval"]
    return Exhibit(figures, findings, table(groups, "markdown"), notes)
