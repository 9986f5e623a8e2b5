"""The networks that the paper trains to measure what each part is worth, at the size of the config `micro`.

Every run is a named change of one thing. With the same number of steps all see the same number of problems, in the same
order where the prior is the same; trained_runs.py compares only those that did. Training a run that is finished
does nothing, one that was stopped goes on.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from flash_ansr.checkpoint.folder import newest_checkpoint
from flash_ansr.paper.ablations.static_corpora import Corpus, static_prior
from flash_ansr.paper.experiment import PaperError, find_by_name, need_torch

if TYPE_CHECKING:
    from flash_ansr.train.config import TrainConfig
    from flash_ansr.train.run_folder import RunFolder

BASE = "micro"
N_SKELETONS = 50_000
# of a run folder
_FILES = {"checkpoints", "config.yaml", "prior.yaml", "versions.json", "metrics.jsonl", "tensorboard"}


@dataclass(frozen=True, slots=True)
class Ablation:
    """A training run.

    Attributes
    ----------
    name : str
        Of its folder.
    title : str
        In figures and tables.
    assignments : tuple of str
        Differences from the config, as in ``flash-ansr train CONFIG --set``.
    config : str
    corpus : {"sympy", "simplipy"} or None
        A fixed file of skeletons, simplified by this, instead of fresh ones.
    switches : mapping
        Of the paper's pipeline at inference.
    """

    name: str
    title: str
    assignments: tuple[str, ...] = ()
    config: str = BASE
    corpus: Corpus | None = None
    switches: dict[str, str] = field(default_factory=dict)

    @property
    def has_own_prior(self) -> bool:
        """Whether its problems, so its losses too, are others than those of B0."""
        return self.corpus is not None or any(text.startswith("data.") for text in self.assignments)


ABLATIONS = {
    run.name: run
    for run in (
        Ablation("b0", "B0: as published"),
        Ablation("b0_seed1", "B0, second seed", ("seed=1",)),
        Ablation("b0_seed2", "B0, third seed", ("seed=2",)),
        Ablation("b1", "B1: post-norm decoder", ("model.decoder.norm_position=post",)),
        Ablation("b2", "B2: 16-bit input", ("model.encoder.numbers=bits16",)),
        Ablation("b3", "B3: LayerNorm encoder", ("model.encoder.norm=layer",)),
        Ablation("a_u", "A-U: unsimplified targets", ("data.prior=unsimplified",)),
        Ablation("a_s", "A-S: static corpus, SymPy", corpus="sympy"),
        Ablation("a_p", "static corpus, SimpliPy", corpus="simplipy"),
        Ablation("c1", "C1: constants of U(1, 5)", ("data.prior=constants_u15",)),
        Ablation(
            "nesymres",
            "NeSymReS stand-in",
            ("data.prior=constants_u15",),
            config="nesymres",
            switches={"decoding": "beam", "refiner": "bfgs"},
        ),
    )
}


def find_ablation(name: str) -> Ablation:
    """A run by its name."""
    return find_by_name(ABLATIONS, name, "no ablation", f"there are: {', '.join(ABLATIONS)}")


def train_ablation(
    run: Ablation,
    runs: Path,
    steps: int | None = None,
    assignments: tuple[str, ...] = (),
    n_skeletons: int | None = None,
    n_workers: int = 1,
    config: str | None = None,
    show_progress: bool = False,
) -> bool:
    """Train a run into ``runs/NAME``, or continue it.

    Parameters
    ----------
    run : Ablation
    runs : Path
        Folder of all runs, and of the static corpora.
    steps : int, optional
        Instead of the config's; must be the same for all runs that are compared.
    assignments : tuple of str
        More changes of the config.
    n_skeletons : int, optional
        Of a static corpus; 50,000 by default.
    n_workers : int
        Processes of SymPy for a static corpus.
    config : str, optional
        Instead of `micro`.
    show_progress : bool
        Of making a corpus; training has its own.

    Returns
    -------
    bool
        Whether the last step was reached.

    Raises
    ------
    PaperError
        When the folder holds a run with other values than the ones that are asked for.
    """
    need_torch(f"training {run.name}")
    from flash_ansr.train.config import load_config
    from flash_ansr.train.run_folder import RunFolder

    if config is not None and run.config != BASE:
        raise PaperError(f"{run.name} is the config {run.config}: it cannot be trained as {config}")
    own = {text.partition("=")[0] for text in run.assignments} | ({"data.prior"} if run.corpus else set())
    for assignment in assignments:
        if (key := assignment.partition("=")[0].strip()) in own:
            raise PaperError(f"{run.name} is what it is by its {key}: it cannot be trained with {assignment}")
    folder = RunFolder(runs / run.name)
    asked = [*assignments, *([] if steps is None else [f"optimizer.steps={steps}"])]
    if folder.latest() is not None:
        _check_same(folder, asked)
        prior = Path(folder.config().data.prior)
        if run.corpus is not None and n_skeletons is not None and prior.stem.rpartition("_")[2] != str(n_skeletons):
            raise PaperError(f"{folder.path} was begun with the corpus {prior}, not with {n_skeletons} skeletons")
        if config is not None and load_config(config, [*run.assignments, *asked]).model != folder.config().model:
            raise PaperError(f"{folder.path} is no network of the config {config}; name another folder by --runs")
        return train_or_continue(folder, folder.config())
    changes = [*run.assignments, *asked]
    if run.corpus is not None:
        corpus = static_prior(run.corpus, runs, n_skeletons or N_SKELETONS, n_workers, show_progress)
        changes.append(f"data.prior={json.dumps(str(corpus))}")
    n_steps = load_config(config or run.config, changes).optimizer.steps
    return train_or_continue(folder, load_config(config or run.config, [*paces(n_steps), *changes]))


def paces(n_steps: int) -> list[str]:
    """How often a run of so many steps is validated and saved: enough for a curve, and to lose little by a stop."""
    return [
        f"run.validate_every={max(1, n_steps // 20)}",
        f"run.checkpoint_every={max(1, n_steps // 10)}",
        f"run.log_every={min(20, max(1, n_steps // 100))}",
    ]


def train_or_continue(folder: RunFolder, config: TrainConfig) -> bool:
    """Train a new run, or go on with one; one that was killed before its first checkpoint starts anew."""
    from flash_ansr.train.loop import train

    if folder.latest() is not None:
        return train(config, folder, resume=True)
    if folder.path.is_dir() and {path.name.strip(".").removesuffix(".new") for path in folder.path.iterdir()} <= _FILES:
        shutil.rmtree(folder.path)
    return train(config, folder)


def _check_same(folder: RunFolder, asked: Sequence[str]) -> None:
    """Refuse values that are not those of the run in the folder."""
    from flash_ansr.train.config import changed_config
    from flash_ansr.train.step import on_this_machine

    config = folder.config()
    for assignment in asked:
        key = assignment.partition("=")[0].strip()
        wanted, there = on_this_machine(changed_config(config, [assignment])), config
        if wanted == there:
            continue
        values = [attrgetter(key)(c) for c in (there, wanted)]
        raise PaperError(
            f"{folder.path} was begun with {key}={values[0]}, not {values[1]}; leave {key} out to go on with it, "
            "or name another folder by --runs"
        )


def checkpoint_of(runs: Path | None, name: str) -> Path | None:
    """The newest checkpoint of a run, None where there is none."""
    return None if runs is None else newest_checkpoint(runs / name)
