"""Shorter forms of a fitted formula: without one operand, or with one number for two. Fits and judges nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simplipy.expression.expression import Expression, evaluate_many, parse
from simplipy.expression.operators import CONSTANT
from simplipy.expression.prefix import subterm_ends
from simplipy.fit.unexplained import Floats
from simplipy.simplification.engine import Engine

_Valued = list[tuple[str, float]]  # tokens, each with its value where it is a free constant
# what stands before the first, the second operand of a node when the other one goes; None where it cannot go
_LEFT: dict[str, tuple[_Valued | None, _Valued | None]] = {
    "+": ([], []),
    "-": ([], [("neg", math.nan)]),
    "*": ([], []),
    "/": ([], [("inv", math.nan)]),
    "pow": ([], None),
}
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
    ends = subterm_ends(tokens)
    numbers = iter(constants.tolist())
    valued: _Valued = [(token, next(numbers) if token == CONSTANT else math.nan) for token in tokens]
    made = []
    for i, token in enumerate(tokens):
        if token in _LEFT:
            middle = ends[i + 1]
            for kept, lead in zip((slice(i + 1, middle), slice(middle, ends[i])), _LEFT[token], strict=True):
                if lead is not None:
                    made.append(shortened(*_parts([*valued[:i], *lead, *valued[kept], *valued[ends[i] :]])))
        if tokens[i : i + 4] == ["pow", CONSTANT, "*", CONSTANT] and valued[i + 1][1] > 0:
            # c^(d*u) as exp(e*u): one number for two
            exponent = math.log(valued[i + 1][1]) * valued[i + 3][1]
            exponential = [("exp", math.nan), ("*", math.nan), (CONSTANT, exponent)]
            made.append(_parts([*valued[:i], *exponential, *valued[i + 4 :]]))
    unique = {form: start for form, start in made if len(form) < len(tokens)}
    for form in sorted(unique, key=len):
        yield Reduction(f"{skeleton.infix()} -> {form.infix()}", form, unique[form])


def _parts(valued: _Valued) -> tuple[Expression, Floats]:
    """The skeleton and the values of its constants."""
    return parse([token for token, _ in valued]), np.array([value for token, value in valued if token == CONSTANT])


def shortened(skeleton: Expression, constants: Floats) -> tuple[Expression, Floats]:
    """The skeleton simplified, and the values that its constants then have.

    One constant stands for several where that is shorter. Where its value leaves the range of doubles, as that of c in
    c^x for exp(-1e22*x) does, they stay apart.
    """
    explained = _ENGINE.explain(skeleton)
    table = {f"c{i}": np.array([value]) for i, value in enumerate(constants, start=1)} or {"none": np.zeros(1)}
    values, _ = evaluate_many(explained.constants, table, n_threads=1)
    start = np.asarray(values[:, 0], dtype=np.float64)
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
