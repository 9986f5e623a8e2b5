"""Walks over prefix tokens: the same as by recursion, and as deep as memory allows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given

from simplipy import OPERATORS, Expression
from simplipy.expression.prefix import fold, inherit, subterm_ends
from tests.strategies import expressions


def _spelled(token: str, operands: Sequence[list[str]]) -> list[str]:
    return [token, *(t for operand in operands for t in operand)]


@given(expressions())
def test_fold_puts_the_tokens_together_again(e: Expression) -> None:
    assert fold(e.tokens, lambda token: [token], _spelled) == e.tokens


@given(expressions())
def test_fold_meets_leaves_from_the_last_to_the_first(e: Expression) -> None:
    met: list[str] = []
    fold(e.tokens, met.append, lambda *_: None)
    assert met == [token for token in reversed(e.tokens) if token not in OPERATORS]


@given(expressions())
def test_each_subterm_ends_where_its_expression_does(e: Expression) -> None:
    spans = enumerate(subterm_ends(e.tokens))
    assert [e.tokens[i:end] for i, end in spans] == [subtree.tokens for subtree in e.subtrees()]


@given(expressions())
def test_depths_are_handed_down(e: Expression) -> None:
    assert max(inherit(e.tokens, 1, lambda i, k, depth: depth + 1)) == e.depth


def test_operands_know_their_place() -> None:
    tokens = ["-", "pow", "x1", "2", "sin", "x3"]
    assert inherit(tokens, "", lambda i, k, above: f"{above}{tokens[i]}{k} ") == [
        "", "-0 ", "-0 pow0 ", "-0 pow1 ", "-1 ", "-1 sin0 "
    ]  # fmt: skip


def test_a_deep_expression_needs_no_recursion() -> None:
    tokens = ["sin"] * 50_000 + ["x1"]
    assert fold(tokens, lambda _: 0, lambda _, operands: operands[0] + 1) == 50_000
    assert subterm_ends(tokens) == [50_001] * 50_001
    assert inherit(tokens, 0, lambda i, k, depth: depth + 1)[-1] == 50_000
