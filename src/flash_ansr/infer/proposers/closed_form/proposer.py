"""The order of the stages: cheapest first, each a batch, until the time is over or a law leaves no residual."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.proposers.closed_form.candidates import Candidates, Draft, Found
from flash_ansr.infer.proposers.closed_form.data import Data, DeadlineError, bind
from flash_ansr.infer.proposers.closed_form.features.families import EXP1P, ONE_PLUS, OTHER_FACTORS, SIMPLE_FACTORS
from flash_ansr.infer.proposers.closed_form.features.library import Features, arguments, library, ratios, sum_arguments
from flash_ansr.infer.proposers.closed_form.features.monomials import monomial_text, monomial_values, number_text
from flash_ansr.infer.proposers.closed_form.features.targets import Target, targets
from flash_ansr.infer.proposers.closed_form.noise import Noise, noise_level
from flash_ansr.infer.proposers.closed_form.screening import Separation, common_factor, relevant
from flash_ansr.infer.proposers.closed_form.stages.addends import Addend, addends
from flash_ansr.infer.proposers.closed_form.stages.inner_constants import sums_with_inner_constants
from flash_ansr.infer.proposers.closed_form.stages.power_law import power_laws, power_laws_of, power_laws_with_offset
from flash_ansr.infer.proposers.closed_form.stages.products import Products
from flash_ansr.infer.proposers.closed_form.stages.rational import Rationals
from flash_ansr.infer.proposers.closed_form.stages.sums import Sums
from flash_ansr.infer.table.grammar import Grammar
from simplipy import OPERATORS, Expression

Stage = Callable[[], Iterator[Draft]]

_N_QUOTIENTS = 10
# error of a residual, in its deviations
_DOUBT = 1e-3
# unexplained variance of a law that what is left is looked at of, and how often it is
_PROMISING = 0.3
_MOST_ROUNDS = 3
# a polynomial that leaves at most so much of the variance tells which columns matter: those without which it leaves
# so many times more
_MOST_LEFT = 0.01
_MATTERS = 1.03
# stages for exact values before noise is thought of, and before it is looked for in vain
_N_QUICK = 5
_N_FAIR = 30


# which stages take turns, and how many at a time
_TURNS: dict[Noise, list[tuple[str, int | None]]] = {
    Noise.NONE: [("exact", None), ("noisy", None)],
    Noise.UNCLEAR: [
        ("noisy", _N_QUICK),
        ("exact", _N_FAIR),
        *([("noisy", 1), ("exact", 1)] * _N_FAIR),
        ("exact", None),
        ("noisy", None),
    ],
    Noise.SEEN: [("noisy", None), ("exact", None)],
}


def closed_form(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    operators: Collection[str] | None = None,
    max_length: int | None = None,
    max_depth: int | None = None,
    gamma: float = 0.05,
    deadline: float | None = None,
    seed: int = 0,
) -> Iterator[list[Expression]]:
    """Propose laws in closed form, batch by batch, the cheapest kinds first.

    Parameters
    ----------
    X : array (n_rows, n_columns)
        Column k - 1 is the variable x_k, in any units.
    y : array (n_rows,)
    sample_weight : array (n_rows,), optional
        Rows of weight zero are left out, as are rows that are not finite.
    operators : collection of str, optional
        The only operator tokens that proposals may contain; None for all.
    max_length, max_depth : int, optional
        Of proposals.
    gamma : float
        Price of a token in the order of a batch, in decades of unexplained variance.
    deadline : float, optional
        Value of ``time.monotonic`` at which to stop; None to go through all stages.
    seed : int
        Chooses the rows of the search where there are more than 512.

    Yields
    ------
    list of Expression
        The proposals of one stage, best first, with their numbers, defined on all rows of the search. The last batch is
        the first that holds a law without residual, where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(1, 5, (50, 2))
    >>> next(closed_form(X, 3 * X[:, 0] / X[:, 1] ** 2))[0].infix(6)
    '3*x1/x2^2'
    """
    data = bind(X, y, sample_weight, deadline, seed)
    if data.n_rows == 0:
        return
    grammar = Grammar(frozenset(OPERATORS if operators is None else operators), max_length, max_depth)
    candidates = Candidates(data, grammar, gamma)
    if np.ptp(data.y) == 0 or not data.active:
        yield candidates.ranked([Draft(number_text(float(np.mean(data.y))))])
        return
    stages = _all_stages(data, operators, candidates)
    while not candidates.exact:
        # not around a yield: the caller's error state stays the caller's
        with np.errstate(all="ignore"):
            batch, expired = _next_batch(stages, candidates)
        if batch:
            yield batch
        if expired:
            return


def _next_batch(stages: Iterator[Stage], candidates: Candidates) -> tuple[list[Expression], bool]:
    """Proposals of the next stage, as far as time allows, and whether it was the last."""
    drafts: list[Draft] = []
    try:
        candidates.data.clock.check()
        stage = next(stages, None)
        if stage is None:
            return [], True
        for draft in stage():
            drafts.append(draft)  # noqa: PERF402 - what was found before the time was over counts
        return candidates.ranked(drafts), False
    except DeadlineError:
        return candidates.ranked(drafts, n_refined=2), True
    except np.linalg.LinAlgError:  # numbers that no decomposition copes with: the next stage has others
        return candidates.ranked(drafts), False


def _all_stages(data: Data, operators: Collection[str] | None, candidates: Candidates) -> Iterator[Stage]:
    """The stages for exact values and those for noisy ones; which come first is a guess."""
    exact = _stages(data, operators, candidates)
    yield from itertools.islice(exact, _N_QUICK)
    bound, seen = noise_level(data)
    noise = min(bound, float(np.sqrt(min(candidates.best_fvu, 1.0)) * np.std(data.y)))
    noisy_data = data.with_noise(noise)
    narrow = relevant(noisy_data, _MATTERS, _MOST_LEFT)
    if len(narrow) < len(data.active):
        # what seems to matter first; that may be wrong, so all columns come after
        few = replace(data, among=narrow), replace(noisy_data, among=narrow)
        fewer = (
            itertools.islice(_stages(few[0], operators, candidates), _N_FAIR),
            itertools.islice(_noisy_stages(few[1], operators, candidates), _N_FAIR) if noise > 0 else iter(()),
        )
        yield from _in_turns(fewer, few, seen, candidates)
    noisy = _noisy_stages(noisy_data, operators, candidates) if noise > 0 else iter(())
    yield from _in_turns((exact, noisy), (data, noisy_data), seen, candidates)


def _in_turns(
    stages: tuple[Iterator[Stage], Iterator[Stage]], rows: tuple[Data, Data], seen: Noise, candidates: Candidates
) -> Iterator[Stage]:
    """Stages for exact and for noisy values, on the rows of each."""
    for kind, n in _TURNS[seen]:
        which = 0 if kind == "exact" else 1
        for stage in itertools.islice(stages[which], n):
            candidates.data = rows[which]
            yield stage


def _noisy_stages(data: Data, operators: Collection[str] | None, candidates: Candidates) -> Iterator[Stage]:
    """The stages for noisy values: what noise cannot tell apart anyway is left out."""
    every = targets(data, operators)
    yield lambda: power_laws(data)
    features = library(data, 250, operators)
    for target in every:
        yield partial(_pairs_of, data, target, features)
    products = Products(data)
    if products.usable:
        proportions = ratios(data, 100)
        yield lambda: products.single(proportions, (ONE_PLUS,))
        simple = arguments(data, 60, 0, operators)
        yield lambda: products.single(simple, SIMPLE_FACTORS)
        yield lambda: products.single(simple, OTHER_FACTORS)
    yield from _rationals(data, features)
    for target in every[:4]:
        yield partial(_sums_of, data, target, features)
    separation = common_factor(data)
    if separation:
        yield from _separated(data, separation, operators)
    for addend in addends(data):
        yield from _residual(data, addend, operators)
    yield lambda: sums_with_inner_constants(data, arguments(data, 30, 0, operators), 30, 8)
    if products.usable:
        yield lambda: products.double(simple)
        of_sums = sum_arguments(data, 10, 16)
        yield lambda: products.single(of_sums, (ONE_PLUS, *SIMPLE_FACTORS, EXP1P))
        yield lambda: products.second(simple)
    yield from _recursed(data, operators, candidates)
    features = library(data, 1000, operators)
    for target in every:
        yield partial(_pairs_of, data, target, features)
    yield from _rationals(data, features)


def _stages(data: Data, operators: Collection[str] | None, candidates: Candidates) -> Iterator[Stage]:
    """The stages in the order of what they cost, each made when its turn comes."""
    every = targets(data, operators)
    products = Products(data)
    yield lambda: power_laws(data)
    yield lambda: _chain(power_laws_of(data, t) for t in every if not t.is_power)
    if products.usable:
        proportions = ratios(data, 100)
        yield lambda: products.single(proportions, (ONE_PLUS,))
        simple = arguments(data, 60, 0, operators)
        yield lambda: products.single(simple, SIMPLE_FACTORS)
    features = library(data, 250, operators)
    yield from _pairs(data, every, features)
    if products.usable:
        yield lambda: products.single(simple, OTHER_FACTORS)
    for addend in addends(data):
        yield from _residual(data, addend, operators)
    yield from _sums(data, every, features)
    separation = common_factor(data)
    if separation:
        yield from _separated(data, separation, operators)
    yield from _rationals(data, features)
    if products.usable:
        yield lambda: products.double(simple)
        of_sums = sum_arguments(data, 10, 16)
        yield lambda: products.single(of_sums, (ONE_PLUS, *SIMPLE_FACTORS, EXP1P))
        wide = arguments(data, 120, 10, operators)
        yield lambda: products.single(wide)
    yield lambda: power_laws_with_offset(data)
    yield lambda: sums_with_inner_constants(data, arguments(data, 30, 0, operators), 30, 8)
    if products.usable:
        yield lambda: products.double(wide)
        yield lambda: products.second(wide)
    yield from _quotients(data, features, operators)
    yield from _recursed(data, operators, candidates)
    features = library(data, 1000, operators)
    yield from _sums(data, every, features)
    yield from _rationals(data, features)
    if products.usable:
        wider = arguments(data, 400, 20, operators)
        yield lambda: products.single(wider)
        yield lambda: products.second(wider)
        yield lambda: products.double(wider)
    features = library(data, 2500, operators)
    yield from _sums(data, every, features)


def _separated(data: Data, separation: Separation, operators: Collection[str] | None) -> Iterator[Stage]:
    """What is left of y beyond a factor, in fewer columns."""
    factor = monomial_values(data, separation.exponents[None])[0]
    text = monomial_text(separation.exponents)
    inner = data.divided(factor, separation.others)
    features = library(inner, 500, operators)

    def around(stage: Stage) -> Stage:
        return lambda: (Draft(f"{text}*({d.text})", d.start) for d in stage())

    for stage in _sums(inner, targets(inner, operators), features):
        yield around(stage)
    for stage in _rationals(inner, features):
        yield around(stage)
    yield around(lambda: sums_with_inner_constants(inner, arguments(inner, 30, 0, operators), 30, 8))
    yield around(lambda: power_laws_with_offset(inner))


def _residual(data: Data, addend: Addend, operators: Collection[str] | None) -> Iterator[Stage]:
    """What is left of y beside a term, in fewer columns; the term's coefficient is fitted along."""
    rest = data.y - addend.coefficient * addend.values
    # the coefficient is not exact: the smallest values of the rest are errors
    inner = data.replaced(rest, addend.others).with_noise(max(data.noise, _DOUBT * float(np.std(rest))))
    simple = arguments(inner, 60, 0, operators)
    products = Products(inner)

    def around(stage: Stage) -> Stage:
        text = f"<constant>*{addend.text} + ({{}})"
        return lambda: (Draft(text.format(d.text), (addend.coefficient, *d.start)) for d in stage())

    yield around(lambda: power_laws(inner))
    if products.usable:
        yield around(lambda: products.single(simple, (ONE_PLUS, *SIMPLE_FACTORS)))
        yield around(lambda: products.single(simple, OTHER_FACTORS))
    yield around(lambda: sums_with_inner_constants(inner, simple, 30, 8))
    yield around(lambda: power_laws_with_offset(inner))


