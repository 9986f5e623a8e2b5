"""The order of the stages: cheapest first, for exact values and for noisy ones, then what is left of y beyond a law."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.proposers.closed_form.families import EXP1P, ONE_PLUS, OTHER_FACTORS, SIMPLE_FACTORS
from flash_ansr.infer.proposers.closed_form.library import arguments, library, ratios, sum_arguments
from flash_ansr.infer.proposers.closed_form.monomials import Features
from flash_ansr.infer.proposers.closed_form.noise import NoiseGuess, noise_level
from flash_ansr.infer.proposers.closed_form.products import Products, power_laws, power_laws_of, power_laws_with_offset
from flash_ansr.infer.proposers.closed_form.screening import Part, addends, common_factor, relevant
from flash_ansr.infer.proposers.closed_form.sums import pairs_of, rationals_of, sums_of, sums_with_inner_constants
from flash_ansr.infer.proposers.closed_form.targets import targets
from flash_ansr.infer.proposers.data import Data
from flash_ansr.infer.proposers.drafts import Draft, RankedLaw, Ranking

Stage = Callable[[], Iterable[Draft]]
Turns = tuple[tuple[int, int | None], ...]

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
# which stages take turns, those for exact or for noisy values, and how many at a time
_EXACT, _NOISY = 0, 1
_ONE_BY_ONE: Turns = ((_NOISY, 1), (_EXACT, 1)) * _N_FAIR
_TURNS: dict[NoiseGuess, Turns] = {
    NoiseGuess.NONE: ((_EXACT, None), (_NOISY, None)),
    NoiseGuess.UNCLEAR: ((_NOISY, _N_QUICK), (_EXACT, _N_FAIR), *_ONE_BY_ONE, (_EXACT, None), (_NOISY, None)),
    NoiseGuess.SEEN: ((_NOISY, None), (_EXACT, None)),
}


def all_stages(data: Data, ranking: Ranking) -> Iterator[Stage]:
    """The stages for exact values and those for noisy ones; which come first is a guess."""
    exact = _exact_stages(data, ranking)
    yield from itertools.islice(exact, _N_QUICK)
    bound, guess = noise_level(data)
    noisy_data = data.with_noise(min(bound, float(np.sqrt(min(ranking.best_fvu, 1.0)) * np.std(data.y))))
    among = relevant(noisy_data, _MATTERS, _MOST_LEFT)
    if len(among) < len(data.active):
        # what seems to matter first; that may be wrong, so all columns come after
        few = replace(data, among=among), replace(noisy_data, among=among)
        fewer = _exact_stages(few[_EXACT], ranking), _noisy_stages(few[_NOISY], ranking)
        limited = itertools.islice(fewer[_EXACT], _N_FAIR), itertools.islice(fewer[_NOISY], _N_FAIR)
        yield from _in_turns(limited, few, guess, ranking)
    yield from _in_turns((exact, _noisy_stages(noisy_data, ranking)), (data, noisy_data), guess, ranking)


def _in_turns(
    stages: tuple[Iterator[Stage], Iterator[Stage]], rows: tuple[Data, Data], guess: NoiseGuess, ranking: Ranking
) -> Iterator[Stage]:
    """Stages for exact and for noisy values, on the rows of each."""
    for which, n in _TURNS[guess]:
        for stage in itertools.islice(stages[which], n):
            ranking.data = rows[which]
            yield stage


def _exact_stages(data: Data, ranking: Ranking) -> Iterator[Stage]:
    """The stages in the order of what they cost, each made when its turn comes."""
    every, products = targets(data), Products(data)
    yield partial(power_laws, data)
    yield lambda: itertools.chain.from_iterable(power_laws_of(data, t) for t in every if not t.is_power)
    if products.usable:
        yield partial(products.single, ratios(data, 100), (ONE_PLUS,))
        simple = arguments(data, 60)
        yield partial(products.single, simple, SIMPLE_FACTORS)
    features = library(data, 250)
    yield from (partial(pairs_of, data, target, features) for target in every)
    if products.usable:
        yield partial(products.single, simple, OTHER_FACTORS)
    for addend in addends(data):
        yield from _beside(data, addend)
    yield from (partial(sums_of, data, target, features) for target in every)
    factor = common_factor(data)
    if factor:
        yield from _separated(data, factor)
    yield partial(rationals_of, data, features)
    if products.usable:
        yield partial(products.double, simple)
        yield partial(products.single, sum_arguments(data, 10, 16), (ONE_PLUS, *SIMPLE_FACTORS, EXP1P))
        wide = arguments(data, 120, 10)
        yield partial(products.single, wide)
    yield partial(power_laws_with_offset, data)
    yield partial(sums_with_inner_constants, data)
    if products.usable:
        yield partial(products.double, wide)
        yield partial(products.second, wide)
    yield from _quotients(data, features)
    yield from _beyond_the_best(data, ranking)
    features = library(data, 1000)
    yield from (partial(sums_of, data, target, features) for target in every)
    yield partial(rationals_of, data, features)
    if products.usable:
        wider = arguments(data, 400, 20)
        yield from (partial(products.single, wider), partial(products.second, wider), partial(products.double, wider))
    features = library(data, 2500)
    yield from (partial(sums_of, data, target, features) for target in every)


def _noisy_stages(data: Data, ranking: Ranking) -> Iterator[Stage]:
    """The stages for noisy values: what noise cannot tell apart anyway is left out."""
    if data.noise <= 0:
        return
    every = targets(data)
    yield partial(power_laws, data)
    features = library(data, 250)
    yield from (partial(pairs_of, data, target, features) for target in every)
    products = Products(data)
    if products.usable:
        yield partial(products.single, ratios(data, 100), (ONE_PLUS,))
        simple = arguments(data, 60)
        yield partial(products.single, simple, SIMPLE_FACTORS)
        yield partial(products.single, simple, OTHER_FACTORS)
    yield partial(rationals_of, data, features)
    yield from (partial(sums_of, data, target, features) for target in every[:4])
    factor = common_factor(data)
    if factor:
        yield from _separated(data, factor)
    for addend in addends(data):
        yield from _beside(data, addend)
    yield partial(sums_with_inner_constants, data)
    if products.usable:
        yield partial(products.double, simple)
        yield partial(products.single, sum_arguments(data, 10, 16), (ONE_PLUS, *SIMPLE_FACTORS, EXP1P))
        yield partial(products.second, simple)
    yield from _beyond_the_best(data, ranking)
    features = library(data, 1000)
    yield from (partial(pairs_of, data, target, features) for target in every)
    yield partial(rationals_of, data, features)


def _inside(text: str, stages: Iterable[Stage], start: tuple[float, ...] = ()) -> Iterator[Stage]:
    """The stages with their drafts in the place of {} in a text, whose own constants start from these values."""

    def inside(stage: Stage) -> Iterator[Draft]:
        return (Draft(text.format(d.text), (*start, *d.start)) for d in stage())

    return (partial(inside, stage) for stage in stages)


def _separated(data: Data, factor: Part) -> Iterator[Stage]:
    """The rest of y after division by a factor, in fewer columns."""
    inner = data.divided(factor.values, factor.others)
    features = library(inner, 500)
    stages: list[Stage] = [partial(sums_of, inner, target, features) for target in targets(inner)]
    stages.append(partial(rationals_of, inner, features))
    stages += [partial(stage, inner) for stage in (sums_with_inner_constants, power_laws_with_offset)]
    return _inside(f"{factor.text}*({{}})", stages)


def _beside(data: Data, addend: Part) -> Iterator[Stage]:
    """The rest of y without a term, in fewer columns; the term's coefficient is fitted along."""
    inner = _rest(data, addend.coefficient * addend.values, addend.others)
    simple, products = arguments(inner, 60), Products(inner)
    stages: list[Stage] = [partial(power_laws, inner)]
    if products.usable:
        stages.append(partial(products.single, simple, (ONE_PLUS, *SIMPLE_FACTORS)))
        stages.append(partial(products.single, simple, OTHER_FACTORS))
    stages += [partial(sums_with_inner_constants, inner, simple), partial(power_laws_with_offset, inner)]
    return _inside(f"<constant>*{addend.text} + ({{}})", stages, (addend.coefficient,))


