"""How systems compare on tables without a known law: R2, size, rank and the honesty of cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flash_ansr.bench.bootstrap import Estimate, bootstrap
from flash_ansr.bench.groups import Group

# of fewer rows to test, R2 is too uncertain to compare r2_cv with
_MIN_TEST_ROWS = 100


@dataclass(frozen=True)
class Standing:
    """A group on tables; every estimate is over tables, after a mean over the splits of each.

    Attributes
    ----------
    group : Group
    mean_r2, median_r2 : Estimate
        Of max(R2, 0) on the rows to test; a failure counts as 0.
    rank : Estimate
        Mean rank by that R2 among the groups, on tables that all of them have; 1 is best.
    size : Estimate
        Mean tokens of the formula, or nodes of trees.
    gap : Estimate
        Mean of |r2_cv - R2| on tables with 100 rows to test at least, where the system has r2_cv.
    n_failed : int
        Rows without an answer.
    """

    group: Group
    mean_r2: Estimate
    median_r2: Estimate
    rank: Estimate
    size: Estimate
    gap: Estimate
    n_failed: int


def standings(groups: Sequence[Group]) -> list[Standing]:
    """The groups, which are all on tables, in their order."""
    r2 = {k: by_table(group, "r2") for k, group in enumerate(groups)}
    ranks = pd.DataFrame(r2).dropna().rank(axis=1, ascending=False)
    return [
        Standing(
            group,
            mean_r2=bootstrap(r2[k].tolist()),
            median_r2=bootstrap(r2[k].tolist(), "median"),
            rank=bootstrap(ranks[k].tolist()),
            size=bootstrap(by_table(group, "size").tolist()),
            gap=bootstrap(_gaps(group.scores).groupby(level=0, sort=False).mean().tolist()),
            n_failed=sum(row.error is not None for row in group.rows),
        )
        for k, group in enumerate(groups)
    ]


def by_table(group: Group, name: str) -> pd.Series[float]:
    """Mean over the splits of each table: `r2` is max(R2, 0), and other columns are those of the scores."""
    values = group.scores["r2_test"].fillna(-math.inf).clip(lower=0) if name == "r2" else group.scores[name]
    return values.groupby(level=0, sort=False).mean()


def is_dominated(one: Standing, others: Sequence[Standing]) -> bool:
    """Whether another standing has at least the same R2 at no more size, and is better in one of these."""
    r2, size = one.mean_r2.value, one.size.value
    return any(
        other.mean_r2.value >= r2 and other.size.value <= size and (other.mean_r2.value, other.size.value) != (r2, size)
        for other in others
    )


def _gaps(scores: pd.DataFrame) -> pd.Series[float]:
    """Of the rows that can be compared; NaN for the others."""
    gaps = (scores["r2_cv"] - scores["r2_test"]).abs()
    return gaps.where(scores["n_test_rows"] >= _MIN_TEST_ROWS, np.nan)
