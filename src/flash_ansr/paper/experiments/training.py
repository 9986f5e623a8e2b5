"""Training: curves and their power law, and token embeddings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from flash_ansr.checkpoint.folder import newest_checkpoint, weights_hash
from flash_ansr.paper.ablations.networks import ABLATIONS, paces, train_or_continue
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.experiment import Experiment, MissingError, Outcome, need_torch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flash_ansr.train.learning_curves import LearningCurve

_WIDTHS = (16, 32, 64)
_ARRAYS = ("flops", "seconds", "samples", "loss", "steps", "gradient_norms")


def training_curves(context: Context) -> Outcome:
    """Loss against operations, its power law, and gradient norms."""
    need_torch("training_curves")
    from flash_ansr.train.learning_curves import fit_power_law, training_figure

    folders = {_mark(folder): folder for folder in given_runs(context) or _train_small(context)}
    rows = context.each(list(folders), lambda key: _curve_facts(folders[key]), "runs")
    curves = [_curve(row) for row in rows if row["n_parameters"] is not None]
    unseen = [folder.name for folder, row in zip(folders.values(), rows, strict=True) if row["n_parameters"] is None]
    context.notes.extend(f"{name} has no validation yet: it is left out" for name in unseen)
    if not curves:
        raise MissingError(
            f"no run in {context.runs} has a validation yet; go on with one by: flash-ansr train --resume"
        )
    law = fit_power_law(curves)
    findings = [
        f"{curve.name}: {curve.n_parameters:,} weights, {int(curve.samples[-1]):,} problems, validation loss "
        f"{curve.loss[-1]:.3f}, largest gradient norm {np.fmax.reduce(curve.gradient_norms, initial=0.0):.1f}"
        for curve in curves
    ]
    if law is None:
        findings.append("no power law: it needs at least three sizes")
    else:
        findings.append(f"envelope: loss ~ FLOPs^{law.exponent:.3f} over {law.n_points} points (the paper: -0.14)")
    return Outcome({"training_curves": training_figure(curves, law)}, findings)


def _mark(folder: Path) -> str:
    """A run with a hash of what its curve is made of."""
    files = [path.read_bytes() for name in ("config.yaml", "metrics.jsonl") if (path := folder / name).is_file()]
    return f"{folder.name} {hashlib.sha256(b''.join(files)).hexdigest()[:16]}"


def _curve_facts(folder: Path) -> Facts:
    """A curve as JSON holds it; without a validation only its name."""
    from flash_ansr.model.config import ConfigError
    from flash_ansr.train.learning_curves import read_curve

    try:
        curve = read_curve(folder)
    except ConfigError:
        return {"name": folder.name, "n_parameters": None}
    arrays = {name: getattr(curve, name).tolist() for name in _ARRAYS}
    return {"name": curve.name, "n_parameters": curve.n_parameters, "blind": curve.blind, **arrays}


def _curve(facts: Facts) -> LearningCurve:
    from flash_ansr.train.learning_curves import LearningCurve

    # a number that is not finite is null in a row
    arrays: Any = {name: np.array(facts[name], dtype=np.float64) for name in _ARRAYS}
    return LearningCurve(**{name: facts[name] for name in ("name", "n_parameters", "blind")}, **arrays)


def given_runs(context: Context) -> list[Path]:
    """The runs in --runs; those of the ablations, which are all of one size, have a figure of their own."""
    if context.runs is None:
        return []
    found = sorted(path.parent for path in context.runs.glob("*/config.yaml"))
    if not found:
        raise MissingError(f"{context.runs} holds no training runs; make some by: flash-ansr train nano --out RUN")
    return [folder for folder in found if folder.name not in ABLATIONS]


def _train_small(context: Context) -> list[Path]:
    """Three small networks of different widths, trained here."""
    from flash_ansr.train.config import load_config
    from flash_ansr.train.run_folder import RunFolder

    if context.pick(False, False, True):
        raise MissingError(
            "training_curves at full size draws runs of the configs 3M, 20M, 120M and 1B; train them by "
            "`flash-ansr train 3M --out RUNS/3M`, and name the folder by --runs RUNS"
        )
    steps = context.pick(6, 300, 0)
    folders = []
    for width in _WIDTHS:
        folder = RunFolder(context.folder / "runs" / f"width{width}-seed{context.seed}")
        folders.append(folder.path)
        changes = [f"model.encoder.dim={width}", f"model.decoder.dim={width}", "run.devices=1", "run.n_threads=1"]
        changes += [f"optimizer.steps={steps}", "optimizer.batch_size=64", f"seed={context.seed}"]
        changes += [*paces(steps), "run.n_validation=512"]
        config = load_config("nano", changes) if folder.latest() is None else folder.config()
        if not train_or_continue(folder, config):
            raise KeyboardInterrupt
    context.notes.append(f"the config nano at widths {', '.join(map(str, _WIDTHS))}, {steps} steps of 64 problems")
    return folders


def token_embeddings(context: Context) -> Outcome:
    """Similarity of token embeddings, and how far it follows the kinds of tokens; of the runs in --runs too."""
    need_torch("token_embeddings")
    networks = _networks(context)
    keys = {f"{name} {weights_hash(path)}": name for name, path in networks.items()}
    rows = context.each(list(keys), lambda key: _embedding_facts(networks[keys[key]]), "embeddings")
    figures: dict[str, Figure] = {}
    findings = []
    from flash_ansr.train.learning_curves import embedding_figure

    for name, row in zip(networks, rows, strict=True):
        similarity = np.array(row["similarity"], dtype=np.float64)
        tokens = tuple(row["tokens"])
        stem = f"token_embeddings_{name}" if figures else "token_embeddings"
        figures[stem] = embedding_figure(name, tokens, similarity)
        findings += [f"{name}: {sentence}" for sentence in by_kind(tokens, similarity)]
    return Outcome(figures, findings)


def _networks(context: Context) -> dict[str, Path]:
    """The network of the context, and the newest checkpoint of every run in --runs, by name."""
    found: dict[str, Path] = {}
    if context.has_network:
        network = context.network()
        run = network.parent.parent if network.parent.name == "checkpoints" else network
        found[run.name] = network
    for folder in sorted(context.runs.iterdir()) if context.runs is not None and context.runs.is_dir() else []:
        newest = newest_checkpoint(folder)
        if newest is not None:
            found[folder.name] = newest
    return found or {"network": context.network()}


def _embedding_facts(network: Path) -> Facts:
    from flash_ansr.train.learning_curves import token_similarity

    tokens, similarity = token_similarity(network)
    return {"tokens": list(tokens), "similarity": similarity.round(6).tolist()}


def by_kind(tokens: Sequence[str], similarity: npt.NDArray[np.float64]) -> list[str]:
    """Mean similarities over all pairs, within kinds, and between kinds."""
    kinds = _kinds(tokens)
    n = len(tokens)
    said = [f"mean similarity of all pairs {(similarity.sum() - n) / (n * (n - 1)):z.2f}"]
    for kind, members in kinds.items():
        block, m = similarity[members][:, members], len(members)
        said.append(f"within {kind}: {(block.sum() - m) / max(1, m * (m - 1)):z.2f}")
    pairs = [(a, b) for k, a in enumerate(kinds) for b in list(kinds)[k + 1 :]]
    between = {(a, b): float(similarity[kinds[a]][:, kinds[b]].mean()) for a, b in pairs}
    highest = max(between, key=lambda pair: between[pair])
    operators = [k for kind, members in kinds.items() if kind != "variables" for k in members]
    said.append(
        f"between kinds: {np.mean(list(between.values())):z.2f} in the mean, {between[highest]:z.2f} at most "
        f"({' and '.join(highest)}); operators and variables {similarity[operators][:, kinds['variables']].mean():z.2f}"
    )
    return said


def _kinds(tokens: Sequence[str]) -> Mapping[str, list[int]]:
    """Positions of tokens by kind, as the paper names kinds."""
    index = {token: k for k, token in enumerate(tokens)}
    return {
        "variables": [k for k, token in enumerate(tokens) if token[0] == "x" and token[1:].isdigit()],
        "arithmetic": [index[token] for token in "+-*/"],
        "trigonometric": [index[token] for token in ("sin", "cos", "tan")],
        "exponentials": [index[token] for token in ("exp", "sinh", "cosh", "tanh")],
        "powers": [k for k, token in enumerate(tokens) if token.startswith("pow")],
        "multipliers": [k for k, token in enumerate(tokens) if token.startswith(("mult", "div"))],
    }


EXPERIMENTS = (
    Experiment(
        "training_curves",
        "Figure 'Training dynamics and scaling behavior' (Appendix Training Dynamics)",
        "Validation loss falls as FLOPs^-0.14; optimization is stable from 3M to 120M, and the 1B model has one spike "
        "of the gradient late in training, from which it recovers.",
        training_curves,
        "the config nano at three widths, 300 steps of 64 problems; or the runs in --runs but the ablations",
        "the runs in --runs, of the configs 3M, 20M, 120M, 1B",
        0.9,
        ("network",),
    ),
    Experiment(
        "token_embeddings",
        "Figure 'Pairwise token embedding similarity' (Appendix Token Embeddings)",
        "Related operators and the variables are similar, tokens of different kinds are not.",
        token_embeddings,
        "the network in the package, or that of --checkpoint; those of the runs in --runs too",
        "the same, with --runs of the configs 3M, 20M, 120M, 1B",
        0.1,
        ("network",),
    ),
)
