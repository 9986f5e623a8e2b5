"""Parts of formulas that are a number, a line, a parabola or a logarithm on the rows; what they amount to instead.

Each kind is a row of a table: which part may be one, of what it is then a line, and how that is written. The values on
the rows decide. Fits nothing, and judges no formula: see ``saturation.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.infer.table.table import FloatArray
from flash_ansr.price import is_usual
from simplipy import OPERATORS, Expression, parse
from simplipy.expression.operators import EXPONENTS, leaf_kind
from simplipy.expression.prefix import subterm_ends
from simplipy.fit.description_length import is_number

# parts whose values spread by less than this, relative to their size, are numbers; by less than that, lines at most
_OF_A_NUMBER = 1e-6
_OF_A_LINE = 1e-2
# others are lines where they are nowhere further from one, relative to their spread
_BENT = 1e-3
_ROUNDING = 1e-13
_DIGITS = 6  # of a number that stands for a part
_MAX_ROWS = 256
_LINEAR_FORMS = ("minus", "scale", "quotient")
_WAVES = ("sin", "cos")
# integers up to this size times a frequency keep their digits
_LARGEST_INTEGER = 1e6
_FEW_DIGITS = 2  # of a frequency that laws write out

Floats = npt.NDArray[np.float64]


class Kind(NamedTuple):
    """A kind of parts that amount to a line of something.

    Attributes
    ----------
    name : str
    before, after : str
        An example on rows between 0.2 and 2; C is a number.
    argument : callable
        Where the argument begins in the tokens of a part, None where the part is of another kind.
    values : callable
        What the part is a line of, from values of the argument.
    tokens : callable
        The same from tokens.
    has_start : bool
        Whether the line need not be 0 where its argument is.
    """

    name: str
    before: str
    after: str
    argument: Callable[[Sequence[str]], int | None]
    values: Callable[[Floats], Floats]
    tokens: Callable[[list[str]], list[str]]
    has_start: bool = True


def replacements(expressions: Sequence[Expression], X: FloatArray) -> list[list[Expression]]:
    """For each formula, the forms with one part replaced, from the outside inwards, and that with slower waves.

    Examples
    --------
    >>> X = np.arange(1.0, 20.0)[:, None]
    >>> [[print(form) for form in forms] for forms in replacements([parse("x1*tanh(50 + x1)")], X)]
    x1*1
    [[None]]
    """
    rows = X[np.linspace(0, len(X) - 1, min(len(X), _MAX_ROWS)).astype(np.int64)]
    parts = [list(expression.subtrees()) for expression in expressions]
    evaluated, _ = simplipy.evaluate_many([part for own in parts for part in own], rows)
    values = np.asarray(evaluated, dtype=np.float64)
    found, first = [], 0
    for expression, own in zip(expressions, parts, strict=True):
        forms = [*_replacements(expression.tokens, values[first : first + len(own)]), *_slower(expression.tokens, X)]
        found.append(forms)
        first += len(own)
    return found


def _replacements(tokens: list[str], values: FloatArray) -> Iterator[Expression]:
    ends = subterm_ends(tokens)
    for i, token in enumerate(tokens):
        if token in OPERATORS and _has_variable(tokens[i : ends[i]]):
            for new in _amounts(tokens[i : ends[i]], values[i : ends[i]]):
                yield parse([*tokens[:i], *new, *tokens[ends[i] :]])


def _amounts(part: list[str], values: FloatArray) -> Iterator[list[str]]:
    """What a part amounts to; the values are those of its subterms."""
    own = values[0]
    spread, size = float(np.ptp(own)), float(np.abs(own).max())
    if not math.isfinite(size):
        return
    if spread <= _OF_A_NUMBER * size:
        yield [f"{own.mean():.{_DIGITS}g}"]
    if spread <= _ROUNDING * size:
        return
    for kind in KINDS:
        place = kind.argument(part)
        if place is None:
            continue
        with np.errstate(all="ignore"):
            argument = np.asarray(kind.values(values[place]))
        line = _line(argument, own, kind.has_start)
        if line is None:
            continue
        start, slope, remainder = line
        if spread <= _OF_A_LINE * size or remainder <= _BENT * spread:
            inner = kind.tokens(part[place : subterm_ends(part)[place]])
            yield ["+", repr(start), "*", repr(slope), *inner] if kind.has_start else ["*", repr(slope), *inner]


def _line(u: Floats, values: Floats, has_start: bool) -> tuple[float, float, float] | None:
    """The line closest to the values: where it starts, its slope, and how far it is from them; None without one."""
    middle = u.mean() if has_start else 0.0
    centre = values.mean() if has_start else 0.0
    norm = float(np.square(u - middle).sum())
    if not (math.isfinite(norm) and norm > 0):
        return None
    slope = float((u - middle) @ (values - centre)) / norm
    start = float(centre - slope * middle)
    if slope == 0 or not math.isfinite(start):
        return None
    return start, slope, float(np.abs(values - start - slope * u).max())


def _slower(tokens: list[str], X: FloatArray) -> Iterator[Expression]:
    """The formula with the smallest frequencies that its waves have on columns of integers."""
    ends, new = subterm_ends(tokens), list(tokens)
    for i, token in enumerate(tokens):
        if token in _WAVES:
            for place, column in _frequencies(tokens, ends, i + 1):
                if _is_lowered(float(tokens[place])) and _has_integers(X[:, column]):
                    new[place] = repr(math.remainder(float(tokens[place]), 2 * math.pi))
    if new != tokens:
        yield parse(new)


def _is_lowered(frequency: float) -> bool:
    is_short = is_usual(frequency) or float(f"{frequency:.{_FEW_DIGITS}g}") == frequency
    return abs(frequency) > math.pi and not is_short


def _has_integers(column: Floats) -> bool:
    return bool(np.abs(column).max() <= _LARGEST_INTEGER and (column == np.round(column)).all())


def _frequencies(tokens: Sequence[str], ends: Sequence[int], i: int) -> Iterator[tuple[int, int]]:
    """Places of the numbers that stand before columns in the sum at token i, and those columns."""
    if tokens[i] in ("+", "-"):
        yield from _frequencies(tokens, ends, i + 1)
        yield from _frequencies(tokens, ends, ends[i + 1])
    elif tokens[i] == "neg":
        yield from _frequencies(tokens, ends, i + 1)
    elif tokens[i] == "*" and ends[i] == i + 3:
        for number, variable in ((i + 1, i + 2), (i + 2, i + 1)):
            if is_number(tokens[number]) and leaf_kind(tokens[variable]) == "variable":
                yield number, int(tokens[variable][1:]) - 1


def _beside_number(part: Sequence[str]) -> int | None:
    """Where the argument begins that a number hides in a function."""
    token = part[0]
    row = OPERATORS[token]
    ends = subterm_ends(part)
    if row.arity == 1:
        if token == "exp":  # near 0 its value is 1
            return 1
        return 1 if row.form not in _LINEAR_FORMS and _adds_number(part, ends, 1) else None
    second = ends[1]
    first_is_number, second_is_number = (not _has_variable(part[k : ends[k]]) for k in (1, second))
    if token == "pow" and first_is_number:
        return second
    if token == "pow" and second_is_number and _adds_number(part, ends, 1):
        return 1
    return second if token == "/" and first_is_number and _adds_number(part, ends, second) else None


def _of_small(parity: str) -> Callable[[Sequence[str]], int | None]:
    """Functions of this parity with a number in their argument, which may be small."""

    def argument(part: Sequence[str]) -> int | None:
        row = OPERATORS[part[0]]
        is_function = row.arity == 1 and row.form == "call" and row.parity == parity and part[0] not in EXPONENTS
        return 1 if is_function and part[0] != "abs" and any(map(is_number, part)) else None

    return argument


def _small_power(part: Sequence[str]) -> int | None:
    """The base of a power whose exponent is a number, alone or below a number."""
    ends = subterm_ends(part)
    if part[0] == "/" and not _has_variable(part[1 : ends[1]]):
        below = _small_power(part[ends[1] :])
        return None if below is None or part[ends[1]] == "/" else ends[1] + below
    return 1 if part[0] == "pow" and not _has_variable(part[ends[1] :]) else None


def _adds_number(tokens: Sequence[str], ends: Sequence[int], i: int) -> bool:
    """Whether the subterm at token i is a sum or difference with a number in it."""
    if tokens[i] not in ("+", "-"):
        return False
    return any(not _has_variable(tokens[k : ends[k]]) or _adds_number(tokens, ends, k) for k in (i + 1, ends[i + 1]))


def _has_variable(tokens: Sequence[str]) -> bool:
    return any(token not in OPERATORS and leaf_kind(token) == "variable" for token in tokens)


def _itself(u: Floats) -> Floats:
    return u


def _written(*before: str) -> Callable[[list[str]], list[str]]:
    return lambda inner: [*before, *inner]


KINDS: tuple[Kind, ...] = (
    Kind("a number hides the variable", "C*log(3000 + x1) + C", "C + C*x1", _beside_number, _itself, _written()),
    Kind("odd functions near 0", "C*sin(1e-9*x1)", "C*x1", _of_small("odd"), _itself, _written(), has_start=False),
    Kind("even functions near 0", "C*cos(1e-3*x1) + C", "C + C*x1^2", _of_small("even"), np.square, _written("pow2")),
    Kind("powers near 1", "C*x1^1e-4 + C", "C + C*log(x1)", _small_power, np.log, _written("log")),
)
