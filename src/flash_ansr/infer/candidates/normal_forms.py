"""Normal forms of proposals: multipliers freed, simplified, one key a form. What has one key is fitted once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import simplipy
from flash_ansr import _core
from flash_ansr.infer.candidates.numbers import free_multipliers
from flash_ansr.infer.settings import Simplifier
from simplipy import Engine, Expression, TokenBatch

# the paper's L_max for proposals
MAX_PATTERN_LENGTH = 4
_ENGINE = Engine()


def normal_forms(batch: TokenBatch, simplifier: Simplifier = "simplipy", n_threads: int | None = None) -> TokenBatch:
    """Skeletons in the order of the batch, each as short as the simplifier makes it."""
    freed = free_multipliers(batch)
    if simplifier == "none":
        return freed
    if simplifier == "sympy":
        from flash_ansr.paper.sympy.proposals import simplified_by_sympy

        return simplified_by_sympy(freed)
    return simplipy.simplify_many(freed, n_threads=n_threads, mask_numbers=True, max_pattern_length=MAX_PATTERN_LENGTH)


def form_keys(batch: TokenBatch) -> list[bytes]:
    """The keys of normal forms: their ids. Skeletons hold no numbers, so that ids mean the same in every batch."""
    if batch.extras:
        raise ValueError(f"a normal form has no numbers and no names but x1, x2, ...; got {batch.extras[0]!r}")
    return [batch.ids[start:end].tobytes() for start, end in itertools.pairwise(batch.offsets)]


def form_hashes(batch: TokenBatch) -> list[int]:
    """64-bit hashes of the ids of each row: 11 to 22 bytes a form where keys of millions are kept."""
    hashes: list[int] = _core.hash_forms(batch.ids, batch.offsets).tolist()
    return hashes


def merged(skeleton: Expression, numbers: Sequence[float]) -> tuple[Expression, list[float]]:
    """The skeleton with free constants that one can stand for merged, where that is shorter, and their values.

    Examples
    --------
    >>> from simplipy import parse
    >>> skeleton, numbers = merged(parse("<constant>*exp(<constant> + <constant>*x1)"), [3.0, 0.0, 0.5])
    >>> len(skeleton), [round(number, 6) for number in numbers]
    (5, [3.0, 1.648721])
    """
    explained = _ENGINE.explain(skeleton, mask_numbers=True)
    if len(explained.expression) >= len(skeleton):
        return skeleton, list(numbers)
    table = {f"c{i}": np.array([value]) for i, value in enumerate(numbers, start=1)} or {"none": np.zeros(1)}
    with np.errstate(all="ignore"):
        values = [float(constant(table)[0]) for constant in explained.constants]
    return (explained.expression, values) if np.isfinite(values).all() else (skeleton, list(numbers))


def rows_of(batch: TokenBatch, rows: list[int]) -> TokenBatch:
    """The batch of these rows alone."""
    lengths = np.diff(batch.offsets)[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(batch.offsets[rows] - ends[:-1], lengths) + np.arange(ends[-1])
    return TokenBatch(batch.ids[places], ends, batch.extras)
