"""A named list of problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem

_NAMES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Problems in the order of their source.

    Attributes
    ----------
    name : str
        Short name; a part of every seed.
    title, source : str
        What it is, and where it comes from.
    problems : tuple of Problem
        All of them, also those that are excluded from benchmarks.
    """

    name: str
    title: str
    source: str
    problems: tuple[Problem, ...]

    @property
    def included(self) -> tuple[Problem, ...]:
        """The problems that a benchmark runs."""
        return tuple(p for p in self.problems if p.excluded is None)

    def __len__(self) -> int:
        return len(self.problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __getitem__(self, name: str) -> Problem:
        for problem in self.problems:
            if problem.name == name:
                return problem
        names = [p.name for p in self.problems]
        alike = [problem for problem in self.problems if problem.name.casefold() == name.casefold()]
        if len(alike) == 1:
            return alike[0]
        near = difflib.get_close_matches(name, names, n=1)
        some = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
        hint = (
            f"did you mean {near[0]!r}?" if near else f"it has {some}; all of them: flash-ansr bench list {self.name}"
        )
        raise CatalogueError(f"the catalogue {self.name} has no problem {name!r}; {hint}")
