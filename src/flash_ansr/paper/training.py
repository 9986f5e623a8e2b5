"""Training: curves and their power law, token embeddings, and the ablations from their run folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flash_ansr.bench.figures import COLOURS
from flash_ansr.bench.groups import Group
from flash_ansr.bench.metrics import METRICS
from flash_ansr.infer.settings import Decoding
from flash_ansr.paper.ablations import ABLATIONS, Ablation, checkpoint_of
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.decoding import Sizes, compared, fingerprints, in_order, variant_plans
from flash_ansr.paper.drawing import fingerprint_figure, markdown, panels
from flash_ansr.paper.experiment import Experiment, MissingError, Outcome, need_torch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flash_ansr.train.report import Curve

_WIDTHS = (16, 32, 64)
_ARCHITECTURE = ("b0", "b0_seed1", "b1", "b2", "b3", "nesymres")
_COMPARED = ("vnrr", "length_ratio", "fit_seconds")


def training_curves(context: Context) -> Outcome:
    """Loss against operations, its power law, and gradient norms."""
    need_torch("training_curves")
    from flash_ansr.train.report import fit_power_law, read_curve, training_figure

    folders = _given_runs(context) if context.runs else _train_small(context)
    curves = [read_curve(folder) for folder in folders]
    law = fit_power_law(curves)
    facts = {curve.name: _facts(curve) for curve in curves}
    rows = context.each(
        [f"{curve.name} {int(curve.samples[-1])}" for curve in curves], lambda k: facts[k.split()[0]], "runs"
    )
    findings = [
        f"{name}: {row['n_parameters']:,} weights, {row['samples']:,} problems, validation loss {row['loss']:.3f}, "
        f"largest gradient norm {row['largest_gradient_norm']:.1f}"
        for name, row in zip(facts, rows, strict=True)
    ]
    if law is None:
        findings.append("no power law: it needs at least three sizes")
    else:
        findings.append(f"envelope: loss ~ FLOPs^{law.exponent:.3f} over {law.n_points} points (the paper: -0.14)")
    return Outcome({"training_curves": training_figure(curves, law)}, findings)


def _facts(curve: Curve) -> Facts:
    return {
        "n_parameters": curve.n_parameters,
        "samples": int(curve.samples[-1]),
        "loss": float(curve.loss[-1]),
        "largest_gradient_norm": float(curve.gradient_norms.max(initial=0.0)),
    }


def _given_runs(context: Context) -> list[Path]:
    assert context.runs is not None
    found = sorted(path.parent for path in context.runs.glob("*/config.yaml"))
    if not found:
        raise MissingError(f"{context.runs} holds no training runs; make some by: flash-ansr train nano --out RUN")
    return found


def _train_small(context: Context) -> list[Path]:
    """Three small networks of different widths, trained here."""
    from flash_ansr.train.config import load_config
    from flash_ansr.train.loop import train
    from flash_ansr.train.run_folder import RunFolder

    if context.pick(False, False, True):
        raise MissingError(
            "training_curves at full size draws runs of the configs 3M, 20M, 120M and 1B; train them by "
            "`flash-ansr train 3M --out RUNS/3M`, and name the folder by --runs RUNS"
        )
    steps = context.pick(6, 400, 0)
    folders = []
    for width in _WIDTHS:
        folder = RunFolder(context.folder / "runs" / f"width{width}")
        folders.append(folder.path)
        if folder.latest() is not None:
            finished = train(folder.config(), folder, resume=True)
        else:
            changes = [f"model.encoder.dim={width}", f"model.decoder.dim={width}", "run.devices=1", "run.n_threads=1"]
            changes += [f"optimizer.steps={steps}", "optimizer.batch_size=64", f"seed={context.seed}"]
            changes += [f"run.validate_every={max(1, steps // 20)}", "run.n_validation=512", "run.log_every=5"]
            finished = train(load_config("nano", changes), folder)
        if not finished:
            raise KeyboardInterrupt
    context.notes.append(f"the config nano at widths {', '.join(map(str, _WIDTHS))}, {steps} steps of 64 problems")
    return folders


def token_embeddings(context: Context) -> Outcome:
    """Similarity of token embeddings, and how far it follows the kinds of tokens."""
    network = context.network()
    from flash_ansr.train.report import embedding_figure, token_similarity

    tokens, similarity = token_similarity(network)
    kinds = {
        "variables": [k for k, token in enumerate(tokens) if token[0] == "x" and token[1:].isdigit()],
        "arithmetic": [tokens.index(token) for token in "+-*/"],
        "trigonometric": [tokens.index(token) for token in ("sin", "cos", "tan")],
        "powers": [k for k, token in enumerate(tokens) if token.startswith("pow")],
        "multipliers": [k for k, token in enumerate(tokens) if token.startswith(("mult", "div"))],
    }
    n = len(tokens)
    overall = float((similarity.sum() - n) / (n * (n - 1)))
    values = {}
    for kind, members in kinds.items():
        block = similarity[members][:, members]
        values[kind] = float((block.sum() - len(members)) / max(1, len(members) * (len(members) - 1)))
    context.each([str(network)], lambda _: {"overall": overall, **values}, "embeddings")
    findings = [f"mean similarity of all pairs {overall:.2f}"]
    findings += [f"within {kind}: {value:.2f}" for kind, value in values.items()]
    name = network.name if context.checkpoint else "nano"
    return Outcome({"token_embeddings": embedding_figure(name, tokens, similarity)}, findings)


def ablations(context: Context) -> Outcome:
    """Trained ablations: training curves, and recovery, length, rewrites, bloat and time at equal samples."""
    need_torch("ablations")
    from flash_ansr.train.report import read_curve

    runs = _trained(context)
    assert context.runs is not None
    curves = {run.title: read_curve(context.runs / run.name) for run in runs}
    sizes = context.pick(Sizes(2, 32, 6, 1), Sizes(40, 256, 256, 1), Sizes(None, 512, 4096, 5))
    labels = {run.title: run.switches for run in runs}
    plans = []
    for run in runs:
        settings = {"checkpoint": str(checkpoint_of(context.runs, run.name))}
        plans += variant_plans(sizes, {run.title: run.switches}, settings)
    groups = in_order(context.bench(plans), labels)
    sources: dict[str, tuple[Decoding, Path]] = {
        run.title: ("beam" if run.switches.get("decoding") == "beam" else "sample", _checkpoint(context, run))
        for run in runs
    }
    prints = fingerprints(context, sizes, sources)
    extra = {
        "rewrites [%] ↓": {label: 100 * facts["rewrites"] for label, facts in prints.items()},
        "bloat [%] ↓": {label: 100 * facts["bloat"] for label, facts in prints.items()},
    }
    table, findings = _against_b0(runs, groups, curves, prints)
    figures = {
        "ablations": fingerprint_figure(groups, _COMPARED, extra),
        "ablations_training": _training_rows(runs, curves),
    }
    missing = [name for name in ABLATIONS if name not in {run.name for run in runs}]
    notes = [f"{sizes.limit or 115} problems, {sizes.points} points, {sizes.n_samples} candidates, one seed but for B0"]
    notes.append("validation losses of runs with another prior are on problems of that prior")
    notes += [f"not trained yet: {', '.join(missing)}"] if missing else []
    return Outcome(figures, [*findings, *compared(groups)], table, notes)


def _trained(context: Context) -> list[Ablation]:
    found = [run for run in ABLATIONS.values() if checkpoint_of(context.runs, run.name) is not None]
    if not any(run.name == "b0" for run in found):
        raise MissingError(
            f"ablations need trained runs, at least b0, in {context.runs or 'a folder named by --runs'}; train them by "
            f"`flash-ansr paper train NAME --runs RUNS`, NAME one of {', '.join(ABLATIONS)}, or all"
        )
    return found


def _checkpoint(context: Context, run: Ablation) -> Path:
    found = checkpoint_of(context.runs, run.name)
    assert found is not None
    return found


def _against_b0(
    runs: Sequence[Ablation], groups: Sequence[Group], curves: dict[str, Curve], prints: dict[str, dict[str, float]]
) -> tuple[str, list[str]]:
    """The table, and what differs from B0 by more than its seeds do."""
    values = {
        group.label: {name: METRICS[name].shown(group.estimates[name].value) for name in _COMPARED}
        | {name: 100 * prints[group.label][name] for name in ("rewrites", "bloat")}
        | {"loss": float(curves[group.label].loss[-1])}
        for group in groups
    }
    by_name = {run.name: values[run.title] for run in runs}
    base, second = by_name["b0"], by_name.get("b0_seed1")
    spread = None if second is None else {name: abs(base[name] - second[name]) for name in base}
    lines, findings = [], []
    for run in runs:
        row = by_name[run.name]
        beyond = [] if spread is None else [name for name in row if abs(row[name] - base[name]) > spread[name]]
        cells = [f"{row[name]:.3g}" for name in (*_COMPARED, "rewrites", "bloat", "loss")]
        marked = ", ".join(beyond) if not run.name.startswith("b0") else ""
        lines.append([run.title, f"{curves[run.title].samples[-1]:,.0f}", *cells, marked])
        if marked:
            findings.append(f"{run.title}: beyond the spread of B0's seeds: {marked}")
    if spread is None:
        findings.append("without a second seed of B0 (b0_seed1) no spread is known: small differences mean nothing")
    titles = [METRICS[name].title for name in _COMPARED]
    header = ["run", "problems seen", *titles, "rewrites [%]", "bloat [%]", "validation loss", "beyond the spread"]
    return markdown(header, lines), findings


def _training_rows(runs: Sequence[Ablation], curves: dict[str, Curve]) -> Figure:
    """Loss and gradient norms, architecture above and data below, B0 in both."""
    figure, drawn = panels(2, 2, 5.2, 3.2)
    for row, is_architecture in enumerate((True, False)):
        shown = [run for run in runs if run.name == "b0" or (run.name in _ARCHITECTURE) == is_architecture]
        for k, run in enumerate(shown):
            curve = curves[run.title]
            style: dict[str, Any] = {"color": "#000000" if run.name == "b0" else COLOURS[k % len(COLOURS)], "lw": 1.2}
            drawn[2 * row].plot(curve.flops, curve.loss, label=run.title, **style)
            drawn[2 * row + 1].plot(curve.steps, curve.gradient_norms, **style | {"lw": 0.7})
        drawn[2 * row].set(xscale="log", xlabel="training FLOPs (6 N D)", ylabel="validation loss a token")
        drawn[2 * row].legend(fontsize=7)
        drawn[2 * row + 1].set(yscale="log", xlabel="step", ylabel="gradient norm before clipping")
    return figure


EXPERIMENTS = (
    Experiment(
        "training_curves",
        "Figure 'Training dynamics and scaling behavior' (Appendix Training Dynamics)",
        "Validation loss falls as FLOPs^-0.14; optimization is stable from 3M to 120M.",
        training_curves,
        "the config nano at three widths, 400 steps of 64 problems; or the runs in --runs",
        "the runs in --runs, of the configs 3M, 20M, 120M, 1B",
        1.2,
    ),
    Experiment(
        "ablations",
        "Figures 'Test-time compute scaling for ablations', 'Training dynamics of the ablations', 'Detailed Ablation "
        "Metrics'",
        "A-U and B2 move recovery and length most; B1 (post-norm) fails in training; B3 and C1 have small effects.",
        ablations,
        "the trained runs in --runs, 40 problems, 256 points, 256 candidates",
        "115 problems, 512 points, 4,096 candidates, 5 data sets",
        10.0,
        ("runs",),
    ),
    Experiment(
        "token_embeddings",
        "Figure 'Pairwise token embedding similarity' (Appendix Token Embeddings)",
        "Related operators and the variables are similar, tokens of different kinds are not.",
        token_embeddings,
        "the network in the package, where there is one, or that of --checkpoint",
        "the same",
        0.1,
        ("network",),
    ),
)
