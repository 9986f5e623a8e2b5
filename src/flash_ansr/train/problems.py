"""Problems for training and validation, as the config asks for them."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from flash_ansr.data import Batch, Prior, ProblemStream, load_prior
from flash_ansr.model.config import ConfigError
from flash_ansr.train.config import TrainConfig

# the same problems for every run with the same prior and rows, whatever its seed
VALIDATION_SEED = 2**62


class Problems:
    """Batches of problems by position, cut to what the network looks at.

    Parameters
    ----------
    config : TrainConfig
        Its prior must fit its model.
    seed : int
        Which problems.
    batch_size : int
        Problems a batch, of one process.
    rank, world_size : int
        This process, and how many there are.
    prior : Prior, optional
        Instead of the one that the config names: the copy that a run keeps.

    Attributes
    ----------
    seconds : float
        Time of the CPU that went into making batches so far.
    """

    def __init__(
        self,
        config: TrainConfig,
        seed: int,
        batch_size: int,
        rank: int = 0,
        world_size: int = 1,
        prior: Prior | None = None,
    ) -> None:
        prior, model = prior or load_prior(config.data.prior), config.model
        self.stream = ProblemStream(prior, seed, batch_size, rank, world_size)
        self.vocabulary = self.stream.vocabulary
        self.max_rows = config.data.max_rows
        self.seconds = 0.0
        for name, needed, has in (
            ("n_variables", self.vocabulary.n_variables, model.n_variables),
            ("n_tokens", len(self.vocabulary), model.n_tokens),
            ("max_length", prior.longest_target + 2, model.max_length),
        ):
            if needed > has:
                raise ConfigError(f"model.{name} must be at least {needed} for the prior '{prior.name}', got {has}")

    def batch(self, position: int) -> Batch:
        """Batch of this process at a position; of each table the first rows, which are as random as any."""
        start = time.thread_time()
        batch = self.stream.batch(position)
        self.seconds += time.thread_time() - start
        return batch if self.max_rows is None else first_rows(batch, self.max_rows)


def first_rows(batch: Batch, n: int) -> Batch:
    """The batch with the first n rows of each table."""
    return dataclasses.replace(
        batch, X=batch.X[:, :n], y=batch.y[:, :n], row_mask=batch.row_mask[:, :n], n_rows=batch.n_rows.clip(max=n)
    )


def validation_share(config: TrainConfig, rank: int, world_size: int, prior: Prior | None = None) -> list[Batch]:
    """Part of the validation set that a process takes, in batches of like length."""
    size = -(-config.run.n_validation // world_size)
    return Problems(config, VALIDATION_SEED, size, rank, world_size, prior).batch(0).buckets(-(-size // 64))


def n_targets(batch: Batch) -> int:
    """Tokens that a batch asks for: the skeletons and their ends."""
    return int(batch.lengths.sum()) + len(batch)


def prefetched(problems: Problems, first: int) -> Generator[Batch]:
    """Batches from a position on, each made in a thread while the one before it is used; closing it ends the thread."""
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(problems.batch, first)
        for position in itertools.count(first + 1):
            batch = following.result()
            following = pool.submit(problems.batch, position)
            yield batch
