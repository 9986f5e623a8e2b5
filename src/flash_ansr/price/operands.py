"""Which tokens are operands of which operators in known forms, for searches that build formulas from tokens.

Prices read a form as a sum of products, of which a tree of operators knows nothing. Here the same known forms are read
as trees, without the factors and outer constants that such searches solve for. In each place, which is an operator and
the number of an operand, a token has a probability. Rare places lean on more general ones as the contexts of prices do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from flash_ansr.price.counts import Counts, FloatArray, Question
from flash_ansr.price.known_forms import KnownForm, known_forms
from flash_ansr.price.probabilities import smoothed
from simplipy import Expression, TokenBatch, simplify_many
from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.expression.prefix import fold

VARIABLE = "variable"
ONE = "1"
WHOLE = "whole"
# integer factors are constants like others
_FACTORS = frozenset(f"{kind}{k}" for kind in ("mult", "div") for k in (2, 3, 4, 5))
_OPERATORS = tuple(token for token in OPERATORS if token not in _FACTORS)
PARENTS = (WHOLE, *_OPERATORS)
TOKENS = (*_OPERATORS, VARIABLE, ONE)
# found by leaving out one form in ten after the other
STRENGTH = 4.0
# of all probability, so much is the same for all tokens, so that nothing is impossible
_EQUAL_SHARE = 0.2

# an operator or a leaf, and its operands
Tree = tuple[str, tuple["Tree", ...]]
Meeting = tuple[str, int, str]
_CONSTANT: Tree = (CONSTANT, ())
_ONE: Tree = (ONE, ())


@cache
def operand_probabilities(operators: frozenset[str]) -> FloatArray:
    """By operator above, number of the operand, and token: (n_parents, 2, n_tokens), 0 for other operators."""
    is_allowed = np.array([token in operators or token not in OPERATORS for token in TOKENS])
    by_law = np.where(is_allowed, probabilities_of(counted(known_forms())), 0.0)
    by_law /= by_law.sum(axis=-1, keepdims=True)
    return np.asarray((1 - _EQUAL_SHARE) * by_law + _EQUAL_SHARE * is_allowed / is_allowed.sum())


def probabilities_of(counts: FloatArray, strength: float = STRENGTH) -> FloatArray:
    """Of the tokens in each place, from their counts."""
    question = Question("operand", (PARENTS, ("first", "second")), TOKENS, 0)
    return smoothed(question, Counts(counts.ravel(), np.zeros(counts.size)), strength)


def counted(known: Iterable[KnownForm]) -> FloatArray:
    """How often each token stands in each place, (n_parents, 2, n_tokens)."""
    known = list(known)
    bare = simplify_many(TokenBatch.from_expressions(one.form for one in known), mask_numbers=True).expressions()
    counts = np.zeros((len(PARENTS), 2, len(TOKENS)))
    for one, form in zip(known, bare, strict=True):
        for parent, side, token in meetings(plain(form)):
            counts[PARENTS.index(parent), side, TOKENS.index(token)] += one.count
    return counts


def meetings(tree: Tree, parent: str = WHOLE, side: int = 0) -> Iterator[Meeting]:
    """The tokens of a tree with their places.

    Examples
    --------
    >>> import simplipy
    >>> list(meetings(plain(simplipy.parse("sin(x1/x2)"))))
    [('whole', 0, 'sin'), ('sin', 0, '/'), ('/', 0, 'variable'), ('/', 1, 'variable')]
    """
    token, operands = tree
    yield parent, side, token
    for k, operand in enumerate(operands):
        yield from meetings(operand, token, k)


def plain(form: Expression) -> Tree:
    """The form as a tree without its factors and outer terms that are constant; other constants are 1.

    Examples
    --------
    >>> import simplipy
    >>> plain(simplipy.parse("<constant> + <constant>*(x1/(<constant> + x1))"))
    ('/', (('variable', ()), ('+', (('1', ()), ('variable', ())))))
    """
    tree = fold(form.tokens, _leaf, _plain_join)
    while tree[0] in "+-" and _ONE in tree[1]:
        tree = next(operand for operand in tree[1] if operand != _ONE)
    return tree


def _plain_join(token: str, operands: list[Tree]) -> Tree:
    varying = [operand for operand in operands if operand != _CONSTANT]
    if not varying:
        return _CONSTANT
    if len(varying) == len(operands):
        return varying[0] if token in _FACTORS or token == "neg" else (token, tuple(operands))
    if token == "pow":
        return ("exp", (varying[0],)) if operands[0] == _CONSTANT else varying[0]
    if token == "/" and operands[0] == _CONSTANT:
        return "inv", (varying[0],)
    if token in "*/":
        return varying[0]
    return token, tuple(_ONE if operand == _CONSTANT else operand for operand in operands)


def _leaf(token: str) -> Tree:
    return (VARIABLE, ()) if token[0] == "x" else _CONSTANT
