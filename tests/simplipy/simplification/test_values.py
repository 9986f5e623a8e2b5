"""A simplification keeps values, does not narrow the domain, and with domain="preserve" does not widen it either.

Against the oracle at 500 bits. Free constants are bound through the map that `Engine.explain` returns: the expressions
of the map are put in the place of the output's constants, so that nothing is rounded on the way.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests import oracle
from tests.columns import ALL_NAMES, environment
from tests.oracle import Near, Status
from tests.strategies import EVERY_OPERATOR, coordinates, examples, points, token_lists

ENGINE = simplipy.Engine()
MODES = {
    "extend": {"domain": "extend"},
    "preserve": {"domain": "preserve"},
    "masked": {"mask_numbers": True},
    "no rules": {"max_pattern_length": 0},
}
# what a domain loses or gains at these neighbours too is no null set
NEIGHBOURS = (1.0 + 2.0**-20, 1.0 - 3.0 * 2.0**-22)
# constants of 0 have tests of their own below
CONSTANTS = st.lists(coordinates().filter(bool), min_size=8, max_size=8)
Environment = Mapping[str, float]


def bound(tokens: Sequence[str], values: Sequence[Sequence[str]]) -> list[str]:
    """Tokens with the k-th `<constant>` replaced by the k-th list of tokens."""
    rest = iter(values)
    return [t for token in tokens for t in (next(rest) if token == "<constant>" else (token,))]


def moved(env: Environment, factor: float) -> Environment:
    """A point close by, in general position; constants c1, c2, ... stay."""
    return {
        name: value if is_constant(name) else value * factor + (factor - 1.0) * (k + 1.37)
        for k, (name, value) in enumerate(env.items())
    }


def defined_somewhere(tokens: list[str], env: Environment) -> bool:
    """Whether these constants give a function at all; nothing is promised about those that do not."""
    return any(isinstance(oracle.evaluate(tokens, elsewhere(env, k)), Near) for k in range(24))


def elsewhere(env: Environment, seed: int) -> Environment:
    """Another point with the same constants."""
    rng = random.Random(seed)
    scale = (0.3, 1.0, 3.0, 20.0)[seed % 4]
    return {name: value if is_constant(name) else rng.uniform(-scale, scale) for name, value in env.items()}


def is_constant(name: str) -> bool:
    return name[0] == "c" and name[1:].isdigit()


def differ(a: Near, b: Near) -> bool:
    """Whether two values are apart by more than 500 bits explain; the bounds say how errors grow on the way."""
    slack = (a.bound + b.bound) * oracle.MP.mpf(2) ** -200 + abs(a.value) * oracle.MP.mpf(2) ** -300
    return bool(abs(a.value - b.value) > slack)


def offence(before: list[str], after: list[str], env: Environment, domain: str) -> str:
    """What is wrong with a simplification at a point; empty where nothing is, or nothing can be said."""
    a, b = oracle.evaluate(before, env), oracle.evaluate(after, env)
    if isinstance(a, Near) and isinstance(b, Near):
        return f"{a.value} became {b.value}" if differ(a, b) else ""
    for kind, first, second, other in (
        ("narrowed", before, after, "extend preserve"),
        ("widened", after, before, "preserve"),
    ):
        places = (env, *(moved(env, factor) for factor in NEIGHBOURS))
        if domain in other and all(
            isinstance(oracle.evaluate(first, place), Near) and oracle.evaluate(second, place) is Status.UNDEFINED
            for place in places
        ):
            return kind if defined_somewhere(before, env) else ""
    return ""


def offences(tokens: list[str], env: Environment, mode: str) -> str:
    """What is wrong with the simplification of these tokens at a point; the input's constants are c1, c2, ..."""
    found = ENGINE.explain(tokens, **MODES[mode])
    assert len(found.constants) == found.expression.n_constants
    before = bound(tokens, [[f"c{k + 1}"] for k in range(tokens.count("<constant>"))])
    after = bound(found.expression.tokens, [c.tokens for c in found.constants])
    wrong = offence(before, after, env, MODES[mode].get("domain", "extend"))
    return wrong and f"{simplipy.parse(tokens)} -> {found.expression}: {wrong} at {env}"


