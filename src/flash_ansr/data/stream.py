"""Endless streams of batches for training: deterministic, split over ranks and workers, resumable anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flash_ansr.data.batch import Batch
from flash_ansr.data.errors import DataError
from flash_ansr.data.generator import Generator
from flash_ansr.data.prior import Prior, load_prior
from flash_ansr.data.vocabulary import Vocabulary
from simplipy import Expression


class ProblemStream:
    """An endless stream of batches of problems.

    Batch b of a stream holds the problems ``b * batch_size`` to ``(b + 1) * batch_size - 1`` of its seed. Rank r of
    ``world_size`` gets the batches ``r, r + world_size, ...``, and of those the w-th of W workers of a torch
    ``DataLoader`` gets every W-th; so no index occurs twice, and a loader gives the same batches in the same order for
    any number of workers. Ranks with ``batch_size / world_size`` each see together what one rank would see alone.

    For a torch ``DataLoader`` wrap it: ``flash_ansr.data.torch_stream.TorchProblemStream(stream)``.

    Parameters
    ----------
    prior : str, path or Prior
        Name of a bundled prior, path of a YAML file, or a prior.
    seed : int
        Which stream.
    batch_size : int
        Problems a batch.
    rank, world_size : int
        This process among those that train together.
    position : int
        Batches of this rank that are done: where to go on.
    n_batches : int, optional
        Batches of this rank after which the stream ends, counted from 0; None never ends.
    rows : int or (int, int), optional
        Number of rows instead of the prior's: fixed, or from low to high.
    holdouts : iterable of str or Expression, optional
        Instead of the prior's.
    n_threads : int
        Threads that make a batch.
    detailed : bool
        Batches with constants and unsimplified skeletons.

    Attributes
    ----------
    vocabulary : Vocabulary
        Tokens and ids, with the sizes that a model needs.
    position : int
        Batches of this rank that were given out; in the process that iterates, not in loader workers.

    Examples
    --------
    >>> from flash_ansr.data import ProblemStream
    >>> stream = ProblemStream("wide", seed=0, batch_size=8, rows=64)
    >>> batch = next(iter(stream))
    >>> batch.X.shape, batch.y.shape, batch.row_mask.all()
    ((8, 64, 9), (8, 64), np.True_)
    """

    def __init__(
        self,
        prior: str | Path | Prior,
        seed: int = 0,
        batch_size: int = 128,
        rank: int = 0,
        world_size: int = 1,
        position: int = 0,
        n_batches: int | None = None,
        rows: int | tuple[int, int] | None = None,
        holdouts: Iterable[str | Expression] | None = None,
        n_threads: int = 1,
        detailed: bool = False,
    ) -> None:
        if batch_size < 1:
            raise DataError(f"batch_size must be >= 1, got {batch_size}")
        if not 0 <= rank < world_size:
            raise DataError(f"rank must be between 0 and world_size - 1, got rank {rank} of {world_size}")
        if position < 0:
            raise DataError(f"position must be >= 0 batches, got {position}")
        self.prior = load_prior(prior)
        if rows is not None:
            self.prior = self.prior.with_rows(*((rows,) if isinstance(rows, int) else rows))
        self.seed = seed
        self.batch_size = batch_size
        self.rank = rank
        self.world_size = world_size
        self.position = position
        self.n_batches = n_batches
        self.n_threads = n_threads
        self.detailed = detailed
        self.holdouts = None if holdouts is None else tuple(holdouts)
        self.vocabulary = Vocabulary(self.prior.skeletons.n_variables, self.prior.skeletons.drawn_operators)
        self._generator: Generator | None = Generator(self.prior, self.holdouts)

    def batch(self, position: int) -> Batch:
        """The batch of this rank at a position."""
        first = (position * self.world_size + self.rank) * self.batch_size
        if self._generator is None:  # in a worker that was spawned
            self._generator = Generator(self.prior, self.holdouts)
        indices = np.arange(first, first + self.batch_size, dtype=np.int64)
        return self._generator.batch(self.seed, indices, self.n_threads, self.detailed)

    def __iter__(self) -> Iterator[Batch]:
        """Batches from ``position`` on; each step moves it."""
        return self.share(0, 1)

    def share(self, worker: int, n_workers: int) -> Iterator[Batch]:
        """Every n-th batch from ``position`` on, beginning with that of the worker; each step moves ``position``."""
        at = self.position + worker
        while self.n_batches is None or at < self.n_batches:
            batch = self.batch(at)
            at += n_workers
            self.position = at - worker
            yield batch

    def state_dict(self) -> dict[str, Any]:
        """The position of the stream as plain values for a checkpoint."""
        return {"prior": self.prior.name, "seed": self.seed, "batch_size": self.batch_size, "position": self.position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where the stream was; it must be the same stream."""
        for name, mine in self.state_dict().items():
            if name != "position" and state.get(name) != mine:
                raise DataError(
                    f"the state is of a stream with {name} {state.get(name)!r}, this one has {mine!r}; "
                    "make the stream as it was, or start a new one with position=0"
                )
        self.position = int(state["position"])

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_generator": None}
