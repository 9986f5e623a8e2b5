"""How a number is written: as a decimal, as one over a decimal, as a fraction, by pi, or as a root.

A number with many digits was fitted; all fitted numbers count as equally long. Of a number that is exact there is often
one way that shows it: 0.0729927007299270 is 1/13.7, 0.392699081698724 is pi/8.
"""

from __future__ import annotations

import bisect
import itertools
import math
from functools import cache, lru_cache
from typing import NamedTuple

# of a number that was fitted
FITTED = 8
# decimals with so few digits stay as they are
_FEW_DIGITS = 4
# a number with more digits, but no shorter neighbour, was fitted
_MOST_DIGITS = 10
# relative, of numbers that stand for each other: some roundings
_CLOSE = 2e-14
# in fractions
_LARGEST = 48
# of numbers that are written as roots, and the smallest one of these
_DIGITS_OF_ROOTS = 2
_SMALLEST = 1e-50
# x/3 and x/1000, but 0.1*x
_USUAL_DIVISORS = (*range(2, 10), 1000)
_CONSTANTS = {
    "pi": math.pi,
    "e": math.e,
    "pi^2": math.pi**2,
    "sqrt(pi)": math.sqrt(math.pi),
    "sqrt(2*pi)": math.sqrt(2 * math.pi),
}


class WrittenNumber(NamedTuple):
    """A positive number as a fraction of texts.

    Attributes
    ----------
    above, below : str
        Numerator and denominator, "" for 1.
    n_digits : int
        Digits to read, ``FITTED`` at most; 0 for the number 1.
    """

    above: str
    below: str
    n_digits: int


@lru_cache(maxsize=4096)
def written(number: float) -> WrittenNumber:
    """The way with the fewest digits to write the absolute value of a number.

    Examples
    --------
    >>> written(1.5), written(1 / 13.7)
    (WrittenNumber(above='1.5', below='', n_digits=2), WrittenNumber(above='', below='13.7', n_digits=3))
    >>> written(math.pi / 8), written(2 / 3)
    (WrittenNumber(above='pi', below='8', n_digits=2), WrittenNumber(above='2', below='3', n_digits=2))
    >>> written(0.0727375076)
    WrittenNumber(above='0.0727375076', below='', n_digits=8)
    """
    size = abs(number)
    if abs(size - 1) <= _CLOSE:
        return WrittenNumber("", "", 0)
    if not (0 < size < math.inf and 1 / size < math.inf):
        return WrittenNumber(repr(size), "", FITTED)
    if _is_whole(1 / size) and round(1 / size) in _USUAL_DIVISORS:
        return WrittenNumber("", str(round(1 / size)), 1)
    plain, inverse = _decimal(size), _decimal(1 / size)
    if plain.n_digits <= _FEW_DIGITS:
        return plain
    found = [plain, *_exact(size)]
    if size < 1 and inverse.n_digits < FITTED:
        found.append(WrittenNumber("", inverse.above, inverse.n_digits))
    square = _decimal(size * size) if _SMALLEST < size < 1 / _SMALLEST else plain
    if square.n_digits <= _DIGITS_OF_ROOTS:
        found.append(WrittenNumber(f"sqrt({square.above})", "", square.n_digits + 1))
    return min(found, key=lambda way: way.n_digits)


def written_alone(number: float) -> str:
    """Text of a positive number that has no factors: a decimal where that is short.

    Examples
    --------
    >>> written_alone(0.25), written_alone(1.0), written_alone(math.pi / 2)
    ('0.25', '1', 'pi/2')
    """
    plain, way = _decimal(number), written(number)
    if plain.n_digits <= _FEW_DIGITS or "." in way.below:
        return plain.above
    below = f"({way.below})" if "*" in way.below else way.below
    return f"{way.above or '1'}/{below}" if below else way.above


@lru_cache(maxsize=4096)
def written_as_scale(number: float, is_divisor: bool = False) -> WrittenNumber:
    """The way to write a number in the operand of a function, where 1/c is usual for c: log(x/0.03).

    Parameters
    ----------
    number : float
    is_divisor : bool
        Whether to take 1/c where both have as many digits: exp(-x/13.748) for a fitted rate.

    Examples
    --------
    >>> written_as_scale(1 / 0.03).below, written_as_scale(1.9).above
    ('0.03', '1.9')
    >>> written_as_scale(0.072737507, is_divisor=True).below[:6]
    '13.748'
    """
    usual = written(number)
    is_inverse = usual.below and not usual.above
    if is_inverse or number == 0 or not 0 < 1 / abs(number) < math.inf:
        return usual
    inverse = _decimal(1 / abs(number))
    return (
        WrittenNumber("", inverse.above, inverse.n_digits) if inverse.n_digits < usual.n_digits + is_divisor else usual
    )


def n_digits(number: float) -> int:
    """Digits that a reader has to take in; 0 for 1 and -1, ``FITTED`` at most.

    Examples
    --------
    >>> n_digits(-1.0), n_digits(1 / 13.7), n_digits(0.0727375076)
    (0, 3, 8)
    """
    return written(number).n_digits


def n_digits_of_scale(number: float) -> int:
    """The same in the operand of a function."""
    return written_as_scale(number).n_digits


def cleaned(number: float) -> float:
    """The number without the last digits that rounding has left.

    Examples
    --------
    >>> cleaned(0.1 * 3)
    0.3
    """
    short = float(f"{number:.{_MOST_DIGITS}g}")
    return short if abs(short - number) <= _CLOSE * abs(number) else number


def _decimal(size: float) -> WrittenNumber:
    value = cleaned(size)
    text = repr(value)
    digits = text.split("e")[0].replace(".", "").strip("0")
    return WrittenNumber(text.removesuffix(".0"), "", min(len(digits), FITTED))


def _is_whole(number: float) -> bool:
    return abs(number) < 1e9 and abs(number - round(number)) <= _CLOSE * abs(number) and round(number) != 0


@cache
def _exact_numbers() -> tuple[list[float], list[WrittenNumber]]:
    """Small fractions, alone and with a constant above or below: their values, ascending, and how they are written."""
    found: dict[float, WrittenNumber] = {}
    for p, q in itertools.product(range(1, _LARGEST + 1), repeat=2):
        if math.gcd(p, q) == 1:
            above, below = ([] if n == 1 else [str(n)] for n in (p, q))
            n_read = len("".join((*above, *below)))
            found.setdefault(p / q, WrittenNumber("*".join(above), "*".join(below), n_read))
            for text, value in _CONSTANTS.items():
                found[p / q * value] = WrittenNumber("*".join((*above, text)), "*".join(below), n_read + 1)
                found[p / q / value] = WrittenNumber("*".join(above), "*".join((*below, text)), n_read + 1)
    values = sorted(found)
    return values, [found[value] for value in values]


def _exact(size: float) -> list[WrittenNumber]:
    """It as a small fraction, with or without a constant, if it is one."""
    values, ways = _exact_numbers()
    i = bisect.bisect_left(values, size * (1 - _CLOSE))
    return [ways[i]] if i < len(values) and values[i] <= size * (1 + _CLOSE) else []
