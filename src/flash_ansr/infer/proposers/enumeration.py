"""Short formulas in the order of their cost, compared with functions of y: a look-up in place of a fit.

A form phi is compared with every target T(y), so that one look tells whether y = T^-1(c0 + c1*phi). Without noise,
forms also meet in the middle: T(y) - phi1, T(y)/phi1 and T(y)*phi1 are looked up among all forms, again up to c0 and
c1. With noise, more rows and fewer forms are ranked by correlation. The core makes the forms in
``native/ansr/enumerate``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flash_ansr import _core
from flash_ansr.infer.proposers.batch import BatchProposer
from flash_ansr.infer.proposers.closed_form.linear_algebra import solve, solve_pruned
from flash_ansr.infer.proposers.closed_form.monomials import Features
from flash_ansr.infer.proposers.closed_form.noise import NoiseGuess, noise_level
from flash_ansr.infer.proposers.closed_form.sums import Sums, sum_text
from flash_ansr.infer.proposers.closed_form.targets import TransformedTarget, targets
from flash_ansr.infer.proposers.data import Data, FloatArray
from flash_ansr.infer.proposers.drafts import Draft, Ranking, until_exact
from flash_ansr.infer.table.ranks import spread_rows
from flash_ansr.price.operands import PARENTS, TOKENS, operand_probabilities
from simplipy import Expression, evaluate_many, parse
from simplipy.expression.operators import OPERATORS, by_id
from simplipy.expression.token_batch import FIRST_VARIABLE, SYMBOL_TOKENS

# what is not here is not made: c*phi and -phi come by themselves
_NOT_MADE = frozenset({"neg", "pow4", "pow5", "pow1_4", "pow1_5", "asinh", "acosh", "atanh"})
_UNITS_A_NAT = 2
# decades of FVU that a unit of cost is worth without noise: about half a token's
_PRICE = 0.025
# nats that it is worth with noise
_NATS = 1.2
_LEAST_ROWS = 8
# forms at most: values of one look take less than 100 MB
_N_EXACT = 150_000
_N_NOISY = 40_000
# formulas of one look-up in the middle: more are the same in other words
_N_JOINS = 8
_JOINS = {0: "sum", 1: "product", 2: "quotient"}


class EnumerateProposer(BatchProposer):
    """Proposes the short formulas that resemble y most."""

    name = "enumerate"
    most_columns = 9
    round_size = 128

    share_of_time = 0.3

    def batches(self, rows: Data) -> Iterator[list[Expression]]:
        """See ``enumerate_forms``."""
        return enumerate_forms(rows)


@dataclass(frozen=True, slots=True, eq=False)
class TokenCosts:
    """Costs of tokens in whole units, by how improbable they are in their places in known laws.

    Attributes
    ----------
    operators : list of int
        By id, at least; 0 for those that do not occur.
    operands : int array (2*n_ids, n_ids + 2)
        By operator and number of the operand: how much more a token costs there; last a variable and the number 1.
    variable, one : int
        At least.
    """

    operators: list[int]
    operands: npt.NDArray[np.int32]
    variable: int
    one: int


@functools.cache
def token_costs(operators: frozenset[str]) -> TokenCosts:
    """The costs of the tokens of forms with these operators."""
    probabilities = operand_probabilities(operators - _NOT_MADE).copy()
    for parent in (*(t for t in PARENTS[1:] if OPERATORS[t].commutative), "-"):  # made in one order alone
        probabilities[PARENTS.index(parent)] = probabilities[PARENTS.index(parent)].mean(axis=0)
    with np.errstate(divide="ignore"):
        costs = np.maximum(np.round(-_UNITS_A_NAT * np.log(probabilities)), 1.0)
    is_made = np.isfinite(costs[0, 0])
    least = np.where(is_made, costs[1:].min(axis=(0, 1)), 0.0)
    more = np.where(is_made, costs - least, 0.0)
    ids = {token: row.id for token, row in OPERATORS.items()}
    columns = [ids[token] for token in TOKENS[:-2]] + [FIRST_VARIABLE, FIRST_VARIABLE + 1]
    operands = np.zeros((2 * FIRST_VARIABLE, FIRST_VARIABLE + 2), dtype=np.int32)
    for parent, rows in zip(PARENTS[1:], more[1:], strict=True):
        operands[2 * ids[parent], columns], operands[2 * ids[parent] + 1, columns] = rows
    own = by_id({token: int(cost) for token, cost in zip(TOKENS, least, strict=True)}, 0)
    return TokenCosts(own, operands, int(least[-2]), int(least[-1]))


def enumerate_forms(data: Data) -> Iterator[list[Expression]]:
    """Formulas with their numbers, batch by batch, each best first; ends at the deadline of the data."""
    if data.n_rows < _LEAST_ROWS or np.ptp(data.y) == 0 or not data.active:
        return
    noise, guess = noise_level(data)
    exact = _Look(data, n_rows=64, n_forms=_N_EXACT)
    looks = [exact]
    steps = [_exact_batches(exact, _N_EXACT // 8), _exact_batches(exact, _N_EXACT)]
    if guess is not NoiseGuess.NONE and noise > 0:
        noisy = _Look(data.with_noise(noise), n_rows=256, n_forms=_N_NOISY)
        looks.append(noisy)
        steps.insert(1, _noisy_batches(noisy, _N_NOISY // 10))
        steps.insert(3 if guess is NoiseGuess.UNCLEAR else 2, _noisy_batches(noisy, _N_NOISY))
    yield from until_exact(itertools.chain(*steps), data.clock, [look.ranking for look in looks])


def _exact_batches(look: _Look, n_forms: int) -> Iterator[list[Expression]]:
    look.grow(n_forms)
    for target in look.targets:
        yield look.singles(target, _PRICE, 12)
    for target in look.targets:
        yield look.joined(target, n_forms // 30)
    for target in look.targets:
        if target.name in ("y", "y^2"):
            yield look.joined_beside(target, 40, 400)


def _noisy_batches(look: _Look, n_forms: int) -> Iterator[list[Expression]]:
    price = 2 * _NATS / (np.log(10) * min(look.data.n_rows, 256))
    look.grow(n_forms)
    for target in look.targets:
        yield look.singles(target, price, 40 if target.name == "y" else 12)
    for target in look.targets[: 4 if n_forms < _N_NOISY else 2]:
        yield look.pursued(target, price, 6, 8)
        yield look.multiplied(target, price, 12, 6)


class _Look:
    """Forms on some rows of the data, and the targets that they are compared with."""

    def __init__(self, data: Data, n_rows: int, n_forms: int) -> None:
        self.data = data
        self.targets = targets(data)
        self.ranking = Ranking(data)
        rows = spread_rows(data.y, n_rows)
        self._rows = np.resize(rows, -(-len(rows) // 8) * 8)  # whole lanes: the first rows come twice
        self._own = np.arange(len(self._rows)) < len(rows)
        self._columns = list(data.active)
        costs = token_costs(frozenset(t for t in OPERATORS if data.allows(t)))
        self._forms = _core.Forms(
            np.ascontiguousarray(data.columns[self._columns][:, self._rows]),
            costs.operators,
            costs.operands,
            costs.variable,
            costs.one if data.allows("+", "-") else 0,
            n_forms,
        )

    def grow(self, n_forms: int) -> None:
        """Make forms until there are so many, as far as time allows."""
        seconds = self.data.clock.remaining()
        self._forms.grow(n_forms, 1e9 if seconds is None else seconds)

    def singles(self, target: TransformedTarget, price: float, n: int) -> list[Expression]:
        """T^-1(c0 + c1*phi) for the n forms that correlate best."""
        features = self._best(target.values, target.row_weight(self.data), price, n)
        if not len(features):
            return []
        return self.ranking.ranked(Sums(self.data, target, features).of([i] for i in range(len(features))))

    def pursued(self, target: TransformedTarget, price: float, n_first: int, n_second: int) -> list[Expression]:
        """T^-1(c0 + c1*phi1 + c2*phi2): each of the best forms, with those that explain most of what it leaves."""
        weight = target.row_weight(self.data)
        firsts = self._best(target.values, weight, price, n_first)
        texts, values, supports = list(firsts.texts), [firsts.values], []
        for i, first in enumerate(firsts.values):
            terms = np.stack([np.ones(self.data.n_rows), first])
            coefficients, _ = solve(terms, target.values, weight)
            seconds = self._best(target.values - coefficients @ terms, weight, price, n_second)
            supports += [(i, len(texts) + j) for j in range(len(seconds))]
            texts += seconds.texts
            values.append(seconds.values)
        features = Features(texts, np.concatenate(values))
        return self.ranking.ranked(Sums(self.data, target, features).of(supports)) if supports else []

    def multiplied(self, target: TransformedTarget, price: float, n_first: int, n_second: int) -> list[Expression]:
        """As ``pursued`` with phi1*(c0 + c1*phi2) and (c0 + c1*phi2)/phi1: what a factor leaves is looked up."""
        weight = target.row_weight(self.data)
        firsts = self._best(target.values, weight, price, n_first)
        drafts: list[Draft] = []
        for text, first in zip(firsts.texts, firsts.values, strict=True):
            for join, factor in (("product", first), ("quotient", 1 / first)):
                # errors of the target are multiplied by what it is divided by
                left, errors = target.values / factor, weight * np.abs(factor)
                if not (np.isfinite(left[self._rows]).all() and np.isfinite(errors[self._rows]).all()):
                    continue
                seconds = self._best(left, errors, price, n_second)
                for second, values in zip(seconds.texts, seconds.values, strict=True):
                    drafts += _joined(self.data, target, Features([text, second], np.stack([first, values])), join)
        return self.ranking.ranked(drafts)

    def joined(self, target: TransformedTarget, n_first: int) -> list[Expression]:
        """Formulas of two forms that meet the target up to rounding."""
        drafts: list[Draft] = []
        for join, first, second in self._forms.meet(target.values[self._rows], n_first, _N_JOINS):
            pair = self._features([first, second])
            if len(pair) == 2:
                drafts += _joined(self.data, target, pair, _JOINS[join])
        return self.ranking.ranked(drafts)

    def joined_beside(self, target: TransformedTarget, n_factors: int, n_first: int) -> list[Expression]:
        """As ``joined``, for the target times or over one of the cheapest forms."""
        factors = self._features(range(min(n_factors, len(self._forms))))
        found: list[Expression] = []
        for text, factor in zip(factors.texts, factors.values, strict=True):
            self.data.clock.check()
            for symbol in "*/":
                values = target.values * factor if symbol == "/" else target.values / factor
                if np.isfinite(values).all():
                    inverse = target.inverse.format(f"({{}}){symbol}{text}")
                    found += self.joined(TransformedTarget("beside", values, target.unit, inverse), n_first)
            if self.ranking.exact or len(found) > 4 * _N_JOINS:
                break
        return found

    def _best(self, values: FloatArray, weight: FloatArray, price: float, n: int) -> Features:
        """The n forms that explain most of these values, (n_rows,)."""
        return self._features(self._forms.best(values[self._rows], weight[self._rows] * self._own, price, n))

    def _features(self, forms: Sequence[int]) -> Features:
        """Texts and values on all rows; without what is undefined on one."""
        expressions = [self._expression(form) for form in forms]
        if not expressions:
            return Features([], np.zeros((0, self.data.n_rows)))
        values, defined = evaluate_many(expressions, self.data.X, n_threads=1)
        fine = np.asarray(defined.all(axis=1) & np.isfinite(values).all(axis=1))
        texts = [f"({e.infix()})" for e, keep in zip(expressions, fine, strict=True) if keep]
        return Features(texts, np.asarray(values[fine], dtype=np.float64))

    def _expression(self, form: int) -> Expression:
        ids = self._forms.prefix(form, FIRST_VARIABLE)
        tokens = [
            "1" if i < 0 else f"x{self._columns[i - FIRST_VARIABLE] + 1}" if i >= FIRST_VARIABLE else SYMBOL_TOKENS[i]
            for i in ids
        ]
        return parse(tokens)


def _joined(data: Data, target: TransformedTarget, pair: Features, join: str) -> Iterator[Draft]:
    """The target as first + c0 + c1*second, first*(c0 + c1*second), or (c0 + c1*second)/first."""
    first, second = pair.values
    if join == "sum":
        terms, texts, frame = np.stack([np.ones(data.n_rows), first, second]), ["", *pair.texts], "{}"
    else:
        factor = first if join == "product" else 1 / first
        terms, texts = np.stack([factor, factor * second]), ["", pair.texts[1]]
        frame = f"{pair.texts[0]}*({{}})" if join == "product" else f"({{}})/{pair.texts[0]}"
    if np.isfinite(terms).all():
        kept, coefficients, _ = solve_pruned(terms, target.values, target.row_weight(data))
        inner = sum_text([texts[i] for i in kept], coefficients * target.unit)
        yield Draft(target.inverse.format(frame.format(inner)))