@pytest.mark.parametrize("mode", MODES)
@examples(120)
@given(tokens=token_lists(8, operators=EVERY_OPERATOR), rows=points(len(ALL_NAMES), 3), constants=CONSTANTS)
def test_values_and_domain(mode: str, tokens: list[str], rows: list[list[float]], constants: list[float]) -> None:
    for row in rows:
        env = environment(row) | {f"c{k + 1}": value for k, value in enumerate(constants)}
        assert offences(tokens, env, mode) == ""


CORNERS = [
    # u^(-v) is not 1/u^v where the base is 0: 0^(-x) is 0 for x < 0
    ("<constant>^(-x1)", "extend", {"x1": -2.0, "c1": 0.0}),
    ("(x2 - x2)^(-x1) + x2", "extend", {"x1": -2.0, "x2": 1.5}),
    # c^(a + x) as c^a*c^x, for c = 0 and x < 0 < a + x
    ("<constant>^(3 + x1)", "extend", {"x1": -0.5, "c1": 0.0}),
    # (u^a)^0 is 1 only where u^a is defined
    ("(x1^x2)^(x2*0)", "preserve", {"x1": -2.0, "x2": -0.5}),
    ("asinh((x1^<constant>)^0) - x1", "preserve", {"x1": -3.7, "c1": 0.5}),
    # as many constants in the map as in the result
    ("(pi - (x2^2/2)^5)^pi", "masked", {"x2": 0.5}),
    ("((2 - x2)/(0*<constant>))^log(-1)", "preserve", {"x2": 0.5, "c1": 1.5}),
    # never to x, nor to a function of x inside its main branch
    ("sqrt(x1^2)", "extend", {"x1": -2.0}),
    ("asin(sin(x1))", "extend", {"x1": 2.0}),
    ("acos(cos(x1))", "extend", {"x1": -2.0}),
    ("(x1^2)^<constant>", "extend", {"x1": -2.0, "c1": 0.5}),
    ("log(<constant>*x1)", "extend", {"x1": -2.0, "c1": -3.0}),
    ("log(x1*x2)", "extend", {"x1": -2.0, "x2": -3.0}),
    ("sqrt(x1*x2)", "extend", {"x1": -2.0, "x2": -3.0}),
    ("sqrt(x1)*sqrt(x1)", "preserve", {"x1": -2.0}),
    ("(x1^3)^(1/3)", "extend", {"x1": 2.0}),
    ("x1^(1/3)*x1^(2/3)", "preserve", {"x1": -2.0}),
    ("pow1_3(x1)^2", "extend", {"x1": -8.0}),
    # what a shorter spelling may not do to the domain
    ("(x1^2*sin(x2)^4)^3", "extend", {"x1": -2.0, "x2": 1.0}),
    ("(<constant>*x1)^(-x2)", "extend", {"x1": 2.0, "x2": -0.5, "c1": 0.0}),
    ("x1^<constant>*cbrt(x1)", "extend", {"x1": -2.0, "c1": 1.0}),
    ("pow1_4(pow1_4(sinh(x1)*<constant>)*x2)", "preserve", {"x1": 1.0, "x2": -2.0, "c1": 0.0}),
    ("sqrt(sqrt(cos(x1 + <constant>)^2))", "extend", {"x1": 2.0, "c1": 0.5}),
    ("x1/(x2/(x3 + abs(x3)))", "preserve", {"x1": 1.0, "x2": 2.0, "x3": -1.0}),
    ("<constant>^(x1 + <constant>)", "extend", {"x1": -0.5, "c1": 0.0, "c2": 2.0}),
]


@pytest.mark.parametrize(("text", "mode", "env"), CORNERS, ids=lambda value: value if isinstance(value, str) else "")
def test_corners(text: str, mode: str, env: Environment) -> None:
    assert offences(simplipy.parse(text).tokens, env, mode) == ""
