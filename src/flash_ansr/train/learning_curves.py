"""Figures of training runs as in the paper: loss against operations with its power law, gradient norms, embeddings."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flash_ansr.catalogues import FloatArray
from flash_ansr.checkpoint.weights import load_tensors, read_checkpoint
from flash_ansr.model.config import ConfigError
from flash_ansr.model.cost import compute_6nd
from flash_ansr.model.network import count_parameters
from flash_ansr.train.run_folder import RunFolder
from simplipy.files.output_files import replacing, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MIN_SIZES = 3


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """A training run as numbers.

    Attributes
    ----------
    name : str
    n_parameters : int
    blind : bool
        The baseline that sees no data.
    flops, seconds, samples, loss : arrays (n_validations,)
        Training operations by 6 N D, time, problems, and the validation loss at them.
    steps, gradient_norms : arrays (n_logged,)
    """

    name: str
    n_parameters: int
    blind: bool
    flops: FloatArray
    seconds: FloatArray
    samples: FloatArray
    loss: FloatArray
    steps: FloatArray
    gradient_norms: FloatArray

    def summary(self) -> dict[str, Any]:
        """The run at its last validation."""
        return {
            "name": self.name,
            "n_parameters": self.n_parameters,
            "blind": self.blind,
            "samples": int(self.samples[-1]),
            "seconds": float(self.seconds[-1]),
            "flops": float(self.flops[-1]),
            "validation_loss": float(self.loss[-1]),
            "largest_gradient_norm": float(np.fmax.reduce(self.gradient_norms, initial=0.0)),
        }


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Loss = factor * flops ** exponent over the points that no other run beats with fewer operations."""

    factor: float
    exponent: float
    n_points: int


def read_curve(path: str | Path) -> LearningCurve:
    """The learning curve of a run folder."""
    folder = RunFolder(path)
    config, rows = folder.config(), folder.metrics()
    validations = [row for row in rows if "validation_loss" in row]
    logged = [row for row in rows if "gradient_norm" in row]
    if not validations:
        raise ConfigError(f"{path} has no validation yet; the first comes after {config.run.validate_every} steps")
    sizes = count_parameters(config.model)

    def column(table: list[dict[str, Any]], key: str) -> FloatArray:
        return np.array([row[key] for row in table], dtype=np.float64)

    return LearningCurve(
        name=folder.path.resolve().name,
        n_parameters=sum(sizes.values()),
        blind=config.model.blind,
        flops=np.array([compute_6nd(sizes["encoder"], sizes["decoder"], r["rows"], r["tokens"]) for r in validations]),
        seconds=column(validations, "seconds"),
        samples=column(validations, "samples"),
        loss=column(validations, "validation_loss"),
        steps=column(logged, "step"),
        gradient_norms=column(logged, "gradient_norm"),
    )


def fit_power_law(curves: list[LearningCurve]) -> PowerLaw | None:
    """Power law of the envelope; None with fewer than three sizes that see data."""
    seeing = [curve for curve in curves if not curve.blind]
    if len({curve.n_parameters for curve in seeing}) < _MIN_SIZES:
        return None
    # the first fifth of a run is its warm-up: far behind, and on the envelope only where no smaller run has been
    late = [np.stack([c.flops, c.loss])[:, c.flops >= 0.2 * c.flops[-1]] for c in seeing]
    points = np.concatenate(late, axis=1)
    flops, loss = points[:, np.argsort(points[0])]
    best = np.minimum.accumulate(loss) == loss
    exponent, intercept = np.polyfit(np.log(flops[best]), np.log(loss[best]), 1)
    return PowerLaw(float(np.exp(intercept)), float(exponent), int(best.sum()))


def token_similarity(checkpoint: str | Path) -> tuple[tuple[str, ...], FloatArray]:
    """Tokens of a checkpoint, and the cosine similarity (n_tokens, n_tokens) of their embeddings."""
    tokens = read_checkpoint(checkpoint).vocabulary
    vectors = load_tensors(checkpoint, "weights")["decoder.embed.weight"][: len(tokens)].double()
    vectors = vectors / vectors.norm(dim=1, keepdim=True)
    return tokens, (vectors @ vectors.T).numpy()


def write_report(runs: list[Path], out: Path) -> list[Path]:
    """Write ``summary.json``, ``training.png`` and an embedding figure for each run; the files that were written."""
    curves = [read_curve(run) for run in runs]
    law = fit_power_law(curves)
    summary = {"runs": [curve.summary() for curve in curves], "power_law": None if law is None else asdict(law)}
    write_whole(out / "summary.json", json.dumps(summary, indent=1) + "\n")
    figures = {"training": training_figure(curves, law)}
    for run, curve in zip(runs, curves, strict=True):
        if (checkpoint := RunFolder(run).latest()) is not None:
            figures[f"embeddings-{curve.name}"] = embedding_figure(curve.name, *token_similarity(checkpoint))
    for name, figure in figures.items():
        with replacing(out / f"{name}.png") as partial:
            figure.savefig(partial, dpi=120, format="png")
    return [out / "summary.json", *(out / f"{name}.png" for name in figures)]


def training_figure(curves: list[LearningCurve], law: PowerLaw | None) -> Figure:
    """Validation loss against operations and against problems seen, and gradient norms."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    figure = Figure(figsize=(13, 4), layout="constrained")
    by_flops, by_problems, norms = figure.subplots(1, 3)
    for curve in curves:
        style = "--" if curve.blind else "-"
        label = f"{curve.name} ({curve.n_parameters / 1e6:.2f}M)"
        by_flops.plot(curve.flops, curve.loss, style, label=label)
        by_problems.plot(curve.samples / 1e6, curve.loss, style, label=label)
        norms.plot(curve.steps, curve.gradient_norms, style, label=label, linewidth=0.8)
    if law is not None:
        flops = np.concatenate([curve.flops for curve in curves if not curve.blind])
        x = np.geomspace(float(flops.min()), float(flops.max()), 50)
        by_flops.plot(x, law.factor * x**law.exponent, "k:", label=f"L = {law.factor:.3g} FLOPs^{law.exponent:.3f}")
    by_flops.set(xscale="log", yscale="log", xlabel="training FLOPs (6 N D)", ylabel="validation loss a token")
    by_problems.set(xlabel="million problems", ylabel="validation loss a token")
    norms.set(yscale="log", xlabel="step", ylabel="gradient norm before clipping")
    for axis in (by_flops.yaxis, norms.yaxis):  # less than a decade: 2.1, not 2.1 x 10^0
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(ScalarFormatter())
    norms.yaxis.set_minor_formatter(NullFormatter())
    by_flops.xaxis.set_minor_formatter(NullFormatter())
    by_flops.legend(fontsize="small")
    return figure


def embedding_figure(name: str, tokens: tuple[str, ...], similarity: FloatArray) -> Figure:
    """Similarity of every pair of tokens."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(similarity, vmin=-1, vmax=1, cmap="RdBu_r")
    axes.set_title(f"{name}: similarity of token embeddings")
    axes.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=6)
    axes.set_yticks(range(len(tokens)), tokens, fontsize=6)
    figure.colorbar(image, shrink=0.8)
    return figure
