"""The paper's pipeline with one part exchanged: decoder, refiner, simplifier. All need a trained network."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import simplipy
from flash_ansr.bench.candidates import summarize_candidates
from flash_ansr.bench.datasets import make_data_set
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.numeric import fvu, is_perfect
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.report.figures import AXES, metric_figure
from flash_ansr.bench.report.tables import table
from flash_ansr.catalogues import Problem, load
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.infer.candidates.normal_forms import normal_forms
from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.settings import Decoding, Simplifier
from flash_ansr.infer.table.table import Table
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import INTERVALS, fingerprint_figure
from flash_ansr.paper.experiment import Exhibit, experiment

_CATALOGUE = "fastsrb"
_METRICS = ("vnrr", "fnrr", "length_ratio", "fit_seconds", "fit_success")
# of candidates, with the titles of their panels: see `fingerprints`
_OF_CANDIDATES = {
    "distinct": "distinct forms\nof the budget [%] ↑",
    "rewrites": "rewrites among\ndistinct sequences [%] ↓",
    "bloat": "bloat [%] ↓",
}
_TIME = AXES[0]
_LM, _BFGS = "Levenberg-Marquardt (ours)", "SciPy BFGS"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many problems, points, candidates and data sets; candidates in growing numbers where they are swept."""

    limit: int | None
    points: int
    n_samples: tuple[int, ...]
    datasets: int

    @property
    def most(self) -> int:
        """The largest number of candidates."""
        return self.n_samples[-1]

    def __str__(self) -> str:
        numbers = ", ".join(f"{n:,}" for n in self.n_samples)
        return f"{self.limit or 115} problems, {self.points} points, {numbers} candidates"


@dataclass(frozen=True, slots=True)
class Source:
    """Where candidates come from.

    Attributes
    ----------
    checkpoint : Path
    decoding : {"sample", "beam"}
    simplifier : {"simplipy", "sympy", "none"} or None
        The simplifier that shortens them after their multipliers are freed; None takes them as they are drawn.
    """

    checkpoint: Path
    decoding: Decoding = "sample"
    simplifier: Simplifier | None = None


def variant_plans(
    sizes: Sizes, variants: Mapping[str, Mapping[str, Any]], checkpoint: Path | None = None
) -> list[Plan]:
    """A plan for each variant: the switches of the pipeline by label. Without a checkpoint the context's counts."""
    named = {} if checkpoint is None else {"checkpoint": str(checkpoint)}
    return [
        Plan(
            catalogue=_CATALOGUE,
            system="ours",
            label=label,
            settings={"pipeline": dict(switches), **named},
            sweep={"n_samples": list(sizes.n_samples)},
            budget=[None],
            points=[sizes.points],
            limit=sizes.limit,
            datasets=sizes.datasets,
        )
        for label, switches in variants.items()
    ]


@experiment(minutes=1.6, needs=("network",))
def decoding(context: Context) -> Exhibit:
    """Softmax sampling against beam search at an equal number of candidates.

    Paper: Figure 'Hypothesis-space fingerprint', decoder (Section Ablations)

    Claim: At 4,096 candidates beam search keeps 33 % of its budget as distinct forms (softmax 48 %), has 70 times more
    rewrites, recovers 9.4 points less at 4 times the time; most on short equations (17 points, 2 on long ones).

    Small: 115 problems, 256 points, 256 candidates

    Full: 115 problems, 512 points, 4,096 candidates, 5 data sets
    """
    sizes = context.pick(Sizes(2, 32, (8,), 1), Sizes(None, 256, (256,), 1), Sizes(None, 512, (4096,), 5))
    variants = {"softmax sampling": {"decoding": "sample"}, "beam search": {"decoding": "beam"}}
    network = context.network()
    sources = {"softmax sampling": Source(network), "beam search": Source(network, "beam")}
    # candidates first: loading torch is no part of a fit's time
    prints = fingerprints(context, sizes, sources)
    groups = in_order(context.bench(variant_plans(sizes, variants)), variants)
    findings = [
        *compared(groups),
        *(
            f"{label}: {100 * f['distinct']:.1f} % of the budget are distinct forms, so the paper's rewrite fraction "
            f"is {100 * (1 - f['distinct']):.1f} %; among distinct sequences {100 * f['rewrites']:.1f} % repeat a "
            f"form; bloat of distinct sequences {100 * f['bloat']:.1f} %"
            for label, f in prints.items()
        ),
        *_by_length(groups),
    ]
    figure = fingerprint_figure(groups, _METRICS[:4], fingerprint_panels(prints))
    return Exhibit(figure, findings, table(groups, "markdown"), [str(sizes), INTERVALS])


