"""Numbers as people write them: the simplifier spells 1.5*u as 3*(u/2), which has as many tokens."""

from __future__ import annotations

from fractions import Fraction

from simplipy import Expression, parse

_SCALES = {f"mult{k}": Fraction(k) for k in (2, 3, 4, 5)} | {f"div{k}": Fraction(1, k) for k in (2, 3, 4, 5)}
_DIGITS = 4


def plain_numbers(expression: Expression) -> Expression:
    """The same formula, as long, with pairs of whole multiples and quotients as one short decimal where there is one.

    Examples
    --------
    >>> from simplipy import parse
    >>> plain_numbers(parse("3*(cos(5*(t/2))/2)")).infix()
    '1.5*cos(2.5*t)'
    >>> plain_numbers(parse("2*(t/3)")).infix()
    '2*(t/3)'
    """
    tokens = expression.tokens
    written: list[str] = []
    start = 0
    while start < len(tokens):
        end, ratio = start, Fraction(1)
        while tokens[end] in _SCALES:
            ratio *= _SCALES[tokens[end]]
            end += 1
        literal = f"{float(ratio):.{_DIGITS}g}"
        if end - start == 2 and Fraction(literal) == ratio:
            written += ["*", literal]
        else:
            end = max(end, start + 1)
            written += tokens[start:end]
        start = end
    return parse(written) if written != tokens else expression
