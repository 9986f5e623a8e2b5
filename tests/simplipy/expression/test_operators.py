"""The operator table is complete: every operator has every column, and every layer knows every operator.

Add an operator and these tests name what is still missing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import fields

import numpy as np
import pytest

import simplipy
from simplipy.expression import operators, token_batch
from simplipy.expression.operator_forms import FORMS
from tests import oracle
from tests.needs import need
from tests.strategies import ARITY, OFF_BY_DEFAULT

OPERATORS = simplipy.OPERATORS
PAPER = "+ - * / pow abs inv neg pow2 pow3 pow4 pow5 pow1_2 pow1_3 pow1_4 pow1_5 sin cos tan asin acos atan sinh cosh"
PAPER += " tanh asinh acosh atanh exp log mult2 mult3 mult4 mult5 div2 div3 div4 div5"
VALUES = (-8.0, -3.0, -1.5, -1.0, -0.7, -0.25, 0.0, 0.3, 0.9, 1.0, 1.2, 2.0, 2.5, 3.0, 7.0)
# the words of the column `domain`, as functions of the operands
DOMAINS = {
    "": lambda a, b: True,
    "a >= 0": lambda a, b: a >= 0,
    "a > 0": lambda a, b: a > 0,
    "a >= 1": lambda a, b: a >= 1,
    "a != 0": lambda a, b: a != 0,
    "b != 0": lambda a, b: b != 0,
    "cos(a) != 0": lambda a, b: math.cos(a) != 0,
    "-1 <= a <= 1": lambda a, b: -1 <= a <= 1,
    "-1 < a < 1": lambda a, b: -1 < a < 1,
    "a > 0 or (a = 0 and b >= 0) or (a < 0 and b integer)": lambda a, b: (
        a > 0 or (a == 0 and b >= 0) or (a < 0 and b == int(b))
    ),
}

every_operator = pytest.mark.parametrize("op", OPERATORS.values(), ids=OPERATORS)


def applied(op: operators.Operator, *operands: str) -> simplipy.Expression:
    """The operator on x1, or on x1 and x2."""
    return simplipy.parse([op.token, *(operands or ("x1", "x2"))[: op.arity]])


def grid(op: operators.Operator) -> np.ndarray:
    """Points in two columns, of which a unary operator uses the first."""
    return np.array(list(itertools.product(VALUES, VALUES if op.arity == 2 else [1.0])))


def test_the_default_operators_are_the_papers() -> None:
    assert operators.DEFAULT_OPERATORS == tuple(OPERATORS)[:38] == tuple(PAPER.split())
    assert set(OPERATORS) - set(operators.DEFAULT_OPERATORS) == set(OFF_BY_DEFAULT)
    assert {op.token: op.arity for op in OPERATORS.values()} == ARITY
    assert all(token == op.token for token, op in OPERATORS.items())


def test_ids_never_change() -> None:
    """Data files and checkpoints store them."""
    ids = {token: i for i, token in enumerate(token_batch.SYMBOL_TOKENS) if token}
    known = [*PAPER.split(), operators.CONSTANT, *operators.SYMBOLS]
    assert list(ids)[: len(known)] == known
    assert list(ids.values())[: len(known)] == list(range(len(known)))
    assert {token: op.id for token, op in OPERATORS.items()}.items() <= ids.items()
    assert token_batch.FIRST_VARIABLE == 64


@every_operator
def test_every_column_is_filled(op: operators.Operator) -> None:
    for field in fields(op):
        value = getattr(op, field.name)
        assert type(value).__name__ == field.type.partition("[")[0], field.name
    assert op.arity in (1, 2)
    assert op.precedence in (1, 2, 3, 4, 5)
    assert op.form in ("infix", "minus", "power", "scale", "quotient", "reciprocal", "call")
    assert (op.call == "") == (op.token in "+-*/")
    digit = int(op.token[-1]) if op.token[-1].isdigit() else 0
    assert op.literal == (1 if op.token == "inv" else digit)
    assert op.parity in ("odd", "even", "none")
    assert len(op.derivative) == op.arity
    assert op.domain in DOMAINS
    assert op.weight == (10.0 if op.token in "+-*/" else float(op.token in PAPER.split()))
    assert op.description


@every_operator
def test_symmetries(op: operators.Operator) -> None:
    """What the table says of parity and commutativity, and nothing it leaves out."""
    X = grid(op)
    values = applied(op)(X)
    swapped = np.array_equal(applied(op, "x2", "x1")(X), values, equal_nan=True)
    assert op.commutative == (op.arity == 2 and swapped)
    if op.arity == 1:
        mirrored = applied(op)(-X)
        found = [word for word, sign in (("odd", -1), ("even", 1)) if np.array_equal(mirrored, sign * values, True)]
        assert found == ([] if op.parity == "none" else [op.parity])


@every_operator
def test_the_domain_is_the_evaluators(op: operators.Operator) -> None:
    X = grid(op)
    _, defined = simplipy.evaluate_many([applied(op)], X)
    assert defined[0].tolist() == [DOMAINS[op.domain](a, b) for a, b in X]


@every_operator
def test_kernel_values(op: operators.Operator) -> None:
    e = applied(op)
    for value, (a, b) in zip(e(grid(op)), grid(op), strict=True):
        assert oracle.disagreement(float(value), e.tokens, {"x1": float(a), "x2": float(b)}) == ""


@every_operator
def test_derivative_column_and_both_derivatives(op: operators.Operator) -> None:
    """The column, `diff` that is built from it, and reverse mode, against finite differences."""
    e = applied(op)
    X = grid(op)
    reverse = e.gradient(X, wrt="variables")
    n_checked = 0
    for k, name in enumerate(e.variables):
        column = simplipy.parse(op.derivative[k])({"a": X[:, 0], "b": X[:, 1]})
        symbolic = e.diff(name)(X)
        for i, (a, b) in enumerate(X):
            expected = oracle.derivative(e.tokens, {"x1": float(a), "x2": float(b)}, wrt=name)
            if expected is None:
                continue
            n_checked += 1
            for got in (column[i], symbolic[i], reverse[i, k]):
                assert got == pytest.approx(expected[0], rel=1e-12, abs=1e-14), (name, a, b)
    assert n_checked >= 4


@every_operator
def test_reverse_mode_equals_autograd(op: operators.Operator) -> None:
    torch = need("torch")
    e = applied(op)
    inputs = torch.tensor(grid(op), requires_grad=True)
    values = e.torch().double()(inputs)
    values[~values.isnan()].sum().backward()
    reverse = e.gradient(grid(op), wrt="variables")
    slopes = inputs.grad.numpy()[:, : op.arity]
    both = np.isfinite(reverse) & (slopes != 0)  # torch gives 0 where there is no slope
    assert both.any()
    np.testing.assert_allclose(slopes[both], reverse[both], rtol=1e-10)


@every_operator
def test_infix_form(op: operators.Operator) -> None:
    e = applied(op)
    k = op.literal
    text = {
        "infix": f"x1{'^' if op.token == 'pow' else op.token}x2",
        "minus": "-x1",
        "power": f"x1^{k}",
        "scale": f"{k}*x1",
        "quotient": f"x1/{k}",
        "reciprocal": "1/x1",
        "call": f"{op.call}(x1)" if op.arity == 1 else f"{op.call}(x1,x2)",
    }[op.form]
    assert e.infix().replace(" ", "") == text
    assert simplipy.parse(text) == e
    if op.call:
        names = ", ".join(e.variables)
        assert simplipy.parse(f"{op.call}({names})") == simplipy.parse(f"{op.token}({names})") == e


def test_every_operator_has_its_forms() -> None:
    assert list(FORMS) == list(OPERATORS)


def test_latex_tells_operators_apart() -> None:
    """But for x^2 and the like, which the tokens spell twice."""
    texts = [applied(op).latex() for op in OPERATORS.values()]
    assert len(set(texts)) == len(texts)
    assert all("x_{1}" in text for text in texts)


@every_operator
def test_numpy_torch_and_sympy_values(op: operators.Operator) -> None:
    torch = need("torch")
    e = applied(op)
    X = grid(op)
    others = {
        "numpy": e.numpy()(X),
        "torch": e.torch().double()(torch.tensor(X)).detach().numpy(),
        "sympy": simplipy.from_sympy(e.to_sympy())(X),
    }
    for name, values in others.items():
        np.testing.assert_allclose(values, e(X), rtol=1e-12, atol=1e-15, err_msg=name)
