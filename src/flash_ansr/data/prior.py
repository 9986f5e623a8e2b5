"""Priors: what problems are drawn from, as frozen values read from YAML. Never draws anything; see generator.py.

A prior that exists is possible: ranges are checked when it is made, and every error names the key and the remedy.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml

from flash_ansr.data.distributions import Column, Mixture, check, check_probability
from flash_ansr.data.errors import PriorError
from flash_ansr.data.sources.settings import InScale, Recombination, Sources
from flash_ansr.strict_config import from_mapping, merged, nearest
from simplipy import OPERATORS

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Skeletons:
    """Skeleton prior: P(n_ops) proportional to exp(n_ops ** alpha / lambda_), uniform unary-binary trees.

    Attributes
    ----------
    min_operators, max_operators : int
        Support of n_ops.
    alpha, lambda_ : float
        Shape of P(n_ops); alpha 0 is uniform.
    max_length : int
        Longest skeleton in tokens, before simplification.
    n_variables : int
        D, the columns of X.
    operators : mapping of token to weight
        ``other`` stands for all operators that are not named; without it they have weight 0.
    p_constant : float, optional
        Probability that the free constant is among the leaves; without it, it is as likely as each variable.
    """

    min_operators: int = 0
    max_operators: int = 17
    alpha: float = 0.7
    lambda_: float = 1.0
    max_length: int = 35
    n_variables: int = 17
    operators: Mapping[str, float] = field(default_factory=lambda: {OTHER: 1.0})
    p_constant: float | None = None

    def __post_init__(self) -> None:
        check(
            0 <= self.min_operators <= self.max_operators <= 200,
            f"0 <= min_operators <= max_operators <= 200 must hold, got {self.min_operators} and {self.max_operators}",
        )
        check(self.lambda_ > 0, f"lambda_ must be > 0, got {self.lambda_}")
        check(0 <= self.alpha <= 2, f"alpha must be between 0 and 2, got {self.alpha}")
        check(1 <= self.n_variables <= 100, f"n_variables must be between 1 and 100, got {self.n_variables}")
        shortest = self.min_operators + 1
        check(self.max_length >= shortest, f"max_length must be >= {shortest} tokens, got {self.max_length}")
        if self.p_constant is not None:
            check_probability("p_constant", self.p_constant)
        for token, weight in self.operators.items():
            if token not in OPERATORS and token != OTHER:
                near = nearest(token, [*OPERATORS, OTHER])
                hint = f"did you mean {near!r}?" if near else f"operators are {' '.join(OPERATORS)}"
                raise PriorError(f"operators has an unknown operator {token!r}; {hint}")
            check(0 <= weight < math.inf, f"the weight of operator {token!r} must be >= 0, got {weight}")
        if self.max_operators > 0 and not any(self.operator_weights.values()):
            raise PriorError("operators is empty: give at least one operator a weight > 0, or other: 1 for all")

    @property
    def operator_weights(self) -> dict[str, float]:
        """Weight of every operator."""
        other = self.operators.get(OTHER, 0.0)
        return {t: self.operators.get(t, other if row.weight > 0 else 0.0) for t, row in OPERATORS.items()}

    @property
    def drawn_operators(self) -> frozenset[str]:
        """The operators with a weight."""
        return frozenset(token for token, weight in self.operator_weights.items() if weight > 0)

    @property
    def n_ops_weights(self) -> list[float]:
        """Weights of 0, 1, ... max_operators operators, the largest 1."""
        exponents = [k**self.alpha / self.lambda_ for k in range(self.max_operators + 1)]
        largest = max(exponents)
        return [math.exp(x - largest) if k >= self.min_operators else 0.0 for k, x in enumerate(exponents)]


@dataclass(frozen=True, slots=True)
class Rows:
    """Number of rows: between low and high, uniform or log_uniform."""

    low: int
    high: int
    kind: Literal["uniform", "log_uniform"] = "uniform"

    def __post_init__(self) -> None:
        check(1 <= self.low <= self.high, f"1 <= low <= high must hold, got low {self.low} and high {self.high}")
        check(self.high <= 1_000_000, f"high must be <= 1,000,000 rows, got {self.high}")


@dataclass(frozen=True, slots=True)
class Noise:
    """Gaussian noise on y, by the standard deviation of y: a log-uniform level, in a share of the problems.

    Attributes
    ----------
    probability : float
        Share of the problems with noise.
    low, high : float
        Its level.
    p_outliers, max_outliers : float
        Share of the noisy problems with outliers, whose noise is ten times as large, and the largest share of their
        rows that are.
    """

    probability: float = 0.0
    low: float = 0.001
    high: float = 0.1
    p_outliers: float = 0.0
    max_outliers: float = 0.05

    def __post_init__(self) -> None:
        for name in ("probability", "p_outliers", "max_outliers"):
            check_probability(name, getattr(self, name))
        check(0 < self.low <= self.high < 10, f"0 < low <= high < 10 must hold, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Share:
    """Share of the problems that is drawn from another prior."""

    prior: Prior
    share: float

    def __post_init__(self) -> None:
        check(0 < self.share < 1, f"share must be between 0 and 1, got {self.share}")
        check(not self.prior.mixed_with, f"prior {self.prior.name!r} is mixed with others itself; list those here")


@dataclass(frozen=True, slots=True)
class Prior:
    """Everything that a problem is drawn from.

    Attributes
    ----------
    name : str
        The name in reports.
    skeletons : Skeletons
        Sampling of random trees; its limits hold for all skeletons.
    sources : Sources
        Shares of random trees, recombined laws and draws of the grammar.
    recombination : Recombination
        How laws are recombined.
    simplifier : {"simplipy", "none"}
        Whether skeletons are simplified, numbers counting as free constants.
    max_pattern_length : int, optional
        The paper's L_max; without it all rules.
    free_multipliers : bool
        Whether mult2, div3, ... become free constants after that, as the search does with proposals; simplified again.
    rows, columns, constants, noise
        Sampling of data.
    in_scale : InScale
        Constants that are of the size of what stands beside them, instead of drawn from ``constants``.
    retries : int
        New data sets for a skeleton whose target is not finite, before the skeleton is rejected.
    must_vary : bool
        Reject targets that are the same in all rows.
    min_effect : float
        Reject data sets where a variable alone never moves the target by more than this share of its spread: with units
        far apart, x1 + x2 can be x1 to all digits. 0 accepts all.
    placement : {"drawn", "leading"}
        Whether variables keep the columns that were drawn, the others 0, or are moved to the front.
    p_irrelevant : float
        With "leading": share of problems with columns that the formula does not use.
    holdouts : tuple of str
        Names of catalogues, paths of catalogue files, or expressions that must never occur.
    corpus : str, optional
        File of skeletons to draw from instead of sampling them: one JSON list of prefix tokens a line.
    mixed_with : tuple of Share
        Other priors, with the same vocabulary, from which shares of the problems are drawn.
    """

    name: str
    columns: tuple[Column, ...]
    constants: Mixture
    rows: Rows
    skeletons: Skeletons = Skeletons()
    sources: Sources = field(default_factory=Sources)
    recombination: Recombination = field(default_factory=Recombination)
    simplifier: Literal["simplipy", "none"] = "simplipy"
    max_pattern_length: int | None = None
    free_multipliers: bool = False
    noise: Noise = Noise()
    in_scale: InScale = field(default_factory=InScale)
    retries: int = 4
    must_vary: bool = False
    min_effect: float = 0.0
    placement: Literal["drawn", "leading"] = "drawn"
    p_irrelevant: float = 0.0
    holdouts: tuple[str, ...] = ()
    corpus: str | None = None
    mixed_with: tuple[Share, ...] = ()

    def __post_init__(self) -> None:
        check(bool(self.columns), "columns is empty: say how the columns of X are spread")
        check(bool(self.constants), "constants is empty: say how free constants are drawn")
        check(0 <= self.retries <= 1000, f"retries must be between 0 and 1000, got {self.retries}")
        check_probability("p_irrelevant", self.p_irrelevant)
        check(0 <= self.min_effect < 1, f"min_effect must be >= 0 and < 1, got {self.min_effect}")
        check(
            self.p_irrelevant == 0 or self.placement == "leading",
            "p_irrelevant needs placement: leading, since the other columns are 0 otherwise",
        )
        length = self.max_pattern_length
        check(length is None or length >= 0, f"max_pattern_length must be >= 0 or null, got {length}")
        check(
            not self.free_multipliers or self.simplifier == "simplipy",
            "free_multipliers needs simplifier: simplipy, which takes in the constants that this makes",
        )
        if self.must_vary:
            check(self.rows.high >= 2, "must_vary needs rows.high >= 2: one row never varies")
        check(self.corpus is None or self.sources == Sources(), "corpus replaces all sources: leave one of them out")
        shares = [part.share for part in self.mixed_with]
        check(sum(shares) < 1, f"the shares in mixed_with must sum up to less than 1, got {sum(shares):g}")
        for part in self.mixed_with:
            check(
                part.prior._vocabulary == self._vocabulary,
                f"prior {part.prior.name!r} has other variables or operators than prior {self.name!r}: "
                "n_variables and the operators with a weight must be the same",
            )

    @property
    def _vocabulary(self) -> tuple[int, frozenset[str]]:
        return self.skeletons.n_variables, self.skeletons.drawn_operators

    @property
    def longest_target(self) -> int:
        """Tokens of a target at most; freeing a multiplier makes two tokens of one."""
        longest = self.skeletons.max_length
        most_operators = self.skeletons.max_operators if self.sources == Sources() else longest - 1
        own = longest + (most_operators if self.free_multipliers else 0)
        return max([own, *(part.prior.longest_target for part in self.mixed_with)])

    def with_rows(self, low: int, high: int | None = None) -> Prior:
        """The same prior with another number of rows."""
        rows = dataclasses.replace(self.rows, low=low, high=low if high is None else high)
        parts = tuple(Share(part.prior.with_rows(low, high), part.share) for part in self.mixed_with)
        return dataclasses.replace(self, rows=rows, mixed_with=parts)


def prior_names() -> list[str]:
    """Names of the bundled priors."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in resources.files("flash_ansr.data").joinpath("priors").iterdir()
        if entry.name.endswith(".yaml")
    )