def fingerprints(context: Context, sizes: Sizes, sources: Mapping[str, Source]) -> dict[str, dict[str, float]]:
    """Properties of candidates, averaged over problems, by label.

    Returns
    -------
    mapping of label to mapping
        ``distinct``: distinct forms over the number of draws, of which the paper's rewrite fraction is the rest;
        ``rewrites``: share of the distinct sequences that repeat a form; ``bloat``, of distinct sequences too.
    """
    from flash_ansr.infer.proposers.neural.proposer import NeuralProposer

    catalogue = load(_CATALOGUE)
    names = list(dict.fromkeys(t.problem for t in Plan(_CATALOGUE, limit=sizes.limit).tasks(1)))
    dataset = context.first_dataset(sizes.datasets)

    def of_candidates(name: str, source: Source) -> Facts:
        data = make_data_set(catalogue[name], dataset, sizes.points, 0.0)
        rows = Table(data.fit.X, data.y_fit)
        proposer = NeuralProposer(ProposerContext(rows, checkpoint=source.checkpoint, decoding=source.decoding))
        found = proposer.propose(sizes.most, context.seed)
        assert found is not None
        batch = found.batch if source.simplifier is None else normal_forms(found.batch, source.simplifier)
        # the pipeline fits equal sequences once
        summary = summarize_candidates(list(dict.fromkeys(tuple(e.tokens) for e in batch.expressions())))
        n_forms = summary.n_candidates * (1 - summary.rewrite_fraction) if summary.n_candidates else 0.0
        return {"distinct": n_forms / sizes.most, "rewrites": summary.rewrite_fraction, "bloat": summary.bloat}

    found = {}
    for label, source in sources.items():
        what = f"{source.decoding} {source.simplifier} {sizes.most} {sizes.points} {weights_hash(source.checkpoint)}"
        keys = {f"{name} {dataset} {what}": name for name in names}
        rows = context.apart("candidates").each(keys, partial(of_candidates, source=source), label)
        means = pd.DataFrame(rows, dtype=float).mean()  # of what is known
        found[label] = {name: float(means[name]) for name in _OF_CANDIDATES}
    return found


