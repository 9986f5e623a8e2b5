"""A law with the ranges of its variables, and the data drawn from it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flash_ansr.catalogues.errors import CatalogueError
from flash_ansr.catalogues.ranges import Range
from flash_ansr.catalogues.streams import UniformStream, digest_of
from simplipy import Expression

FloatArray = NDArray[np.float64]
Split = Literal["fit", "validation"]

# rows drawn for each row asked for, as the FastSRB benchmark allows a hundred attempts
_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Variable:
    """A column of a problem: its name in the source, and where it is drawn from."""

    name: str
    range: Range


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Data drawn from a problem.

    Attributes
    ----------
    X : ndarray of float64, shape (n, k)
        Column k - 1 is x_k. Finite.
    y : ndarray of float64, shape (n,)
        The law at the rows of X, without noise. Finite.
    digest : str
        Of the uniform numbers behind the rows: equal digests mean equal rows on any machine, up to the last bits in
        which the machines' elementary functions differ.
    n_redrawn : int
        Rows that were drawn and thrown away, since the law is not finite there.
    """

    X: FloatArray
    y: FloatArray
    digest: str
    n_redrawn: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A law to be found.

    Attributes
    ----------
    catalogue, name : str
        The catalogue and the name in it, which seed the draws together.
    expression : Expression
        The law in x1, ..., xk, with all its numbers.
    formula : str
        The law as the catalogue writes it, in the variables' own names.
    variables : tuple of Variable
        The columns x1, ..., xk, also those that the law does not contain.
    difficulty : str or None
        As the catalogue says, such as "easy".
    excluded : str or None
        Why a benchmark leaves the problem out.
    """

    catalogue: str
    name: str
    expression: Expression
    formula: str
    variables: tuple[Variable, ...]
    difficulty: str | None = None
    excluded: str | None = None

    @property
    def digest(self) -> str:
        """16 hexadecimal digits of the law and its ranges, which change when either does."""
        text = "\n".join([self.expression.infix(), *(str(v.range) for v in self.variables)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def sample(self, n: int, seed: int, widened: bool = False, split: Split = "fit") -> Sample:
        """Draw rows, the same for the same arguments on every machine.

        Rows where the law or a value is not finite are drawn anew. More rows begin with the same rows:
        ``sample(512, 0)`` extends ``sample(256, 0)``.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int
            Index of the data set, >= 0.
        widened : bool
            Draw from ranges beyond those of the fit: log ranges from a third of the lower to three times the upper
            bound, others wider by a quarter of their width at each end, without crossing zero.
        split : {"fit", "validation"}
            Rows to fit, or rows of their own to judge the fit by.

        Returns
        -------
        Sample

        Raises
        ------
        CatalogueError
            When the law is finite at fewer than one in a hundred rows.
        """
        if n < 1:
            raise CatalogueError(f"n must be >= 1 rows, got {n}")
        if seed < 0:
            raise CatalogueError(f"seed must be >= 0, got {seed}")
        if split not in get_args(Split):
            raise CatalogueError(f"split must be 'fit' or 'validation', got {split!r}")
        ranges = [v.range.widened() if widened else v.range for v in self.variables]
        stream = UniformStream(self.catalogue, self.name, seed, split, "widened" if widened else "ranges")
        blocks: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        good = np.empty(0, dtype=bool)
        while good.sum() < n and good.size < _ATTEMPTS * n:
            draws = stream.draw(n, len(ranges), 2)
            X = np.column_stack([r.values(draws[:, k, 0], draws[:, k, 1]) for k, r in enumerate(ranges)])
            y = np.asarray(self.expression(X), dtype=np.float64)
            blocks.append((draws, X, y))
            good = np.append(good, np.isfinite(y) & np.isfinite(X).all(axis=1))
        rows = np.flatnonzero(good)[:n]
        if rows.size < n:
            raise CatalogueError(
                f"{self.catalogue} {self.name}: {self.formula} is finite at {rows.size} of {good.size} rows drawn from "
                f"{', '.join(f'{v.name}: {r}' for v, r in zip(self.variables, ranges, strict=True))}; narrow the ranges"
            )
        draws, X, y = (np.concatenate(parts)[rows] for parts in zip(*blocks, strict=True))
        return Sample(X, y, digest_of(draws), n_redrawn=int(rows[-1]) + 1 - n)