def _recursed(data: Data, operators: Collection[str] | None, candidates: Candidates) -> Iterator[Stage]:
    """What is left of y beyond and beside the best law so far, and again of what that gives, while it helps."""
    for _ in range(_MOST_ROUNDS):
        best = candidates.best
        if best is None or best.fvu > _PROMISING or not best.expression.variables:
            return
        yield from _beyond(data, best, operators)
        if candidates.best is best:
            return


def _beyond(data: Data, found: Found, operators: Collection[str] | None) -> Iterator[Stage]:
    """Factors and terms that make more of a law; its numbers are fitted along."""
    skeleton, numbers = found.expression.skeleton().infix(), tuple(numbers_of(found.expression))
    rest = data.y - found.values
    # the numbers of the law are not exact: the smallest values of the rest are errors
    parts = [("+", data.replaced(rest, data.active).with_noise(max(data.noise, _DOUBT * float(np.std(rest)))))]
    if (found.values != 0).all():
        parts.append(("*", data.divided(found.values, data.active)))
    for sign, inner in parts:

        def around(stage: Stage, sign: str = sign) -> Stage:
            return lambda: (Draft(f"({skeleton}){sign}({d.text})", (*numbers, *d.start)) for d in stage())

        if not np.isfinite(inner.y).all() or np.ptp(inner.y) == 0:
            continue
        yield around(partial(power_laws, inner))
        products = Products(inner)
        if products.usable:
            yield around(partial(products.single, ratios(inner, 100), (ONE_PLUS,)))
        features = library(inner, 250, operators)
        yield around(partial(_pairs_of, inner, targets(inner, operators)[0], features))
        yield around(partial(sums_with_inner_constants, inner, arguments(inner, 30, 0, operators), 30, 8))


