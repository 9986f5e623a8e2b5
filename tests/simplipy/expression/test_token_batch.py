"""Prefix tokens in and out, and TokenBatch."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

import simplipy
from tests.strategies import ARITY


@pytest.mark.parametrize(("op", "arity"), ARITY.items())
def test_every_operator_as_token(op: str, arity: int) -> None:
    prefix = [op, "x1", "x2"][: arity + 1]
    e = simplipy.parse(prefix)
    assert list(e.tokens) == prefix
    assert len(e) == arity + 1


def test_tokens_do_not_fuse() -> None:
    assert list(simplipy.parse(["*", "2", "x1"]).tokens) == ["*", "2", "x1"]
    assert simplipy.parse(["*", "2", "x1"]) != simplipy.parse(["mult2", "x1"])
    assert simplipy.parse(["neg", "3"]) != simplipy.parse(["-3"])


def test_a_minus_is_told_from_a_negative_number() -> None:
    e = simplipy.parse(["-", "-3", "-inf"])
    assert list(e.tokens) == ["-", "-3", "-inf"]


ROWS = [["+", "x1", "<constant>"], ["x2"], ["sin", "pow", "x1", "-2.5"], ["*", "pi", "`my var`"]]


def test_batch_layout() -> None:
    batch = simplipy.TokenBatch.from_tokens(ROWS)
    assert len(batch) == 4
    assert batch.ids.dtype == np.int16
    assert batch.offsets.dtype == np.int64
    assert batch.ids.ndim == batch.offsets.ndim == 1
    assert batch.offsets.tolist() == [0, 3, 4, 8, 11]
    assert batch.ids.shape == (11,)
    assert batch.ids[1] == batch.ids[6], "one token, one id"
    assert len(set(batch.ids.tolist())) == 10


def test_batch_gives_its_tokens_back() -> None:
    batch = simplipy.TokenBatch.from_tokens(ROWS)
    assert [list(batch[i]) for i in range(4)] == ROWS
    assert [list(row) for row in batch.to_tokens()] == ROWS
    assert [list(row) for row in batch] == ROWS


@pytest.mark.parametrize("index", [4, 1000, -5])
def test_batch_index_out_of_range(index: int) -> None:
    with pytest.raises(IndexError):
        simplipy.TokenBatch.from_tokens(ROWS)[index]


def test_empty_batch() -> None:
    batch = simplipy.TokenBatch.from_tokens([])
    assert len(batch) == 0
    assert batch.offsets.tolist() == [0]
    assert batch.ids.shape == (0,)
    assert list(batch.to_tokens()) == []


def test_views_outlive_the_batch() -> None:
    ids = simplipy.TokenBatch.from_tokens(ROWS * 1000).ids
    expected = ids.copy()
    gc.collect()
    _ = [np.full(11_000, 7, dtype=np.int16) for _ in range(50)]  # reuse the memory, were it freed
    assert (ids == expected).all()


def test_batch_can_be_pickled_and_copied() -> None:
    batch = simplipy.TokenBatch.from_tokens(ROWS)
    for other in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        assert [list(row) for row in other.to_tokens()] == ROWS


@pytest.mark.parametrize("rows", [[["sin(", "x1"]], [["+", "x1", "a b"]], [[1, 2]], [None], ["x1", 3], 5, None])
def test_batch_refuses_what_are_no_tokens(rows: object) -> None:
    with pytest.raises((simplipy.ParseError, TypeError)):
        simplipy.TokenBatch.from_tokens(rows)


def test_each_distinct_token_of_a_batch_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    token_of_id = simplipy.expression.token_batch._core.token_of_id
    batch = simplipy.TokenBatch.from_tokens(ROWS * 100)
    monkeypatch.setattr(
        simplipy.expression.token_batch._core,
        "token_of_id",
        lambda i, extras: decoded.append(i) or token_of_id(i, extras),
    )
    assert batch.to_tokens() == ROWS * 100
    assert sorted(decoded) == sorted(set(batch.ids.tolist()))


def test_padding_has_no_tokens() -> None:
    batch = simplipy.TokenBatch(np.array([0, 64, 65, -1, 64, -1]), np.array([0, 4, 6]))
    assert batch.to_tokens() == list(batch) == [["+", "x1", "x2"], ["x1"]]
