"""Values, domains and derivatives against multiprecision; many expressions at once against one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests import oracle
from tests.columns import ALL_NAMES, bind, environment
from tests.needs import need
from tests.strategies import EVERY_OPERATOR, X_TOKENS, examples, expressions, points, token_lists

parse = simplipy.parse


@examples(250)
@given(token_lists(8, operators=EVERY_OPERATOR), points(len(ALL_NAMES)), st.data())
def test_values_agree_with_multiprecision(prefix: list[str], rows: list[list[float]], data: st.DataObject) -> None:
    e = parse(prefix)
    constants = data.draw(points(e.n_constants, 1))[0]
    got = e(bind(rows), constants=constants or None)
    assert got.shape == (len(rows),)
    for value, row in zip(got, rows, strict=True):
        assert oracle.disagreement(float(value), prefix, environment(row), constants) == ""


@examples(40)
@given(st.lists(expressions(6, constants=False), min_size=1, max_size=6), points(len(ALL_NAMES), 5))
def test_many_is_one_by_one(batch: list[simplipy.Expression], rows: list[list[float]]) -> None:
    X = bind(rows)
    values, defined = simplipy.evaluate_many(batch, X)
    assert values.shape == defined.shape == (len(batch), 5)
    assert values.dtype == np.float64
    assert defined.dtype == np.bool_
    for k, e in enumerate(batch):
        assert np.array_equal(e(X), np.where(defined[k], values[k], np.nan), equal_nan=True)
        assert not np.isnan(values[k][defined[k]]).any()


SMOOTH = token_lists(7, wild_numbers=False, operators=EVERY_OPERATOR)


def mismatch(got: float, expected: tuple[float, float] | None) -> bool:
    return expected is not None and not abs(got - expected[0]) <= expected[1]  # a NaN is a mismatch


@examples(120)
@given(SMOOTH, points(len(ALL_NAMES), 3), st.data())
def test_gradient_agrees_with_finite_differences(
    prefix: list[str], rows: list[list[float]], data: st.DataObject
) -> None:
    e = parse(prefix)
    constants = data.draw(points(e.n_constants, 1))[0]
    by_constants = e.gradient(bind(rows), constants, wrt="constants")
    by_variables = e.gradient(bind(rows), constants, wrt="variables")
    assert by_constants.shape == (len(rows), e.n_constants)
    assert by_variables.shape == (len(rows), len(e.variables))
    for i, row in enumerate(rows):
        env = environment(row)
        if oracle.evaluate(prefix, env, constants) is oracle.Status.UNDEFINED:
            assert np.isnan(by_constants[i]).all()
            assert np.isnan(by_variables[i]).all()
            continue
        for k in range(e.n_constants):
            expected = oracle.derivative(prefix, env, constants, wrt=k)
            assert not mismatch(by_constants[i, k], expected), (prefix, env, constants, k, by_constants[i, k], expected)
        for k, name in enumerate(e.variables):
            expected = oracle.derivative(prefix, env, constants, wrt=name)
            assert not mismatch(by_variables[i, k], expected), (
                prefix,
                env,
                constants,
                name,
                by_variables[i, k],
                expected,
            )


@examples(80)
@given(token_lists(5, wild_numbers=False, constants=False, names=False, operators=EVERY_OPERATOR), points(5, 3))
def test_diff_agrees_with_finite_differences(prefix: list[str], rows: list[list[float]]) -> None:
    e = parse(prefix)
    for name in e.variables:
        slope = e.diff(name)
        assert set(slope.variables) <= set(e.variables)
        for row in rows:
            env = dict(zip(X_TOKENS, row, strict=True))
            exact = oracle.evaluate(list(slope.tokens), env)
            expected = oracle.derivative(prefix, env, wrt=name)
            if expected is None or exact is oracle.Status.UNDECIDED:
                continue
            assert isinstance(exact, oracle.Near), (
                f"{list(slope.tokens)} is undefined at {env}, where {prefix} has a slope"
            )
            tolerance = expected[1] + float(exact.bound)
            assert abs(float(exact.value) - expected[0]) <= tolerance, (prefix, list(slope.tokens), env)


def torch_value(torch, prefix: list[str], columns: dict, constants):
    """The expression in torch, written here, for its autograd."""
    names = {
        "asin",
        "acos",
        "atan",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "log",
        "abs",
        "erf",
    }
    like = next(iter(columns.values()))

    def leaf(token: str, k: int):
        if token == "<constant>":
            return constants[k].expand_as(like)
        if token in ("pi", "e"):
            return torch.full_like(like, getattr(math, token))
        return torch.full_like(like, float(token)) if oracle.is_number(token) else columns[oracle.plain_name(token)]

    def node(op: str, *a):
        x, y = a[0], a[-1]
        if op in names:
            return getattr(torch, op)(x)
        if op.startswith("pow1_"):
            n = int(op[-1])
            return torch.sign(x) * torch.abs(x) ** (1 / n) if n % 2 else x ** (1 / n)
        if op in oracle.POWER:
            return x ** oracle.POWER[op]
        if op in oracle.FACTOR:
            return x * float(oracle.FACTOR[op])
        table = {
            "neg": lambda: -x,
            "inv": lambda: 1 / x,
            "+": lambda: x + y,
            "-": lambda: x - y,
            "*": lambda: x * y,
            "/": lambda: x / y,
            "min": lambda: torch.minimum(x, y),
            "max": lambda: torch.maximum(x, y),
        }
        return table[op]() if op in table else x**y

    return oracle.fold(prefix, leaf, node)


def test_gradient_agrees_with_torch_autograd() -> None:
    torch = need("torch")

    @examples(60)
    @given(SMOOTH, points(len(ALL_NAMES), 3), st.data())
    def check(prefix: list[str], rows: list[list[float]], data: st.DataObject) -> None:
        e = parse(prefix)
        constants = data.draw(points(e.n_constants, 1))[0]
        env = {name: torch.tensor(column, requires_grad=True) for name, column in bind(rows).items()}
        free = torch.tensor(constants, dtype=torch.float64, requires_grad=True)
        value = torch_value(torch, prefix, env, free)
        inputs = [env[name] for name in e.variables]
        if not inputs:
            return
        slopes = torch.autograd.grad(value.sum(), inputs, allow_unused=True)
        got = e.gradient(bind(rows), constants, wrt="variables")
        for i, row in enumerate(rows):
            if not isinstance(oracle.evaluate(prefix, environment(row), constants), oracle.Near):
                continue
            for k, name in enumerate(e.variables):
                expected = oracle.derivative(prefix, environment(row), constants, wrt=name)
                if expected is None or not math.isfinite(float(slopes[k][i])):
                    continue
                tolerance = expected[1] + 1e-7 * abs(expected[0])
                assert got[i, k] == pytest.approx(float(slopes[k][i]), rel=1e-9, abs=tolerance), (prefix, row, name)

    check()
