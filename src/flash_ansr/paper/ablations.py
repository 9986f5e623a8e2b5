"""The networks that the paper trains to tell what each part is worth, at the size of the config `micro`.

Every run is a named change of one thing. All see the same number of problems, in the same order where the prior is the
same. Training a run that is finished does nothing, one that was stopped goes on.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from flash_ansr.paper.experiment import PaperError, need_torch
from simplipy.output_files import write_whole

Corpus = Literal["sympy", "simplipy"]


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
        What differs from the config, as in ``flash-ansr train CONFIG --set``.
    config : str
    corpus : {"sympy", "simplipy"} or None
        A fixed file of skeletons, simplified by this, instead of fresh ones.
    switches : mapping
        Of the paper's pipeline at inference.
    """

    name: str
    title: str
    assignments: tuple[str, ...] = ()
    config: str = "micro"
    corpus: Corpus | None = None
    switches: dict[str, str] = field(default_factory=dict)


ABLATIONS = {
    run.name: run
    for run in (
        Ablation("b0", "B0: as published"),
        Ablation("b0_seed1", "B0, another seed", ("seed=1",)),
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


def ablation(name: str) -> Ablation:
    """A run by its name."""
    if name not in ABLATIONS:
        near = difflib.get_close_matches(name, ABLATIONS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(ABLATIONS)}"
        raise PaperError(f"no ablation {name!r}; {hint}")
    return ABLATIONS[name]


def train_ablation(
    run: Ablation,
    runs: Path,
    steps: int | None = None,
    assignments: tuple[str, ...] = (),
    n_skeletons: int = 50_000,
    n_workers: int = 1,
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
    n_skeletons : int
        Of a static corpus, as drawn.
    n_workers : int
        Processes that make a static corpus.

    Returns
    -------
    bool
        Whether the last step was reached.
    """
    need_torch(f"training {run.name}")
    from flash_ansr.train.config import load_config
    from flash_ansr.train.loop import train
    from flash_ansr.train.run_folder import RunFolder

    folder = RunFolder(runs / run.name)
    if folder.latest() is not None:
        return train(folder.config(), folder, resume=True)
    changes = [*run.assignments, *assignments]
    if run.corpus is not None:
        changes.append(f"data.prior={_static_prior(run.corpus, runs, n_skeletons, n_workers)}")
    if steps is not None:
        changes.append(f"optimizer.steps={steps}")
    return train(load_config(run.config, changes), folder)


def _static_prior(corpus: Corpus, runs: Path, n: int, n_workers: int) -> Path:
    """The paper's prior over a fixed file of skeletons, which is made or completed first."""
    from flash_ansr.data import Generator
    from flash_ansr.data.sympy_skeletons import make_skeletons

    runs.mkdir(parents=True, exist_ok=True)
    skeletons = runs / f"skeletons_{corpus}_{n}.jsonl"
    make_skeletons(Generator("paper"), skeletons, n, simplifier=corpus, n_workers=n_workers)
    prior = skeletons.with_suffix(".yaml")
    write_whole(prior, f"base: paper\nsimplifier: none\ncorpus: {json.dumps(str(skeletons))}\n")
    return prior


def checkpoint_of(runs: Path | None, name: str) -> Path | None:
    """The newest checkpoint of a run, None where there is none."""
    if runs is None:
        return None
    found = sorted(path for path in (runs / name / "checkpoints").glob("[0-9]*") if path.is_dir())
    return found[-1] if found else None