def _rest(data: Data, values: np.ndarray, among: tuple[int, ...]) -> Data:
    """The rest of y without a law whose numbers are not exact: the smallest values of the rest are errors."""
    rest = data.y - values
    return data.replaced(rest, among).with_noise(max(data.noise, _DOUBT * float(np.std(rest))))


def _beyond_the_best(data: Data, ranking: Ranking) -> Iterator[Stage]:
    """The rests of y after division by and without the best law so far, and again of these, while it helps."""
    for _ in range(_MOST_ROUNDS):
        best = ranking.best
        if best is None or best.fvu > _PROMISING or not best.expression.variables:
            return
        yield from _beyond(data, best)
        if ranking.best is best:
            return


def _beyond(data: Data, law: RankedLaw) -> Iterator[Stage]:
    """Factors and terms that make more of a law; its numbers are fitted along."""
    parts = [("+", _rest(data, law.values, data.active))]
    if (law.values != 0).all():
        parts.append(("*", data.divided(law.values, data.active)))
    for sign, inner in parts:
        if np.isfinite(inner.y).all() and np.ptp(inner.y) > 0:
            text = f"({law.expression.skeleton().infix()}){sign}({{}})"
            yield from _inside(text, _quick_stages(inner), tuple(numbers_of(law.expression)))


def _quick_stages(data: Data) -> Iterator[Stage]:
    yield partial(power_laws, data)
    products = Products(data)
    if products.usable:
        yield partial(products.single, ratios(data, 100), (ONE_PLUS,))
    yield partial(pairs_of, data, targets(data)[0], library(data, 250))
    yield partial(sums_with_inner_constants, data)


def _quotients(data: Data, features: Features) -> Iterator[Stage]:
    """Y = sum/(1 + u) with u a ratio of columns: the sum is what is left."""
    proportions = ratios(data, 24)
    for text, u in list(zip(proportions.texts, proportions.values, strict=True))[:_N_QUOTIENTS]:
        if (u > -1).all() and np.isfinite(data.y * (1 + u)).all():
            inner = data.replaced(data.y * (1 + u), data.active)
            target = replace(targets(inner)[0], name="quotient", inverse=f"({{}})/(1 + {text})")
            yield partial(sums_of, inner, target, features)
