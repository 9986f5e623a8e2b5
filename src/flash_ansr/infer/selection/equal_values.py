"""Candidates that are one function: 37.1*log(x1) + 209 and 37.1*log(280*x1), once their numbers are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.normal_forms import form_keys, normal_forms
from flash_ansr.infer.selection.spelling import Rows, spellings_of
from flash_ansr.infer.table.table import Table
from simplipy import Expression, TokenBatch
from simplipy.expression.operators import EXPONENTS
from simplipy.fit.unexplained import unit_of

# rows of the table that values are compared on, and as many points beyond them
_N_ROWS = 128
# columns are multiplied by it, or divided: signs stay
_STRETCH = 3.0
# of the deviation that a candidate leaves: fits of one family end closer to each other
_OF_RESIDUALS = 1e-3
# the same where numbers are rounded
_OF_ROUNDED = 1.0
# of y: rounding
_OF_Y = 1e-11
# of the value beyond the rows, where small differences grow
_BEYOND = 1e-6
# rows that are compared for all pairs; the others follow for the pairs that agree there
_N_FIRST = 4
_ROOTS = frozenset(token for token, exponent in EXPONENTS.items() if exponent < 1)

Floats = npt.NDArray[np.float64]


def function_numbers(candidates: Sequence[Candidate], table: Table, forms: Sequence[bytes] = ()) -> list[int]:
    """A number for each candidate, the same for those with equal values, on rows and beyond them.

    Of equal forms, where they are given, one may have rounded constants: values are then compared with the residuals.
    """
    if not candidates:
        return []
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _N_ROWS)).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = table.X[rows] * _stretches(len(rows), table.n_columns)
        values, _ = simplipy.evaluate_many([c.expression for c in candidates], np.vstack([table.X[rows], beyond]))
        unit = unit_of(table.y)
        y, values = table.y / unit, values / unit
        left = np.sqrt([max(c.fvu, 0.0) for c in candidates]) * float(np.std(y))
        slack = _OF_RESIDUALS * left + _OF_Y * float(np.abs(y).max())
        numbers: list[int] = []
        for i, own in enumerate(values):
            near = np.flatnonzero((np.abs(values[:i, :_N_FIRST] - own[:_N_FIRST]) <= slack[i]).all(axis=1))
            equal = [int(j) for j in near if _are_equal(own, values[j], slack[i], len(rows))]
            equal += [
                j
                for j in range(i if forms else 0)
                if forms[j] == forms[i] and (np.abs(values[j] - own)[: len(rows)] <= _OF_ROUNDED * left[i]).all()
            ]
            numbers.append(numbers[min(equal)] if equal else i)
    return numbers


def each_once(candidates: Sequence[Candidate], fitted: Mapping[bytes, int], table: Table) -> list[Candidate]:
    """Candidates, the first of each function, and all baselines.

    Parameters
    ----------
    candidates : sequence of Candidate
    fitted : mapping of key to int
        Numbers of the functions that forms were before their constants were rounded.
    table : Table
        Rows that values are compared on.
    """
    kept, values, forms = [], set[int](), set[int | bytes]()
    rows = Rows(table.X, table.ranges[:, 0])
    skeletons = TokenBatch.from_expressions([_without_roots(c.expression, rows).skeleton() for c in candidates])
    numbers = function_numbers(candidates, table, form_keys(normal_forms(skeletons, n_threads=1)))
    for candidate, number in zip(candidates, numbers, strict=True):
        form = fitted.get(candidate.key, candidate.key) if candidate.key else None  # baselines have no form
        if candidate.is_baseline or (number not in values and form not in forms):
            kept.append(candidate)
        values.add(number)
        if form is not None:
            forms.add(form)
    return kept


def _without_roots(expression: Expression, rows: Rows) -> Expression:
    """The usual spelling of a formula with roots: sqrt(160000*x^3) and 400*x^1.5 have one form."""
    return expression if _ROOTS.isdisjoint(expression.tokens) else next(spellings_of(expression, rows), expression)


def _are_equal(a: Floats, b: Floats, slack: float, n_rows: int) -> bool:
    """Whether values agree on the rows, and beyond them wherever both are defined, if that is somewhere."""
    if not (np.abs(a[:n_rows] - b[:n_rows]) <= slack).all():
        return False
    a, b = a[n_rows:], b[n_rows:]
    known = np.isfinite(a) & np.isfinite(b)
    return bool(known.any() and (np.abs(a - b) <= slack + _BEYOND * np.abs(a))[known].all())


def _stretches(n_rows: int, n_columns: int) -> Floats:
    """Factors of columns for each point beyond the rows, all columns apart."""
    return np.random.default_rng(0).choice([_STRETCH, 1 / _STRETCH], (n_rows, n_columns))
