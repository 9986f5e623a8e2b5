"""Streams: shapes, determinism over ranks, workers and batch sizes, resuming, buckets, torch."""

from __future__ import annotations

import pickle
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import simplipy
from flash_ansr.data import Batch, DataError, Generator, ProblemStream, Vocabulary
from tests.needs import need

ARRAYS = ("X", "y", "row_mask", "token_ids", "lengths", "n_rows", "n_columns", "noise", "indices", "outcomes")


def same(a: Batch, b: Batch) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)


def stream(**options: object) -> ProblemStream:
    return ProblemStream(**({"prior": "wide", "seed": 5, "batch_size": 6, "rows": (4, 40)} | options))


def torch_stream(**options: object) -> Any:
    from flash_ansr.data.torch_stream import TorchProblemStream

    return TorchProblemStream(stream(**options))


def problems(batches: list[Batch]) -> dict[int, tuple[list[str], npt.NDArray[np.float32]]]:
    """Problems by index, without padding."""
    return {
        int(index): (batch.tokens(i), batch.y[i, : batch.n_rows[i]])
        for batch in batches
        for i, index in enumerate(batch.indices)
    }


def assert_same_problems(a: list[Batch], b: list[Batch]) -> None:
    first, second = problems(a), problems(b)
    assert first.keys() == second.keys()
    for index, (tokens, y) in first.items():
        assert tokens == second[index][0]
        assert np.array_equal(y, second[index][1])


def test_shapes_and_padding() -> None:
    batch = stream().batch(0)
    B, R, D = batch.X.shape
    assert (B, D) == (6, 9)
    assert batch.y.shape == batch.row_mask.shape == (B, R)
    assert batch.X.dtype == batch.y.dtype == np.float32
    assert batch.token_ids.dtype == np.int16
    assert batch.row_mask.sum(1).tolist() == batch.n_rows.tolist()
    assert max(batch.n_rows) == R
    assert batch.token_ids.shape == (B, max(batch.lengths) + 2)
    assert not batch.X[~batch.row_mask].any()
    assert not batch.y[~batch.row_mask].any()
    vocabulary = batch.vocabulary
    for i in range(B):
        ids, length = batch.token_ids[i], batch.lengths[i]
        assert ids[0] == vocabulary.start
        assert ids[length + 1] == vocabulary.end
        assert (ids[length + 2 :] == vocabulary.pad).all()
        assert len(simplipy.parse(batch.tokens(i))) == length


def test_targets_are_the_values_of_the_formula() -> None:
    """Against the Python side's evaluator, on what the model sees."""
    batch = Generator("paper").batch(seed=3, indices=range(60), detailed=True)
    for i in range(60):
        n = batch.n_rows[i]
        values = batch.expression(i)(batch.X[i, :n].astype(np.float64))
        assert np.array_equal(values.astype(np.float32), batch.y[i, :n]), batch.expression(i)


def test_noise_is_as_large_as_it_says() -> None:
    batch = Generator(stream().prior.with_rows(512)).batch(seed=3, indices=range(200), detailed=True)
    assert 0.35 < np.mean(batch.noise > 0) < 0.65
    assert batch.noise.max() <= 0.1
    for i in np.flatnonzero(batch.noise > 0):
        clean = batch.expression(i)(batch.X[i].astype(np.float64))
        level = np.std(batch.y[i] - clean) / np.std(clean)
        rounding = 1e-7 * np.abs(clean).max() / np.std(clean)  # of float32, which dwarfs the noise of 1e6 + small
        assert level == pytest.approx(batch.noise[i], rel=0.25, abs=rounding)


