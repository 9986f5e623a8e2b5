"""Shorter forms of a fitted formula: without one operand, or with one number for two. Fits and judges nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simplipy.expression.expression import Expression, parse
from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.fit.result import Floats
from simplipy.simplification.engine import Engine

# what is left when the other operand of a node goes: the first, the second
_LEFT = {"+": ((), ()), "-": ((), ("neg",)), "*": ((), ()), "/": ((), ("inv",)), "pow": ((), None)}
_ENGINE = Engine()


@dataclass(frozen=True, slots=True)
class Reduction:
    """A shorter form: what was done, the skeleton, and values for its constants to start from."""

    action: str
    skeleton: Expression
    start: Floats


def reductions(skeleton: Expression, constants: Floats) -> Iterator[Reduction]:
    """Forms with an operand of a sum, difference, product, quotient or power less, the shortest first.

    Examples
    --------
    >>> [r.skeleton.infix() for r in reductions(parse("<constant>*x1 + sin(x1)"), np.array([3.0]))]
    ['sin(x1)', '<constant>*x1', '<constant> + sin(x1)', 'x1 + sin(x1)']
    """
    tokens = skeleton.tokens
    ends = _ends(tokens)
    made = []
    for i, token in enumerate(tokens):
        middle = ends[i + 1] if token in _LEFT else 0
        for kept, lead in zip(((i + 1, middle), (middle, ends[i])), _LEFT.get(token, ()), strict=False):
            if lead is None:
                continue
            made.append(_made(skeleton, constants, (0, i), lead, kept, (ends[i], len(tokens))))
        if tokens[i : i + 4] == ["pow", CONSTANT, "*", CONSTANT]:
            made += _merged_exponent(skeleton, constants, i)
    unique = {r.skeleton: r for r in made if len(r.skeleton) < len(tokens)}
    yield from sorted(unique.values(), key=lambda r: len(r.skeleton))


def shortened(skeleton: Expression, constants: Floats) -> tuple[Expression, Floats]:
    """The skeleton simplified, and the values that its constants then have.

    One constant stands for several where that is shorter. Where its value leaves the range of doubles, as that of c in
    c^x for exp(-1e22*x) does, they stay apart.
    """
    explained = _ENGINE.explain(skeleton)
    table = {f"c{i}": np.array([value]) for i, value in enumerate(constants, start=1)} or {"none": np.zeros(1)}
    with np.errstate(all="ignore"):
        start = np.array([float(constant(table)[0]) for constant in explained.constants])
    if np.isfinite(start).all() and (start != 0).all():
        return explained.expression, start
    return _shortened_apart(skeleton, constants)


def _shortened_apart(skeleton: Expression, constants: Floats) -> tuple[Expression, Floats]:
    """Simplified with every constant as a variable of its own."""
    names = [f"fitted_number_{i}" for i in range(len(constants))]
    left = iter(names)
    named = parse([next(left) if token == CONSTANT else token for token in skeleton.tokens])
    tokens = _ENGINE.simplify(named).tokens
    numbers = dict(zip(names, constants.tolist(), strict=True))
    places = [token for token in tokens if token in numbers]
    if len(set(places)) < len(places):
        return skeleton, constants
    return parse([CONSTANT if t in numbers else t for t in tokens]), np.array([numbers[t] for t in places])


def _made(
    skeleton: Expression,
    constants: Floats,
    head: tuple[int, int],
    lead: tuple[str, ...],
    kept: tuple[int, int],
    tail: tuple[int, int],
) -> Reduction:
    """The formula of these stretches of its tokens."""
    tokens = skeleton.tokens
    numbered = list(_constant_numbers(tokens))
    places = [i for a, b in (head, kept, tail) for i in range(a, b)]
    written = [*tokens[head[0] : head[1]], *lead, *tokens[kept[0] : kept[1]], *tokens[tail[0] : tail[1]]]
    form, start = shortened(parse(written), constants[[numbered[i] for i in places if numbered[i] >= 0]])
    return Reduction(f"{skeleton.infix()} -> {form.infix()}", form, start)


def _merged_exponent(skeleton: Expression, constants: Floats, i: int) -> list[Reduction]:
    """c^(d*u) as exp(e*u): one number for two."""
    tokens = skeleton.tokens
    k = list(_constant_numbers(tokens))[i + 1]
    base, factor = constants[k], constants[k + 1]
    if base <= 0:
        return []
    form = parse([*tokens[:i], "exp", "*", CONSTANT, *tokens[i + 4 :]])
    start = np.concatenate([constants[:k], [math.log(base) * factor], constants[k + 2 :]])
    return [Reduction(f"{skeleton.infix()} -> {form.infix()}", form, start)]


def _constant_numbers(tokens: list[str]) -> Iterator[int]:
    """For each token the number of the free constant that it is, -1 for others."""
    n = 0
    for token in tokens:
        yield n if token == CONSTANT else -1
        n += token == CONSTANT


def _ends(tokens: list[str]) -> list[int]:
    """For each token where the subterm that it begins ends."""
    ends = [0] * len(tokens)
    for i in range(len(tokens) - 1, -1, -1):
        end = i + 1
        for _ in range(OPERATORS[tokens[i]].arity if tokens[i] in OPERATORS else 0):
            end = ends[end]
        ends[i] = end
    return ends
