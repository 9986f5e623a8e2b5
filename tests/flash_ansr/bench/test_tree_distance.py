"""The tree edit distance, by hand and against the plain recursion on forests."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flash_ansr.bench.tree_distance import tree_distance
from simplipy import OPERATORS


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("x1", "x1", 0),
        ("x1", "x2", 1),
        ("sin x1", "x1", 1),
        ("sin x1", "cos x1", 1),
        ("+ x1 x2", "+ x2 x1", 2),
        ("+ x1 x2", "x1", 2),
        ("+ x1 x2", "* x1 sin x2", 2),
        ("* x1 sin x2", "sin * x1 x2", 2),
        ("+ * x1 x2 x3", "+ x1 * x2 x3", 2),
        ("exp neg pow2 x1", "exp x1", 2),
        ("+ x1 x2", "sin exp x3", 4),
    ],
)
def test_by_hand(a: str, b: str, expected: int) -> None:
    assert tree_distance(a.split(), b.split()) == expected
    assert tree_distance(b.split(), a.split()) == expected


Tree = tuple  # (label, (subtree, ...))


def tree_of(tokens: list[str]) -> Tree:
    stack: list[Tree] = []
    for token in reversed(tokens):
        arity = OPERATORS[token].arity if token in OPERATORS else 0
        stack.append((token, tuple(stack.pop() for _ in range(arity))))
    return stack[0]


def size(forest: tuple[Tree, ...]) -> int:
    return sum(1 + size(children) for _, children in forest)


@functools.cache
def forest_distance(a: tuple[Tree, ...], b: tuple[Tree, ...]) -> int:
    """Remove the last root of a, or of b, or match the two."""
    if not a or not b:
        return size(a) + size(b)
    (label_a, below_a), (label_b, below_b) = a[-1], b[-1]
    return min(
        forest_distance(a[:-1] + below_a, b) + 1,
        forest_distance(a, b[:-1] + below_b) + 1,
        forest_distance(a[:-1], b[:-1]) + forest_distance(below_a, below_b) + (label_a != label_b),
    )


SMALL = st.recursive(
    st.sampled_from(["x1", "x2", "<constant>"]).map(lambda leaf: [leaf]),
    lambda below: st.one_of(
        st.tuples(st.sampled_from(["sin", "neg"]), below).map(lambda t: [t[0], *t[1]]),
        st.tuples(st.sampled_from(["+", "*"]), below, below).map(lambda t: [t[0], *t[1], *t[2]]),
    ),
    max_leaves=6,
)


@given(SMALL, SMALL)
def test_against_the_recursion(a: list[str], b: list[str]) -> None:
    assert tree_distance(a, b) == forest_distance((tree_of(a),), (tree_of(b),))


@given(SMALL, SMALL, SMALL)
def test_is_a_metric(a: list[str], b: list[str], c: list[str]) -> None:
    assert (tree_distance(a, b) == 0) == (a == b)
    assert tree_distance(a, c) <= tree_distance(a, b) + tree_distance(b, c)
