"""Self-test of the oracle: known values and domains, and its error bounds against the math module."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.oracle import Near, Status
from tests.strategies import EVERY_OPERATOR, X_TOKENS, examples, points, token_lists


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("pow1_3 x1", -8.0, -2.0),
        ("pow1_5 x1", -32.0, -2.0),
        ("pow x1 0", 0.0, 1.0),
        ("pow x1 3", -2.0, -8.0),
        ("pow x1 -3", -2.0, -0.125),
        ("pow x1 0.5", 0.0, 0.0),
        ("pow1_2 x1", 0.0, 0.0),
        ("pow1_4 x1", 16.0, 2.0),
        ("acos x1", 1.0, 0.0),
        ("acosh x1", 1.0, 0.0),
        ("sin x1", math.pi, 1.2246467991473532e-16),
        ("- x1 * 2 x1", 3.0, -3.0),
        ("/ x1 - x1 1", 3.0, 1.5),
        ("mult5 div2 x1", 4.0, 10.0),
        ("tanh x1", 0.5, math.tanh(0.5)),
    ],
)
def test_known_values(text: str, x: float, expected: float) -> None:
    outcome = oracle.evaluate(text.split(), {"x1": x})
    assert isinstance(outcome, Near)
    assert float(outcome.value) == pytest.approx(expected, rel=1e-15, abs=0)
    assert outcome.bound <= 1e-14 * max(1, abs(expected))


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("inv x1", 0.0),
        ("inv x1", -0.0),
        ("atan inv x1", 0.0),
        ("* 0 log x1", -1.0),
        ("log x1", 0.0),
        ("pow1_2 x1", -1e-200),
        ("pow1_4 x1", -1.0),
        ("pow x1 / 1 3", -8.0),
        ("pow x1 0.5", -1.0),
        ("pow x1 -1", 0.0),
        ("asin x1", 1.0000000000000002),
        ("acosh x1", 0.9999999999999999),
        ("atanh x1", 1.0),
        ("inv - 1 x1", 1.0),
        ("exp neg inf", 1.0),
        ("x1", math.inf),
        ("neg x1", math.nan),
        ("inv log x1", 1.0),
    ],
)
def test_known_undefined(text: str, x: float) -> None:
    assert oracle.evaluate(text.split(), {"x1": x}) is Status.UNDEFINED


@pytest.mark.parametrize(
    "text", ["inv sin pi", "tan div2 pi", "log - + 0.1 0.2 0.3", "exp 1000", "exp -1000", "pow -2 + 2.1 -0.1"]
)
def test_no_claim_where_doubles_cannot_tell(text: str) -> None:
    assert oracle.evaluate(text.split(), {}) is Status.UNDECIDED


def test_undefined_beats_undecided() -> None:
    assert oracle.evaluate("+ inv sin pi log -1".split(), {}) is Status.UNDEFINED


def test_constants_are_numbered_from_the_left() -> None:
    outcome = oracle.evaluate("- <constant> / <constant> <constant>".split(), {}, [1.0, 6.0, 3.0])
    assert isinstance(outcome, Near)
    assert float(outcome.value) == -1.0


def double_value(tokens: list[str], env: dict[str, float]) -> float:
    """A plain evaluation in doubles; raises outside the domain."""
    functions = {
        name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
    }
    functions |= {name: getattr(math, name) for name in ("asinh", "acosh", "atanh", "exp", "log", "erf")}

    def leaf(token: str, _: int) -> float:
        return {"pi": math.pi, "e": math.e}.get(token, env.get(token)) if not oracle.is_number(token) else float(token)

    def node(op: str, *a: float) -> float:
        x, y = a[0], a[-1]
        if op in functions:
            return functions[op](x)
        if op.startswith("pow1_"):
            n = int(op[-1])
            if x < 0 and n % 2 == 0:
                raise ValueError(op)
            root = math.copysign(abs(x) ** (1 / n), x)
            return root - (root - x / root ** (n - 1)) / n if root else root  # Newton: 1/n is not a double
        if op in oracle.POWER:
            return x ** oracle.POWER[op]
        if op in oracle.FACTOR:
            return x * int(op[-1]) if op.startswith("mult") else x / int(op[-1])
        if op == "pow":
            result = x**y
            if isinstance(result, complex):
                raise ValueError(op)
            return result
        return {"abs": lambda: abs(x), "neg": lambda: -x, "inv": lambda: 1 / x, "+": lambda: x + y, "-": lambda: x - y,
                "*": lambda: x * y, "/": lambda: x / y,
                "min": lambda: min(x, y), "max": lambda: max(x, y)}[op]()  # fmt: skip

    return oracle.fold(tokens, leaf, node)


@examples(300)
@given(token_lists(names=False, constants=False, operators=EVERY_OPERATOR), points(5, 2))
def test_bounds_hold_for_the_math_module(tokens: list[str], rows: list[list[float]]) -> None:
    for row in rows:
        env = dict(zip(X_TOKENS, row, strict=True))
        try:
            computed = double_value(tokens, env)
        except (ValueError, ZeroDivisionError):
            computed = math.nan
        except OverflowError:
            continue
        assert oracle.disagreement(computed, tokens, env) == ""


def test_a_wrong_value_is_noticed() -> None:
    assert oracle.disagreement(math.sin(1) * (1 + 1e-14), ["sin", "x1"], {"x1": 1.0})
    assert oracle.disagreement(math.nan, ["sin", "x1"], {"x1": 1.0})
    assert oracle.disagreement(0.0, ["log", "x1"], {"x1": 0.0})
    assert oracle.disagreement(math.inf, ["exp", "x1"], {"x1": 1.0})


@pytest.mark.parametrize(
    ("text", "x", "slope"),
    [
        ("sin x1", 0.3, math.cos(0.3)),
        ("pow x1 2", -3.0, -6.0),
        ("pow2 x1", 0.0, 0.0),
        ("pow1_3 x1", -8.0, 1 / 12),
        ("pow 2 x1", 3.0, 8 * math.log(2)),
        ("* x1 exp x1", 1.0, 2 * math.e),
        ("+ x1 pow1_2 0", 1.0, 1.0),  # a literal's edge is none of x1's business
    ],
)
def test_known_derivatives(text: str, x: float, slope: float) -> None:
    found = oracle.derivative(text.split(), {"x1": x}, wrt="x1")
    assert found is not None
    assert found[0] == pytest.approx(slope, rel=1e-12)
    assert found[1] < 1e-8


def test_derivative_by_a_constant() -> None:
    found = oracle.derivative("* <constant> exp <constant>".split(), {}, [2.0, 1.0], wrt=0)
    assert found is not None
    assert found[0] == pytest.approx(math.e)


@pytest.mark.parametrize(
    ("text", "x"), [("abs x1", 0.0), ("pow1_2 x1", 0.0), ("log x1", -1.0), ("acos x1", 1.0), ("pow1_2 * 0 x1", 1.0)]
)
def test_no_derivative_at_kinks_and_edges(text: str, x: float) -> None:
    assert oracle.derivative(text.split(), {"x1": x}, wrt="x1") is None


def test_the_oracle_decides_most_points() -> None:
    """A property that compares with the oracle is worth something only if it usually makes a claim."""
    decided = []

    @examples(200)
    @given(token_lists(names=False, constants=False, wild_numbers=False), points(5, 1), st.just(None))
    def count(tokens: list[str], rows: list[list[float]], _: None) -> None:
        decided.append(oracle.evaluate(tokens, dict(zip(X_TOKENS, rows[0], strict=True))) is not Status.UNDECIDED)

    count()
    assert sum(decided) > 0.7 * len(decided)
