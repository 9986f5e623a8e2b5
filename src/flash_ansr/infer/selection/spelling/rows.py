"""The rows of a table, as far as rewritings ask them: which formulas are negative in no row."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from flash_ansr.infer.selection.spelling.terms import Base, Call, Leaf, Product
from flash_ansr.infer.selection.spelling.writing import text_of
from flash_ansr.infer.table.table import FloatArray
from simplipy import OPERATORS, enclosure, parse

# rows that formulas are evaluated on; signs of columns are those of all rows
_MAX_ROWS = 1024


class Rows:
    """Rows that rewritings must hold on.

    Parameters
    ----------
    X : array (n_rows, n_columns)
        Column k is the variable x_{k+1}.
    lows : array (n_columns,), optional
        The smallest value of each column, where it is known.
    """

    def __init__(self, X: FloatArray, lows: FloatArray | None = None) -> None:
        lows = X.min(axis=0) if lows is None else lows
        self.some = X[np.linspace(0, len(X) - 1, min(len(X), _MAX_ROWS)).astype(np.int64)]
        self._nonnegative = frozenset(f"x{k}" for k, low in enumerate(lows.tolist(), start=1) if low >= 0)
        self._seen: dict[Product, bool] = {}

    def are_nonnegative(self, formula: Product) -> bool:
        """Whether the formula is 0 or more wherever it is defined on the rows.

        Examples
        --------
        >>> from flash_ansr.infer.selection.spelling.terms import of
        >>> rows = Rows(np.array([[1.0, -2.0], [2.0, 1.0]]))
        >>> rows.are_nonnegative(of(Leaf("x1"))), rows.are_nonnegative(of(Leaf("x2")))
        (True, False)
        """
        return self._is_plain(formula) or self._is_seen(formula)

    def _is_plain(self, formula: Product) -> bool:
        """Whether that is clear from signs and columns."""
        return formula.coefficient >= 0 and all(self._is_plain_power(*factor) for factor in formula.factors)

    def _is_plain_power(self, base: Base, exponent: float) -> bool:
        if exponent % 2 == 0 or not exponent.is_integer():
            return True
        if isinstance(base, Leaf):
            return base.token in self._nonnegative
        if isinstance(base, Call):
            return _has_no_negative_values(base.token)
        return self._is_plain(base) if isinstance(base, Product) else all(map(self._is_plain, base.terms))

    def _is_seen(self, formula: Product) -> bool:
        """Whether no value on the rows is negative."""
        if formula not in self._seen:
            with np.errstate(all="ignore"):
                values = parse(text_of(formula))(self.some)
            self._seen[formula] = not (values < 0).any()
        return self._seen[formula]


@cache
def _has_no_negative_values(function: str) -> bool:
    """Whether a function of one operand is 0 or more wherever it is defined.

    Examples
    --------
    >>> _has_no_negative_values("exp"), _has_no_negative_values("sinh")
    (True, False)
    """
    if OPERATORS[function].arity != 1:
        return False
    return enclosure(f"{function}(x)", {"x": (-math.inf, math.inf)}, max_boxes=1).low >= 0
