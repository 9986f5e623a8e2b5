"""A search for one table: which proposers take part, and the pipeline that they feed."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from flash_ansr.infer.pipeline import Pipeline, Settings
from flash_ansr.infer.prior_proposer import PriorProposer
from flash_ansr.infer.proposals import Grammar, Proposer, Table

PROPOSERS = ("closed_form", "neural", "prior")
MAX_COLUMNS = 9


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a search is made of.

    Attributes
    ----------
    proposers : "auto" or sequence of str
        "auto" takes all that can work here.
    checkpoint : path, optional
        Folder of the network; the bundled one otherwise.
    device : str
        Of the network.
    """

    proposers: Literal["auto"] | Sequence[str] = "auto"
    checkpoint: str | Path | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.proposers == "auto":
            return
        if isinstance(self.proposers, str):
            raise ValueError(f"proposers must be 'auto' or a list of {', '.join(PROPOSERS)}, got {self.proposers!r}")
        unknown = [name for name in self.proposers if name not in PROPOSERS]
        if unknown or not self.proposers:
            raise ValueError(f"proposers must be 'auto' or a list of {', '.join(PROPOSERS)}, got {self.proposers!r}")


def bundled_checkpoint() -> Path | None:
    """Folder of the network that comes with the package, None where there is none."""
    folder = Path(str(resources.files("flash_ansr") / "weights" / "nano"))
    return folder if (folder / "checkpoint.json").is_file() else None


def why_not_neural(checkpoint: str | Path | None) -> str | None:
    """What keeps the network from taking part, None where nothing does."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed: pip install 'flash-ansr[neural]'"
    if checkpoint is None and bundled_checkpoint() is None:
        return "there are no weights: pass checkpoint=FOLDER"
    return None


def make_proposers(table: Table, grammar: Grammar, options: SearchOptions, seed: int) -> list[Proposer]:
    """The proposers that take part, in the order in which they are asked."""
    missing = why_not_neural(options.checkpoint)
    names = options.proposers
    if names == "auto":
        names = [name for name in PROPOSERS if name != "neural" or missing is None]
    made: list[Proposer] = []
    for name in names:
        if name == "closed_form":
            from flash_ansr.infer.closed_form_proposer import ClosedFormProposer

            made.append(ClosedFormProposer(table, grammar, seed))
        elif name == "neural":
            if missing is not None:
                raise ValueError(f"the proposer 'neural' cannot take part: {missing}")
            from flash_ansr.infer.neural_proposer import NeuralProposer

            checkpoint = options.checkpoint or bundled_checkpoint()
            assert checkpoint is not None
            made.append(NeuralProposer(table, grammar, checkpoint, options.device, seed=seed))
        else:
            made.append(PriorProposer(table, grammar))
    return made


def make_pipeline(table: Table, grammar: Grammar, options: SearchOptions, settings: Settings) -> Pipeline:
    """A pipeline with its proposers."""
    return Pipeline(table, make_proposers(table, grammar, options, settings.random_state), grammar, settings)
