"""Units in which columns and targets are of size 1, and formulas of scaled data brought back from them.

Data may be standardised too, which also takes the means out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

import simplipy
from flash_ansr.bench.datasets import deviation
from flash_ansr.bench.structure import is_number
from flash_ansr.bench.systems.base import FloatArray
from simplipy import Expression

Scale = Literal["median", "standard"]
SCALES: tuple[Scale, ...] = get_args(Scale)


@dataclass(frozen=True, slots=True, eq=False)
class DataUnits:
    """Divisors of columns and targets, and means that are subtracted before.

    Attributes
    ----------
    columns : ndarray, shape (k,)
        Median magnitudes, or standard deviations.
    target : float
        Standard deviation.
    column_means : ndarray, shape (k,), optional
        Zeros where None.
    target_mean : float
    """

    columns: FloatArray
    target: float
    column_means: FloatArray | None = None
    target_mean: float = 0.0

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, scale: Scale = "median") -> DataUnits:
        """The units of data: median magnitudes of columns without means, or those of standardised data."""
        target = deviation(y) or float(np.abs(y).max()) or 1.0
        if scale == "median":
            columns = np.median(np.abs(X), axis=0)
            columns[columns == 0] = 1.0
            return cls(columns, target)
        columns = X.std(axis=0)
        columns[np.ptp(X, axis=0) == 0] = 1.0  # rounding may leave a deviation in a constant column
        return cls(columns, target, X.mean(axis=0), float(y.mean()))

    def apply(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Columns and targets in these units."""
        means = 0.0 if self.column_means is None else self.column_means
        return (X - means) / self.columns, (y - self.target_mean) / self.target

    def undo(self, expression: Expression) -> Expression:
        """A formula of scaled data in the data's own units.

        Scales go into the numbers that stand there already (a weight at a variable, a factor and an offset in front),
        so that the formula is as long as it was, where it has them. The means of columns make it longer.
        """
        means = np.zeros_like(self.columns) if self.column_means is None else self.column_means
        sizes = {f"x{k}": float(size) for k, size in enumerate(self.columns, start=1)}
        inner = {
            name: ["-", name, repr(float(mean))] if mean else [name] for name, mean in zip(sizes, means, strict=True)
        }
        tokens: list[str] = []
        for token in expression.tokens:
            if token not in sizes:
                tokens.append(token)
            elif tokens[-2:-1] == ["*"] and is_number(tokens[-1]):
                tokens[-1:] = [repr(float(tokens[-1]) / sizes[token]), *inner[token]]
            else:
                tokens += ["*", repr(1 / sizes[token]), *inner[token]]
        return simplipy.parse(self._plus_mean(self._times_target(tokens)))

    def _plus_mean(self, tokens: list[str]) -> list[str]:
        """The formula plus the mean of the target, in its leading offset where it has one."""
        if self.target_mean == 0:
            return tokens
        if is_number(tokens[0]):
            return [repr(float(tokens[0]) + self.target_mean)]
        if tokens[0] == "+" and is_number(tokens[1]):
            return ["+", repr(float(tokens[1]) + self.target_mean), *tokens[2:]]
        return ["+", repr(self.target_mean), *tokens]

    def _times_target(self, tokens: list[str]) -> list[str]:
        """The formula times the unit of the target, in its leading numbers where it has them."""
        if is_number(tokens[0]):
            return [repr(float(tokens[0]) * self.target)]
        if tokens[0] == "*" and is_number(tokens[1]):
            return ["*", repr(float(tokens[1]) * self.target), *tokens[2:]]
        if tokens[0] == "+" and is_number(tokens[1]) and tokens[2] == "*" and is_number(tokens[3]):
            return ["+", *self._times_target(tokens[1:2]), *self._times_target(tokens[2:])]
        return ["*", repr(self.target), *tokens]
