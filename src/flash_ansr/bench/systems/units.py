"""Units in which columns and targets are of size 1, and formulas of scaled data brought back from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import simplipy
from flash_ansr.bench.datasets import deviation
from flash_ansr.bench.structure import is_number
from flash_ansr.bench.systems.base import FloatArray
from simplipy import Expression


@dataclass(frozen=True, slots=True, eq=False)
class DataUnits:
    """Divisors of columns and targets.

    Attributes
    ----------
    columns : ndarray, shape (k,)
        Median magnitudes.
    target : float
        Standard deviation.
    """

    columns: FloatArray
    target: float

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray) -> DataUnits:
        """The units of data."""
        columns = np.median(np.abs(X), axis=0)
        columns[columns == 0] = 1.0
        return cls(columns, deviation(y) or float(np.abs(y).max()) or 1.0)

    def undo(self, expression: Expression) -> Expression:
        """A formula of scaled data in the data's own units.

        Scales go into the numbers that stand there already (a weight at a variable, a factor and an offset in front),
        so that the formula is as long as it was, where it has them.
        """
        sizes = {f"x{k}": float(size) for k, size in enumerate(self.columns, start=1)}
        tokens: list[str] = []
        for token in expression.tokens:
            if token not in sizes:
                tokens.append(token)
            elif tokens[-2:-1] == ["*"] and is_number(tokens[-1]):
                tokens[-1:] = [repr(float(tokens[-1]) / sizes[token]), token]
            else:
                tokens += ["*", repr(1 / sizes[token]), token]
        return simplipy.parse(self._times_target(tokens))

    def _times_target(self, tokens: list[str]) -> list[str]:
        """The formula times the unit of the target, in its leading numbers where it has them."""
        if is_number(tokens[0]):
            return [repr(float(tokens[0]) * self.target)]
        if tokens[0] == "*" and is_number(tokens[1]):
            return ["*", repr(float(tokens[1]) * self.target), *tokens[2:]]
        if tokens[0] == "+" and is_number(tokens[1]) and tokens[2] == "*" and is_number(tokens[3]):
            return ["+", *self._times_target(tokens[1:2]), *self._times_target(tokens[2:])]
        return ["*", repr(self.target), *tokens]
