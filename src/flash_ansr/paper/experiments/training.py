"""Training: curves and their power law, and token embeddings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flash_ansr.catalogues import FloatArray
from flash_ansr.checkpoint.folder import newest_checkpoint, weights_hash
from flash_ansr.paper.ablations.networks import ABLATIONS, paces, train_or_continue
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.experiment import Exhibit, MissingError, Scale, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTHS = (16, 32, 64)
# of tokens, as the paper names them
_KINDS: dict[str, Callable[[str], bool]] = {
    "variables": lambda token: token[0] == "x" and token[1:].isdigit(),
    "arithmetic": lambda token: token in ("+", "-", "*", "/"),
    "trigonometric": lambda token: token in ("sin", "cos", "tan"),
    "exponentials": lambda token: token in ("exp", "sinh", "cosh", "tanh"),
    "powers": lambda token: token.startswith("pow"),
    "multipliers": lambda token: token.startswith(("mult", "div")),
}


@experiment(minutes=0.9, needs=("network",))
def training_curves(context: Context) -> Exhibit:
    """Loss against operations, its power law, and gradient norms.

    Paper: Figure 'Training dynamics and scaling behavior' (Appendix Training Dynamics)

    Claim: Validation loss falls as FLOPs^-0.14; optimization is stable from 3M to 120M, and the 1B model has one spike
    of the gradient late in training, from which it recovers.

    Small: the config nano at three widths, 300 steps of 64 problems; or the runs in --runs but the ablations

    Full: the runs in --runs, of the configs 3M, 20M, 120M, 1B
    """
    from flash_ansr.model.config import ConfigError
    from flash_ansr.train.learning_curves import LearningCurve, fit_power_law, read_curve, training_figure

    def work(folder: Path) -> Facts:
        try:
            curve = asdict(read_curve(folder))
        except ConfigError:  # no validation yet
            return {"name": folder.name}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in curve.items()}

    folders = {_key_of_run(folder): folder for folder in given_runs(context) or _train_small(context)}
    rows = context.each(folders, work, "runs")
    context.notes.extend(f"{row['name']} has no validation yet: it is left out" for row in rows if len(row) == 1)
    curves = [LearningCurve(**_with_arrays(row)) for row in rows if len(row) > 1]
    if not curves:
        raise MissingError(
            f"no run in {context.runs} has a validation yet; go on with one by: flash-ansr train --resume"
        )
    law = fit_power_law(curves)
    findings = [
        f"{run['name']}: {run['n_parameters']:,} weights, {run['samples']:,} problems, validation loss "
        f"{run['validation_loss']:.3f}, largest gradient norm {run['largest_gradient_norm']:.1f}"
        for run in (curve.summary() for curve in curves)
    ]
    findings.append(
        "no power law: it needs at least three sizes"
        if law is None
        else f"envelope: loss ~ FLOPs^{law.exponent:.3f} over {law.n_points} points (the paper: -0.14)"
    )
    return Exhibit(training_figure(curves, law), findings)


def _with_arrays(row: Facts) -> Facts:
    """A row with arrays for its lists; a number that is not finite is null in a row."""
    return {name: np.array(value, np.float64) if isinstance(value, list) else value for name, value in row.items()}


def _key_of_run(folder: Path) -> str:
    """A run with a hash of what its curve is made of."""
    files = [path.read_bytes() for name in ("config.yaml", "metrics.jsonl") if (path := folder / name).is_file()]
    return f"{folder.name} {hashlib.sha256(b''.join(files)).hexdigest()[:16]}"


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

    if context.scale is Scale.FULL:
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


@experiment(minutes=0.1, needs=("network",))
def token_embeddings(context: Context) -> Exhibit:
    """Similarity of token embeddings, and how far it follows the kinds of tokens; of the runs in --runs too.

    Paper: Figure 'Pairwise token embedding similarity' (Appendix Token Embeddings)

    Claim: Related operators and the variables are similar, tokens of different kinds are not.

    Small: the network in the package, or that of --checkpoint; those of the runs in --runs too

    Full: the same, with --runs of the configs 3M, 20M, 120M, 1B
    """
    from flash_ansr.train.learning_curves import embedding_figure, token_similarity

    def work(network: Path) -> Facts:
        tokens, similarity = token_similarity(network)
        return {"tokens": list(tokens), "similarity": similarity.round(6).tolist()}

    networks = _networks(context)
    rows = context.each({f"{name} {weights_hash(path)}": path for name, path in networks.items()}, work, "embeddings")
    figures: dict[str, Figure] = {}
    findings = []
    for name, row in zip(networks, rows, strict=True):
        similarity = np.array(row["similarity"], dtype=np.float64)
        stem = f"token_embeddings_{name}" if figures else "token_embeddings"
        figures[stem] = embedding_figure(name, tuple(row["tokens"]), similarity)
        findings += [f"{name}: {sentence}" for sentence in by_kind(row["tokens"], similarity)]
    return Exhibit(figures, findings)


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


def by_kind(tokens: Sequence[str], similarity: FloatArray) -> list[str]:
    """Mean similarities over all pairs, within kinds, and between kinds."""
    kinds = {kind: [k for k, token in enumerate(tokens) if belongs(token)] for kind, belongs in _KINDS.items()}

    def within(members: Sequence[int]) -> float:
        block, m = similarity[np.ix_(members, members)], len(members)
        return float((block.sum() - m) / max(1, m * (m - 1)))

    between = {(a, b): float(similarity[np.ix_(kinds[a], kinds[b])].mean()) for a, b in combinations(kinds, 2)}
    highest = max(between, key=lambda pair: between[pair])
    operators = [k for kind, members in kinds.items() if kind != "variables" for k in members]
    apart = similarity[np.ix_(operators, kinds["variables"])].mean()
    return [
        f"mean similarity of all pairs {within(range(len(tokens))):z.2f}",
        *(f"within {kind}: {within(members):z.2f}" for kind, members in kinds.items()),
        f"between kinds: {np.mean(list(between.values())):z.2f} in the mean, {between[highest]:z.2f} at most "
        f"({' and '.join(highest)}); operators and variables {apart:z.2f}",
    ]
