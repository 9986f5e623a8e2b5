"""Saturated parts of formulas, replaced by what they amount to on the rows. Ranks nothing, and knows no grammar.

A part is saturated where a number hides the variables beside it: tanh(50 + x1) is 1, a*atan(21.86 + x1^2) moves by so
little that only its first-order term is left, and so does 1.0000002^x1. Such a formula is a shorter one with constants
that cancel each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

import simplipy
from flash_ansr.infer.candidates.description import with_rare_numbers_free
from flash_ansr.infer.candidates.fitter import fvu_on, refit
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import OPERATORS, Expression, parse
from simplipy.expression.operators import leaf_kind
from simplipy.expression.prefix import subterm_ends
from simplipy.fit.score import exact_fvu, is_exact
from simplipy.fit.shorter_forms import shortened

# parts whose values spread by less than this, relative to their size, are numbers; by less than that, linear at most
_OF_A_NUMBER = 1e-6
_OF_A_LINE = 1e-2
_ROUNDING = 1e-13
# the unexplained variance may grow by this part of itself
_OF_FVU = 1e-3
_DIGITS = 6  # of a number that stands for a part
_MAX_ROWS = 2048
_MOST_ROUNDS = 4
_LINEAR_FORMS = ("minus", "scale", "quotient")


def unsaturated(expression: Expression, table: Table, loss: str = "squared") -> Expression | None:
    """The formula without saturated parts, None where it has none that the rows allow to replace.

    Parameters
    ----------
    expression : Expression
        In x1, x2, ..., with its numbers.
    table : Table
        The rows that it was fitted to.
    loss : str
        Of the fits.

    Returns
    -------
    Expression or None
        Not longer, and with no more unexplained variance but for a thousandth of it; exact where the formula is exact.
        Numbers that laws do not write out are fitted anew.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)
    >>> print(unsaturated(parse("x1*tanh(50 + x1)"), Table(x[:, None], x)))
    x1
    """
    rows = table.thinned(_MAX_ROWS)
    floor = exact_fvu(rows.y)
    found, fvu = expression, fvu_on(expression, rows)
    for _ in range(_MOST_ROUNDS):
        better = []
        for form in _replacements(found, rows.X):
            fitted, its_fvu = _fitted(form, rows, loss)
            as_good = is_exact(its_fvu, floor) if is_exact(fvu, floor) else its_fvu <= fvu * (1 + _OF_FVU)
            if as_good and len(fitted) <= len(found) and fitted != found:
                better.append((len(fitted), its_fvu, fitted))
        if not better:
            break
        found = min(better, key=lambda item: item[:2])[2]
    return found if found != expression and math.isfinite(fvu_on(found, table)) else None


def _fitted(form: Expression, rows: Table, loss: str) -> tuple[Expression, float]:
    """The form, simplified, with its rare numbers fitted, and its FVU."""
    skeleton, numbers = with_rare_numbers_free(form)
    fit = refit(*shortened(skeleton, np.array(numbers)), rows, loss)
    return (fit.expression, fvu_on(fit.expression, rows)) if fit.ok else (form, math.inf)


def _replacements(expression: Expression, X: FloatArray) -> Iterator[Expression]:
    """The formula with one saturated part replaced, for each such part, from the outside inwards."""
    tokens = expression.tokens
    ends = subterm_ends(tokens)
    values, _ = simplipy.evaluate_many(list(expression.subtrees()), X)
    for i, token in enumerate(tokens):
        if token not in OPERATORS or not _has_variable(tokens[i : ends[i]]):
            continue
        part = values[i]
        spread, size = float(np.ptp(part)), float(np.abs(part).max())
        if not math.isfinite(size) or spread > _OF_A_LINE * size:
            continue
        replaced = []
        if spread <= _OF_A_NUMBER * size:
            replaced.append([f"{part.mean():.{_DIGITS}g}"])
        argument = _saturated_argument(tokens, ends, i)
        if argument is not None and spread > _ROUNDING * size:
            slope, start = np.polyfit(values[argument] - values[argument].mean(), part, 1)
            start -= slope * values[argument].mean()
            inner = tokens[argument : ends[argument]]
            replaced.append(["+", repr(float(start)), "*", repr(float(slope)), *inner])
        for new in replaced:
            yield parse([*tokens[:i], *new, *tokens[ends[i] :]])


def _saturated_argument(tokens: Sequence[str], ends: Sequence[int], i: int) -> int | None:
    """Where the argument begins that a number hides in the function at token i; None where none does."""
    token, first = tokens[i], i + 1
    row = OPERATORS[token]
    if row.arity == 1:
        if token == "exp":  # near 0 its value is 1
            return first
        return first if row.form not in _LINEAR_FORMS and _adds_number(tokens, ends, first) else None
    second = ends[first]
    first_is_number, second_is_number = (not _has_variable(tokens[k : ends[k]]) for k in (first, second))
    if token == "pow" and first_is_number:
        return second
    if token == "pow" and second_is_number and _adds_number(tokens, ends, first):
        return first
    return second if token == "/" and first_is_number and _adds_number(tokens, ends, second) else None


def _adds_number(tokens: Sequence[str], ends: Sequence[int], i: int) -> bool:
    """Whether the subterm at token i is a sum or difference with a number in it."""
    if tokens[i] not in ("+", "-"):
        return False
    return any(not _has_variable(tokens[k : ends[k]]) or _adds_number(tokens, ends, k) for k in (i + 1, ends[i + 1]))


def _has_variable(tokens: Sequence[str]) -> bool:
    return any(token not in OPERATORS and leaf_kind(token) == "variable" for token in tokens)
