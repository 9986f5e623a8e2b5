"""The paper's pipeline with one part exchanged: decoder, refiner, simplifier. All need a trained network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from flash_ansr.bench.candidates import summarize_candidates
from flash_ansr.bench.datasets import make_data_set
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.tables import Format, table
from flash_ansr.catalogues import load
from flash_ansr.infer.proposals import Grammar, Table
from flash_ansr.infer.settings import Decoding
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import fingerprint_figure
from flash_ansr.paper.experiment import Experiment, Outcome

_CATALOGUE = "fastsrb"
_METRICS = ("vnrr", "fnrr", "length_ratio", "fit_seconds", "fit_success")


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many problems and points, and the samples of each variant."""

    limit: int | None
    points: int
    n_samples: int
    datasets: int


def variant_plans(sizes: Sizes, variants: Mapping[str, Mapping[str, Any]], settings: Facts) -> list[Plan]:
    """A plan for each variant: the switches of the pipeline by label."""
    return [
        Plan(
            catalogue=_CATALOGUE,
            system="ours",
            label=label,
            settings={"pipeline": dict(switches), "n_samples": sizes.n_samples, **settings},
            budget=[None],
            points=[sizes.points],
            limit=sizes.limit,
            datasets=sizes.datasets,
        )
        for label, switches in variants.items()
    ]


def decoding(context: Context) -> Outcome:
    """Softmax sampling against beam search at an equal number of candidates."""
    sizes = context.pick(Sizes(2, 32, 8, 1), Sizes(12, 256, 256, 1), Sizes(None, 512, 4096, 5))
    variants = {"softmax sampling": {"decoding": "sample"}, "beam search": {"decoding": "beam"}}
    # these first: loading torch is no part of a fit's time
    network = context.network()
    prints = fingerprints(context, sizes, {"softmax sampling": ("sample", network), "beam search": ("beam", network)})
    groups = in_order(context.bench(variant_plans(sizes, variants, context.network_settings())), variants)
    extra = {
        "distinct forms [%] ↑": {label: 100 * facts["distinct"] for label, facts in prints.items()},
        "rewrites [%] ↓": {label: 100 * facts["rewrites"] for label, facts in prints.items()},
        "bloat [%] ↓": {label: 100 * facts["bloat"] for label, facts in prints.items()},
    }
    findings = [
        *compared(groups),
        *(
            f"{label}: {100 * f['distinct']:.0f} % of the budget are distinct forms; among distinct sequences "
            f"{100 * f['rewrites']:.1f} % repeat a form; bloat {100 * f['bloat']:.1f} %"
            for label, f in prints.items()
        ),
        *_by_length(groups),
    ]
    figure = fingerprint_figure(groups, _METRICS[:4], extra)
    return Outcome({"decoding": figure}, findings, table(groups, Format.MARKDOWN), [_said(sizes)])


def fingerprints(
    context: Context, sizes: Sizes, sources: Mapping[str, tuple[Decoding, Path]]
) -> dict[str, dict[str, float]]:
    """What raw candidates are like, in the mean over problems, by label.

    Parameters
    ----------
    sources : mapping of label to (decoder, checkpoint)

    Returns
    -------
    mapping of label to mapping
        ``distinct``: distinct forms among all draws; ``rewrites``: share of the distinct sequences that repeat a form;
        ``bloat``.
    """
    from flash_ansr.infer.neural_proposer import NeuralProposer

    catalogue = load(_CATALOGUE)
    names = list(dict.fromkeys(t.problem for t in Plan(_CATALOGUE, limit=sizes.limit).tasks(1)))

    def candidates(key: str) -> Facts:
        name, decoder, checkpoint = wanted[key]
        data = make_data_set(catalogue[name], 0, sizes.points, 0.0)
        proposer = NeuralProposer(Table(data.fit.X, data.y_fit), Grammar(), checkpoint, decoding=decoder)
        found = proposer.propose(sizes.n_samples, context.seed)
        assert found is not None
        summary = summarize_candidates([expression.tokens for expression in found.batch.expressions()])
        n_forms = summary.n * (1 - summary.rewrite_fraction)
        return {"distinct": n_forms / sizes.n_samples, "rewrites": summary.rewrite_fraction, "bloat": summary.bloat}

    # the benchmark's rows are in rows.jsonl, these beside them
    apart = replace(context, folder=context.folder / "candidates")
    found = {}
    wanted: dict[str, tuple[str, Decoding, Path]] = {}
    for label, (decoder, checkpoint) in sources.items():
        keys = [f"{name} {decoder} {sizes.n_samples} {sizes.points} {checkpoint}" for name in names]
        wanted |= {key: (name, decoder, checkpoint) for key, name in zip(keys, names, strict=True)}
        rows = apart.each(keys, candidates, label)
        found[label] = {k: float(np.nanmean([row[k] for row in rows])) for k in ("distinct", "rewrites", "bloat")}
    return found


