"""Expression as a value, over random expressions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests.oracle import fold, is_number
from tests.strategies import X_TOKENS, expressions, token_lists

parse = simplipy.parse


@given(expressions(), expressions())
def test_equality_is_equality_of_tokens(a: simplipy.Expression, b: simplipy.Expression) -> None:
    assert (a == b) == (list(a.tokens) == list(b.tokens))
    assert (a != b) == (list(a.tokens) != list(b.tokens))
    again = parse(list(a.tokens))
    assert again == a
    assert hash(again) == hash(a)
    assert len({a, again}) == 1


@given(expressions())
def test_pickle_and_copy(e: simplipy.Expression) -> None:
    assert pickle.loads(pickle.dumps(e)) == e
    assert copy.copy(e) == e
    assert copy.deepcopy(e) == e
    assert hash(pickle.loads(pickle.dumps(e))) == hash(e)


@given(token_lists(12))
def test_measures(prefix: list[str]) -> None:
    e = parse(prefix)
    assert len(e) == len(prefix) == len(e.tokens)
    assert e.depth == fold(prefix, lambda *_: 1, lambda _, *operands: 1 + max(operands))
    assert e.n_constants == prefix.count("<constant>")


@given(token_lists(10))
def test_skeleton_replaces_every_number(prefix: list[str]) -> None:
    expected = ["<constant>" if is_number(t) or t in ("pi", "e") else t for t in prefix]
    assert list(parse(prefix).skeleton().tokens) == expected


@given(expressions(10))
def test_skeleton_twice_is_skeleton(e: simplipy.Expression) -> None:
    assert e.skeleton().skeleton() == e.skeleton()


@given(token_lists(10, wild_numbers=True), st.data())
def test_with_constants_fills_from_the_left(prefix: list[str], data: st.DataObject) -> None:
    e = parse(prefix)
    numbers = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=e.n_constants, max_size=e.n_constants))
    filled = e.with_constants(np.array(numbers))
    assert filled.n_constants == 0
    left = iter(numbers)
    for before, after in zip(e.tokens, filled.tokens, strict=True):
        if before == "<constant>":
            assert float(after) == next(left)
        else:
            assert after == before
    assert e.n_constants == len(numbers), "the original is unchanged"


@given(expressions(10), st.permutations(X_TOKENS))
def test_rename_back(e: simplipy.Expression, order: list[str]) -> None:
    there = dict(zip(X_TOKENS, order, strict=True))
    there = {old: new for old, new in there.items() if old in e.variables}
    used = {new: old for old, new in there.items()}
    assert e.rename(there).rename(used) == e


@given(token_lists(10))
def test_subtrees_are_the_suffix_expressions(prefix: list[str]) -> None:
    e = parse(prefix)
    parts = list(e.subtrees())
    assert parts[0] == e
    assert len(parts) == len(e)
    spelled = fold(
        list(e.tokens),
        lambda t, _: [[t]],
        lambda op, *a: [[op] + [t for s in a for t in s[0]]] + [s for b in a for s in b],
    )
    assert [list(p.tokens) for p in parts] == spelled
