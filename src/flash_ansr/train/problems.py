"""Problems for training and validation, as the config asks for them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from flash_ansr.data import Batch, ProblemStream, load_prior
from flash_ansr.model.config import ConfigError
from flash_ansr.train.config import TrainConfig

# the same problems for every run with the same prior and rows, whatever its seed
VALIDATION_SEED = 2**62


def make_stream(config: TrainConfig, seed: int, batch_size: int, rank: int = 0, world_size: int = 1) -> ProblemStream:
    """Problems as the config asks for, checked against what the model can take."""
    prior = load_prior(config.data.prior)
    rows = None if config.data.max_rows is None else (min(prior.rows.low, config.data.max_rows), config.data.max_rows)
    stream = ProblemStream(prior, seed, batch_size, rank, world_size, rows=rows)
    vocabulary, model = stream.vocabulary, config.model
    for name, needed, has in (
        ("n_variables", vocabulary.n_variables, model.n_variables),
        ("n_tokens", len(vocabulary), model.n_tokens),
        ("max_length", prior.skeletons.max_length + 2, model.max_length),
    ):
        if needed > has:
            raise ConfigError(f"model.{name} must be at least {needed} for the prior '{prior.name}', got {has}")
    return stream


def validation_share(config: TrainConfig, rank: int, world_size: int) -> list[Batch]:
    """Part of the validation set that a process takes, in batches of like length."""
    size = -(-config.run.n_validation // world_size)
    stream = make_stream(config, VALIDATION_SEED, size, rank, world_size)
    return stream.batch(0).buckets(-(-size // 64))


def n_targets(batch: Batch) -> int:
    """Tokens that a batch asks for: the skeletons and their ends."""
    return int(batch.lengths.sum()) + len(batch)


class Prefetched:
    """Batches from a step on, each made in a thread while the one before it is used."""

    def __init__(self, stream: ProblemStream, first: int) -> None:
        self.stream, self.position = stream, first
        self.seconds = 0.0
        self._pool = ThreadPoolExecutor(1)
        self._next = self._pool.submit(self._make, first)

    def next(self) -> Batch:
        """The next batch."""
        batch = self._next.result()
        self.position += 1
        self._next = self._pool.submit(self._make, self.position)
        return batch

    def _make(self, position: int) -> Batch:
        start = time.thread_time()
        batch = self.stream.batch(position)
        self.seconds += time.thread_time() - start
        return batch

    def __enter__(self) -> Prefetched:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
