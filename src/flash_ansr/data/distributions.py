"""Distributions of numbers and of columns, as frozen values read from YAML. Never draws anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from flash_ansr.data.errors import PriorError


def check(condition: bool, message: str) -> None:
    """Refuse a prior."""
    if not condition:
        raise PriorError(message)


def check_probability(name: str, value: float) -> None:
    """Refuse what is no probability."""
    check(0.0 <= value <= 1.0, f"{name} must be a probability between 0 and 1, got {value}")


@dataclass(frozen=True, slots=True)
class Numbers:
    """One part of a mixture of distributions of a number.

    Attributes
    ----------
    kind : str
        uniform and log_uniform over [low, high]; integers from low to high; normal and cauchy around ``mean``.
    low, high : float
        Range; of normal and cauchy where they are cut off, and optional there.
    mean, scale : float
        Of normal and cauchy; the scale of a normal is its standard deviation.
    negative : float
        Probability that the sign is turned.
    weight : float
        Share of this part in the mixture.
    """

    kind: Literal["uniform", "normal", "log_uniform", "cauchy", "integers"]
    low: float = -math.inf
    high: float = math.inf
    mean: float = 0.0
    scale: float = 1.0
    negative: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check(self.low <= self.high, f"low must be <= high, got low {self.low} and high {self.high}")
        check(self.weight > 0, f"weight must be > 0, got {self.weight}; leave the part out instead")
        check_probability("negative", self.negative)
        if self.kind in ("normal", "cauchy"):
            check(0 < self.scale < math.inf, f"scale must be > 0 and finite, got {self.scale}")
            nearest_end = min(max(self.mean, self.low), self.high)
            within = abs(nearest_end - self.mean) <= 4 * self.scale
            check(within, f"[low, high] must be within 4 scales of the mean, got [{self.low}, {self.high}]")
            return
        bounded = math.isfinite(self.low) and math.isfinite(self.high)
        check(bounded, f"{self.kind} needs finite low and high, got low {self.low} and high {self.high}")
        if self.kind == "log_uniform":
            check(self.low > 0, f"low of log_uniform must be > 0, got {self.low}; use negative for signs")
        if self.kind == "integers":
            whole = self.low == int(self.low) and self.high == int(self.high)
            check(whole, f"low and high of integers must be whole numbers, got {self.low} and {self.high}")


Mixture = tuple[Numbers, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One part of a mixture of ways in which a column of X is spread. Each column draws its own range.

    Attributes
    ----------
    kind : str
        uniform and integers between two draws of ``bounds``; log_uniform from ``10**exponent`` over ``decades``;
        normal around a draw of ``mean`` with a draw of ``scale``.
    negative, signs : float
        Probability that all values are negative; that each value has a sign of its own.
    weight : float
        Share of this part in the mixture.
    """

    kind: Literal["uniform", "log_uniform", "integers", "normal"]
    bounds: Mixture = ()
    exponent: Mixture = ()
    decades: Mixture = ()
    mean: Mixture = ()
    scale: Mixture = ()
    negative: float = 0.0
    signs: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        check(self.weight > 0, f"weight must be > 0, got {self.weight}; leave the part out instead")
        check_probability("negative", self.negative)
        check_probability("negative + signs", self.negative + self.signs)
        needed = {"log_uniform": ("exponent", "decades"), "normal": ("mean", "scale")}.get(self.kind, ("bounds",))
        for name in ("bounds", "exponent", "decades", "mean", "scale"):
            given = bool(getattr(self, name))
            check(given == (name in needed), f"a column of kind {self.kind} takes {' and '.join(needed)}, not {name}")
        for part in self.exponent:
            check(
                -37 <= part.low <= part.high <= 37, f"exponent must be within -37 and 37, got {part.low}, {part.high}"
            )
        for name in ("decades", "scale"):
            for part in getattr(self, name):
                check(part.low >= 0, f"{name} must be >= 0, got low {part.low}")

    @property
    def mixtures(self) -> tuple[Mixture, Mixture]:
        """The first and second number that a column draws."""
        if self.kind == "log_uniform":
            return self.exponent, self.decades
        if self.kind == "normal":
            return self.mean, self.scale
        return self.bounds, self.bounds
