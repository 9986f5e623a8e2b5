"""Settings, read from YAML: shares of the sources of skeletons, edits of laws, and constants in scale with the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flash_ansr.data.distributions import check, check_probability

EDITS = ("exchange", "join", "merge", "fix", "free")


@dataclass(frozen=True, slots=True)
class Sources:
    """Shares of the sources of skeletons, by weight.

    Attributes
    ----------
    trees : float
        Random trees, see ``Skeletons``.
    laws : float
        Laws of science, recombined.
    grammar : float
        Draws of the grammar that forms are priced by, see ``flash_ansr.price``.
    """

    trees: float = 1.0
    laws: float = 0.0
    grammar: float = 0.0

    def __post_init__(self) -> None:
        shares = (self.trees, self.laws, self.grammar)
        check(all(0 <= share < math.inf for share in shares), f"shares of sources must be >= 0, got {shares}")
        check(any(shares), "sources is empty: give trees, laws or grammar a share > 0")


@dataclass(frozen=True, slots=True)
class Recombination:
    """How laws are recombined: a law is drawn, and edited as long as a coin says so.

    Attributes
    ----------
    p_edit : float
        Probability of an edit, and of another one after each.
    exchange, join, merge, fix, free : float
        Weights of the edits: a subterm gives way to one that stands in the same place in another law; the whole becomes
        a term or a factor beside such a one; two variables become one; a variable becomes a constant; a constant
        becomes a variable.
    p_shared : float
        Probability that a variable that comes in becomes one that is there.
    p_new_range : float
        Probability that a variable has a range of the prior's ``columns`` instead of that of its law.
    unit_decades : float
        The range of a quantity that has a unit moves by up to so many decades.
    """

    p_edit: float = 0.0
    exchange: float = 1.0
    join: float = 1.0
    merge: float = 1.0
    fix: float = 1.0
    free: float = 1.0
    p_shared: float = 0.5
    p_new_range: float = 0.0
    unit_decades: float = 0.0

    def __post_init__(self) -> None:
        check(0 <= self.p_edit < 1, f"p_edit must be >= 0 and < 1, or edits never end, got {self.p_edit}")
        for name in ("p_shared", "p_new_range"):
            check_probability(name, getattr(self, name))
        check(
            all(0 <= weight < math.inf for weight in self.weights) and any(self.weights),
            f"the weights of {', '.join(EDITS)} must be >= 0 and not all 0, got {self.weights}",
        )
        check(0 <= self.unit_decades <= 6, f"unit_decades must be between 0 and 6, got {self.unit_decades}")

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the edits, in the order of ``EDITS``."""
        return tuple(getattr(self, name) for name in EDITS)


@dataclass(frozen=True, slots=True)
class InScale:
    """Constants of the size of what stands beside them: near the other term of a sum, near 1 in what a function takes.

    Attributes
    ----------
    probability : float
        Share of the data sets whose constants are drawn so.
    decades : float
        Standard deviation of the decimal logarithm of the size.
    negative, rounded : float
        Probabilities that a constant is negative, and that it has one digit.
    """

    probability: float = 0.0
    decades: float = 0.5
    negative: float = 0.0
    rounded: float = 0.0

    def __post_init__(self) -> None:
        for name in ("probability", "negative", "rounded"):
            check_probability(name, getattr(self, name))
        check(0 <= self.decades <= 3, f"decades must be between 0 and 3, got {self.decades}")
