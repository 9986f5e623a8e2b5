"""How proposals are treated: the settings of a search, and the paper's own pipeline as a set of switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

Decoding = Literal["sample", "beam"]
Refiner = Literal["lm", "bfgs", "scipy"]
Simplifier = Literal["simplipy", "sympy", "none"]


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


@dataclass(frozen=True, slots=True)
class FullPipeline(Sampling):
    """All that helps, with a say in how the network is sampled, see ``Sampling``.

    Examples
    --------
    >>> FullPipeline(temperature=1.5)
    FullPipeline(temperature=1.5, top_k=None, top_p=1.0)
    """


@dataclass(frozen=True, slots=True)
class PaperPipeline(Sampling):
    """The inference of the paper: neural proposals alone, fitted from N(0, 5) on all rows, nothing tidied.

    Attributes
    ----------
    decoding : {"sample", "beam"}
        K independent samples, or the K best of a beam search.
    refiner : {"lm", "bfgs", "scipy"}
        Levenberg-Marquardt, or SciPy's BFGS or curve_fit.
    simplifier : {"simplipy", "sympy", "none"}
        What shortens the proposals before they are compared and fitted.
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

    def __post_init__(self) -> None:
        Sampling.__post_init__(self)
        _check("decoding", self.decoding, ("sample", "beam"))
        _check("refiner", self.refiner, ("lm", "bfgs", "scipy"))
        _check("simplifier", self.simplifier, ("simplipy", "sympy", "none"))


@dataclass(frozen=True, slots=True)
class Settings:
    """How proposals are treated.

    Attributes
    ----------
    gamma : float
        The paper's price of a token, in decades of FVU.
    loss : str
        What fits minimise.
    n_restarts : int
        Of a fit.
    target_fvu : float, optional
        Stop when the best law reaches it, or is exact; 0 goes on to the end of the budget.
    random_state : int
    n_threads : int, optional
    full : FullPipeline
        Counts where ``paper`` is None.
    paper : PaperPipeline, optional
        Do as the paper does: no screen, no tidying, no scaling, no early stop.
    """

    gamma: float = 0.05
    loss: str = "squared"
    n_restarts: int = 8
    target_fvu: float | None = None
    random_state: int = 0
    n_threads: int | None = None
    full: FullPipeline = FullPipeline()
    paper: PaperPipeline | None = None


def pipeline_mapping(pipeline: FullPipeline | PaperPipeline) -> dict[str, Any]:
    """The switches as a file holds them."""
    return {"name": "paper" if isinstance(pipeline, PaperPipeline) else "full", **asdict(pipeline)}


def pipeline_from(switches: Mapping[str, Any]) -> FullPipeline | PaperPipeline:
    """The pipeline with these switches; without a ``name`` it is the paper's.

    Examples
    --------
    >>> pipeline_from({"name": "full", "top_k": 10})
    FullPipeline(temperature=1.0, top_k=10, top_p=1.0)
    """
    values = dict(switches)
    name = values.pop("name", "paper")
    _check("name", name, ("full", "paper"))
    kind = FullPipeline if name == "full" else PaperPipeline
    known = [field.name for field in fields(kind)]
    for key in values:
        if key not in known:
            raise ValueError(f"the {name} pipeline has no switch {key!r}; known are {', '.join(known)}")
    return kind(**values)


def _check(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
