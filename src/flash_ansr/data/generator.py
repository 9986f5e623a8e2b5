"""Problems by (seed, index): the core's generator with a prior, its holdouts and what it draws skeletons from.

Problem i of a seed is the same whatever the batch, the thread and the process that make it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from flash_ansr.data.batch import Batch, Details
from flash_ansr.data.core_prior import core_material, core_prior
from flash_ansr.data.errors import DataError
from flash_ansr.data.holdout import rules_text, shared_holdout
from flash_ansr.data.prior import Prior, load_prior
from flash_ansr.data.vocabulary import Vocabulary
from simplipy import Expression

OUTCOMES: tuple[str, ...] = _core.OUTCOMES


class Generator:
    """Draws problems of a prior.

    Parameters
    ----------
    prior : str, path or Prior
        Name of a bundled prior, path of a YAML file, or a prior.
    holdouts : iterable of str or Expression, optional
        Instead of the prior's: catalogue names, catalogue files, expressions.

    Examples
    --------
    >>> from flash_ansr.data import Generator
    >>> batch = Generator("paper").batch(seed=0, indices=range(4))
    >>> len(batch), batch.X.shape[2]
    (4, 17)
    """

    def __init__(self, prior: str | Path | Prior, holdouts: Iterable[str | Expression] | None = None) -> None:
        self.prior = load_prior(prior)
        length = self.prior.max_pattern_length
        own = None if holdouts is None else tuple(holdouts)
        self.holdout = shared_holdout(self.prior.holdouts if own is None else own, length)
        self.vocabulary = Vocabulary(self.prior.skeletons.n_variables, self.prior.skeletons.drawn_operators)
        mixed = self.prior.mixed_with
        parts = [(part.share, Generator(part.prior, own)._core) for part in mixed]
        self._core: _core.Generator = _core.Generator(
            core_prior(self.prior),
            rules_text(),
            -1 if length is None else length,
            self.holdout.core,
            core_material(self.prior),
            parts,
        )

    def batch(
        self, seed: int, indices: Sequence[int] | npt.NDArray[np.int64], n_threads: int = 1, detailed: bool = False
    ) -> Batch:
        """Problems with these indices, as padded arrays, in one call to the core.

        Parameters
        ----------
        seed : int
            From 0 to 2**63 - 1.
        indices : sequence of int (B,)
            Which problems of the seed's stream.
        n_threads : int
            The result does not depend on it.
        detailed : bool
            With constants and the skeletons before simplification.
        """
        arrays, chosen = self._arrays(seed, indices, n_threads, True, detailed)
        mask = np.arange(arrays["y"].shape[1]) < arrays["n_rows"][:, None]
        return Batch(
            row_mask=mask,
            indices=chosen,
            vocabulary=self.vocabulary,
            details=self._details(arrays) if detailed else None,
            **{name: arrays[name] for name in _BATCH_ARRAYS},
        )

    def flat(
        self, seed: int, indices: Sequence[int] | npt.NDArray[np.int64], n_threads: int = 1
    ) -> dict[str, npt.NDArray[Any]]:
        """Problems with these indices without padding.

        Returns
        -------
        mapping of name to array
            X (sum of n_rows, D) and y (sum of n_rows,), then one row a problem: n_rows, n_columns, token_ids, lengths,
            noise, outcomes, n_constants; and constants, all in one array.
        """
        return self._arrays(seed, indices, n_threads, False, True)[0]

    def skeletons(
        self, seed: int, indices: Sequence[int] | npt.NDArray[np.int64], simplified: bool = True, n_threads: int = 1
    ) -> list[list[str] | None]:
        """Prefix tokens of the first draw for each index, nothing rejected; None where it is not finite."""
        ids, lengths = self._core.skeletons(_seed(seed), _indices(indices), n_threads, simplified)
        parts = np.split(ids, np.cumsum(lengths)[:-1])
        return [[self.vocabulary.tokens[i] for i in part] if len(part) else None for part in parts]

    def _arrays(
        self, seed: int, indices: Sequence[int] | npt.NDArray[np.int64], n_threads: int, padded: bool, detailed: bool
    ) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
        if n_threads < 1:
            raise DataError(f"n_threads must be >= 1, got {n_threads}")
        chosen = _indices(indices)
        return self._core.batch(_seed(seed), chosen, n_threads, padded, detailed), chosen

    def _details(self, arrays: dict[str, npt.NDArray[Any]]) -> Details:
        constants = np.split(arrays["constants"], np.cumsum(arrays["n_constants"])[:-1])
        drawn = np.split(arrays["drawn_ids"], np.cumsum(arrays["drawn_lengths"])[:-1])
        return Details(constants, [[self.vocabulary.tokens[i] for i in ids] for ids in drawn])


_BATCH_ARRAYS = ("X", "y", "token_ids", "lengths", "n_rows", "n_columns", "noise", "outcomes")


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise DataError(f"seed must be between 0 and 2**63 - 1, got {seed}")
    return int(seed)


def _indices(indices: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    chosen = np.ascontiguousarray(indices, dtype=np.int64)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.min() < 0:
        raise DataError("indices must be a one-dimensional list of at least one number >= 0")
    return chosen
