"""Points at which unequal formulas differ: of all sizes and signs; on a lattice; and random neighbours of a point.

Identities that hold on one branch only are caught by classes of magnitude: ``acos(cos(x)) = |x|`` up to pi, saturation
far out, cancellation near zero, borders at corners such as 0, 1 and -1. Points are drawn from a seeded generator, so
that two calls with equal arguments see equal points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_CORNERS = np.array([0.0, 1.0, 2.0])
# points for the numbers of formulas
_N_AROUND = 64
# share of the rows in (0, 1), (1, 3), (pi, 30), tiny and huge magnitudes
_WEIGHTS = np.array([0.28, 0.28, 0.24, 0.1, 0.1])
_CORNER_ROWS = 0.15


@dataclass(frozen=True, slots=True)
class ProbePoints:
    """Rows of values for named variables.

    Attributes
    ----------
    names : tuple of str
        The variables.
    values : array (n_points, n_variables)
        One point a row.
    corner : bool array (n_points,)
        Rows with a coordinate 0, +-1 or +-2: they may lie in null sets, where formulas of equal meaning may differ.
    """

    names: tuple[str, ...]
    values: Array
    corner: Mask

    def __len__(self) -> int:
        return len(self.values)

    def data(self) -> Any:
        """Data for an evaluation: columns by name, or without variables an array whose values do not matter."""
        if not self.names:
            return np.zeros((len(self.values), 1))
        return dict(zip(self.names, self.values.T, strict=True))

    def point(self, row: int) -> dict[str, float]:
        """One row by name."""
        return dict(zip(self.names, self.values[row].tolist(), strict=True))

    def take(self, rows: npt.NDArray[np.intp]) -> ProbePoints:
        """Points of these rows."""
        return ProbePoints(self.names, self.values[rows], self.corner[rows])

    def mildness(self) -> Array:
        """Decades of the most extreme coordinate of each row, (n_points,): doubles err least where it is small."""
        if not self.names:
            return np.zeros(len(self.values))
        decades: Array = np.abs(np.log10(np.where(self.values == 0, 1.0, np.abs(self.values))))
        return decades.max(axis=1)  # type: ignore[no-any-return]


def probe_points(
    names: tuple[str, ...], n_points: int, rng: np.random.Generator, sizes: Literal["all", "ordinary", "small"] = "all"
) -> ProbePoints:
    """Draw points in classes of magnitude.

    Parameters
    ----------
    names : tuple of str
        The variables. Without any there is one point.
    n_points : int
        How many points.
    rng : numpy.random.Generator
        Where they come from.
    sizes : {"all", "ordinary", "small"}
        "ordinary": only magnitudes from 0.05 to 30 and no corners, where numbers known to a few digits mean something;
        "small": only up to 3, where a fit of unknown rates and frequencies has few local minima.
    """
    shape = (n_points if names else 1, len(names))
    u = rng.random(shape)
    weights = np.where(np.arange(5) < {"all": 5, "ordinary": 3, "small": 2}[sizes], _WEIGHTS, 0.0)
    kind = rng.choice(5, size=shape, p=weights / weights.sum())
    # half of the rows have one magnitude for all variables: a formula may need them all large, or all in (0, 1)
    same = rng.random((shape[0], 1)) < 0.5
    kind = np.where(same, kind[:, :1], kind) if names else kind
    low = 0.0 if sizes == "all" else 0.05
    magnitude = np.choose(
        kind, [low + (1 - low) * u, 1 + 2 * u, np.pi + (30 - np.pi) * u * u, 10 ** (10 * u - 12), 10 ** (2 + 6 * u)]
    )
    # per row: all positive, all negative, or any; many formulas are defined on one orthant only
    mode = rng.random((shape[0], 1))
    negative = np.where(mode < 0.4, False, np.where(mode < 0.55, True, rng.random(shape) < 0.5))
    corner_row = np.zeros((shape[0], 1), dtype=np.bool_)
    if sizes == "all" and names:
        corner_row = rng.random((shape[0], 1)) < _CORNER_ROWS
        at_corner = corner_row & (rng.random(shape) < 0.5)
        magnitude = np.where(at_corner, rng.choice(_CORNERS, size=shape), magnitude)
    # adding 0.0 makes -0.0 a plain zero: zero has no sign
    return ProbePoints(names, np.where(negative, -magnitude, magnitude) + 0.0, corner_row[:, 0])


def with_points_around(points: ProbePoints, numbers: Sequence[float], rng: np.random.Generator) -> ProbePoints:
    """The points, and others within a decade of these numbers, where a formula may behave unlike at ordinary points."""
    if not points.names or not len(numbers):
        return points
    shape = (_N_AROUND, len(points.names))
    centre = rng.choice(np.abs(numbers), size=(_N_AROUND, 1))
    magnitude = centre * 10.0 ** rng.uniform(-1, 1, shape)
    # half of the rows have one variable there alone
    alone = (rng.random((_N_AROUND, 1)) < 0.5) & (np.arange(shape[1]) != rng.integers(shape[1], size=(_N_AROUND, 1)))
    values = np.where(alone, rng.uniform(0.5, 2.0, shape), magnitude) * rng.choice([-1.0, 1.0], shape)
    corner = np.concatenate([points.corner, np.zeros(_N_AROUND, dtype=np.bool_)])
    return ProbePoints(points.names, np.vstack([points.values, values]), corner)


def lattice_points(names: tuple[str, ...], n_points: int, rng: np.random.Generator) -> ProbePoints:
    """Draw points of whole numbers up to 12 and of quarters up to 3.

    A power of a negative base is defined where its exponent is a whole number, which random points never hit.
    """
    shape = (n_points if names else 1, len(names))
    whole, quarters = rng.integers(-12, 13, shape), rng.integers(-12, 13, shape) / 4
    values = np.where(rng.random((shape[0], 1)) < 0.5, whole, quarters)
    return ProbePoints(names, values, np.zeros(shape[0], dtype=np.bool_))


def neighbours(point: Mapping[str, float], n: int) -> Iterator[dict[str, Fraction]]:
    """Random points close to this one, in all coordinates; the same ones for the same point.

    The steps are rationals of 120 random bits, so that no coordinate is an integer or a double by accident: a neighbour
    lies in a given null set with probability zero. The first is within 2^-20 of each coordinate, relative to it, and
    each next one 64 times closer.
    """
    random = Random(repr(sorted(point.items())))
    for k in range(n):
        moved = {}
        for name, value in point.items():
            centre = Fraction(value)
            step = Fraction(random.getrandbits(120) - (1 << 119), 1 << (139 + 6 * k))
            moved[name] = centre + (abs(centre) or 1) * step
        yield moved
