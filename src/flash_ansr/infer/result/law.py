"""A law: a formula in the order of the columns it was found in, and the same in the user's names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.columns import with_names
from simplipy import Expression


class Law:
    """A formula of x1, x2, ... that knows what its columns are called.

    Parameters
    ----------
    expression : Expression
        In x1, x2, ...
    names : sequence of str
        Names of the columns, x1 first.
    """

    def __init__(self, expression: Expression, names: Sequence[str]) -> None:
        self.expression = expression
        self.names = tuple(names)

    @property
    def named(self) -> Expression:
        """The formula in the user's names."""
        return with_names(self.expression, self.names)

    def values(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Values on the rows of X (n_rows, n_columns); NaN where undefined."""
        values = np.asarray(self.expression(X), dtype=np.float64)
        return np.where(np.isfinite(values), values, np.nan)

    def has_gaps(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Rows of X (n_rows, n_columns) with NaN in a column that the formula uses."""
        used = [int(name.removeprefix("x")) - 1 for name in self.expression.variables]
        return np.asarray(np.isnan(X[:, used]).any(axis=1))


def shortened(text: str, width: int) -> str:
    """The text, or its beginning where it is wider.

    Examples
    --------
    >>> shortened("2*x1 + 3*x2", 8)
    '2*x1 + …'
    """
    return text if len(text) <= width else text[: width - 1] + "…"