def load_prior(source: str | Path | Prior) -> Prior:
    """A bundled prior by name, or one's own by the path of a YAML file.

    A file may say ``base: NAME`` and then only what differs.

    Examples
    --------
    >>> from flash_ansr.data import load_prior
    >>> load_prior("paper").skeletons.max_operators
    17
    """
    if isinstance(source, Prior):
        return source
    values = _read(source)
    name = str(values.pop("name", Path(source).stem))
    return from_mapping(Prior, {"name": name, **values}, PriorError, f"prior {name!r}")


def _read(source: str | Path) -> dict[str, Any]:
    """The keys of a prior, those of its base below them."""
    path = Path(source)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PriorError(f"no prior file {str(path)!r}; bundled priors are {', '.join(prior_names())}") from None
    elif str(source) in prior_names():
        text = (resources.files("flash_ansr.data") / "priors" / f"{source}.yaml").read_text(encoding="utf-8")
    else:
        near = nearest(str(source), prior_names())
        hint = f"did you mean {near!r}? " if near else ""
        raise PriorError(
            f"no prior {str(source)!r}; {hint}bundled priors are {', '.join(prior_names())}; "
            "your own is the path of a .yaml file"
        )
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PriorError(f"prior {str(source)!r} is no YAML: {error}") from None
    if not isinstance(values, dict):
        raise PriorError(f"prior {str(source)!r} must be a mapping of keys to values, got {type(values).__name__}")
    parts = values.get("mixed_with", ())
    for part in parts if isinstance(parts, list) else (parts,):
        if isinstance(part, dict) and isinstance(part.get("prior"), str):
            part["prior"] = {"name": Path(part["prior"]).stem, **_read(part["prior"])}
    base = values.pop("base", None)
    if base is None:
        return values
    if base == str(source):
        raise PriorError(f"prior {base!r} is its own base")
    below = _read(str(base))
    below.pop("name", None)
    return merged(below, values)
