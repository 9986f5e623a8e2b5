"""A mined rule: two rows of prefix tokens, what is known about it, and its line in a rule file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simplipy.errors import ParseError
from simplipy.expression.expression import parse
from simplipy.expression.operators import CONSTANT, OPERATORS

Tokens = tuple[str, ...]
Kind = Literal["exact", "extends", "conditional", "masks"]
METAVARIABLES = ("a", "b", "c", "d")
_LINE = re.compile(r"(?P<name>[^#].*?): (?P<pattern>.+?) -> (?P<replacement>.+?)(?P<marks>( \[.*\])*)\s*")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite rule, ``pattern -> replacement``.

    Attributes
    ----------
    pattern, replacement : tuple of str
        Prefix tokens with the metavariables a, b, c and d as variables.
    kind : {"exact", "extends", "conditional", "masks"}
        Both sides are defined at the same points up to a null set; the replacement is defined in more places; the rule
        needs its conditions; numbers of the pattern become a free constant.
    conditions : tuple of str
        Conditions on the terms of metavariables, as in a rule file: ``a >= 0``.
    extends : bool
        Whether the replacement is defined in more places; a conditional rule may do so too.
    name : str
        Of a hand-written rule; a mined one is called by its own text.
    """

    pattern: tuple[str, ...]
    replacement: tuple[str, ...]
    kind: Kind = "exact"
    conditions: tuple[str, ...] = ()
    extends: bool = False
    name: str = ""

    @property
    def length(self) -> int:
        """Number of tokens of the pattern."""
        return len(self.pattern)

    @property
    def has_constant(self) -> bool:
        """Whether a free constant occurs."""
        return CONSTANT in self.pattern or CONSTANT in self.replacement

    @property
    def is_ground(self) -> bool:
        """Whether the pattern has no metavariable."""
        return not any(token in METAVARIABLES for token in self.pattern)

    def title(self) -> str:
        """Name of the rule in explanations."""
        return self.name or " = ".join(self._sides())

    def line(self) -> str:
        """The rule as a line of a rule file."""
        marks = (" [extends]" if self.extends else "") + (f" [{', '.join(self.conditions)}]" if self.conditions else "")
        return f"{self.title()}: {' -> '.join(self._sides())}{marks}"

    def _sides(self) -> list[str]:
        return [parse(side).infix() for side in (self.pattern, self.replacement)]

    def sort_key(self) -> tuple[object, ...]:
        """Shortest patterns first, then the most general ones."""
        n_fixed = sum(token not in OPERATORS and token not in METAVARIABLES for token in self.pattern)
        n_names = len({token for token in self.pattern if token in METAVARIABLES})
        n_constants = self.replacement.count(CONSTANT)
        return self.length, n_fixed, -n_names, len(self.replacement), n_constants, self.pattern, self.replacement

    def row(self) -> dict[str, Any]:
        """The rule as JSON holds it."""
        row: dict[str, Any] = {"pattern": " ".join(self.pattern), "replacement": " ".join(self.replacement)}
        row["kind"] = self.kind
        if self.extends:
            row["extends"] = True
        if self.conditions:
            row["conditions"] = list(self.conditions)
        return row

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Rule:
        """The rule of a row that ``row`` made."""
        return cls(
            tuple(row["pattern"].split()),
            tuple(row["replacement"].split()),
            row["kind"],
            tuple(row.get("conditions", ())),
            row.get("extends", False),
        )


def from_core(tokens: Sequence[str]) -> tuple[str, ...]:
    """The core's tokens with metavariables by name: x1 is a."""
    return tuple(METAVARIABLES[int(t[1:]) - 1] if re.fullmatch(r"x[1-4]", t) else t for t in tokens)


def to_core(tokens: Sequence[str]) -> list[str]:
    """Tokens with x1 for a, and so on."""
    return [f"x{METAVARIABLES.index(t) + 1}" if t in METAVARIABLES else t for t in tokens]


def read_line(line: str) -> Rule:
    """A line of a rule file as a rule."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ParseError(f"a rule is written 'name: pattern -> replacement [extends] [conditions]', got {line!r}")
    marks = re.findall(r" \[((?:[^\[\]]|\[[^\]]*[\])])*)\]", match["marks"])
    conditions = tuple(c.strip() for mark in marks if mark != "extends" for c in _split_conditions(mark))
    extends = "extends" in marks
    kind: Kind = "conditional" if conditions else "extends" if extends else "exact"
    pattern, replacement = (tuple(parse(match[side]).tokens) for side in ("pattern", "replacement"))
    return Rule(pattern, replacement, kind, conditions, extends, match["name"])


def read_lines(text: str) -> list[Rule]:
    """The rules of a rule file."""
    rules = []
    for i, line in enumerate(text.splitlines()):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            rules.append(read_line(line))
        except ParseError as error:
            raise ParseError(f"line {i + 1}: {error}") from error
    return rules


def _split_conditions(text: str) -> list[str]:
    """Conditions at their commas; an interval has one of its own."""
    return re.findall(r"[^,\[(]+(?:[\[(][^\])]*[\])])?", text)