@pytest.mark.parametrize("world_size", [2, 4])
def test_ranks_share_the_stream(world_size: int) -> None:
    """Ranks with a share of the batch each see together what one rank sees alone, no index twice."""
    alone = [stream(batch_size=8).batch(t) for t in range(3)]
    together = [
        stream(batch_size=8 // world_size, world_size=world_size, rank=rank).batch(t)
        for t in range(3)
        for rank in range(world_size)
    ]
    assert len(problems(together)) == 24
    assert_same_problems(alone, together)


def test_threads_and_batch_sizes_change_nothing() -> None:
    reference = [stream(batch_size=12).batch(0)]
    assert_same_problems(reference, [stream(batch_size=12, n_threads=3).batch(0)])
    assert_same_problems(reference, [stream(batch_size=4).batch(t) for t in (2, 0, 1)])


def test_resume_at_any_position() -> None:
    one = stream(n_batches=5)
    batches = list(one)
    assert [int(batch.indices[0]) for batch in batches] == [0, 6, 12, 18, 24]
    assert one.position == 5
    for position in range(5):
        assert same(next(iter(stream(position=position))), batches[position])
    running = stream()
    iterator = iter(running)
    next(iterator), next(iterator)
    state = running.state_dict()
    resumed = stream()
    resumed.load_state_dict(state)
    assert same(next(iter(resumed)), batches[2])
    with pytest.raises(DataError, match="seed 5, this one has 6"):
        stream(seed=6).load_state_dict(state)


def test_a_stream_survives_spawning() -> None:
    one = stream()
    assert same(pickle.loads(pickle.dumps(one)).batch(2), one.batch(2))


def test_buckets_hold_the_batch_sorted_by_length() -> None:
    batch = ProblemStream("wide", seed=1, batch_size=20, detailed=True).batch(0)
    parts = batch.buckets(3)
    assert_same_problems([batch], parts)
    lengths = np.concatenate([part.lengths for part in parts])
    assert (np.diff(lengths) >= 0).all()
    for part in parts:
        assert part.token_ids.shape[1] == part.lengths.max() + 2
        assert part.X.shape[1] == part.n_rows.max()
        assert part.expression(0).n_constants == 0
    with pytest.raises(ValueError, match="between 1 and the 20"):
        batch.buckets(21)


@pytest.mark.slow  # spawned processes import torch
def test_a_torch_loader_with_spawned_workers_gives_the_same_stream() -> None:
    torch_data = need("torch.utils.data")
    one = torch_stream(n_batches=6, position=1)
    loader = torch_data.DataLoader(one, batch_size=None, num_workers=2, multiprocessing_context="spawn")
    batches = list(loader)
    assert len(batches) == 5
    assert all(same(batch, stream().batch(t)) for t, batch in enumerate(batches, 1))


def test_a_torch_loader_takes_a_stream() -> None:
    torch_data = need("torch.utils.data")
    dataset = torch_stream(n_batches=3)
    loader = torch_data.DataLoader(dataset, batch_size=None)
    assert all(same(batch, stream().batch(t)) for t, batch in enumerate(loader))
    assert dataset.stream.position == 3


def test_the_class_does_not_depend_on_torch() -> None:
    need("torch")
    assert type(stream()) is ProblemStream


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_workers_share_the_batches_of_a_rank(n_workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a loader does: a batch of each worker in turn, each from a copy of the stream."""
    need("torch")
    iterators = []
    for worker in range(n_workers):
        info = SimpleNamespace(id=worker, num_workers=n_workers)
        monkeypatch.setattr("flash_ansr.data.torch_stream.get_worker_info", lambda info=info: info)
        one = torch_stream(n_batches=5, rank=1, world_size=2, position=1)
        iterators.append(iter(list(one)))
    batches = [batch for group in zip_longest(*iterators) for batch in group if batch is not None]
    reference = stream(rank=1, world_size=2)
    assert len(batches) == 4
    assert all(same(batch, reference.batch(t)) for t, batch in enumerate(batches, 1))


def test_bad_arguments() -> None:
    with pytest.raises(DataError, match="batch_size must be >= 1, got 0"):
        stream(batch_size=0)
    with pytest.raises(DataError, match="rank 2 of 2"):
        stream(rank=2, world_size=2)
    with pytest.raises(DataError, match="position must be >= 0"):
        stream(position=-1)
    with pytest.raises(DataError, match="seed must be between"):
        stream(seed=-1).batch(0)
    with pytest.raises(DataError, match="n_threads"):
        stream(n_threads=0).batch(0)


def test_vocabulary() -> None:
    vocabulary = Vocabulary(4)
    assert vocabulary.tokens[:3] == ("<pad>", "<start>", "<end>")
    assert [vocabulary.pad, vocabulary.start, vocabulary.end] == [0, 1, 2]
    assert vocabulary.tokens[vocabulary.constant] == "<constant>"
    assert vocabulary.tokens[vocabulary.first_variable] == "x1"
    assert vocabulary.tokens[-1] == "x4"
    assert Vocabulary.of_tokens(vocabulary.tokens) == vocabulary
    assert len(vocabulary.arities) == len(vocabulary)
    tokens = ["+", "sin", "x1", "*", "<constant>", "x4"]
    ids = [vocabulary.start, *vocabulary.encode(tokens), vocabulary.end, vocabulary.pad, -1]
    assert vocabulary.decode(ids) == tokens
    with pytest.raises(DataError, match="skeleton"):
        vocabulary.encode(["2.5"])
    with pytest.raises(DataError, match="x1 to x4"):
        vocabulary.encode(["x5"])
