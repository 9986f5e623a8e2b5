"""The order of factors and of terms in textbooks, as keys for sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from flash_ansr.infer.selection.spelling.terms import Base, Call, Factor, Leaf, Product, Sum, leaves_of

# names in natural order: x2 before x10
_Name: TypeAlias = tuple[str, int]
_Names: TypeAlias = tuple[_Name, ...]

# kinds of factors: variables, roots of products, brackets, exponentials, other functions
_LEAF, _GROUP, _BRACKET, _EXPONENTIAL, _FUNCTION = range(5)
_CONSTANT_TERM = 9


def factor_key(factor: Factor) -> tuple[int, _Names, str]:
    """Variables first, then brackets, then functions; among equals by their variables."""
    base = factor.base
    return _kind(base), _names(base), base.token if isinstance(base, Call) else ""


def term_key(term: Product) -> tuple[int, tuple[tuple[_Name, float], ...], tuple[_Names, ...], float]:
    """Monomials first, by their first variable and from its highest power down; constants last; then by size."""
    if term.is_number:
        return _CONSTANT_TERM, (), (), 0.0
    factors = sorted(term.factors, key=factor_key)
    degrees = tuple((_name(f.base.token), -f.exponent) for f in factors if isinstance(f.base, Leaf))
    others = tuple(_names(f.base) for f in factors if not isinstance(f.base, Leaf))
    return max(_kind(f.base) for f in factors), degrees if not others else (), others, -abs(term.coefficient)


def degree(term: Product) -> float:
    """The highest power of a monomial; of other terms, more than any."""
    exponents = [f.exponent for f in term.factors if isinstance(f.base, Leaf) and f.exponent > 0]
    return max(exponents) if exponents and len(exponents) == len(term.factors) else math.inf


def is_polynomial(terms: Sequence[Product]) -> bool:
    """Whether all terms are powers of one variable, up to numbers."""
    factors = [term.factors for term in terms]
    if any(len(each) > 1 for each in factors):
        return False
    bases = {each[0].base for each in factors if each}
    return len(bases) == 1 and isinstance(bases.pop(), Leaf)


def begins_turned(base: Sum) -> bool:
    """Whether a difference begins with its negative term: x2 - x1, 9 - x."""
    ordered = sorted(base.terms, key=term_key)
    return ordered[0].coefficient < 0 < ordered[-1].coefficient


def _kind(base: Base) -> int:
    if isinstance(base, Leaf):
        return _LEAF
    if isinstance(base, Product):
        return _GROUP
    if isinstance(base, Sum):
        return _BRACKET
    return _EXPONENTIAL if base.token in ("exp", "pow") else _FUNCTION


def _names(base: Base) -> _Names:
    return tuple(sorted(map(_name, leaves_of(base))))


def _name(token: str) -> _Name:
    stem = token.rstrip("0123456789")
    return stem, int(token[len(stem) :] or 0)
