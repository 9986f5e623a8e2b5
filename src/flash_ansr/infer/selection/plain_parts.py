"""Parts of formulas that are a number, a line, a parabola or a logarithm on the rows; what they amount to instead.

Each kind is a row of a table: which part may be one, of what it is then a line, and how that is written. The values on
the rows decide. Fits nothing, and judges no formula: see ``saturation.py``.
"""

from __future__ import annotations

import itertools
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
_MAX_ROWS = 64
_LINEAR_FORMS = ("minus", "scale", "quotient")
_WAVES = ("sin", "cos")
# integers up to this size times a frequency keep their digits
_LARGEST_INTEGER = 1e6
_FEW_DIGITS = 2  # of a frequency that laws write out

Floats = npt.NDArray[np.float64]


class _Tokens(NamedTuple):
    """The tokens of a formula, where each one's subterm ends, and how many variables stand before it."""

    all: list[str]
    ends: list[int]
    n_variables: list[int]

    @classmethod
    def of(cls, tokens: list[str]) -> _Tokens:
        is_variable = (token not in OPERATORS and leaf_kind(token) == "variable" for token in tokens)
        return cls(tokens, list(subterm_ends(tokens)), [0, *itertools.accumulate(is_variable)])

    def has_variable(self, i: int) -> bool:
        return self.n_variables[self.ends[i]] > self.n_variables[i]

    def subterm(self, i: int) -> list[str]:
        return self.all[i : self.ends[i]]

    def adds_number(self, i: int) -> bool:
        """Whether the subterm at token i is a sum or difference with a number in it."""
        if self.all[i] not in ("+", "-"):
            return False
        return any(not self.has_variable(k) or self.adds_number(k) for k in (i + 1, self.ends[i + 1]))


