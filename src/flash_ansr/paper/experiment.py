"""Experiments: each has a name, the paper's claim, the work at each scale, and a result to show."""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from simplipy.errors import SimplipyError, did_you_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flash_ansr.paper.context import Context

Need = Literal["network", "runs"]
T = TypeVar("T")


class PaperError(SimplipyError):
    """An experiment that cannot be run; the message names the thing and the remedy."""


class MissingError(PaperError):
    """An experiment that lacks something that does not come with the package, such as training runs."""


def need_torch(name: str) -> None:
    """Raise MissingError unless torch is installed."""
    if importlib.util.find_spec("torch") is None:
        raise MissingError(f"{name} needs torch: pip install 'flash-ansr[neural]'")


@functools.cache
def printed(table: str) -> Any:
    """A table of the paper, from ``tables.yaml``."""
    import yaml

    return yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8"))[table]


def find_by_name(known: Mapping[str, T], name: str, what: str, remedy: str) -> T:
    """The thing of this name; otherwise a PaperError with the most similar name, or with the remedy."""
    if name not in known:
        raise PaperError(f"{what} {name!r}; {did_you_mean(name, known, remedy)}")
    return known[name]


class Scale(Enum):
    """How much is done."""

    TINY = "tiny"
    SMALL = "small"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """The result that an experiment shows.

    Attributes
    ----------
    figures : Figure, or mapping of str to Figure
        The paper's figure; or several by the stem of their files, of which the first is the paper's.
    findings : sequence of str
        The measurements, a sentence each.
    table : str, or sequence of mappings
        Markdown, or the lines of the table by column; empty where there is none.
    notes : sequence of str
        Subsets, budgets, and what was left out for which reason.
    """

    figures: Figure | Mapping[str, Figure]
    findings: Sequence[str]
    table: str | Sequence[Mapping[str, object]] = ""
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
        The claim of the paper.
    make : callable
        Does the work.
    small, full : str
        The work at these scales; `tiny` only shows that it runs.
    minutes : float
        Of `small` on two cores.
    needs : tuple of {"network", "runs"}
        Requirements that may be missing: torch, for the network; folders of training runs.
    """

    name: str
    where: str
    claim: str
    make: Callable[[Context], Exhibit]
    small: str
    full: str
    minutes: float
    needs: tuple[Need, ...] = ()


def experiment(minutes: float, needs: tuple[Need, ...] = ()) -> Callable[[Callable[[Context], Exhibit]], Experiment]:
    """Make an experiment of the function that does its work.

    It gets the function's name. The docstring of the function ends with four paragraphs, which say what the other
    attributes of ``Experiment`` are: ``Paper: `` its place there, ``Claim: ``, ``Small: `` and ``Full: ``.
    """

    def made(make: Callable[[Context], Exhibit]) -> Experiment:
        paragraphs = (inspect.getdoc(make) or "").split("\n\n")[1:]
        sections = dict(paragraph.replace("\n", " ").split(": ", 1) for paragraph in paragraphs)
        where, claim, small, full = (sections[title] for title in ("Paper", "Claim", "Small", "Full"))
        return Experiment(make.__name__, where, claim, make, small, full, minutes, needs)

    return made


def markdown(rows: Sequence[Mapping[str, object]]) -> str:
    """A table in Markdown from its lines by column."""
    lines = [rows[0], ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
