"""The forms that prices may be learned from: those of the laws of science that no test and no development set has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import simplipy
from flash_ansr.catalogues.science import Law, load_laws
from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS
from flash_ansr.data.holdout import Entry, Holdout
from simplipy import Expression
from simplipy.expression.operators import CONSTANT

# forms of the tests' laws are never learned, priced or drawn
TEST_CATALOGUES = ("fastsrb", "nguyen", "keijzer", "feynman", "strogatz")
# a form that a test has too is known to everyone where it is this short
SHORT = 5


class Use(Enum):
    """What a form may be used for."""

    ALL = "all"
    OPERATORS = "operators"  # a short form that a test has: statistics of single operators
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a law.

    Attributes
    ----------
    law : Law
    skeleton : Expression
        In x1, x2, ..., with the numbers that the law writes out; other constants are free.
    masked : Expression
        The form without its numbers, see ``Law.form``.
    use : Use
    held_out : tuple of Entry
        The laws of tests and development sets that it is equal to without constants: the first one of each catalogue.
    """

    law: Law
    skeleton: Expression
    masked: Expression
    use: Use
    held_out: tuple[Entry, ...] = ()

    @property
    def is_short(self) -> bool:
        """Whether everyone knows the form."""
        return len(self.masked) <= SHORT


def skeleton_of(law: Law) -> Expression:
    """The simplified form of a law with the numbers that it writes out.

    Examples
    --------
    >>> from flash_ansr.catalogues.science import load_field
    >>> laws = {law.key: law for law in load_field("kinetics")}
    >>> print(skeleton_of(laws["first_order_product"]))
    <constant>*(1 - <constant>^x1)
    """
    columns = {name: f"x{k}" for k, name in enumerate(law.variables, start=1)}
    constants = {q.name for q in law.quantities} - columns.keys()
    tokens = [CONSTANT if token in constants else token for token in law.expression.tokens]
    return simplipy.simplify(simplipy.parse(tokens).rename(columns))


def forms(exclude: Iterable[str] = ()) -> list[Form]:
    """The forms of all laws, and what each may be used for.

    Parameters
    ----------
    exclude : iterable of str
        Catalogues to leave out beside those of tests, by name or path.
    """
    laws = load_laws()
    masked = [law.form() for law in laws]
    found = [Holdout([source]).find_many(masked) for source in (*TEST_CATALOGUES, *exclude)]
    result = []
    for law, form, *matches in zip(laws, masked, *found, strict=True):
        held_out = tuple(match.entry for match in matches if match is not None)
        use = Use.ALL
        if law.field in HELD_OUT_FIELDS:
            use = Use.NONE
        elif held_out:
            use = Use.OPERATORS if len(form) <= SHORT else Use.NONE
        result.append(Form(law, skeleton_of(law), form, use, held_out))
    return result
