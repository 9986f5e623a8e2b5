"""The parsers on random and mutated input: an expression that round-trips, or a ParseError that says where.

Seeded, so that an input is found again by its number. The slow variant runs the inputs that docs/testing.md speaks of.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import simplipy
from tests.strategies import ARITY

GOLDEN = json.loads(Path(__file__).parents[2].joinpath("golden", "infix.json").read_text())
TEXTS = [row["text"] for row in GOLDEN]
WORDS = "x1 x2 x10 v T_0 <constant> pi e inf -inf nan".split()
WORDS += "sin cos log exp tanh pow pow2 pow1_3 sqrt cbrt abs neg inv mult2 div3".split()
SIGNS = [*"( ) ( ) ( ) , + - * / ^ ** - +".split(), " ", "\t"]
LITERALS = [*"0 1 2 3 5 6 17 -2 0.5 .5 5. 1e5 1e-5 1E+3 1e 1e400 1e-400 007 0x1 1_000".split(), "1234567890" * 3]
ODD = ["`a b`", "`a``b`", "ä" * 50, "\0", "\n", "\x7f", *"` `` < > <const> _ é µ $ # = ! [ ] { %".split()]
ODD += ["\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{NO-BREAK SPACE}", "\N{SUPERSCRIPT TWO}", "\N{GRINNING FACE}"]
PIECES = [*WORDS, *SIGNS, *SIGNS, *LITERALS, *ODD]
LEAVES = [*"x1 x2 v <constant> pi e inf -inf nan 2 -3 0.5 1e5 -1e-300".split(), "`a b`"]
TOKENS = [*ARITY, *LEAVES, *LEAVES, *LITERALS, *ODD, "", "sinn", "x 1", "^", "(", "2*x1", "`open", "-x1", "<konstant>"]


def random_tokens(rng: random.Random, n_operators: int) -> list[str]:
    """A valid prefix expression."""
    tokens, n_open = [], 1
    while n_open:
        token = rng.choice(list(ARITY)) if len(tokens) < n_operators else rng.choice(LEAVES)
        tokens.append(token)
        n_open += ARITY.get(token, 0) - 1
    return tokens


def mutated(rng: random.Random, items: list[str], pieces: Sequence[str]) -> list[str]:
    """A copy with a few items dropped, doubled, swapped, replaced or put in."""
    items = list(items)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(items) + 1)
        change = rng.randrange(5)
        if change == 0 or not items:
            items.insert(at, rng.choice(pieces))
        elif change == 1:
            del items[at : at + rng.randint(1, 3)]
        elif change == 2:
            items[at:at] = items[max(0, at - rng.randint(1, 6)) : at]
        elif change == 3 and at + 1 < len(items):
            items[at], items[at + 1] = items[at + 1], items[at]
        elif at < len(items):
            items[at] = rng.choice(pieces)
    return items


def random_source(rng: random.Random) -> str | list[str]:
    """Infix text or a list of tokens: put together from pieces, valid, or valid and then mutated."""
    kind = rng.randrange(7)
    if kind == 0:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 12)))
    if kind == 1:
        return "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) for _ in range(rng.randint(0, 12)))
    if kind == 2:
        return "".join(mutated(rng, list(rng.choice(TEXTS)), PIECES))
    if kind == 3:
        text = simplipy.parse(random_tokens(rng, rng.randint(0, 8))).infix()
        return "".join(mutated(rng, re.findall(r"\w+|\W", text), PIECES))
    if kind == 4:
        return [rng.choice(TOKENS) for _ in range(rng.randint(0, 8))]
    tokens = random_tokens(rng, rng.randint(0, 8))
    return tokens if kind == 5 else mutated(rng, tokens, TOKENS)


def outcome(source: str | list[str]) -> str:
    """The word for what became of a source, after checking what must hold for it."""
    try:
        e = simplipy.parse(source)
    except simplipy.ParseError as error:
        message = str(error)
        assert 10 < len(message) < 1000, (source, message)
        assert re.search(r"position \d|token \d|empty", message), (source, message)
        if isinstance(source, str) and source.strip(" \t\r\n"):
            assert message.endswith("^"), (source, message)
        return "refused"
    assert isinstance(source, str) or len(e) == len(source), source
    assert simplipy.parse(e.tokens) == e, source
    text = e.infix()
    assert simplipy.parse(text) == e, source
    return "read"


def run(n: int, seed: int) -> Counter:
    """How many of n sources were read and refused; an input that kills the process is found again by its seed."""
    rng = random.Random(seed)
    return Counter(outcome(random_source(rng)) for _ in range(n))


@pytest.mark.parametrize("seed", range(4))
def test_parsers_read_or_refuse(seed: int) -> None:
    counts = run(5_000, seed)
    assert min(counts["read"], counts["refused"]) > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_parsers_read_or_refuse_a_million_inputs(seed: int) -> None:
    counts = run(100_000, seed)
    assert min(counts["read"], counts["refused"]) > 20_000
