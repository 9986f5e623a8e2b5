"""How proposals are treated: the settings of a search, and in what its two pipelines differ.

``FullPipeline`` does all that helps, ``PaperPipeline`` what the paper does. Each says what it does at every step, so
that no step asks which of the two it works for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from flash_ansr.strict_config import from_mapping
from simplipy.fit import score
from simplipy.fit.unexplained import Floats

Decoding = Literal["sample", "beam"]
Refiner = Literal["lm", "bfgs", "scipy"]
Simplifier = Literal["simplipy", "sympy", "none"]
Starts = Literal["auto", "normal"]

# of a budget in formulas, a round takes at most one part in so many, or this many formulas
_ROUNDS = 8
_SMALLEST_ROUND = 64
# rows that a search with a time limit begins with: more formulas on fewer rows find more
_FIRST_ROWS = 10_000
# rows of a search for each second of its time limit: with more, a round or the choice alone would outlast the limit
_ROWS_A_SECOND = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn from the network.

    Attributes
    ----------
    temperature : float
        Above 0; 1 samples the network's own distribution, less its more probable tokens.
    top_k : int, optional
        Only the k most probable tokens.
    top_p : float
        Only the most probable tokens that together reach this probability.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature must be > 0, got {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be >= 1 or None, got {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], got {self.top_p}")


class Policy:
    """The choices of a pipeline at each step; here, those of the full one.

    Attributes
    ----------
    name : str
    decoding, refiner, simplifier
        See ``PaperPipeline``.
    starts : {"auto", "normal"}
        Of blind fits: all kinds of them, or N(0, 5) alone.
    is_network_alone : bool
        Whether only the network draws formulas where the user names no proposers.
    scales_units : bool
        Whether columns and y far from 1 are searched in other units.
    screens : bool
        Whether a few rows may rule a formula out.
    tidies : bool
        Whether numbers are replaced by the simple ones that they stand for.
    stops_early : bool
        Whether a law that is good enough ends the search.
    adapts_to_rows : bool
        Whether errors of rounding count as equal, a token costs more and constants are limited where rows are few, and
        of very many rows only some are searched.
    presents : bool
        Whether laws compete with baselines, each written as people do.
    """

    __slots__ = ()
    name = "full"
    decoding: Decoding = "sample"
    refiner: Refiner = "lm"
    simplifier: Simplifier = "simplipy"
    starts: Starts = "auto"
    is_network_alone = False
    scales_units = True
    screens = True
    tidies = True
    stops_early = True
    adapts_to_rows = True
    presents = True

    def check(self, proposers: str | Sequence[object], has_budget: bool) -> None:
        """Refuse proposers that it has no use for, and a search without a budget that it cannot end."""

    @property
    def measures_bloat(self) -> bool:
        """Whether formulas as drawn are compared in length with their simplified form."""
        return False

    def exact_fvu(self, y: Floats) -> float:
        """The FVU that lower ones count as equal to."""
        return score.exact_fvu(y) if self.adapts_to_rows else 0.0

    def token_price(self, gamma: float, n_rows: int) -> float:
        """Of a token in the score, in decades of FVU."""
        return score.price_of_a_token(gamma, n_rows) if self.adapts_to_rows else gamma

    def first_rows(self, time_limit: float | None) -> int | None:
        """Rows that a search begins with, None for all of them."""
        return _FIRST_ROWS if time_limit and self.adapts_to_rows else None

    def most_rows(self, time_limit: float | None) -> int | None:
        """Rows that a search may go on with: as many as its time allows, None for all of them."""
        return int(_ROWS_A_SECOND * max(time_limit, 1.0)) if time_limit and self.adapts_to_rows else None

    def round_size(self, usual: int, n_samples: int | None) -> int:
        """Formulas of a round; a small budget has turns for all proposers."""
        return usual if n_samples is None else min(usual, max(_SMALLEST_ROUND, n_samples // _ROUNDS))


@dataclass(frozen=True, slots=True)
class FullPipeline(Policy, Sampling):
    """All that helps, with a say in how the network is sampled, see ``Sampling``.

    Examples
    --------
    >>> FullPipeline(temperature=1.5)
    FullPipeline(temperature=1.5, top_k=None, top_p=1.0)
    """


@dataclass(frozen=True, slots=True)
class PaperPipeline(Policy, Sampling):
    """The inference of the paper: neural proposals alone, fitted from N(0, 5) on all rows, nothing tidied.

    Attributes
    ----------
    decoding : {"sample", "beam"}
        K independent samples, or the K best of a beam search.
    refiner : {"lm", "bfgs", "scipy"}
        Levenberg-Marquardt, or SciPy's BFGS or curve_fit.
    simplifier : {"simplipy", "sympy", "none"}
        The simplifier of proposals before they are compared and fitted.
    temperature, top_k, top_p
        See ``Sampling``; the paper's are 1, None, 1.

    Examples
    --------
    >>> PaperPipeline(refiner="bfgs").decoding
    'sample'
    """

    decoding: Decoding = "sample"
    refiner: Refiner = "lm"
    simplifier: Simplifier = "simplipy"

    name = "paper"
    starts = "normal"
    is_network_alone = True
    scales_units = False
    screens = False
    tidies = False
    stops_early = False
    adapts_to_rows = False
    presents = False

    def __post_init__(self) -> None:
        Sampling.__post_init__(self)
        _check("decoding", self.decoding, ("sample", "beam"))
        _check("refiner", self.refiner, ("lm", "bfgs", "scipy"))
        _check("simplifier", self.simplifier, ("simplipy", "sympy", "none"))

    def check(self, proposers: str | Sequence[object], has_budget: bool) -> None:
        """Refuse all but one model, and a search without a budget, which would not end."""
        if not has_budget:
            raise ValueError("pipeline='paper' needs a time_limit or n_samples: it does not stop at a target_fvu")
        models = [["neural"]] if self.decoding == "beam" else [["neural"], ["prior"]]
        if proposers != "auto" and list(proposers) not in models:
            raise ValueError(
                "pipeline='paper' samples from one model: proposers must be 'auto', ['neural'] or, without a beam, "
                f"['prior'], got {proposers!r}"
            )

    @property
    def measures_bloat(self) -> bool:
        """Whether lengths as drawn are compared with simplified ones."""
        return self.simplifier == "simplipy"

    def round_size(self, usual: int, n_samples: int | None) -> int:
        """Formulas of a round; a beam is searched once, and its width is the budget."""
        return usual if n_samples is None or self.decoding == "sample" else n_samples


AnyPipeline: TypeAlias = FullPipeline | PaperPipeline


@dataclass(frozen=True, slots=True)
class Settings:
    """How proposals are treated.

    Attributes
    ----------
    gamma : float
        Price of a token in decades of FVU, as the user gave it; ``pipeline.token_price`` says what it is on few rows.
    loss : str
        The quantity that fits minimise.
    n_restarts : int
        Of a fit.
    target_fvu : float, optional
        Stop when the best law reaches it, or is exact; 0 goes on to the end of the budget.
    random_state : int
    n_threads : int, optional
    pipeline : FullPipeline or PaperPipeline
    """

    gamma: float = score.GAMMA
    loss: str = "squared"
    n_restarts: int = 8
    target_fvu: float | None = None
    random_state: int = 0
    n_threads: int | None = None
    pipeline: AnyPipeline = FullPipeline()

    def treatment(self) -> Settings:
        """The settings without those that change what is looked for, and not what becomes of it."""
        pipeline = replace(self.pipeline, **asdict(Sampling()))
        return replace(self, target_fvu=None, random_state=0, n_threads=None, pipeline=pipeline)


_PIPELINES: Mapping[str, type[AnyPipeline]] = {kind.name: kind for kind in (FullPipeline, PaperPipeline)}


def chosen_pipeline(pipeline: object) -> AnyPipeline:
    """The pipeline of this name, or the one that is given."""
    if isinstance(pipeline, FullPipeline | PaperPipeline):
        return pipeline
    if str(pipeline) not in _PIPELINES:
        raise ValueError(f"pipeline must be 'full', 'paper', a FullPipeline or a PaperPipeline, got {pipeline!r}")
    return _PIPELINES[str(pipeline)]()


def pipeline_mapping(pipeline: AnyPipeline) -> dict[str, Any]:
    """The switches as a file holds them."""
    return {"name": pipeline.name, **asdict(pipeline)}


def pipeline_from(switches: Mapping[str, Any]) -> AnyPipeline:
    """The pipeline with these switches; without a ``name`` it is the paper's.

    Examples
    --------
    >>> pipeline_from({"name": "full", "top_k": 10})
    FullPipeline(temperature=1.0, top_k=10, top_p=1.0)
    """
    values = dict(switches)
    name = values.pop("name", "paper")
    _check("name", name, tuple(_PIPELINES))
    return from_mapping(_PIPELINES[name], values, ValueError, owner=f"the {name} pipeline")


def _check(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
