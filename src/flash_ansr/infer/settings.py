"""How proposals are treated: the settings of a search, and the paper's own pipeline as a set of switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Decoding = Literal["sample", "beam"]
Refiner = Literal["lm", "bfgs", "scipy"]
Simplifier = Literal["simplipy", "sympy", "none"]


@dataclass(frozen=True, slots=True)
class PaperPipeline:
    """The inference of the paper: neural proposals alone, fitted from N(0, 5) on all rows, nothing tidied.

    Attributes
    ----------
    decoding : {"sample", "beam"}
        K independent samples, or the K best of a beam search.
    refiner : {"lm", "bfgs", "scipy"}
        Levenberg-Marquardt, or SciPy's BFGS or curve_fit.
    simplifier : {"simplipy", "sympy", "none"}
        What shortens the proposals before they are compared and fitted.

    Examples
    --------
    >>> PaperPipeline(decoding="beam")
    PaperPipeline(decoding='beam', refiner='lm', simplifier='simplipy')
    """

    decoding: Decoding = "sample"
    refiner: Refiner = "lm"
    simplifier: Simplifier = "simplipy"

    def __post_init__(self) -> None:
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
        Stop when the best law reaches it.
    random_state : int
    n_threads : int, optional
    paper : PaperPipeline, optional
        Do as the paper does: no screen, no tidying, no scaling, no early stop.
    """

    gamma: float = 0.05
    loss: str = "squared"
    n_restarts: int = 8
    target_fvu: float | None = None
    random_state: int = 0
    n_threads: int | None = None
    paper: PaperPipeline | None = None


def _check(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
