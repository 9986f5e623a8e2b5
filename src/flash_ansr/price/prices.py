"""Prices of forms in nats: minus the logarithm of how probable a form is among the laws of science."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from flash_ansr.price.counts import Counts, FloatArray, questions
from flash_ansr.price.known_forms import KnownForm, known_forms, known_share, shares
from flash_ansr.price.probabilities import log_probabilities
from simplipy import Expression, TokenBatch, parse
from simplipy.expression.operators import OPERATORS, by_id

# of all probability, so much is by length alone, so that nothing is impossible
_LENGTH_SHARE = 0.02
_TOKEN_NATS = 4.0


class Prices:
    """Prices by a table of probabilities.

    Parameters
    ----------
    log_probs : array (n_cells,)
        See ``probabilities.py``.
    known : sequence of KnownForm
        Forms that have a probability of their own.
    operators : collection of str
        Drawn forms are spelled with these.
    """

    def __init__(
        self, log_probs: FloatArray, known: Sequence[KnownForm] = (), operators: Collection[str] = tuple(OPERATORS)
    ) -> None:
        self.log_probs = log_probs
        self._operators = by_id(dict.fromkeys(operators, True), False)
        self._core = _core.PriceTable(log_probs, known_share(known), _LENGTH_SHARE, _TOKEN_NATS)
        if known:
            self._core.know(*shares(known))

    def of(self, forms: Iterable[Expression] | TokenBatch, n_columns: int = 0) -> FloatArray:
        """The price of each form in nats, (n,), its numbers written out or fitted, which is cheaper.

        Parameters
        ----------
        forms : iterable of Expression, or TokenBatch
            Numbers that laws rarely write out count as fitted ones.
        n_columns : int
            Columns that variables are chosen from, at least those of the form.
        """
        return np.asarray(self.both(forms, n_columns).min(axis=1))

    def both(self, forms: Iterable[Expression] | TokenBatch, n_columns: int = 0) -> FloatArray:
        """The prices of each form, (n, 2): with its numbers as they are written, and with coefficients fitted."""
        batch = forms if isinstance(forms, TokenBatch) else TokenBatch.from_expressions(forms)
        prices: FloatArray = self._core.prices(batch.ids, batch.offsets, list(batch.extras), n_columns)
        return prices

    def draw(
        self, seed: int, indices: Sequence[int] | npt.NDArray[np.int64], n_columns: int, max_length: int = 40
    ) -> TokenBatch:
        """Forms in the proportion of their probability, not simplified; form i of a seed is always the same."""
        rows = np.asarray(indices, dtype=np.int64)
        ids, offsets, extras = self._core.sample(seed, rows, n_columns, max_length, self._operators)
        return TokenBatch(ids, offsets, tuple(extras))

    def within(self, operators: Collection[str]) -> Prices:
        """Prices under which only these operators occur."""
        table = self.log_probs.copy()
        for question in questions():
            part = question.part_of(table)
            part[..., [not _is_allowed(question.name, answer, operators) for answer in question.answers]] = -np.inf
            part -= np.log(np.exp(part).sum(axis=-1, keepdims=True))
        return Prices(table, operators=operators)


def _is_allowed(question: str, answer: str, operators: Collection[str]) -> bool:
    if question == "atom":
        return answer == "variable" or ("+" if answer == "bracket" else answer) in operators
    if question == "n_terms":
        return answer == "1" or "+" in operators
    if question == "shape":
        return _shape_is_allowed(answer, operators)
    return question != "exponent" or _exponent_is_allowed(answer, operators)


def _shape_is_allowed(answer: str, operators: Collection[str]) -> bool:
    coefficient, n_factors = answer.split(":")
    if n_factors == "0" or "*" in operators:
        return True
    return n_factors == "1" and (coefficient == "1" or (coefficient == "-1" and "neg" in operators))


def _exponent_is_allowed(answer: str, operators: Collection[str]) -> bool:
    if answer.startswith("-") and "/" not in operators and "inv" not in operators:
        return False
    size = answer.removeprefix("-")
    if size == "1" or "pow" in operators:
        return True
    if size in ("number", "fitted"):
        return False
    exponent = Fraction(size)
    needed = {f"pow{exponent.numerator}"} if exponent.numerator > 1 else set()
    needed |= {f"pow1_{exponent.denominator}"} if exponent.denominator > 1 else set()
    return needed <= set(operators)


@cache
def _usual_numbers() -> frozenset[float]:
    (question,) = (question for question in questions() if question.name == "number")
    return frozenset(float(parse(answer)(np.zeros((1, 1)))[0]) for answer in question.answers if answer != "other")


def is_usual(number: float) -> bool:
    """Whether laws write this number out often enough that its price is part of the price of a form.

    Examples
    --------
    >>> is_usual(0.5), is_usual(0.53)
    (True, False)
    """
    return abs(number) in _usual_numbers()


@cache
def usual_prices() -> Prices:
    """The prices that the package comes with."""
    text = resources.files("flash_ansr.price").joinpath("counts.tsv").read_text(encoding="utf-8")
    return Prices(log_probabilities(Counts.read(text)), known_forms())


def plausibility(expression: str | Expression) -> float:
    """How probable the form of an expression is among the laws of science, as a logarithm in nats; at most 0.

    Parameters
    ----------
    expression : str or Expression
        Its numbers count as fitted unless laws write them out often, as 2, 1/2 and pi.

    Examples
    --------
    >>> plausibility("212*x/(0.35 + x)") > plausibility("sqrt(32710*tanh(x))") > plausibility("49*log(x) - x^4 + 159")
    True
    """
    formula = parse(expression) if isinstance(expression, str) else expression
    names = {name: f"x{k}" for k, name in enumerate(formula.variables, start=1)}
    return -float(usual_prices().of([formula.rename(names)])[0])
