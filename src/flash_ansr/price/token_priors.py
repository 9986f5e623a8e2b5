"""Priors over prefix tokens, which prices are compared with: of length alone, and of the operators' frequencies.

A formula of n tokens has the probability p(n) * w(t1) ... w(tn) / W(n), where W(n) is the sum of these products over
all formulas of n tokens, so that the probabilities of all formulas sum up to 1. Everything is fitted to the forms that
prices are fitted to: p(n), how frequent leaves and operators of each arity are, how frequent variables, constants and
numbers are among leaves, which numbers are written out, and whether a variable stood before. Operators of an arity have
one weight in the prior of length, and that of their frequency in the other. Names of columns are chosen like those of
prices. The tokens are those of the simplified form, which is the shortest; a number that laws often write out is one
token, whatever it is made of, and other numbers count as fitted constants.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from flash_ansr.price.counts import FloatArray, questions
from flash_ansr.price.prices import is_usual
from simplipy import Expression, parse
from simplipy.expression.operators import CONSTANT, OPERATORS
from simplipy.expression.prefix import fold

_MOST_TOKENS = 200
# forms and tokens that count as met before the first one
_BEFORE = 0.5
_VARIABLE, _NUMBER = "variable", "number"
_KINDS = (
    (_VARIABLE, CONSTANT, _NUMBER),
    tuple(token for token, row in OPERATORS.items() if row.arity == 1),
    tuple(token for token, row in OPERATORS.items() if row.arity == 2),
)

Token = str | float


class TokenPrior:
    """A prior fitted to forms.

    Parameters
    ----------
    forms : sequence of Expression
    by_frequency : bool
        Whether operators of an arity have the weights of their frequencies, else one weight.
    """

    def __init__(self, forms: Sequence[Expression], by_frequency: bool) -> None:
        rows = [tokens_of(form) for form in forms]
        self._lengths = Counter(map(len, rows))
        self._mean_length = float(np.mean([len(row) for row in rows]))
        self._numbers = Counter(t for row in rows for t in row if isinstance(t, float))
        choices = [is_new for row in rows for _, is_new, is_asked in _choices(row) if is_asked]
        self._p_new = (sum(choices) + _BEFORE) / (len(choices) + 2 * _BEFORE)
        self._weights = _weights(Counter(_name(t) for row in rows for t in row), by_frequency)
        self._totals = log_totals(*(sum(self._weights[token] for token in kind) for kind in _KINDS))

    def nats(self, form: Expression) -> float:
        """Minus the logarithm of the probability of a form."""
        row = tokens_of(form)
        nats = float(self._totals[len(row)]) - self._log_p_length(len(row))
        nats -= sum(math.log(self._weights[_name(token)]) for token in row)
        nats -= sum(self._log_p_number(token) for token in row if isinstance(token, float))
        for n_ways, is_new, is_asked in _choices(row):
            nats += math.log(n_ways) - (math.log(self._p_new if is_new else 1 - self._p_new) if is_asked else 0.0)
        return nats

    def _log_p_length(self, n: int) -> float:
        """Of the frequency, with a few forms of geometric lengths among them."""
        end = 1 / self._mean_length
        total = sum(self._lengths.values())
        return math.log((self._lengths[n] + _BEFORE * end * (1 - end) ** (n - 1)) / (total + _BEFORE))

    def _log_p_number(self, number: float) -> float:
        """Of the frequency of its size; the sign is an operator."""
        (question,) = (question for question in questions() if question.name == "number")
        lean = 2.0 * len(self._numbers)
        share = lean / len(question.answers)
        return math.log((self._numbers[number] + share) / (self._numbers.total() + lean))


def tokens_of(form: Expression) -> list[Token]:
    """The prefix tokens, usual numbers as floats, and rare ones as constants.

    Examples
    --------
    >>> tokens_of(parse("2*pi*x1 + 36.8"))
    ['+', '*', 6.283185307179586, 'x1', '<constant>']
    """
    tokens: list[Token] = fold(form.tokens, _leaf, _joined)
    return [CONSTANT if isinstance(token, float) and not is_usual(token) else token for token in tokens]


def _leaf(token: str) -> list[Token]:
    if token == CONSTANT or token[0] == "x":
        return [token]
    return [float(parse(token)(np.zeros((1, 1)))[0])]


def _joined(operator: str, operands: Iterable[list[Token]]) -> list[Token]:
    """The tokens of an operator's result; one number for numbers that it joins to a usual one."""
    operands = list(operands)
    joined = [operator, *(token for operand in operands for token in operand)]
    if not all(len(operand) == 1 and isinstance(operand[0], float) for operand in operands):
        return joined
    value = float(parse([str(token) for token in joined])(np.zeros((1, 1)))[0])
    return [value] if math.isfinite(value) else joined


def _name(token: Token) -> str:
    if isinstance(token, float):
        return _NUMBER
    return _VARIABLE if token not in OPERATORS and token != CONSTANT else token


def _choices(row: Sequence[Token]) -> Iterable[tuple[int, bool, bool]]:
    """For each variable: the columns that it may be, whether it is new, and whether it could be both."""
    n_columns = len({token for token in row if _name(token) == _VARIABLE})
    seen: set[Token] = set()
    for token in row:
        if _name(token) == _VARIABLE:
            is_new, n_seen = token not in seen, len(seen)
            yield (n_columns - n_seen if is_new else n_seen), is_new, 0 < n_seen < n_columns
            seen.add(token)


def _weights(counts: Counter[str], by_frequency: bool) -> dict[str, float]:
    """Of each token: the share of its kind among all tokens, times its share in the kind."""
    weights = {}
    for kind in _KINDS:
        in_kind = sum(counts[token] for token in kind)
        for token in kind:
            share = (counts[token] + _BEFORE) / (in_kind + _BEFORE * len(kind))
            is_fitted = by_frequency or kind is _KINDS[0]
            weights[token] = in_kind / counts.total() * (share if is_fitted else 1 / len(kind))
    return weights


def log_totals(leaf: float, unary: float, binary: float) -> FloatArray:
    """The logarithms of the summed weights of all formulas of 0, 1, ... tokens, from those of each kind of token."""
    total = np.zeros(_MOST_TOKENS + 1)
    total[1] = leaf
    for n in range(2, len(total)):
        total[n] = unary * total[n - 1] + binary * (total[1 : n - 1] @ total[n - 2 : 0 : -1])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total))
