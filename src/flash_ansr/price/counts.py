"""How often each answer was given in each context: the table that prices are computed from, and its file.

The file is text, a line each: the question, its context, the answer, and two counts: in this context, and of forms that
count for single operators alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from simplipy import Expression, TokenBatch
from simplipy.files.output_files import write_whole

FloatArray = npt.NDArray[np.float64]
_HEADER = "question\tcontext\tanswer\tcount\toperators_only"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is answered when a form is written down.

    Attributes
    ----------
    name : str
    features : tuple of tuple of str
        Values of each feature of its context, the most telling feature first.
    answers : tuple of str
    first_cell : int
        Of its part in a flat table; contexts in the order of the features, answers last.
    """

    name: str
    features: tuple[tuple[str, ...], ...]
    answers: tuple[str, ...]
    first_cell: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its part of the table: an axis a feature, and one for the answers."""
        return (*map(len, self.features), len(self.answers))

    def part_of(self, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Its part of a flat table, as a view with ``shape``."""
        return table[self.first_cell : self.first_cell + int(np.prod(self.shape))].reshape(self.shape)


@cache
def questions() -> tuple[Question, ...]:
    """The questions that the core asks."""
    return tuple(
        Question(name, tuple(map(tuple, features)), tuple(answers), first)
        for name, features, answers, first in _core.price_questions()
    )


def n_cells() -> int:
    """Number of cells of a flat table."""
    last = questions()[-1]
    return last.first_cell + int(np.prod(last.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Counts by cell.

    Attributes
    ----------
    usual : array (n_cells,)
    operators_only : array (n_cells,)
        Of forms that count for single operators, whatever stands beside them.
    """

    usual: FloatArray
    operators_only: FloatArray

    @classmethod
    def of(cls, usual: list[Expression], operators_only: list[Expression]) -> Counts:
        """Counts of the answers for these forms."""
        return cls(_counted(usual), _counted(operators_only))

    def __add__(self, more: Counts) -> Counts:
        """The counts of both."""
        return Counts(self.usual + more.usual, self.operators_only + more.operators_only)

    def __sub__(self, part: Counts) -> Counts:
        """The counts without those of a part."""
        return Counts(self.usual - part.usual, self.operators_only - part.operators_only)

    def write(self, path: Path) -> None:
        """Write the cells that were ever met."""
        lines = [_HEADER]
        for question in questions():
            usual, only = question.part_of(self.usual), question.part_of(self.operators_only)
            for place in zip(*np.nonzero(usual + only), strict=True):
                context = " ".join(names[i] for names, i in zip(question.features, place, strict=False))
                answer = question.answers[place[-1]]
                lines.append(f"{question.name}\t{context}\t{answer}\t{usual[place]:g}\t{only[place]:g}")
        write_whole(path, "\n".join(lines) + "\n")

    @classmethod
    def read(cls, text: str) -> Counts:
        """The counts that ``write`` wrote."""
        counts = cls(np.zeros(n_cells()), np.zeros(n_cells()))
        by_name = {question.name: question for question in questions()}
        for name, context, answer, usual, only in _rows(text):
            question = by_name[name]
            places = [names.index(value) for names, value in zip(question.features, context.split(), strict=True)]
            place = (*places, question.answers.index(answer))
            question.part_of(counts.usual)[place] = float(usual)
            question.part_of(counts.operators_only)[place] = float(only)
        return counts


def cells_of(forms: list[Expression]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The cells of the answers for all forms, and where each form's begin, (n_forms + 1,)."""
    batch = TokenBatch.from_expressions(forms)
    cells, offsets = _core.price_answers(batch.ids, batch.offsets, list(batch.extras))
    return cells, offsets


def _counted(forms: list[Expression]) -> FloatArray:
    return np.bincount(cells_of(forms)[0], minlength=n_cells()).astype(np.float64)


def _rows(text: str) -> Iterator[list[str]]:
    header, *lines = text.splitlines()
    if header != _HEADER:
        raise ValueError(f"a file of counts begins with {_HEADER!r}, got {header!r}")
    return (line.split("\t") for line in lines)
