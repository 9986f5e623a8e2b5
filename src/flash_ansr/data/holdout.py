"""Holdouts: the expressions that training must not see, from catalogues, files and texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

from flash_ansr import _core, catalogues
from flash_ansr.data.errors import PriorError
from flash_ansr.strict_config import nearest
from simplipy import Expression, ParseError, TokenBatch, parse

Match = Literal["symbolic", "numeric", "canonical"]
# in the order of the core
MATCHES: tuple[Match, ...] = ("symbolic", "numeric", "canonical")


@dataclass(frozen=True, slots=True)
class Entry:
    """A held-out expression and where it comes from."""

    source: str
    name: str
    expression: Expression

    def __str__(self) -> str:
        return f"{self.source} {self.name}: {self.expression.infix()}"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The entry that an expression equals without its constants, and by which check.

    ``symbolic``: the same tokens. ``numeric``: the same values at 512 points. ``canonical``: the same shortest form,
    signs and integer factors left out.
    """

    entry: Entry
    match: Match


class Holdout:
    """Expressions that must not occur, looked up without constants and up to names of variables.

    Parameters
    ----------
    sources : iterable of str or Expression
        Names of catalogues, paths of catalogue files, and single expressions.
    max_pattern_length : int, optional
        How skeletons are simplified that will be looked up, see ``flash_ansr.data.Prior``.

    Examples
    --------
    >>> from flash_ansr.data import Holdout
    >>> holdout = Holdout(["x1*sin(x2)"])
    >>> print(holdout.find("2.5*x7*sin(x3 + 1) - 4").entry)
    expression 1: x1*sin(x2)
    >>> holdout.find("x1*cos(x2)") is None
    True
    """

    def __init__(self, sources: Iterable[str | Expression], max_pattern_length: int | None = None) -> None:
        self.entries = _entries(sources)
        batch = TokenBatch.from_expressions(entry.expression for entry in self.entries)
        length = -1 if max_pattern_length is None else max_pattern_length
        self.core = _core.Holdout(batch.ids, batch.offsets, list(batch.extras), rules_text(), length)

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, expression: str | Sequence[str] | Expression) -> HeldOut | None:
        """The entry that an expression equals, as it is written or simplified, if any."""
        return self.find_many([expression])[0]

    def find_many(self, expressions: Iterable[str | Sequence[str] | Expression]) -> list[HeldOut | None]:
        """The entry for each expression."""
        batch = TokenBatch.from_expressions(parse(expression) for expression in expressions)
        found = self.core.find(batch.ids, batch.offsets, list(batch.extras))
        return [None if f is None else HeldOut(self.entries[f[1]], MATCHES[f[0]]) for f in found]


@cache
def shared_holdout(sources: tuple[str | Expression, ...], max_pattern_length: int | None) -> Holdout:
    """The same holdout for all streams of a process: arranging the variables of all entries takes a second."""
    return Holdout(sources, max_pattern_length)


def rules_text() -> str:
    """The bundled rules of the simplifier."""
    return resources.files("simplipy").joinpath("data", "rules.txt").read_text(encoding="utf-8")


def _entries(sources: Iterable[str | Expression]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for source in sources:
        if isinstance(source, str) and (source in catalogues.names() or Path(source).suffix in (".yaml", ".yml")):
            problems = catalogues.load(source).problems
            entries.extend(Entry(source, problem.name, problem.expression) for problem in problems)
        else:
            expression = source if isinstance(source, Expression) else _parsed(source)
            entries.append(Entry("expression", str(len(entries) + 1), expression))
    return tuple(entries)


def _parsed(text: str) -> Expression:
    """An expression; a single word is none, but a misspelt catalogue."""
    near = nearest(text, list(catalogues.names()))
    hint = f"did you mean {near!r}? " if near else ""
    remedy = (
        f"{hint}catalogues are {', '.join(catalogues.names())}; else pass a .yaml path or an expression in x1, x2, ..."
    )
    try:
        expression = parse(text)
    except ParseError as error:
        raise PriorError(f"unknown holdout {text!r}: {remedy} ({error})") from None
    if any(not name[1:].isdigit() for name in expression.variables):
        raise PriorError(f"unknown holdout {text!r}: {remedy}")
    return expression