def _quotients(data: Data, features: Features, operators: Collection[str] | None) -> Iterator[Stage]:
    """Y = sum/(1 + u) with u a ratio of columns: the sum is what is left."""
    proportions = ratios(data, 24)
    for text, u in list(zip(proportions.texts, proportions.values, strict=True))[:_N_QUOTIENTS]:
        if (u > -1).all() and np.isfinite(data.y * (1 + u)).all():
            inner = data.replaced(data.y * (1 + u), data.active)
            target = targets(inner, operators)[0]
            inverse = f"({{}})/(1 + {text})"
            yield partial(_sums_of, inner, Target("quotient", target.values, target.unit, inverse), features)


def _pairs(data: Data, every: list[Target], features: Features) -> Iterator[Stage]:
    for target in every:
        yield partial(_pairs_of, data, target, features)


def _pairs_of(data: Data, target: Target, features: Features) -> Iterator[Draft]:
    sums = Sums(data, target, features)
    yield from sums.singles()
    yield from sums.pairs()


def _sums(data: Data, every: list[Target], features: Features) -> Iterator[Stage]:
    for target in every:
        yield partial(_sums_of, data, target, features)


def _sums_of(data: Data, target: Target, features: Features) -> Iterator[Draft]:
    sums = Sums(data, target, features)
    yield from sums.pairs()
    yield from sums.triples()
    if target.name in ("y", "log y"):
        yield from sums.longer(4)


def _rationals(data: Data, features: Features) -> Iterator[Stage]:
    def stage() -> Iterator[Draft]:
        rationals = Rationals(data, features)
        yield from rationals.pairs()
        yield from rationals.triples()

    yield stage


def _chain(parts: Iterable[Iterator[Draft]]) -> Iterator[Draft]:
    for part in parts:
        yield from part
