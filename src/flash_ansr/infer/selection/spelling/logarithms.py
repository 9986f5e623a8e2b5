"""Numbers in logarithms: a*log(c*u) is a*log(u) + a*log(c)."""

from __future__ import annotations

import math
from typing import NamedTuple

from flash_ansr.infer.selection.spelling.terms import Call, Product, of, scaled, sole_base


class SplitLogarithm(NamedTuple):
    """A multiple of a logarithm without the number in it.

    Attributes
    ----------
    number : float
        That stood before the operand.
    rest : Product
        The multiple of the logarithm without it.
    shift : float
        To be added instead.
    """

    number: float
    rest: Product
    shift: float


def without_number(term: Product) -> SplitLogarithm | None:
    """A number times log(c*u) split; None for other terms, and where no number stands before u.

    Examples
    --------
    >>> from flash_ansr.infer.selection.spelling.terms import Leaf
    >>> split = without_number(scaled(2.0, of(Call("log", (scaled(10.0, of(Leaf("x1"))),)))))
    >>> split.number, round(split.shift, 3)
    (10.0, 4.605)
    """
    call = sole_base(term)
    if not isinstance(call, Call) or call.token != "log":
        return None
    number, factors = call.operands[0]
    if not factors or number <= 0 or number == 1:
        return None
    rest = scaled(term.coefficient, of(Call("log", (Product(1.0, factors),))))
    return SplitLogarithm(number, rest, term.coefficient * math.log(number))
