"""The interface of proposers, and the proposers by name. They draw formulas for one table, and neither fit nor rank.

It is made, then started on a table: ``LocalProposer(context)``, or an object without a table, which ``started`` copies.
A class with a ``name`` is known by it. Those of the package are imported when they are asked for: torch comes with the
network alone.
"""

from __future__ import annotations

import copy
import difflib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.proposals import Lesson, Proposals
from flash_ansr.infer.settings import Decoding, Sampling
from flash_ansr.infer.table.columns import ColumnRelevance
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import TokenBatch
from simplipy.errors import SimplipyError
from simplipy.fit.score import GAMMA

# by name, in the order in which they are asked: the module of each
BUILT_IN = {
    "closed_form": "flash_ansr.infer.proposers.closed_form.proposer",
    "textbook": "flash_ansr.infer.proposers.textbook",
    "enumerate": "flash_ansr.infer.proposers.enumeration",
    "local": "flash_ansr.infer.proposers.local.proposer",
    "growth": "flash_ansr.infer.proposers.growth.proposer",
    "neural": "flash_ansr.infer.proposers.neural.proposer",
    "prior": "flash_ansr.infer.proposers.prior",
}
_classes: dict[str, type[Proposer]] = {}


class ProposerError(SimplipyError):
    """A proposer cannot go on, for a reason outside the program; the others can."""


@dataclass(frozen=True, slots=True, eq=False)
class ProposerContext:
    """The data and options that a proposer starts from.

    Attributes
    ----------
    table : Table
        The rows, in the units of the search.
    grammar : Grammar
        The formulas that the user allows; the search drops others.
    seed : int
        Of the search.
    gamma : float
        Price of a token, in decades of unexplained variance.
    n_threads : int, optional
        The result must not depend on it.
    checkpoint : path, optional
        Folder of the network.
    device : str
        Of the network.
    decoding : {"sample", "beam"}
        Of the network.
    sampling : Sampling
        Of the network.
    seconds : float, optional
        Time limit of the search.
    relevance : ColumnRelevance
        Of the columns of the table.
    """

    table: Table
    grammar: Grammar = field(default_factory=Grammar)
    seed: int = 0
    gamma: float = GAMMA
    n_threads: int | None = None
    checkpoint: Path | None = None
    device: str = "auto"
    decoding: Decoding = "sample"
    sampling: Sampling = field(default_factory=Sampling)
    seconds: float | None = None
    relevance: ColumnRelevance = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevance", ColumnRelevance(self.table, self.seed))


class Proposer(ABC):
    """Something that proposes formulas for a table.

    Parameters
    ----------
    context : ProposerContext, optional
        Start on its table at once.

    Attributes
    ----------
    name : str
        In lists of proposers, tables of candidates and reports.
    round_size : int
        Formulas that it is asked for at a time.
    weight : float
        Its part of the time while nothing is known, compared with the others.
    opens : bool
        Whether it comes first, for up to 35 % of the budget: for a proposer that runs out of formulas.
    most_columns : int or None
        Columns that it can work with: of a wider table it gets the most promising ones. None for any number.
    """

    name: str = ""
    round_size: int = 256
    weight: float = 1.0
    opens: bool = False
    most_columns: int | None = None
    context: ProposerContext

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            if BUILT_IN.get(cls.name, cls.__module__) != cls.__module__:
                raise ValueError(f"the name of {cls.__qualname__}, {cls.name!r}, is taken: choose another")
            _classes[cls.name] = cls

    def __init__(self, context: ProposerContext | None = None) -> None:
        if context is not None:
            self.start(context)

    def start(self, context: ProposerContext) -> None:
        """Take a table in; called once, before the first formulas are asked for."""
        self.context = context

    def started(self, context: ProposerContext) -> Self:
        """A copy that has started on a table; this proposer stays as it is, and may serve many searches."""
        mine = copy.deepcopy(self)
        mine.start(context)
        return mine

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked now; while it cannot, the others are."""
        return True

    @abstractmethod
    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """At most n formulas, the same for the same seed and the same calls before.

        None when there are no more. ``seconds`` are left for the whole search.
        """

    def learn(self, lessons: Sequence[Lesson]) -> None:  # noqa: B027 - most do not
        """Take note of formulas that others found, best first, in the units of the table."""

    def note_model_draws(self, batch: TokenBatch, counts: npt.NDArray[np.int64]) -> None:  # noqa: B027
        """Take note of formulas that a model of the table drew, and how often each."""


def known_names() -> list[str]:
    """Names of the proposers of the package, and of those that were defined elsewhere."""
    return [*BUILT_IN, *(name for name in _classes if name not in BUILT_IN)]


def check_proposer(entry: object) -> None:
    """Refuse what is neither the name of a proposer nor a proposer with a name."""
    if isinstance(entry, str):
        if entry not in known_names():
            near = difflib.get_close_matches(entry, known_names(), n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"unknown proposer {entry!r}; {hint}known are {', '.join(known_names())}")
    elif isinstance(entry, type) and issubclass(entry, Proposer):
        raise ValueError(
            f"proposers must be names or objects, got the class {entry.__name__}: write {entry.__name__}()"
        )
    elif not isinstance(entry, Proposer):
        raise ValueError(f"proposers must be names or Proposer objects, got {entry!r}")
    elif not entry.name:
        raise ValueError(f"{type(entry).__name__} has no name: give the class an attribute `name`")


def make_proposer(entry: str | Proposer) -> Proposer:
    """The proposer of this name, not started, or the one that is given."""
    if isinstance(entry, Proposer):
        return entry
    if entry in BUILT_IN:
        import_module(BUILT_IN[entry])
    return _classes[entry]()
