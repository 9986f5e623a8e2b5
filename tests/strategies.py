"""The one hypothesis strategy for expressions, and the strategies for the points they are evaluated at.

`expressions()` gives Expressions, `token_lists()` the same as lists of prefix tokens (it needs no simplipy).
Every default operator, x1..x5, plain and backquoted names, `<constant>`, pi, e and numbers can occur; with
`operators=EVERY_OPERATOR` also the operators that are off by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

BINARY = ("+", "-", "*", "/", "pow")
UNARY = (
    *("abs", "inv", "neg", "pow2", "pow3", "pow4", "pow5", "pow1_2", "pow1_3", "pow1_4", "pow1_5"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "log", "mult2", "mult3", "mult4", "mult5", "div2", "div3", "div4", "div5"),
)
DEFAULT_OPERATORS = (*UNARY, *BINARY)
OFF_BY_DEFAULT = {"erf": 1, "min": 2, "max": 2}
ARITY = {**dict.fromkeys(UNARY, 1), **dict.fromkeys(BINARY, 2), **OFF_BY_DEFAULT}
EVERY_OPERATOR = tuple(ARITY)
X_TOKENS = ("x1", "x2", "x3", "x4", "x5")
# token -> plain name; the last three need backquotes: not an identifier, a token's name, a backquote inside
NAMES = {"v": "v", "T_0": "T_0", "alpha2": "alpha2", "`my var`": "my var", "`sin`": "sin", "`a``b`": "a`b"}
QUICK = 60  # examples of a property in the profile of `make test`; see conftest.py
SMALL_NUMBERS = ("0", "1", "-1", "2", "-2", "3", "5", "0.5", "-0.5", "1.5", "0.1", "-3", "2.25")


def examples(n: int) -> settings:
    """Settings of a property that wants n examples, or as many times more as the profile in force asks for."""
    return settings(max_examples=n * settings.default.max_examples // QUICK)


def number_tokens() -> st.SearchStrategy[str]:
    """Literals: the small ones that fuse with operators in infix, and any finite double."""
    doubles = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False).map(repr)
    decimals = st.decimals(-1000, 1000, places=3).map(lambda d: format(d, "f"))
    return st.one_of(st.sampled_from(SMALL_NUMBERS), st.integers(-30, 30).map(str), decimals, doubles)


def token_lists(
    max_leaves: int = 8,
    *,
    names: bool = True,
    constants: bool = True,
    wild_numbers: bool = True,
    specials: bool = False,
    operators: Sequence[str] = DEFAULT_OPERATORS,
) -> st.SearchStrategy[list[str]]:
    """Valid prefix token lists.

    Parameters
    ----------
    names : also variables other than x1..x5.
    constants : also `<constant>`.
    wild_numbers : also numbers beyond `SMALL_NUMBERS`.
    specials : also `inf`, `-inf` and `nan`.
    operators : tokens of the operators that can occur, one or more of each arity.
    """
    leaves = [st.sampled_from(X_TOKENS), st.sampled_from(X_TOKENS), st.sampled_from(("pi", "e"))]
    leaves.append(number_tokens() if wild_numbers else st.sampled_from(SMALL_NUMBERS))
    if names:
        leaves.append(st.sampled_from(tuple(NAMES)))
    if constants:
        leaves.append(st.just("<constant>"))
    if specials:
        leaves.append(st.sampled_from(("inf", "-inf", "nan")))

    unary_tokens, binary_tokens = ([token for token in operators if ARITY[token] == n] for n in (1, 2))

    def extend(child: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        unary = st.builds(lambda op, a: [op, *a], st.sampled_from(unary_tokens), child)
        binary = st.builds(lambda op, a, b: [op, *a, *b], st.sampled_from(binary_tokens), child, child)
        return st.one_of(unary, binary)

    return st.recursive(st.one_of(leaves).map(lambda token: [token]), extend, max_leaves=max_leaves)


def expressions(max_leaves: int = 8, **options: Any) -> st.SearchStrategy:
    """Expressions; the options are those of `token_lists`."""
    import simplipy

    return token_lists(max_leaves, **options).map(simplipy.parse)


def coordinates() -> st.SearchStrategy[float]:
    """Values of one variable: corners of the domains, and ordinary numbers of three decimals."""
    corners = st.sampled_from((0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -8.0, 0.1, 10.0, 3.141592653589793))
    return st.one_of(corners, st.integers(-5000, 5000).map(lambda k: k / 1000))


def points(n_values: int, n_rows: int = 4) -> st.SearchStrategy[list[list[float]]]:
    """`n_rows` rows of `n_values` coordinates."""
    row = st.lists(coordinates(), min_size=n_values, max_size=n_values)
    return st.lists(row, min_size=n_rows, max_size=n_rows)
