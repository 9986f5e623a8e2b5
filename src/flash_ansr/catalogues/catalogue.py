"""A named list of problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.problem import Problem


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
        near = difflib.get_close_matches(name, [p.name for p in self.problems], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise CatalogueError(f"the catalogue {self.name} has no problem {name!r}{hint}")
