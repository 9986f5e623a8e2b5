"""A rewriting of formulas as a row of a table: its name, an example, what it does, and its condition on the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from flash_ansr.infer.selection.spelling.terms import Product

Part = TypeVar("Part")


def _nothing(part: object) -> Sequence[Product]:  # noqa: ARG001
    return ()


class Rule(NamedTuple, Generic[Part]):
    """A row of a table of rewritings.

    Attributes
    ----------
    name : str
    before, after : str
        An example on positive rows.
    rewritten : callable
        ``rewritten(part)``: an equal formula, or None where the rule does not apply.
    nonnegative : callable
        ``nonnegative(part)``: formulas that must be negative in no row where the rule applies.
    """

    name: str
    before: str
    after: str
    rewritten: Callable[[Part], Product | None]
    nonnegative: Callable[[Part], Sequence[Product]] = _nothing
