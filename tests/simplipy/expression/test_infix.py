"""Infix text in and out: precedence, fused literals, names, numbers, round trips, fewest parentheses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import simplipy
from tests.brackets import superfluous_pairs
from tests.strategies import ARITY, UNARY

GOLDEN = json.loads((Path(__file__).parents[2] / "golden").joinpath("infix.json").read_text())


def tokens(text: str) -> list[str]:
    return list(simplipy.parse(text).tokens)


@pytest.mark.parametrize("row", GOLDEN, ids=[row["text"] for row in GOLDEN])
def test_golden(row: dict) -> None:
    e = simplipy.parse(row["text"])
    assert e.tokens == row["tokens"]
    assert e.infix() == row["infix"]
    assert simplipy.parse(row["infix"]) == simplipy.parse(row["tokens"]) == e


@pytest.mark.parametrize("op", UNARY)
def test_every_token_name_is_a_function(op: str) -> None:
    assert tokens(f"{op}(x1)") == [op, "x1"]
    assert tokens(f"{op}(x1 + x2)") == [op, "+", "x1", "x2"]


def test_an_operator_name_without_call_is_no_variable() -> None:
    with pytest.raises(simplipy.ParseError):
        simplipy.parse("sin + 1")


def operands(op: str, leaf: str) -> list[str]:
    return [op] + [leaf] * ARITY[op]


@pytest.mark.parametrize("outer", ARITY)
def test_every_pair_of_operators_and_literals(outer: str) -> None:
    """Each operator and each kind of leaf as each operand of each operator: exact, and with the fewest parentheses."""
    leaves = ["`a b`", *"x1 <constant> pi 0 1 2 3 5 6 -1 -2 2.5 1e-30 inf -inf".split()]
    inner = [operands(op, leaf) for op in ARITY for leaf in ("x1", "1", "2", "-3")] + [[leaf] for leaf in leaves]
    for part in inner:
        for other in ("x2", "1", "3"):
            for prefix in ([outer, *part, other], [outer, other, *part]) if ARITY[outer] == 2 else ([outer, *part],):
                e = simplipy.parse(prefix)
                assert simplipy.parse(e.infix()) == e, (prefix, e.infix())
                assert superfluous_pairs(e) == [], (prefix, e.infix())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("0.10", "0.1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e2", "100"),
        ("1E+2", "100"),
        ("007", "7"),
        ("0.00001", "1e-5"),
        ("1.00000000000000000000000", "1"),
        ("0.1000000000000000055511151231257827", "0.1"),
        ("123456789012345678", "1.2345678901234568e17"),
        ("10000000000000000000000", "1e22"),
    ],
)
def test_equal_literals(text: str, same: str) -> None:
    assert simplipy.parse(text) == simplipy.parse(same)
    assert hash(simplipy.parse(text)) == hash(simplipy.parse(same))
    assert simplipy.parse([text]) == simplipy.parse(same)


def test_seventeen_digits_are_exact() -> None:
    # the same double, not the same decimal
    assert simplipy.parse("0.30000000000000001") != simplipy.parse("0.3")
    assert tokens("0.30000000000000001") == ["0.30000000000000001"]


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1.7976931348623159e308", "9" * 400, "1e-400", "2e-324"])
def test_literals_beyond_the_doubles_are_refused(text: str) -> None:
    with pytest.raises(simplipy.ParseError):
        simplipy.parse(text)
    with pytest.raises(simplipy.ParseError):
        simplipy.parse([text])


def test_precision_counts_significant_digits() -> None:
    e = simplipy.parse("1234.5678*x1 + 0.00123456")
    assert e.infix(precision=3) == "1230*x1 + 0.00123"
    assert simplipy.parse("3.14159*x1").infix(precision=3) == "3.14*x1"


def test_display_has_no_marker_parentheses() -> None:
    assert simplipy.parse(["pow", "x1", "2"]).infix(precision=3) == "x1^2"
    assert simplipy.parse(["*", "2", "x1"]).infix(precision=3) == "2*x1"


@pytest.mark.parametrize("precision", [0, -1])
def test_bad_precision(precision: int) -> None:
    with pytest.raises(ValueError, match="precision"):
        simplipy.parse("0.5*x1").infix(precision=precision)


@pytest.mark.parametrize(
    "name",
    ["my var", "größe µ", *"sin pi e pow2 sqrt cbrt a`b ` 1abc a-b <constant> inf nan + 3".split()],
)
def test_backquoted_names(name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    e = simplipy.parse(f"{quoted} + 1")
    assert e.variables == (name,)
    assert e.n_constants == 0
    assert list(e.tokens) == ["+", quoted, "1"]
    assert simplipy.parse(e.tokens) == e
    assert simplipy.parse(e.infix()) == e
    assert float(e({name: np.array([2.0])})[0]) == 3.0


def test_an_empty_name_is_refused() -> None:
    for source in ("`` + 1", ["``"]):
        with pytest.raises(simplipy.ParseError):
            simplipy.parse(source)


def test_needless_backquotes_vanish() -> None:
    assert simplipy.parse("`speed` + `x1`") == simplipy.parse("speed + x1")
    assert tokens("`speed`") == ["speed"]


def test_parse_many_is_parse() -> None:
    texts = [row["text"] for row in GOLDEN]
    assert simplipy.parse_many(texts) == [simplipy.parse(text) for text in texts]
    assert simplipy.parse_many([]) == []


def test_parse_many_says_which_one_is_wrong() -> None:
    with pytest.raises(simplipy.ParseError, match=r"^text 3, position 5:"):
        simplipy.parse_many(["x1", "x1", "x1 +", "x1"])
