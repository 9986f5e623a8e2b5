"""The data of one benchmark row: rows to fit, with noise if asked for, and clean rows to judge the result by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flash_ansr.catalogues import Problem, Sample
from flash_ansr.catalogues.streams import UniformStream

FloatArray = NDArray[np.float64]

# with few rows to fit, as many to validate would tell little: a variance of one row is zero
MIN_VALIDATION_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Data set number `index` of a problem.

    Attributes
    ----------
    problem : Problem
    fit, validation, widened : Sample
        Clean rows; `widened` are validation rows from ranges beyond those of the fit.
    y_fit : ndarray, shape (points,)
        The targets that a system sees: those of `fit` plus noise.
    """

    problem: Problem
    fit: Sample
    validation: Sample
    widened: Sample
    y_fit: FloatArray

    @property
    def digests(self) -> dict[str, str]:
        """Of the uniform draws of each sample, and of the law and the ranges that make rows of them."""
        drawn = {"fit": self.fit, "validation": self.validation, "widened": self.widened}
        return {name: sample.digest for name, sample in drawn.items()} | {"problem": self.problem.digest}


def make_data_set(problem: Problem, index: int, points: int, noise: float) -> DataSet:
    """Draw a data set.

    Parameters
    ----------
    problem : Problem
    index : int
        Number of the data set.
    points : int
        Rows to fit. There are as many validation rows, but at least 256.
    noise : float
        Standard deviation of the noise on the fitted targets, relative to that of the clean ones.
    """
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a number >= 0, got {noise}")
    fit = problem.sample(points, index)
    n_validation = max(points, MIN_VALIDATION_ROWS)
    return DataSet(
        problem=problem,
        fit=fit,
        validation=problem.sample(n_validation, index, split="validation"),
        widened=problem.sample(n_validation, index, split="validation", widened=True),
        y_fit=fit.y + noise * _deviation(fit.y) * _normal(problem, index, points) if noise else fit.y,
    )


def _deviation(y: FloatArray) -> float:
    """Standard deviation, without squares that vanish or overflow."""
    scale = float(np.abs(y).max()) or 1.0
    return float((y / scale).std()) * scale


def _normal(problem: Problem, index: int, n: int) -> FloatArray:
    """Normal draws, the same on every machine up to the last bits of log and cos (Box and Muller)."""
    u = UniformStream(problem.catalogue, problem.name, index, "noise").draw(n, 2)
    radius: FloatArray = np.sqrt(-2 * np.log1p(-u[:, 0]))
    return radius * np.cos(2 * np.pi * u[:, 1])
