"""A search for one table: which proposers take part, and the pipeline that they feed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import Literal

from flash_ansr.infer.candidates.scaling import UnitScaling
from flash_ansr.infer.proposers.background import BackgroundProposer
from flash_ansr.infer.proposers.base import BUILT_IN, Proposer, ProposerContext, check_proposer, make_proposer
from flash_ansr.infer.proposers.some_columns import SomeColumnsProposer
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.settings import Settings
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table

# time limit below which the others find more without the network, and its share of the time beside them
LEAST_SECONDS = 8.0
_NETWORK_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The proposers that a search is to have, and their network.

    Attributes
    ----------
    proposers : "auto" or sequence of str and Proposer
        "auto" takes all of the package that can work here.
    checkpoint : path, optional
        Folder of the network, as ``find_checkpoint`` gives it; otherwise the one in the package.
    device : str
        Of the network.
    """

    proposers: Literal["auto"] | Sequence[str | Proposer] = "auto"
    checkpoint: str | Path | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.proposers == "auto":
            return
        if not isinstance(self.proposers, list | tuple) or not self.proposers:
            known = ", ".join(BUILT_IN)
            raise ValueError(f"proposers must be 'auto' or a list of {known} and own ones, got {self.proposers!r}")
        for entry in self.proposers:
            check_proposer(entry)
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise ValueError(f"proposers must have different names, {twice[0]!r} comes twice")

    @property
    def names(self) -> list[str]:
        """Of the proposers that were asked for."""
        asked = BUILT_IN if self.proposers == "auto" else self.proposers
        return [entry if isinstance(entry, str) else entry.name for entry in asked]

    @property
    def network(self) -> Path:
        """Folder of the network."""
        return Path(self.checkpoint or bundled_checkpoint())

    @property
    def wants_network(self) -> bool:
        """Whether the network is to take part where it can."""
        return "neural" in self.names

    @property
    def names_network(self) -> bool:
        """Whether the network was asked for by name, or by its checkpoint."""
        return self.wants_network and (self.proposers != "auto" or self.checkpoint is not None)

    def loads_first(self, settings: Settings, seconds: float | None) -> bool:
        """Whether the network is loaded before the clock starts rather than beside the search.

        Parameters
        ----------
        seconds : float or None
            Time limit; a short one would be over before the network is there.
        """
        if seconds is None or self.is_network_alone(settings):
            return True
        return self.names_network and seconds < LEAST_SECONDS

    def is_network_alone(self, settings: Settings) -> bool:
        """Whether the network is the only one that is to propose."""
        return (settings.pipeline.is_network_alone and self.proposers == "auto") or self.names == ["neural"]


def bundled_checkpoint() -> Path:
    """Folder of the network that comes with the package."""
    return Path(str(resources.files("flash_ansr") / "weights" / "nano"))


def why_not_neural() -> str | None:
    """The reason why no network can take part, None where there is none."""
    return None if importlib.util.find_spec("torch") else "torch is not installed: pip install 'flash-ansr[neural]'"


def load_proposers(options: SearchOptions) -> None:
    """Import the modules of all proposers but the network, so that this time is not part of the search."""
    for name in options.names:
        if name in BUILT_IN and name != "neural":
            import_module(BUILT_IN[name])


def load_torch(options: SearchOptions) -> None:
    """Import torch where the network will take part, so that this time is not part of the search."""
    if options.wants_network and why_not_neural() is None:
        import flash_ansr.infer.proposers.neural.proposer  # noqa: F401


def check_device(options: SearchOptions) -> None:
    """Refuse a device that is not there; torch is imported for that only where the network is to take part."""
    if options.device in ("auto", "cpu") or why_not_neural() is not None:
        return
    if "torch" in sys.modules or options.wants_network:
        from flash_ansr.infer.proposers.neural.devices import device_of

        device_of(options.device)


def start(entry: str | Proposer, context: ProposerContext, most_columns: int | None = None) -> Proposer:
    """The proposer on the table, or on the most promising of more columns than it can work with."""
    proposer = make_proposer(entry)
    most = most_columns or proposer.most_columns
    if most is None or context.table.n_columns <= most:
        return proposer.started(context)
    return SomeColumnsProposer(context, proposer.started, most)


def make_proposers(context: ProposerContext, options: SearchOptions, settings: Settings) -> list[Proposer]:
    """The proposers that take part, in the order in which they are asked.

    The network joins a search with a time limit when it is loaded; a short limit leaves it out, unless it was asked
    for. It is loaded now where it is alone, or there is no limit.
    """
    missing = why_not_neural()
    if options.checkpoint is not None and missing is not None and options.wants_network:
        raise ValueError(f"the checkpoint {options.checkpoint} cannot be used: {missing}; or leave it out")
    entries = options.proposers
    if entries == "auto":
        built_in = [name for name in BUILT_IN if name != "neural" or missing is None]
        entries = ["neural"] if settings.pipeline.is_network_alone else built_in
    made: list[Proposer] = []
    for entry in entries:
        if entry != "neural":
            made.append(start(entry, context))
            continue
        if missing is not None:
            raise ValueError(f"the proposer 'neural' cannot take part: {missing}")
        # what it reads checkpoints with, the package of training data, is not needed before
        from flash_ansr.checkpoint.facts import n_variables

        start_network = partial(start, entry, context, n_variables(options.network))
        if options.loads_first(settings, context.seconds):
            made.append(start_network())
        elif context.seconds is not None and context.seconds >= LEAST_SECONDS:
            made.append(BackgroundProposer("neural", start_network, _NETWORK_WEIGHT))
    return made


def make_pipeline(
    table: Table, grammar: Grammar, options: SearchOptions, settings: Settings, seconds: float | None = None
) -> Pipeline:
    """A pipeline with its proposers, see ``make_proposers``.

    Parameters
    ----------
    seconds : float or None
        Time limit of the search.
    """
    scaling = UnitScaling.of(table) if settings.pipeline.scales_units else UnitScaling((1.0,) * table.n_columns)
    context = ProposerContext(
        scaling.apply(table),
        grammar,
        seed=settings.random_state,
        gamma=settings.gamma,
        n_threads=settings.n_threads,
        checkpoint=options.network,
        device=options.device,
        decoding=settings.pipeline.decoding,
        sampling=settings.pipeline,
        seconds=seconds,
    )
    return Pipeline(table, scaling, make_proposers(context, options, settings), grammar, settings)