def _by_length(groups: list[Group]) -> list[str]:
    """Recovery on the shorter and the longer half of the laws."""
    catalogue = load(_CATALOGUE)
    lengths = {row.task.problem: len(catalogue[row.task.problem].expression) for row in groups[0].rows}
    middle = float(np.median(list(lengths.values())))
    said = []
    for title, is_short in (("short", True), ("long", False)):
        parts = []
        for group in groups:
            pairs = zip(group.rows, group.scores, strict=True)
            found = [s.vnrr for row, s in pairs if (lengths[row.task.problem] <= middle) == is_short]
            parts.append(f"{group.label} {100 * float(np.mean(found)) if found else float('nan'):.1f} %")
        said.append(f"vNRR on {title} laws (up to {middle:g} tokens is short): {', '.join(parts)}")
    return said


def refiner(context: Context) -> Outcome:
    """Levenberg-Marquardt against BFGS and SciPy's curve_fit."""
    sizes = context.pick(Sizes(2, 32, 6, 1), Sizes(12, 256, 64, 1), Sizes(None, 512, 2048, 5))
    variants = {
        "Levenberg-Marquardt (ours)": {"refiner": "lm"},
        "SciPy curve_fit": {"refiner": "scipy"},
        "SciPy BFGS": {"refiner": "bfgs"},
    }
    return _switched(context, sizes, variants, "refiner")


def inference_simplifier(context: Context) -> Outcome:
    """SimpliPy, SymPy or nothing between the network and the fit."""
    sizes = context.pick(Sizes(2, 32, 4, 1), Sizes(6, 128, 24, 1), Sizes(None, 512, 4096, 5))
    variants = {name: {"simplifier": name} for name in ("simplipy", "sympy", "none")}
    return _switched(context, sizes, variants, "inference_simplifier")


def _switched(context: Context, sizes: Sizes, variants: Mapping[str, Mapping[str, Any]], name: str) -> Outcome:
    settings = context.network_settings()
    import flash_ansr.infer.neural_proposer  # noqa: F401 - loading torch is no part of a fit's time

    groups = in_order(context.bench(variant_plans(sizes, variants, settings)), variants)
    unique = {
        group.label: float(
            np.mean([row.report["fit"]["unique"] / row.report["fit"]["drawn"] for row in _answered(group)])
        )
        for group in groups
        if _answered(group)
    }
    extra = {"unique / drawn [%]": {label: 100 * share for label, share in unique.items()}}
    findings = [
        *compared(groups),
        *(f"{label}: {100 * s:.0f} % of the draws are distinct" for label, s in unique.items()),
    ]
    figure = fingerprint_figure(groups, _METRICS, extra)
    return Outcome({name: figure}, findings, table(groups, Format.MARKDOWN), [_said(sizes)])


def _answered(group: Group) -> list[Any]:
    return [row for row in group.rows if row.error is None]


def compared(groups: list[Group]) -> list[str]:
    """A sentence for each group: recovery, length and time."""
    said = []
    for group in groups:
        parts = [
            f"{METRICS[name].title} {METRICS[name].shown(group.estimates[name].value):.3g}"
            for name in ("vnrr", "length_ratio", "fit_seconds")
            if group.estimates[name].n
        ]
        said.append(f"{group.label}: {', '.join(parts)}")
    return said


def in_order(groups: list[Group], labels: Mapping[str, object]) -> list[Group]:
    """The groups in the order of their labels."""
    return sorted(groups, key=lambda group: list(labels).index(group.label))


def _said(sizes: Sizes) -> str:
    return f"{sizes.limit or 115} problems, {sizes.points} points, {sizes.n_samples} candidates"


EXPERIMENTS = (
    Experiment(
        "decoding",
        "Figure 'Hypothesis-space fingerprint', decoder (Section Ablations)",
        "At 4,096 candidates beam search keeps 33 % of its budget as distinct forms (softmax 48 %), has 70 times more "
        "rewrites, recovers 9.4 points less at 4 times the time; most on short equations (17 points, 2 on long ones).",
        decoding,
        "12 problems, 256 points, 256 candidates",
        "115 problems, 512 points, 4,096 candidates, 5 data sets",
        2.0,
        ("network",),
    ),
    Experiment(
        "refiner",
        "Figure 'BFGS against Levenberg-Marquardt' (Appendix Refiner Choice)",
        "Levenberg-Marquardt recovers about 11 points more than BFGS at every budget.",
        refiner,
        "12 problems, 256 points, 64 candidates",
        "115 problems, 512 points, 2,048 candidates, 5 data sets",
        0.9,
        ("network",),
    ),
    Experiment(
        "inference_simplifier",
        "Figure 'Hypothesis-space fingerprint', simplifier at inference",
        "SymPy does as well as SimpliPy at 20 times the time; without simplification there are 21 times more rewrites.",
        inference_simplifier,
        "6 problems, 128 points, 24 candidates",
        "115 problems, 512 points, 4,096 candidates, 5 data sets",
        0.8,
        ("network",),
    ),
)
