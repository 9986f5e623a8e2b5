"""What an experiment is: a name, what the paper says, what is done at each scale, and what comes of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

from simplipy.errors import SimplipyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flash_ansr.paper.context import Context

Need = Literal["network", "runs"]


class PaperError(SimplipyError):
    """An experiment that cannot be run; the message names the thing and the remedy."""


class MissingError(PaperError):
    """An experiment that lacks something that does not come with the package, such as training runs."""


def need_torch(name: str) -> None:
    """Raise MissingError unless torch is installed."""
    if importlib.util.find_spec("torch") is None:
        raise MissingError(f"{name} needs torch: pip install 'flash-ansr[neural]'")


class Scale(Enum):
    """How much is done."""

    TINY = "tiny"
    SMALL = "small"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an experiment shows.

    Attributes
    ----------
    figures : mapping of str to Figure
        By the stem of their files; the first is the paper's.
    findings : sequence of str
        What was measured, a sentence each.
    table : str
        Markdown; empty where there is none.
    notes : sequence of str
        Subsets, budgets, and what was left out for which reason.
    """

    figures: Mapping[str, Figure]
    findings: Sequence[str]
    table: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure, a table or a claim of the paper.

    Attributes
    ----------
    name : str
        As in ``flash-ansr paper run NAME``.
    where : str
        Its place in the paper.
    claim : str
        What the paper says.
    make : callable
        Does the work.
    small, full : str
        What is done at these scales; `tiny` is only to see it run.
    minutes : float
        Of `small` on two cores.
    needs : tuple of {"network", "runs"}
        What is not everywhere: torch, for the network; folders of training runs.
    """

    name: str
    where: str
    claim: str
    make: Callable[[Context], Outcome]
    small: str
    full: str
    minutes: float
    needs: tuple[Need, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"the name of an experiment must be an identifier, got {self.name!r}")
        if not self.minutes > 0:
            raise ValueError(f"minutes of {self.name} must be > 0, got {self.minutes}")