class Kind(NamedTuple):
    """A kind of parts that amount to a line of something.

    Attributes
    ----------
    name : str
    before, after : str
        An example on rows between 0.2 and 2; C is a number.
    argument : callable
        Where the argument of the part at a token begins, None where the part is of another kind.
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
    argument: Callable[[_Tokens, int], int | None]
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
        tokens = _Tokens.of(expression.tokens)
        with np.errstate(all="ignore"):
            forms = [*_replacements(tokens, values[first : first + len(own)]), *_slower(tokens, X)]
        found.append(forms)
        first += len(own)
    return found


def _replacements(tokens: _Tokens, values: Floats) -> Iterator[Expression]:
    spreads, sizes = np.ptp(values, axis=1).tolist(), np.abs(values).max(axis=1).tolist()
    for i, token in enumerate(tokens.all):
        if token in OPERATORS and math.isfinite(sizes[i]) and tokens.has_variable(i):
            for new in _amounts(tokens, i, values, spreads[i], sizes[i]):
                yield parse([*tokens.all[:i], *new, *tokens.all[tokens.ends[i] :]])


def _amounts(tokens: _Tokens, i: int, values: Floats, spread: float, size: float) -> Iterator[list[str]]:
    """What the part at token i amounts to; the values are those of all parts, the others of this one."""
    if spread <= _OF_A_NUMBER * size:
        yield [f"{values[i].mean():.{_DIGITS}g}"]
    if spread <= _ROUNDING * size:
        return
    for kind in KINDS:
        place = kind.argument(tokens, i)
        line = None if place is None else _line(kind.values, values[place], values[i], kind.has_start)
        if place is None or line is None:
            continue
        start, slope, remainder = line
        if spread <= _OF_A_LINE * size or remainder <= _BENT * spread:
            inner = kind.tokens(tokens.subterm(place))
            yield ["+", repr(start), "*", repr(slope), *inner] if kind.has_start else ["*", repr(slope), *inner]


def _line(
    basis: Callable[[Floats], Floats], argument: Floats, values: Floats, has_start: bool
) -> tuple[float, float, float] | None:
    """The line closest to the values: where it starts, its slope, and how far it is from them; None without one."""
    with np.errstate(all="ignore"):
        u = basis(argument)
    if not np.isfinite(u).all():
        return None
    middle, centre = (u.mean(), values.mean()) if has_start else (0.0, 0.0)
    unit = float(np.abs(u - middle).max())
    if not 0 < unit < math.inf:
        return None
    scaled = (u - middle) / unit  # squares of u may leave the range of doubles
    slope = float(scaled @ (values - centre)) / float(scaled @ scaled) / unit
    start = float(centre - slope * middle)
    if slope == 0 or not math.isfinite(start) or not math.isfinite(slope):
        return None
    return start, slope, float(np.abs(values - start - slope * u).max())


def _slower(tokens: _Tokens, X: FloatArray) -> Iterator[Expression]:
    """The formula with the smallest frequencies that its waves have on columns of integers."""
    new = list(tokens.all)
    for i, token in enumerate(tokens.all):
        if token in _WAVES:
            for place, column in _frequencies(tokens, i + 1):
                if _is_lowered(float(new[place])) and _has_integers(X[:, column]):
                    new[place] = repr(math.remainder(float(new[place]), 2 * math.pi))
    if new != tokens.all:
        yield parse(new)


def _is_lowered(frequency: float) -> bool:
    is_short = is_usual(frequency) or float(f"{frequency:.{_FEW_DIGITS}g}") == frequency
    return abs(frequency) > math.pi and not is_short


def _has_integers(column: Floats) -> bool:
    return bool(np.abs(column).max() <= _LARGEST_INTEGER and (column == np.round(column)).all())


def _frequencies(tokens: _Tokens, i: int) -> Iterator[tuple[int, int]]:
    """Places of the numbers that stand before columns in the sum at token i, and those columns."""
    token = tokens.all[i]
    if token in ("+", "-"):
        yield from _frequencies(tokens, i + 1)
        yield from _frequencies(tokens, tokens.ends[i + 1])
    elif token == "neg":
        yield from _frequencies(tokens, i + 1)
    elif token == "*" and tokens.ends[i] == i + 3:
        for number, variable in ((i + 1, i + 2), (i + 2, i + 1)):
            if is_number(tokens.all[number]) and tokens.has_variable(variable):
                yield number, int(tokens.all[variable][1:]) - 1


def _beside_number(tokens: _Tokens, i: int) -> int | None:
    """The argument that a number hides in a function."""
    token, first = tokens.all[i], i + 1
    row = OPERATORS[token]
    if row.arity == 1:
        if token == "exp":  # near 0 its value is 1
            return first
        return first if row.form not in _LINEAR_FORMS and tokens.adds_number(first) else None
    second = tokens.ends[first]
    if token == "pow" and not tokens.has_variable(first):
        return second
    if token == "pow" and not tokens.has_variable(second) and tokens.adds_number(first):
        return first
    return second if token == "/" and not tokens.has_variable(first) and tokens.adds_number(second) else None


def _of_small(parity: str) -> Callable[[_Tokens, int], int | None]:
    """Functions of this parity with a number in their argument, which may be small."""

    def argument(tokens: _Tokens, i: int) -> int | None:
        row = OPERATORS[tokens.all[i]]
        is_function = row.arity == 1 and row.form == "call" and row.parity == parity
        is_smooth = is_function and tokens.all[i] not in EXPONENTS and tokens.all[i] != "abs"
        return i + 1 if is_smooth and any(map(is_number, tokens.subterm(i + 1))) else None

    return argument


def _small_power(tokens: _Tokens, i: int) -> int | None:
    """The base of a power whose exponent is a number, alone or below a number."""
    if tokens.all[i] == "/" and not tokens.has_variable(i + 1):
        i = tokens.ends[i + 1]
    is_power = tokens.all[i] == "pow" and not tokens.has_variable(tokens.ends[i + 1])
    return i + 1 if is_power else None


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
