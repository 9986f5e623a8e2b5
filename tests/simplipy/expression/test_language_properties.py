"""Text and tokens in and out: exact round trips, fewest parentheses, precedence."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests.brackets import superfluous_pairs
from tests.oracle import fold
from tests.strategies import EVERY_OPERATOR, examples, expressions, token_lists

parse = simplipy.parse


@examples(200)
@given(expressions(12, specials=True, operators=EVERY_OPERATOR))
def test_tokens_round_trip(e: simplipy.Expression) -> None:
    assert parse(e.tokens) == e
    assert parse(e.tokens).tokens == e.tokens


@given(token_lists(12, wild_numbers=False))
def test_canonical_tokens_come_back_unchanged(prefix: list[str]) -> None:
    assert parse(prefix).tokens == prefix


@examples(40)
@given(st.lists(expressions(6), max_size=8))
def test_batch_round_trip(batch_of: list[simplipy.Expression]) -> None:
    rows = [e.tokens for e in batch_of]
    batch = simplipy.TokenBatch.from_tokens(rows)
    assert [list(row) for row in batch.to_tokens()] == rows
    assert np.diff(batch.offsets).tolist() == [len(e) for e in batch_of]


@examples(400)
@given(expressions(12, specials=True, operators=EVERY_OPERATOR))
def test_infix_round_trip_is_exact(e: simplipy.Expression) -> None:
    text = e.infix()
    back = parse(text)
    assert back == e, text
    assert back.infix() == text


@examples(100)
@given(expressions(8))
def test_no_pair_of_parentheses_is_superfluous(e: simplipy.Expression) -> None:
    assert superfluous_pairs(e) == []


def fully_bracketed(prefix: list[str]) -> str:
    """Infix text in which every operand is in parentheses, so that precedence and fusion cannot matter."""

    def node(op: str, *operands: str) -> str:
        if op == "neg":
            return f"(-({operands[0]}))"
        if op in ("+", "-", "*", "/", "pow"):
            return f"(({operands[0]}){'^' if op == 'pow' else op}({operands[1]}))"
        return f"{op}({operands[0]})"

    return fold(prefix, lambda token, _: f"({token})", node)


@examples(150)
@given(token_lists(10))
def test_brackets_keep_literals_apart_from_operators(prefix: list[str]) -> None:
    assert parse(fully_bracketed(prefix)) == parse(prefix)


@examples(100)
@given(st.integers(0, 2**32))
def test_precedence_is_pythons(seed: int) -> None:
    rng = random.Random(seed)
    values = {"x1": 1.25, "x2": 0.75, "x3": 2.5}
    text = rng.choice(["", "-"]) + rng.choice(list(values))
    for _ in range(rng.randint(1, 6)):
        operand = rng.choice(list(values))
        if rng.random() < 0.3:
            operand = f"({operand} {rng.choice('+-*/')} {rng.choice(list(values))})"
        text += rng.choice([" + ", " - ", "*", "/", "**"]) + operand
    try:
        expected = eval(text, {}, values)
    except (OverflowError, ZeroDivisionError):
        return
    if isinstance(expected, complex):
        return
    got = float(parse(text)(np.array([list(values.values())]))[0])
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-12) or abs(expected) > 1e300


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives(x: float) -> None:
    e = parse(repr(x))
    assert float(e.tokens[0]) == x
    assert parse(e.infix()) == e


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=4))
def test_decimals_stay_exact(number: Decimal) -> None:
    (token,) = parse(format(number, "f")).tokens
    assert Decimal(token) == number


@given(expressions(8, constants=False), st.integers(1, 17))
def test_display_can_be_read_back(e: simplipy.Expression, precision: int) -> None:
    back = parse(e.infix(precision=precision))
    assert back.variables == e.variables
    assert back.depth <= e.depth


@given(st.text(min_size=1, max_size=12).filter(lambda s: s.isprintable()))
def test_any_printable_name_round_trips(name: str) -> None:
    e = parse(["sin", "`" + name.replace("`", "``") + "`"])
    assert e.variables == (name,)
    assert parse(e.infix()) == e
    assert parse(e.tokens) == e


@examples(100)
@given(token_lists(6), st.data())
def test_a_token_too_few_or_too_many_is_an_error(prefix: list[str], data: st.DataObject) -> None:
    with pytest.raises(simplipy.ParseError):
        parse(prefix[:-1])
    at = data.draw(st.integers(0, len(prefix)))
    with pytest.raises(simplipy.ParseError):
        parse([*prefix[:at], "x1", *prefix[at:]])
