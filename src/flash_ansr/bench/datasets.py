"""The data of one benchmark row: rows to fit, with noise if asked for, and clean rows that judge the result."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from flash_ansr.catalogues import FloatArray, Problem, Sample, load
from flash_ansr.catalogues.streams import UniformStream, digest_of

# a process works on many rows of a catalogue
catalogue_of = functools.lru_cache(maxsize=16)(load)
# few validation rows would make a poor estimate: the variance of one row is zero
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
    noise_digest : str or None
        Of the uniform draws behind the noise, where there is any.
    """

    problem: Problem
    fit: Sample
    validation: Sample
    widened: Sample
    y_fit: FloatArray
    noise_digest: str | None = None

    @property
    def digests(self) -> dict[str, str]:
        """Of the uniform draws of each sample and of the noise, and of the law and ranges that make rows of them."""
        drawn = {"fit": self.fit, "validation": self.validation, "widened": self.widened}
        noise = {} if self.noise_digest is None else {"noise": self.noise_digest}
        return {name: sample.digest for name, sample in drawn.items()} | noise | {"problem": self.problem.digest}


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
    u = UniformStream(problem.catalogue, problem.name, index, "noise").draw(points, 2) if noise else None
    return DataSet(
        problem=problem,
        fit=fit,
        validation=problem.sample(n_validation, index, split="validation"),
        widened=problem.sample(n_validation, index, split="validation", widened=True),
        y_fit=fit.y if u is None else fit.y + noise * deviation(fit.y) * _normal(u),
        noise_digest=None if u is None else digest_of(u),
    )


def deviation(y: FloatArray) -> float:
    """Standard deviation, without squares that vanish or overflow."""
    scale = float(np.abs(y).max()) or 1.0
    return float((y / scale).std()) * scale


def _normal(u: FloatArray) -> FloatArray:
    """Normal draws of pairs, the same on every machine up to the last bits of log and cos (Box and Muller)."""
    radius: FloatArray = np.sqrt(-2 * np.log1p(-u[:, 0]))
    return radius * np.cos(2 * np.pi * u[:, 1])
