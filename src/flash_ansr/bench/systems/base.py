"""What a system is to the benchmark: something that is given data and seconds, and answers with a formula."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

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
    """What a system is given.

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
class Found:
    """What a system answers.

    Attributes
    ----------
    expression : Expression
        The law in x1, ..., xk with all its numbers.
    seconds : float or None
        Wall clock of the fit where the system measures it itself, without the way to its process.
    log_prob : float or None
    candidates : CandidateSummary or None
        Of all formulas that it drew, where it draws them.
    report : dict
        What else it says, as JSON can hold it.
    """

    expression: Expression
    seconds: float | None = None
    log_prob: float | None = None
    candidates: CandidateSummary | None = None
    report: dict[str, Any] = field(default_factory=dict)


class System(Protocol):
    """A system, made from its settings; `fit` may be called many times."""

    def versions(self) -> dict[str, str]:
        """Versions of what it runs on. Raises SystemMissingError where it cannot run."""

    def fit(self, request: Request) -> Found:
        """Find a law. Any exception becomes the reason of a failed row."""

    def close(self) -> None:
        """End what it started."""
