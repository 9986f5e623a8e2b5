"""Ranges of variables: how a column is drawn, as text and as numbers.

The text is a small notation: ``uniform(0, 1)``, ``log(1e-3, 0.1)``, ``integer(1, 10)``, with ``-`` in front for
negative values and ``+-`` for a sign that is drawn too. A range maps uniform draws to values and keeps no state.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from flash_ansr.catalogues.errors import CatalogueError

_NOTATION = re.compile(r"(?P<sign>\+-|-|)\s*(?P<kind>[a-z]+)\s*\((?P<low>[^,()]*),(?P<high>[^,()]*)\)")
_LOG_FACTOR = 3.0
_MARGIN_PER_WIDTH = 0.25


class Kind(Enum):
    """How values lie between the bounds."""

    UNIFORM = "uniform"
    LOG = "log"
    INTEGER = "integer"


class Sign(Enum):
    """The factor of a value after it is drawn."""

    AS_DRAWN = ""
    NEGATIVE = "-"
    BOTH = "+-"


@dataclass(frozen=True, slots=True)
class Range:
    """Where a variable is drawn from.

    Attributes
    ----------
    kind : Kind
        UNIFORM: evenly. LOG: evenly in the logarithm. INTEGER: evenly, then rounded to the nearest integer, so that the
        two end points come up half as often as the others.
    low, high : float
        Bounds before the sign is applied; ``low <= high``, and both > 0 where the kind is LOG.
    sign : Sign
        BOTH draws the sign by a fair coin.

    Examples
    --------
    >>> Range.parse("+-log(1e-3, 0.1)")
    Range(kind=<Kind.LOG: 'log'>, low=0.001, high=0.1, sign=<Sign.BOTH: '+-'>)
    >>> str(Range.parse("uniform(0, 4)").widened())
    'uniform(0, 5)'
    """

    kind: Kind
    low: float
    high: float
    sign: Sign = Sign.AS_DRAWN

    def __post_init__(self) -> None:
        bounds = f"({self.low:g}, {self.high:g})"
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise CatalogueError(f"the bounds must be finite, got {bounds}")
        if self.low > self.high:
            raise CatalogueError(f"the lower bound must not be above the upper one, got {bounds}; swap them")
        if self.kind is Kind.LOG and self.low <= 0:
            raise CatalogueError(
                f"the bounds of log must be > 0, got {bounds}; write -log(...) for negative values, +-log(...) for both"
            )

    @classmethod
    def parse(cls, text: str) -> Range:
        """Range of a text such as ``log(1e-3, 0.1)``."""
        match = _NOTATION.fullmatch(text.strip())
        kinds = [kind.value for kind in Kind]
        if match is None or match["kind"] not in kinds:
            raise CatalogueError(
                f"a range must be one of {', '.join(f'{kind}(low, high)' for kind in kinds)}, "
                f"with '-' or '+-' in front for negative values or both signs, got {text!r}"
            )
        try:
            low, high = float(match["low"]), float(match["high"])
        except ValueError:
            raise CatalogueError(f"the bounds must be two numbers, got {text!r}") from None
        return cls(Kind(match["kind"]), low, high, Sign(match["sign"]))

    def __str__(self) -> str:
        return f"{self.sign.value}{self.kind.value}({_shortest(self.low)}, {_shortest(self.high)})"

    def widened(self) -> Range:
        """The range beyond the data of a fit: a factor 3 at both ends of LOG, else a quarter of the width.

        A bound never crosses zero: positive values stay positive, and values that are not negative stay so.
        """
        if self.kind is Kind.LOG:
            return replace(self, low=self.low / _LOG_FACTOR, high=self.high * _LOG_FACTOR)
        margin = _MARGIN_PER_WIDTH * (self.high - self.low)
        low, high = self.low - margin, self.high + margin
        # the smallest number of either sign that the kind can be: an integer rounds to it
        nearest = 1.0 if self.kind is Kind.INTEGER else 0.0
        if self.low >= 0:
            low = max(low, nearest if self.low > 0 else 0.0)
        if self.high <= 0:
            high = min(high, -nearest if self.high < 0 else 0.0)
        return replace(self, low=min(low, self.low), high=max(high, self.high))

    def values(self, position: NDArray[np.float64], coin: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at uniform draws in [0, 1): `position` places them between the bounds, `coin` gives the sign."""
        if self.kind is Kind.LOG:
            low, high = math.log10(self.low), math.log10(self.high)
            drawn = 10.0 ** (low + (high - low) * position)
        else:
            drawn = self.low + (self.high - self.low) * position
        if self.kind is Kind.INTEGER:
            drawn = np.round(drawn)
        if self.sign is Sign.NEGATIVE:
            return -drawn
        if self.sign is Sign.BOTH:
            return np.where(coin < 0.5, -drawn, drawn)
        return drawn


def _shortest(x: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(x).removesuffix(".0").replace("e-0", "e-").replace("e+", "e")
