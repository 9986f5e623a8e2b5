"""What the tests of prices share."""

from __future__ import annotations

from pathlib import Path

from simplipy import Expression, parse

ROOT = Path(__file__).parents[3]
DEVELOPMENT = (str(ROOT / "benchmarks" / "textbook_laws.yaml"),)


def form(text: str) -> Expression:
    """A formula in x, t or T, or in x1, x2, ..., with x1 for the first three."""
    formula = parse(text)
    return formula.rename({name: "x1" for name in formula.variables if name in ("x", "t", "T")})


def names_in_order(formula: Expression) -> Expression:
    """The variables by their first place: x2/x1 becomes x1/x2."""
    order = dict.fromkeys(token for token in formula.tokens if token in formula.variables)
    return formula.rename({name: f"x{k}" for k, name in enumerate(order, start=1)})
