"""The data of one search: columns as rows, logarithms, weights, what is allowed, and the time that is left.

Invariants: everything is finite float64; columns that do not vary are left out of ``active``; ``columns`` are in the
units of the caller, so that texts built from them need no transformation back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.table.grammar import Grammar

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

# the clock of all deadlines; benchmarks on a busy machine put CPU time here
now: Callable[[], float] = time.monotonic

# rows beyond these add time to the search and little knowledge; the caller refits on all
_MAX_ROWS = 512
# a weight is 1/(|t| + floor*rms(t)): a value near zero must not outweigh all others
_RELATIVE_FLOOR = 1e-3


class DeadlineError(Exception):
    """The time is over; raised inside a stage, caught where batches are handed out."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When to stop, as a value of ``time.monotonic``; None for never."""

    deadline: float | None

    def check(self) -> None:
        """Raise ``DeadlineError`` where the deadline has passed."""
        if self.deadline is not None and now() >= self.deadline:
            raise DeadlineError

    def remaining(self) -> float | None:
        """Seconds left, at least one millisecond; None for no deadline."""
        return None if self.deadline is None else max(self.deadline - now(), 1e-3)


@dataclass(frozen=True)
class Data:
    """Rows to be explained.

    Attributes
    ----------
    columns : array (n_columns, n_rows)
        The variables x1, x2, ... in the units of the caller.
    y : array (n_rows,)
        The target in the units of the caller.
    root_weight : array (n_rows,)
        Square roots of the sample weights, mean square 1.
    clock : Clock
        When to stop.
    grammar : Grammar
        The grammar that formulas must keep to.
    gamma : float
        The paper's parsimony: a token is worth this many decades of unexplained variance.
    among : tuple of int, optional
        The columns that formulas are made of; None for all.
    noise : float
        Deviation that the noise of y has at most; 0 takes y as exact. Errors are relative without noise, since small
        values tell as much as large ones then, and absolute with it.
    """

    columns: FloatArray
    y: FloatArray
    root_weight: FloatArray
    clock: Clock
    grammar: Grammar
    gamma: float
    among: tuple[int, ...] | None = None
    noise: float = 0.0

    @classmethod
    def of(cls, context: ProposerContext, deadline: float | None = None) -> Data:
        """Rows of the table of a context, at most 512; those that are not finite, or of weight zero, are left out."""
        X, y, weight = context.table.X, context.table.y, context.table.sample_weight
        weight = np.ones(len(y)) if weight is None else weight
        rows = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(y) & (weight > 0))
        if rows.size > _MAX_ROWS:
            rows = np.sort(np.random.default_rng(context.seed).choice(rows, _MAX_ROWS, replace=False))
        weight = weight[rows] / max(float(np.mean(weight[rows])) if rows.size else 1.0, 1e-300)
        columns = np.ascontiguousarray(X[rows].T)
        return cls(columns, y[rows], np.sqrt(weight), Clock(deadline), context.grammar, context.gamma)

    @property
    def n_columns(self) -> int:
        """Number of variables, active or not."""
        return len(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @cached_property
    def X(self) -> FloatArray:  # noqa: N802 - as in the literature
        """Rows as the evaluator takes them, (n_rows, n_columns)."""
        return np.ascontiguousarray(self.columns.T)

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Columns that vary and may be used."""
        varying = np.flatnonzero(np.ptp(self.columns, axis=1) > 0)
        return tuple(int(k) for k in varying if self.among is None or k in self.among)

    @cached_property
    def positive(self) -> BoolArray:
        """Which columns are > 0 everywhere: roots of the others are undefined."""
        return np.asarray((self.columns > 0).all(axis=1))

    @cached_property
    def no_zeros(self) -> BoolArray:
        """Which columns have a logarithm and an inverse everywhere."""
        return np.asarray((self.columns != 0).all(axis=1))

    @cached_property
    def scales(self) -> FloatArray:
        """Geometric middle of |x| of every column, (n_columns,); 1 for a column of zeros."""
        scales = np.ones(self.n_columns)
        for k, column in enumerate(np.abs(self.columns)):
            nonzero = column[column > 0]
            if nonzero.size:
                scales[k] = np.exp(np.median(np.log(nonzero)))
        return scales

    @cached_property
    def log_columns(self) -> tuple[tuple[int, ...], FloatArray]:
        """Columns without zeros that vary in size, and their log|x/scale|, (n, n_rows)."""
        usable = [k for k in self.active if self.no_zeros[k] and np.ptp(np.abs(self.columns[k])) > 0]
        logs = np.log(np.abs(self.columns[usable] / self.scales[usable, None]))
        return tuple(usable), logs.reshape(len(usable), self.n_rows)

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of y under the weights, above 0."""
        share = self.root_weight**2 / np.sum(self.root_weight**2)
        return float(np.sqrt(max(float(share @ (self.y - share @ self.y) ** 2), 1e-300)))

    @cached_property
    def loud(self) -> BoolArray:
        """Rows whose y is no noise: the others have no logarithm and no sign."""
        return np.asarray((self.y != 0) & (np.abs(self.y) > 2 * self.noise))

    @cached_property
    def one_sign(self) -> bool:
        """Whether y keeps its sign, up to noise."""
        # of hundreds of rows a few have noise of three deviations
        certain = self.y[np.abs(self.y) > 4 * self.noise] if self.noise else self.y
        return bool(certain.size) and bool((certain > 0).all() or (certain < 0).all())

    @cached_property
    def log_y(self) -> FloatArray:
        """log|y|, 0 where that is noise."""
        return np.log(np.where(self.loud, np.abs(self.y), 1.0))

    @cached_property
    def log_weight(self) -> FloatArray:
        """Weights of residuals of log|y|, (n_rows,)."""
        weight = np.where(self.loud, self.root_weight, 0.0)
        size = np.abs(self.y)
        return weight * size / max(float(size.max()), 1e-300) if self.noise else weight

    @cached_property
    def weight(self) -> FloatArray:
        """Weights of residuals of y, (n_rows,)."""
        return self.root_weight if self.noise else relative_weight(self.y) * self.root_weight

    def allows(self, *tokens: str) -> bool:
        """Whether formulas may have these operators."""
        return self.grammar.operators.issuperset(tokens)

    def replaced(self, y: FloatArray, among: tuple[int, ...]) -> Data:
        """The same rows with another target of the same noise, and fewer columns."""
        return replace(self, y=y, among=among)

    def divided(self, factor: FloatArray, among: tuple[int, ...]) -> Data:
        """The same rows with y over a factor, and fewer columns; where the factor is small, noise is large."""
        inner = self.replaced(self.y / factor, among)
        if not self.noise:
            return inner
        sizes = np.abs(factor)
        typical = float(np.sqrt(np.mean(sizes**2))) or 1.0
        return replace(inner, root_weight=self.root_weight * (sizes / typical), noise=self.noise / typical)

    def with_noise(self, noise: float) -> Data:
        """The same rows, with so much noise."""
        return replace(self, noise=noise)


def relative_weight(target: FloatArray) -> FloatArray:
    """Weights that make every row count by its relative error, (n_rows,)."""
    size = np.abs(target)
    return np.asarray(1.0 / (size + _RELATIVE_FLOOR * np.sqrt(np.mean(size**2)) + 1e-300))
