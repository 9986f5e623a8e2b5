"""Statistics of a prior: counts of problems, magnitudes of data, reasons of rejection. Drawn by figure.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.data.generator import OUTCOMES, Generator
from simplipy.expression.operators import CONSTANT

_CHUNK = 1000
_MAX_VALUES = 200_000
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SkeletonCounts:
    """Counts of n skeletons, arrays (n,) each."""

    n_constants: Counts
    n_unique_variables: Counts
    n_variable_nodes: Counts
    lengths: Counts

    @classmethod
    def of(cls, skeletons: Sequence[Sequence[str]]) -> SkeletonCounts:
        """Counts of prefix token lists."""
        rows = []
        for tokens in skeletons:
            variables = [t for t in tokens if t[0] == "x"]
            rows.append((tokens.count(CONSTANT), len(set(variables)), len(variables), len(tokens)))
        columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        return cls(*columns)

    def medians(self) -> dict[str, float]:
        """Median of each count."""
        return {field.name: float(np.median(getattr(self, field.name))) for field in dataclasses.fields(self)}


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Statistics of n problems of a prior.

    Attributes
    ----------
    accepted : SkeletonCounts
        Of the problems that training sees.
    drawn, simplified, simplified_all_rules : SkeletonCounts
        Of skeletons before any rejection: as drawn, simplified with the prior's L_max, and with all rules.
    outcomes : mapping of str to int
        Attempts by outcome.
    log10_x, log10_y : float64 arrays
        Magnitudes of inputs and targets that are not 0, at most some 200,000 of them.
    n_rows : int array (n,)
        Rows a problem.
    """

    prior: str
    n: int
    accepted: SkeletonCounts
    drawn: SkeletonCounts
    simplified: SkeletonCounts
    simplified_all_rules: SkeletonCounts
    outcomes: dict[str, int]
    log10_x: npt.NDArray[np.float64]
    log10_y: npt.NDArray[np.float64]
    n_rows: npt.NDArray[np.int64]

    def summary(self) -> dict[str, Any]:
        """The figures as plain values."""
        quantiles = (0.01, 0.25, 0.5, 0.75, 0.99)
        stages = ("drawn", "simplified", "simplified_all_rules", "accepted")
        return {
            "prior": self.prior,
            "n": self.n,
            "medians": {stage: getattr(self, stage).medians() for stage in stages},
            "outcomes": self.outcomes,
            "acceptance": self.n / sum(self.outcomes.values()),
            "rows": [float(q) for q in np.quantile(self.n_rows, quantiles)],
            "log10_x": [round(float(q), 3) for q in np.quantile(self.log10_x, quantiles)],
            "log10_y": [round(float(q), 3) for q in np.quantile(self.log10_y, quantiles)],
            "quantiles": quantiles,
        }


def collect(
    generator: Generator,
    n: int,
    seed: int = 0,
    n_threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
    first: int = 0,
) -> Statistics:
    """Statistics of n problems of a seed, from that with the index ``first`` on."""
    all_rules = Generator(dataclasses.replace(generator.prior, max_pattern_length=None), holdouts=())
    skeletons: dict[str, list[list[str]]] = {"drawn": [], "simplified": [], "simplified_all_rules": [], "accepted": []}
    outcomes = np.zeros(len(OUTCOMES), dtype=np.int64)
    log10_x, log10_y, n_rows = [], [], []
    for start in range(first, first + n, _CHUNK):
        indices = range(start, min(first + n, start + _CHUNK))
        batch = generator.flat(seed, indices, n_threads)
        tokens = generator.vocabulary.tokens
        ends = batch["lengths"] + 1
        skeletons["accepted"] += [
            [tokens[k] for k in ids[1:end]] for ids, end in zip(batch["token_ids"], ends, strict=True)
        ]
        for name, source, simplified in (
            ("drawn", generator, False),
            ("simplified", generator, True),
            ("simplified_all_rules", all_rules, True),
        ):
            found = source.skeletons(seed, indices, simplified, n_threads)
            skeletons[name] += [s for s in found if s is not None]
        outcomes += batch["outcomes"].sum(0)
        n_rows.append(batch["n_rows"])
        share = max(1, int(n * batch["X"].size / len(indices)) // _MAX_VALUES)
        log10_x.append(_magnitudes(batch["X"].ravel()[::share]))
        log10_y.append(_magnitudes(batch["y"][:: max(1, share // batch["X"].shape[1])]))
        progress(indices.stop - first)
    return Statistics(
        prior=generator.prior.name,
        n=n,
        outcomes={name: int(count) for name, count in zip(OUTCOMES, outcomes, strict=True)},
        log10_x=np.concatenate(log10_x),
        log10_y=np.concatenate(log10_y),
        n_rows=np.concatenate(n_rows),
        **{name: SkeletonCounts.of(found) for name, found in skeletons.items()},
    )


def _magnitudes(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    wide = np.abs(values[values != 0].astype(np.float64))
    return np.asarray(np.log10(wide), dtype=np.float64)
