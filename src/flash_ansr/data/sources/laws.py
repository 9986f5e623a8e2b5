"""Laws of science to recombine: their skeletons, and the usual ranges of their variables.

The file ``priors/laws.tsv`` has the laws that may be learned from; ``make_laws.py`` writes it. A line is the field and
the key of a law, its skeleton, and for each of its variables x1, x2, ... a range with its unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from flash_ansr.catalogues.ranges import Range
from simplipy import Expression, parse

_HEADER = "field\tkey\tskeleton\tranges"
_RANGE = re.compile(r"(?P<range>.+) \[(?P<unit>[^]]+)\]")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a law: its usual range, and its unit, ``1`` for none."""

    range: Range
    unit: str

    def __str__(self) -> str:
        return f"{self.range} [{self.unit}]"


@dataclass(frozen=True, slots=True)
class LawForm:
    """The form of a law.

    Attributes
    ----------
    field, key : str
        The field and the key in it.
    skeleton : Expression
        In x1, x2, ..., all numbers free constants.
    variables : tuple of Variable
        Of x1, x2, ...; the skeleton need not have all of them.
    """

    field: str
    key: str
    skeleton: Expression
    variables: tuple[Variable, ...]


@cache
def law_forms() -> tuple[LawForm, ...]:
    """The laws of the file."""
    header, *lines = resources.files("flash_ansr.data").joinpath("priors/laws.tsv").read_text("utf-8").splitlines()
    assert header == _HEADER
    return tuple(_read(line) for line in lines)


def text_of(laws: tuple[LawForm, ...]) -> str:
    """The text of a file with these laws."""
    rows = ("\t".join((law.field, law.key, str(law.skeleton), "; ".join(map(str, law.variables)))) for law in laws)
    return "\n".join([_HEADER, *rows]) + "\n"


def _read(line: str) -> LawForm:
    field, key, skeleton, ranges = line.split("\t")
    found = [_RANGE.fullmatch(text) for text in ranges.split("; ")]
    variables = tuple(Variable(Range.parse(match["range"]), match["unit"]) for match in found if match)
    return LawForm(field, key, parse(skeleton), variables)
