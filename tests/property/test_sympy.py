"""SymPy both ways: equal values and equal domains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

import simplipy
from tests import oracle
from tests.columns import ALL_NAMES, environment
from tests.needs import need
from tests.strategies import UNARY, examples, points, token_lists

sympy = need("sympy")
parse = simplipy.parse
X1, X2 = sympy.symbols("x1 x2")


def sympy_value(s: object, env: dict[str, float]) -> complex:
    at = {symbol: sympy.Float(env[symbol.name], 40) for symbol in s.free_symbols}
    return complex(s.evalf(40, subs=at))


def has_power_of_zero(e: simplipy.Expression, env: dict[str, float]) -> bool:
    """SymPy's evalf takes 0**x at x = 0.0 for 0; its symbolic 0**0 is 1, as ours."""
    bases = [
        list(parts[1].tokens) for part in e.subtrees() if part.tokens[0] == "pow" for parts in [list(part.subtrees())]
    ]
    return any(abs(float(oracle.evaluate(base, env).value)) < 1e-12 for base in bases)


@examples(50)
@given(token_lists(5, constants=False, wild_numbers=False), points(len(ALL_NAMES), 2))
def test_sympy_has_the_same_values(prefix: list[str], rows: list[list[float]]) -> None:
    e = parse(prefix)
    s = e.to_sympy()
    for row in rows:
        outcome = oracle.evaluate(prefix, environment(row))
        if not isinstance(outcome, oracle.Near) or has_power_of_zero(e, environment(row)):
            continue
        got = sympy_value(s, environment(row))
        tolerance = 1e-12 * max(1.0, abs(float(outcome.value))) + float(outcome.bound)
        assert abs(got - float(outcome.value)) <= tolerance, (prefix, s)


@examples(120)
@given(token_lists(7, constants=False), points(len(ALL_NAMES), 3))
def test_there_and_back_keeps_values_and_domain(prefix: list[str], rows: list[list[float]]) -> None:
    back = list(simplipy.from_sympy(parse(prefix).to_sympy()).tokens)
    for row in rows:
        before, after = (oracle.evaluate(t, environment(row)) for t in (prefix, back))
        if oracle.Status.UNDECIDED in (before, after):
            continue
        if oracle.Status.UNDEFINED in (before, after):
            assert before == after, (prefix, back, row)
            continue
        assert abs(before.value - after.value) <= before.bound + after.bound, (prefix, back, row)


@pytest.mark.parametrize(
    "text",
    [
        "x1/x1",
        "x1 - x1",
        "exp(log(x1))",
        "0*log(x1)",
        "sqrt(x1)^2",
        "(x1^2)^0.5",
        "atan(1/x1)",
        "log(x1^2)",
        "1/(1/x1)",
    ],
)
def test_nothing_is_simplified_on_the_way(text: str) -> None:
    e = parse(text)
    X = np.array([[-2.0], [0.0], [2.0]])
    assert np.array_equal(simplipy.from_sympy(e.to_sympy())(X), e(X), equal_nan=True)


@pytest.mark.parametrize("op", UNARY)
def test_every_operator_there_and_back(op: str) -> None:
    e = parse([op, "x1"])
    X = np.array([[-3.0], [-0.5], [0.0], [0.5], [1.0], [3.0]])
    np.testing.assert_allclose(simplipy.from_sympy(e.to_sympy())(X), e(X), rtol=1e-13)


def test_odd_roots_stay_real_in_sympy() -> None:
    assert sympy_value(parse("pow1_3(x1)").to_sympy(), {"x1": -8.0}) == pytest.approx(-2)
    assert sympy_value(parse("pow1_5(x1)").to_sympy(), {"x1": -32.0}) == pytest.approx(-2)


def test_numbers_stay_exact() -> None:
    for text in ("0.1 + 0.2", "2*pi", "x1^0.30000000000000001", "1e-300*x1", "12345678901234567"):
        assert simplipy.from_sympy(parse(text).to_sympy()) == parse(text)


@pytest.mark.parametrize(
    ("make", "x", "expected"),
    [
        (lambda x: x**2 + 1 / x, 2.0, 4.5),
        (lambda x: sympy.sqrt(x), 9.0, 3.0),
        (lambda x: 1 / sympy.sqrt(x), 4.0, 0.5),
        (lambda x: x ** sympy.Rational(1, 3), -8.0, math.nan),  # SymPy's is the principal, complex root
        (lambda x: x ** sympy.Rational(1, 3), 8.0, 2.0),
        (lambda x: x ** sympy.Rational(2, 3), 8.0, 4.0),
        (lambda x: x / 3, 1.0, 1 / 3),
        (lambda x: sympy.Rational(22, 7) * x, 7.0, 22.0),
        (lambda x: sympy.pi * sympy.E * x, 1.0, math.pi * math.e),
        (lambda x: sympy.exp(-(x**2) / 2), 1.0, math.exp(-0.5)),
        (lambda x: sympy.Abs(x) + sympy.sin(x) - sympy.log(x), 1.0, 1 + math.sin(1)),
        (lambda x: sympy.asinh(x) * sympy.atan(x), 2.0, math.asinh(2) * math.atan(2)),
        (lambda x: sympy.Float("0.1") * x, 1.0, 0.1),
        (lambda x: 2**x, 3.0, 8.0),
        (lambda x: sympy.Integer(7) + 0 * x, 1.0, 7.0),
        (lambda x: -x - 5 * x**3, 1.0, -6.0),
        (lambda x: sympy.Add(x, x, x, evaluate=False), 2.0, 6.0),
    ],
)
def test_from_sympy(make: object, x: float, expected: float) -> None:
    e = simplipy.from_sympy(make(X1))
    assert e.n_constants == 0
    assert float(e(np.array([[x]]))[0]) == pytest.approx(expected, rel=1e-14, nan_ok=True)


def test_names_survive() -> None:
    e = parse("x1*mass + `my var`/`sin`")
    s = e.to_sympy()
    assert {symbol.name for symbol in s.free_symbols} == {"x1", "mass", "my var", "sin"}
    assert simplipy.from_sympy(s).variables == e.variables


def test_constants_survive() -> None:
    e = parse("<constant>*x1 + <constant>")
    back = simplipy.from_sympy(e.to_sympy())
    assert back.n_constants == 2
    assert back.variables == ("x1",)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: sympy.gamma(x),
        lambda x: sympy.I * x,
        lambda x: sympy.Function("f")(x),
        lambda x: sympy.Integral(sympy.sin(x**2), x),
        lambda x: sympy.Matrix([x]),
        lambda x: sympy.Eq(x, 1),
    ],
)
def test_what_has_no_counterpart_is_refused(make: object) -> None:
    with pytest.raises((simplipy.SimplipyError, TypeError)):
        simplipy.from_sympy(make(X1))


@pytest.mark.parametrize("thing", [None, "x1 +", object()])
def test_what_is_not_sympy_is_refused(thing: object) -> None:
    with pytest.raises((simplipy.SimplipyError, TypeError)):
        simplipy.from_sympy(thing)
