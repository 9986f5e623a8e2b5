"""How the columns of a user's table become numbers: learned in a fit, applied in predictions, saved as plain JSON.

A column of numbers, also written as text, and of truth values stays one column. Ordered categories become one column of
their codes 0, 1, 2, ... . Texts and other categories become indicators such as (colour == "red"), which are 1 where the
column has the level and 0 elsewhere. A gap in a column is NaN in all that it becomes.

``column_kinds`` learns an encoding from a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from simplipy.expression.indicators import indicator_name, level_of
from simplipy.files.number_texts import numbers_from_texts, why_not_numeric

FloatArray = npt.NDArray[np.float64]
Cells = pd.Series  # of one column


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table and the numbers that it becomes.

    Attributes
    ----------
    name : str
    kind : {"number", "ordered", "levels"}
    levels : tuple of str
        The levels that are known: in their order, or the most frequent first.
    n_indicators : int
        Of so many levels, the first ones, there are indicators.
    decimal : str or None
        The decimal sign of numbers that are written as text.
    fill : float, str or None
        The number or level that may stand in gaps: the median, or the most frequent level.
    """

    name: str
    kind: Literal["number", "ordered", "levels"] = "number"
    levels: tuple[str, ...] = ()
    n_indicators: int = 0
    decimal: str | None = None
    fill: float | str | None = None

    @property
    def outputs(self) -> list[str]:
        """Names of the variables that it becomes."""
        if self.kind != "levels":
            return [self.name]
        return [indicator_name(self.name, level) for level in self.levels[: self.n_indicators]]

    @property
    def fills(self) -> list[float]:
        """The numbers that may stand in the gaps of the outputs."""
        if self.kind == "levels":
            return [float(level == self.fill) for level in self.levels[: self.n_indicators]]
        return [np.nan if self.fill is None else float(self.fill)]

    def numbers(self, cells: Cells[Any]) -> FloatArray:
        """The outputs on the rows (n_rows, n_outputs).

        Raises
        ------
        ValueError
            Where a column of numbers has something else; the message names the value and its row.
        """
        if self.kind == "number":
            return column_numbers(self.name, cells, self.decimal)[:, None]
        levels, rows = levels_of(cells)
        places = {level: float(k) for k, level in enumerate(self.levels)} | {None: np.nan}
        codes = np.array([places.get(level, -1.0) for level in levels])[rows]
        if self.kind == "ordered":
            return np.where(codes < 0, np.nan, codes)[:, None]
        indicators = (codes[:, None] == np.arange(self.n_indicators)).astype(np.float64)
        indicators[np.isnan(codes)] = np.nan
        return indicators

    def unseen(self, cells: Cells[Any]) -> list[str]:
        """Levels that the fit has not seen."""
        if self.kind == "number":
            return []
        return sorted({level for level in levels_of(cells)[0] if level is not None} - set(self.levels))


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the columns of a table become the variables of laws.

    Attributes
    ----------
    columns : tuple of Column
        All columns of the table, in its order.
    left_out : mapping of str to str
        Columns and indicators that are no variables, and the reasons.
    """

    columns: tuple[Column, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Encoding:
        """That of a table of numbers alone."""
        return cls(tuple(Column(name) for name in names))

    @property
    def sources(self) -> list[tuple[str, Column]]:
        """The variables and their columns."""
        pairs = ((output, column) for column in self.columns for output in column.outputs)
        return [(output, column) for output, column in pairs if self._has(output)]

    @property
    def is_numeric(self) -> bool:
        """Whether all columns are numbers."""
        return all(column.kind == "number" for column in self.columns)

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return [name for name, _ in self.sources]

    def without(self, left_out: Mapping[str, str]) -> Encoding:
        """The same without these variables."""
        return replace(self, left_out={**self.left_out, **left_out})

    def columns_of(self, variables: Collection[str]) -> list[str]:
        """Names of the columns that these variables are computed from."""
        return list(dict.fromkeys(column.name for name, column in self.sources if name in variables))

    def numbers(self, X: Any, used: Set[str] | None = None) -> FloatArray:
        """The variables on the rows of X (n_rows, n_variables); NaN in gaps. X itself where all of it is wanted.

        Parameters
        ----------
        X : array or DataFrame (n_rows, n_columns)
        used : set of str, optional
            Variables that are needed; the others are NaN, and their columns may hold anything.
        """
        if self._reads(X):
            which = [self._has(column.name) for column in self.columns]
            return np.asarray(X if all(which) else X[:, which])
        parts = [np.empty((len(X), 0))]
        for column, (_, cells) in zip(self.columns, cells_of(X), strict=True):
            outputs = column.outputs
            kept = [k for k, output in enumerate(outputs) if self._has(output)]
            if used is not None and used.isdisjoint(outputs):
                parts.append(np.full((len(X), len(kept)), np.nan))
            elif kept:
                parts.append(column.numbers(cells)[:, kept])
        return np.concatenate(parts, axis=1)

    def filled(self, numbers: FloatArray) -> FloatArray:
        """The variables on some rows, with medians and most frequent levels in the gaps."""
        fills = [fill for c in self.columns for name, fill in zip(c.outputs, c.fills, strict=True) if self._has(name)]
        return np.where(np.isnan(numbers), fills, numbers)

    def unseen(self, X: Any, used: Set[str]) -> dict[str, list[str]]:
        """Levels on the rows of X that the fit has not seen, by column, where the variables that are used need it."""
        if self._reads(X):
            return {}
        pairs = [(c, cells) for c, (_, cells) in zip(self.columns, cells_of(X), strict=True)]
        found = {c.name: c.unseen(cells) for c, cells in pairs if not used.isdisjoint(c.outputs)}
        return {name: levels for name, levels in found.items() if levels}

    def to_json(self) -> dict[str, Any]:
        """All of it in what JSON has."""
        plain = asdict(Column(""))
        columns = [{k: v for k, v in asdict(c).items() if k == "name" or v != plain[k]} for c in self.columns]
        return {"columns": columns, "left_out": dict(self.left_out)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Encoding:
        """What ``to_json`` gave."""
        columns = [Column(**{**c, "levels": tuple(c.get("levels", ()))}) for c in content["columns"]]
        return cls(tuple(columns), dict(content["left_out"]))

    def _has(self, variable: str) -> bool:
        return variable not in self.left_out

    def _reads(self, X: Any) -> bool:
        """Whether the columns of X are the variables."""
        is_matrix = isinstance(X, np.ndarray) and X.dtype == np.float64
        return is_matrix and self.is_numeric


def cells_of(X: Any) -> Iterator[tuple[str, Cells[Any]]]:
    """Columns of a table with their names; those of an array are called x1, x2, ..."""
    if isinstance(X, pd.DataFrame):
        yield from ((str(name), X.iloc[:, k]) for k, name in enumerate(X.columns))
    elif hasattr(X, "columns"):  # of another library
        yield from ((str(name), pd.Series(np.asarray(X[name]))) for name in X.columns)
    else:
        yield from ((f"x{k}", pd.Series(column)) for k, column in enumerate(np.asarray(X).T, start=1))


def levels_of(cells: Cells[Any]) -> tuple[list[str | None], npt.NDArray[np.int64]]:
    """The levels in a column, some of them perhaps twice, None for a gap; and the place of each cell's level there."""
    rows, values = pd.factorize(cells.astype(object))
    return [*map(level_of, values), None], rows  # a gap has the place -1


def column_numbers(name: str, cells: Cells[Any], decimal: str | None) -> FloatArray:
    """A column of numbers, also written as text; NaN in gaps.

    Raises
    ------
    ValueError
        Where a cell is no number; the message names the first one and its row.
    """
    if pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_complex_dtype(cells):
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = numbers_from_texts(cells, decimal)
    if numbers is None:
        raise ValueError(f"column {name!r} of X is not numeric: {why_not_numeric(cells)}; convert or drop it")
    return numbers.values
