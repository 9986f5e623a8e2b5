"""The holdout check once more, slowly and another way: to audit the one in the core.

Written from the definition alone: pruning by recursion over prefix tokens, values by the NumPy export, every
permutation of an entry's variables, comparison of values in place of hashes. Shares no code with native/ansr/data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

import simplipy
from simplipy import OPERATORS, Expression

MAX_VARIABLES = 6  # an entry with more has too many permutations for this check
SCALES = ("neg", *(f"{name}{k}" for name in ("mult", "div") for k in (2, 3, 4, 5)))
# beyond pi too: inside it acos(cos(x)) is |x|, and x*sin(x) is never negative
REGIONS = ((1.1, 12.0), (0.2, 0.9), (-12.0, 12.0))
N_POINTS = 96
RTOL = 1e-7
Values = npt.NDArray[np.float64]


def pruned(tokens: Sequence[str], scales: bool) -> list[str]:
    """Prefix tokens without constants; empty when nothing is left. With `scales` without integer factors and signs."""
    rest = iter(tokens)

    def term() -> list[str]:
        token = next(rest)
        if token not in OPERATORS:
            return [token] if token[0] == "x" else []
        if OPERATORS[token].arity == 1:
            operand = term()
            return operand if not operand or (scales and token in SCALES) else [token, *operand]
        left, right = term(), term()
        if left and right:
            return [token, *left, *right]
        if right and token == "/":
            return ["inv", *right]
        if right and token == "-" and not scales:
            return ["neg", *right]
        return left or right

    return term()


def in_order_of_occurrence(tokens: Sequence[str]) -> tuple[list[str], int]:
    """Variables renamed x1, x2, ... from left to right, and their number."""
    names: dict[str, str] = {}
    renamed = [names.setdefault(t, f"x{len(names) + 1}") if t[0] == "x" else t for t in tokens]
    return renamed, len(names)


@dataclass(frozen=True)
class SlowEntry:
    """An entry in one of its arrangements, with its values in every region."""

    name: int
    values: Values  # (regions, points)


class SlowHoldout:
    """Finds the entry that a skeleton equals, and that is defined at the same points."""

    def __init__(
        self,
        entries: Iterable[Expression],
        scales: bool = False,
        max_pattern_length: int | None = None,
        max_variables: int = MAX_VARIABLES,
    ) -> None:
        self.scales = scales
        self.max_pattern_length = max_pattern_length
        self.max_variables = max_variables
        generator = np.random.default_rng(12345)
        self.X = np.stack([generator.uniform(low, high, (N_POINTS, max_variables)) for low, high in REGIONS])
        self.by_value: dict[tuple[int, int, float], list[SlowEntry]] = {}
        for i, entry in enumerate(entries):
            for tokens in self._forms(entry):
                self._add(i, tokens)

    def find(self, tokens: Sequence[str]) -> int | None:
        """Number of the entry, if any."""
        kept, n = in_order_of_occurrence(pruned(tokens, self.scales))
        if not kept or n > self.max_variables:
            return None
        values = self._values(kept, range(n))
        for key in self._keys(values, n):
            for entry in self.by_value.get(key, []):
                if self._equal(values, entry.values):
                    return entry.name
        return None

    def _forms(self, entry: Expression) -> Iterator[list[str]]:
        """As written and simplified, numbers counting as constants."""
        yield entry.tokens
        yield simplipy.simplify(entry, mask_numbers=True, max_pattern_length=self.max_pattern_length).tokens

    def _add(self, i: int, tokens: list[str]) -> None:
        kept, n = in_order_of_occurrence(pruned(tokens, self.scales))
        if not kept or n > self.max_variables:
            return
        for order in permutations(range(n)):
            values = self._values(kept, order)
            for key in self._keys(values, n):
                self.by_value.setdefault(key, []).append(SlowEntry(i, values))

    def _values(self, tokens: list[str], order: Iterable[int]) -> Values:
        function = simplipy.parse(tokens).numpy()
        columns = list(order)
        with np.errstate(all="ignore"):
            return np.stack([np.asarray(function(region[:, columns]), dtype=np.float64) for region in self.X])

    def _keys(self, values: Values, n: int) -> Iterator[tuple[int, int, float]]:
        """A few values rounded, to look up what may be equal."""
        for region in range(len(REGIONS)):
            for point in (0, 1, 2):
                value = values[region, point]
                if np.isfinite(value):
                    yield n, 3 * region + point, float(f"{value:.6e}")

    def _equal(self, a: Values, b: Values) -> bool:
        finite = np.isfinite(a)
        if finite.sum() < N_POINTS // 3 or (finite != np.isfinite(b)).any():
            return False
        constant = np.ptp(a[finite]) <= RTOL * np.abs(a[finite]).max()
        return bool(np.allclose(a[finite], b[finite], rtol=RTOL, atol=0)) and not constant
