"""Short decimals in place of chains of whole multiples: the same formula, as many tokens."""

from __future__ import annotations

from hypothesis import given

from flash_ansr.infer.plain_numbers import plain_numbers
from simplipy import Expression, parse, simplify
from tests.strategies import expressions


@given(expressions())
def test_the_same_formula_in_as_many_tokens(expression: Expression) -> None:
    plain = plain_numbers(expression)
    assert len(plain) == len(expression)
    assert simplify(plain) == simplify(expression)


def test_only_short_decimals_are_written() -> None:
    assert plain_numbers(parse("5*(x1/4)")).tokens == ["*", "1.25", "x1"]
    for kept in ("2*(x1/3)", "x1/2", "5*x1", "sin(2*x1/3)"):
        assert plain_numbers(parse(kept)) == parse(kept)
