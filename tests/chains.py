"""Chains of one commutative operator in prefix tokens: into one order, or into a random order and nesting."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.strategies import ARITY

Tokens = list[str]


def sorted_chains(tokens: Sequence[str]) -> Tokens:
    """Equal for token lists that differ in order and nesting of the operands of + and * only."""

    def joined(op: str, operands: list[Tokens]) -> Tokens:
        return [op] * (len(operands) - 1) + [token for operand in sorted(operands) for token in operand]

    return _rebuilt(tokens, joined)


def shuffled(tokens: Sequence[str], rng: random.Random) -> Tokens:
    """The operands of every chain of + and of * in random order and nesting."""

    def joined(op: str, operands: list[Tokens]) -> Tokens:
        if len(operands) == 1:
            return operands[0]
        rng.shuffle(operands)
        cut = rng.randint(1, len(operands) - 1)
        return [op, *joined(op, operands[:cut]), *joined(op, operands[cut:])]

    return _rebuilt(tokens, joined)


def _rebuilt(tokens: Sequence[str], joined: Callable[[str, list[Tokens]], Tokens]) -> Tokens:
    """The same tree with every chain put together by `joined`."""
    stack: list[tuple[str, list[Tokens]]] = []  # operator and operands of an open chain; "" and one finished operand

    def closed(op: str, operands: list[Tokens]) -> Tokens:
        return joined(op, operands) if op else operands[0]

    for token in reversed(tokens):
        operands = [stack.pop() for _ in range(ARITY.get(token, 0))]
        if token in ("+", "*"):
            chain = [t for op, terms in operands for t in (terms if op == token else [closed(op, terms)])]
            stack.append((token, chain))
        else:
            stack.append(("", [[token, *(t for operand in operands for t in closed(*operand))]]))
    return closed(*stack[0])
