"""The interface of a system: it gets data and seconds, and answers with a formula."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flash_ansr.bench.candidates import CandidateSummary
from flash_ansr.bench.rows import BenchError
from simplipy import Expression

FloatArray = NDArray[np.float64]


class SystemMissingError(BenchError):
    """A system that cannot run here; the message says what it needs."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """The input of a fit.

    Attributes
    ----------
    X : ndarray, shape (n, k)
    y : ndarray, shape (n,)
    seconds : float or None
        Wall clock for the fit; None where the system's settings limit the work.
    seed : int
    n_threads : int
    """

    X: FloatArray
    y: FloatArray
    seconds: float | None
    seed: int
    n_threads: int


@dataclass(frozen=True, slots=True)
class Trees:
    """Decision trees: they predict, and have no formula.

    Attributes
    ----------
    predict : callable
        From X, of shape (n, k), to an array of shape (n,).
    n_nodes : int
        Of all trees, leaves included.
    """

    predict: Callable[[FloatArray], FloatArray]
    n_nodes: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a fit.

    Attributes
    ----------
    expression : Expression or Trees
        The law in x1, ..., xk with all its numbers; trees where the system has no formula.
    seconds : float or None
        Wall clock of the fit where the system measures it itself, without the way to its process.
    log_prob : float or None
    candidates : CandidateSummary or None
        Of all formulas that it drew, where it draws them.
    report : dict
        Other facts about the fit, as JSON can hold them.
    """

    expression: Expression | Trees
    seconds: float | None = None
    log_prob: float | None = None
    candidates: CandidateSummary | None = None
    report: dict[str, Any] = field(default_factory=dict)


class System(ABC):
    """A system, made from its settings as keywords; `fit` may be called many times.

    A class that names itself is registered: ``class Mine(System, name="mine")`` is all that a new system needs.
    """

    def __init_subclass__(cls, name: str | None = None) -> None:
        if name is not None:
            SYSTEMS[name] = cls

    def versions(self) -> dict[str, str]:
        """Versions of the packages that it runs on. Raises SystemMissingError where it cannot run."""
        return {"numpy": np.__version__}

    @abstractmethod
    def fit(self, request: Request) -> Answer:
        """Find a law. Any exception becomes the reason of a failed row."""

    def close(self) -> None:  # noqa: B027 - most systems start nothing
        """End the processes that it started."""


SYSTEMS: dict[str, type[System]] = {}
