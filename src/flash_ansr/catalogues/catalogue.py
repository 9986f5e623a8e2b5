"""A named list of problems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem
from simplipy.errors import did_you_mean

_NAMES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Problems in the order of their source.

    Attributes
    ----------
    name : str
        Short name; a part of every seed.
    title, source : str
        Its full name, and its origin.
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
        by_name = {problem.name: problem for problem in self.problems}
        alike = [problem for problem in self.problems if problem.name.casefold() == name.casefold()]
        if name in by_name or len(alike) == 1:
            return by_name.get(name) or alike[0]
        some = ", ".join([*itertools.islice(by_name, _NAMES_SHOWN), *(["..."] if len(by_name) > _NAMES_SHOWN else [])])
        hint = did_you_mean(name, by_name, f"it has {some}; all of them: flash-ansr bench list {self.name}")
        raise CatalogueError(f"the catalogue {self.name} has no problem {name!r}; {hint}")