def fingerprint_panels(prints: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The results of ``fingerprints`` as panels of a figure."""
    return {title: {label: 100 * f[k] for label, f in prints.items()} for k, title in _OF_CANDIDATES.items()}


def _by_length(groups: list[Group]) -> list[str]:
    """Recovery on the shorter and the longer half of the laws."""
    lengths = pd.Series({problem.name: len(problem.expression) for problem in load(_CATALOGUE)})
    middle = float(lengths[list(groups[0].problems)].median())
    sentences = []
    for title, names in (("short", lengths.index[lengths <= middle]), ("long", lengths.index[lengths > middle])):
        found = {g.label: g.scores["vnrr"][g.scores.index.isin(names)].mean() for g in groups}
        parts = ", ".join(f"{label} {100 * share:.1f} %" for label, share in found.items())
        sentences.append(f"vNRR on {title} laws (up to {middle:g} tokens is short): {parts}")
    return sentences


@experiment(minutes=1.2, needs=("network",))
def refiner(context: Context) -> Exhibit:
    """Levenberg-Marquardt against BFGS and SciPy's curve_fit, over growing numbers of candidates.

    Paper: Figure 'BFGS against Levenberg-Marquardt' (Appendix Refiner Choice)

    Claim: Levenberg-Marquardt recovers more than BFGS at every budget, most visibly at 1 to 10 s, and about 11 points
    more at large compute; what BFGS recovers with 8,192 candidates, 39 %, it does with 128 to 512.

    Small: 8 problems, 256 points, 16 and 64 candidates; true forms of all laws with numbers

    Full: 115 problems, 512 points, 1 to 8,192 candidates, 5 data sets; true forms of all laws with numbers
    """
    sizes = context.pick(
        Sizes(2, 32, (3, 6), 1), Sizes(8, 256, (16, 64), 1), Sizes(None, 512, tuple(2**k for k in range(14)), 5)
    )
    variants = {_LM: {"refiner": "lm"}, "SciPy curve_fit": {"refiner": "scipy"}, _BFGS: {"refiner": "bfgs"}}
    context.network()
    import flash_ansr.infer.proposers.neural.proposer  # noqa: F401 - loading torch is no part of a fit's time

    groups = context.bench(variant_plans(sizes, variants))
    largest = in_order([group for group in groups if group.settings["n_samples"] == sizes.most], variants)
    drawn = metric_figure(groups, _TIME, tuple(METRICS))
    figures = {"refiner_bars": fingerprint_figure(largest, _METRICS, {})}
    figures = ({} if drawn is None else {"refiner": drawn}) | figures
    problems = [p for p in load(_CATALOGUE).included if p.expression.skeleton().n_constants]
    problems = problems[:: context.pick(len(problems) // 2, 1, 1)]
    findings = [
        *_with_true_skeletons(context, sizes, variants, problems),
        _candidates_to_match_bfgs(groups, sizes),
        *compared(largest),
    ]
    notes = [
        str(sizes),
        f"sentences and bars: {sizes.most:,} candidates",
        INTERVALS,
        f"{len(problems)} laws with numbers of their own, 8 starts of N(0, 5)",
    ]
    return Exhibit(figures, findings, table(groups, "markdown"), notes)


def _candidates_to_match_bfgs(groups: Sequence[Group], sizes: Sizes) -> str:
    """With how many candidates the first refiner recovers as much as BFGS where it recovers most."""
    recovered = {(g.label, g.settings["n_samples"]): g.estimates["vnrr"].value for g in groups}
    best = max(sizes.n_samples, key=lambda n: recovered[_BFGS, n])
    goal = recovered[_BFGS, best]
    enough = [n for n in sizes.n_samples if recovered[_LM, n] >= goal]
    verdict = f"{enough[0]:,} candidates are enough" if enough else f"{sizes.most:,} candidates are not enough"
    return f"for the {100 * goal:.1f} % of {_BFGS} at {best:,}, its most, {verdict} with {_LM}"


def _with_true_skeletons(
    context: Context, sizes: Sizes, variants: Mapping[str, Mapping[str, Any]], problems: Sequence[Problem]
) -> list[str]:
    """How often each refiner finds the numbers of a law whose form it is given."""
    dataset = context.first_dataset(sizes.datasets)

    def work(problem: Problem, method: str) -> Facts:
        data = make_data_set(problem, dataset, sizes.points, 0.0)
        started = time.perf_counter()
        options: dict[str, Any] = {"method": method, "starts": "normal", "random_state": context.seed, "n_threads": 1}
        fit = simplipy.fit_constants(problem.expression.skeleton(), data.fit.X, data.y_fit, **options)
        seconds = time.perf_counter() - started
        is_found = fit.ok and is_perfect(fvu(data.validation.y, fit.expression(data.validation.X)))
        return {"found": bool(is_found), "seconds": seconds}

    sentences = []
    for label, switches in variants.items():
        method = switches["refiner"]
        keys = {f"{p.name} {method} {dataset} {sizes.points}": p for p in problems}
        rows = pd.DataFrame(context.apart("true_skeletons").each(keys, partial(work, method=method), label))
        sentences.append(
            f"{label}: given the true form, finds its numbers in {100 * rows['found'].mean():.1f} %, in "
            f"{1000 * rows['seconds'].median():.2g} ms (median)"
        )
    return sentences


@experiment(minutes=0.8, needs=("network",))
def inference_simplifier(context: Context) -> Exhibit:
    """SimpliPy, SymPy or nothing between the network and the fit.

    Paper: Figure 'Hypothesis-space fingerprint', simplifier at inference

    Claim: SymPy does as well as SimpliPy at 20 times the time; without simplification, in training too, recovery is the
    same, with longer candidates and 21 times more rewrites.

    Small: 4 problems, 128 points, 24 candidates

    Full: 115 problems, 512 points, 4,096 candidates, 5 data sets
    """
    sizes = context.pick(Sizes(2, 32, (4,), 1), Sizes(4, 128, (24,), 1), Sizes(None, 512, (4096,), 5))
    names: tuple[Simplifier, ...] = ("simplipy", "sympy", "none")
    network = context.network()
    prints = fingerprints(context, sizes, {name: Source(network, simplifier=name) for name in names})
    variants: dict[str, dict[str, str]] = {name: {"simplifier": name} for name in names}
    groups = in_order(context.bench(variant_plans(sizes, variants)), variants)
    findings = [
        *compared(groups),
        *(
            f"{label}: among the distinct results {100 * f['rewrites']:.1f} % repeat a form, bloat "
            f"{100 * f['bloat']:.1f} %; {100 * f['distinct']:.1f} % of the draws are distinct forms"
            for label, f in prints.items()
        ),
    ]
    figure = fingerprint_figure(groups, _METRICS, fingerprint_panels(prints))
    notes = [
        str(sizes),
        "forms are told apart by SimpliPy with all rules, whatever simplified the candidates",
        INTERVALS,
    ]
    return Exhibit(figure, findings, table(groups, "markdown"), notes)


def compared(groups: Sequence[Group]) -> list[str]:
    """A sentence for each group: recovery, length and time."""
    sentences = []
    for group in groups:
        known = [METRICS[name] for name in ("vnrr", "length_ratio", "fit_seconds") if group.estimates[name].n]
        parts = [f"{metric.title} {metric.shown(group.estimates[metric.name]).value:.3g}" for metric in known]
        sentences.append(f"{group.label}: {', '.join(parts)}")
    return sentences


def in_order(groups: Sequence[Group], labels: Mapping[str, object]) -> list[Group]:
    """The groups in the order of their labels."""
    return sorted(groups, key=lambda group: list(labels).index(group.label))
