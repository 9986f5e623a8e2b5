"""The trained ablations in a folder, and which of them can be compared.

Comparable are runs that are finished, with the optimizer of B0, on as many problems as B0 saw, and other than B0 in
what they are named for alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from flash_ansr.paper.ablations.networks import ABLATIONS, Ablation, checkpoint_of
from flash_ansr.paper.context import Context
from flash_ansr.paper.experiment import MissingError

if TYPE_CHECKING:
    from flash_ansr.train.config import TrainConfig
    from flash_ansr.train.learning_curves import LearningCurve


@dataclass(frozen=True, slots=True)
class Trained:
    """A run with its newest checkpoint, the step of this, and its curve where there was a validation."""

    run: Ablation
    checkpoint: Path
    step: int
    config: TrainConfig
    curve: LearningCurve | None

    @property
    def n_seen(self) -> int:
        """Problems that it was trained on."""
        return self.step * self.config.optimizer.batch_size

    @property
    def n_skeletons(self) -> str:
        """Of its static corpus, which is named by it."""
        return Path(self.config.data.prior).stem.rpartition("_")[2]

    @property
    def loss(self) -> float:
        """The last validation loss; NaN before the first one."""
        return math.nan if self.curve is None else float(self.curve.loss[-1])


def trained_runs(context: Context) -> list[Trained]:
    """All runs that have a checkpoint."""
    from flash_ansr.checkpoint.weights import read_checkpoint
    from flash_ansr.model.config import ConfigError
    from flash_ansr.train.learning_curves import read_curve
    from flash_ansr.train.run_folder import RunFolder

    found = []
    for run in ABLATIONS.values():
        checkpoint = checkpoint_of(context.runs, run.name)
        if checkpoint is None:
            continue
        folder = RunFolder(checkpoint.parent.parent)
        try:
            curve = read_curve(folder.path)
        except ConfigError:  # no validation yet
            curve = None
        found.append(Trained(run, checkpoint, read_checkpoint(checkpoint).step, folder.config(), curve))
    if not any(t.run.name == "b0" for t in found):
        raise MissingError(
            f"ablations need trained runs, at least b0, in {context.runs or 'a folder named by --runs'}; train them by "
            f"`flash-ansr paper train NAME --runs RUNS`, NAME one of {', '.join(ABLATIONS)}, or all"
        )
    return found


def comparable(found: Sequence[Trained]) -> tuple[list[Trained], list[str]]:
    """The runs that can be compared with B0, and why others cannot.

    Raises
    ------
    MissingError
        When B0 is not finished.
    """
    base = next(t for t in found if t.run.name == "b0")
    reasons = {t.run.name: reason for t in found if (reason := _why_not(t, base)) is not None}
    static = [t for t in found if t.run.corpus is not None and t.run.name not in reasons]
    if len({t.n_skeletons for t in static}) > 1:
        sizes = ", ".join(f"{t.run.name} {t.n_skeletons}" for t in static)
        reasons |= {t.run.name: f"static corpora must have equal numbers of skeletons, got {sizes}" for t in static}
    if "b0" in reasons:
        raise MissingError(f"ablations need a finished b0, but {reasons['b0']}")
    kept = [t for t in found if t.run.name not in reasons]
    return kept, [f"{name} is left out: {reason}" for name, reason in reasons.items()]


def _why_not(trained: Trained, base: Trained) -> str | None:
    """Reasons why a run cannot be compared with B0. The number of threads and of validations is no reason."""
    from flash_ansr.model.config import to_mapping

    name, n_steps = trained.run.name, trained.config.optimizer.steps
    if trained.step < n_steps:
        return (
            f"it is at step {trained.step:,} of {n_steps:,}; "
            f"go on by `flash-ansr paper train {name} --runs {trained.checkpoint.parents[2]}`"
        )
    if trained.n_seen != base.n_seen:
        return f"it saw {trained.n_seen:,} problems, b0 saw {base.n_seen:,}; train it as b0 in another folder of --runs"
    own, expected = (
        pd.json_normalize(to_mapping(c)).iloc[0].to_dict() for c in (trained.config, _expected(trained, base))
    )
    for key, value in expected.items():
        if not str(key).startswith("run.") and own[key] != value:
            return f"its {key} is {own[key]}, but b0 with the change that it is named for has {value}"
    return None


def _expected(trained: Trained, base: Trained) -> TrainConfig:
    """B0 with the changes that a run is named for; a static corpus is where the run has it."""
    from flash_ansr.train.config import changed_config, load_config

    run = trained.run
    start = base.config
    if run.config != base.run.config:
        start = replace(base.config, model=load_config(run.config).model)
    expected = changed_config(start, list(run.assignments))
    if run.corpus is not None:
        expected = replace(expected, data=replace(expected.data, prior=trained.config.data.prior))
    return expected
