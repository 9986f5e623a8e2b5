"""Other formulas that describe few rows about as well as the law: another seed could have made one of them the law."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from flash_ansr.infer.candidates.description import decades
from flash_ansr.infer.selection.predictive_choice import FEW_ROWS
from simplipy import Expression
from simplipy.expression.operators import OPERATORS
from simplipy.fit.score import EXACT_FVU

# operators that multiply by numbers, and those that are others with numbers
_FACTORS = {"*", "neg"} | {token for token in OPERATORS if token.startswith(("mult", "div"))}
_SAME = {"-": "+", "inv": "/"}
# nats of description length that few rows cannot tell apart
_MARGIN = 2.0


def rivals(candidates: pd.DataFrame, n_rows: int) -> list[str]:
    """Formulas with a score near that of the law, in row 0, one of a kind; none beside an exact law or many rows.

    Parameters
    ----------
    candidates : DataFrame
        With scores in decades of unexplained variance.
    n_rows : int
        Of the fit.
    """
    law = candidates.iloc[0]
    if n_rows >= FEW_ROWS or law["fvu"] < EXACT_FVU:
        return []
    near = candidates["score"] <= law["score"] + decades(_MARGIN, n_rows)
    if not math.isnan(law["r2_cv"]):  # where errors in other rows decided, the scores of the others are no such errors
        near &= candidates["r2_cv"].notna()
    found = {_kind(law["expression"]): law["expression"]}
    for formula in candidates["expression"][near]:
        found.setdefault(_kind(formula), formula)
    return [formula.infix(precision=4) for formula in list(found.values())[1:]]


def _kind(formula: Expression) -> frozenset[str]:
    """Its variables and operators, without what numbers alone change: 3*x^2 and 2.994*x^2.001 are of one kind.

    Examples
    --------
    >>> from simplipy import parse
    >>> sorted(_kind(parse("2.994*x^2.001 - 1/3"))), sorted(_kind(parse("exp(-x/1.93)")))
    (['+', 'pow', 'x'], ['exp', 'x'])
    """
    kind: set[str] = set()
    are_numbers: list[bool] = []
    for token in reversed(formula.tokens):
        row = OPERATORS.get(token)
        if row is None:
            are_numbers.append(token not in formula.variables)
            kind |= {token} & set(formula.variables)
            continue
        operands = [are_numbers.pop() for _ in range(row.arity)]
        are_numbers.append(all(operands))
        if not (all(operands) or token in _FACTORS or (token == "/" and operands[1])):
            kind.add("pow" if token.startswith("pow") else _SAME.get(token, token))
    return frozenset(kind)


def rivals_text(formulas: Sequence[str]) -> str:
    """A sentence about them; "" without any.

    Examples
    --------
    >>> rivals_text(["2*x", "3*x - 1"])
    '2 other formulas describe the rows about as well, for example 2*x'
    """
    n = len(formulas)
    if n < 2:
        return f"another formula describes the rows about as well: {formulas[0]}" if n else ""
    return f"{n} other formulas describe the rows about as well, for example {formulas[0]}"
