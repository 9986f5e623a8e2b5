"""The torch export: values and gradients against multiprecision, dtype and device, state, refusals."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given

import simplipy
from simplipy.errors import EvaluationError
from simplipy.export.torch_module import torch_module
from simplipy.expression.operators import OPERATORS
from tests.oracle import derivative, disagreement
from tests.strategies import EVERY_OPERATOR, X_TOKENS, examples, points, token_lists

POINTS = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -8.0, 32.0, 3.0, -0.25, 7.3, 0.3, -0.7, 1.7, -3.0]


def module(text, constants=None):
    expression = simplipy.parse(text)
    return torch_module(expression.tokens, expression.variables, constants)


def column(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype).reshape(-1, 1)


@examples(120)
@given(token_lists(8, names=False, operators=EVERY_OPERATOR), points(8, 1))
def test_values_equal_multiprecision(tokens, rows):
    env = dict(zip(X_TOKENS, rows[0], strict=False))
    constants = np.array([rows[0][-1] + k for k in range(tokens.count("<constant>"))])
    value = torch_module(tokens, X_TOKENS, constants)(torch.tensor(rows, dtype=torch.float64))
    assert not disagreement(value.item(), tokens, env, constants)


@pytest.mark.parametrize("token", EVERY_OPERATOR)
def test_gradients_equal_multiprecision(token):
    names = ["x1", "x2"][: OPERATORS[token].arity]
    rows = list(itertools.product(POINTS, repeat=len(names)))
    X = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    values = torch_module([token, *names], names)(X)
    values[~values.isnan()].sum().backward()
    assert torch.isfinite(X.grad).all()
    checked = 0
    for row, gradient in zip(rows, X.grad.tolist(), strict=True):
        for name, got in zip(names, gradient, strict=True):
            expected = derivative([token, *names], dict(zip(names, row, strict=True)), wrt=name)
            if expected is not None:
                assert got == pytest.approx(expected[0], abs=expected[1]), (row, name)
                checked += 1
    assert checked >= 5


def test_gradients_of_a_formula():
    e = simplipy.parse("<constant>*exp(-x1^2/<constant>) + cbrt(x1)*sin(<constant>*x1)^2")
    constants = [1.5, 0.7, 2.0]
    m = torch_module(e.tokens, e.variables, np.array(constants))
    for x1 in (-1.7, -0.2, 0.4, 2.0):
        X = column(x1).requires_grad_()
        m.zero_grad()
        m(X).sum().backward()
        for wrt, got in zip([0, 1, 2, "x1"], [*m.constants.grad.tolist(), X.grad.item()], strict=True):
            value, tolerance = derivative(e.tokens, {"x1": x1}, constants, wrt=wrt)
            assert got == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize(
    "text",
    ["<constant>*log(x1)", "<constant>/x1", "sqrt(x1)*<constant>", "(<constant>*x1)^0.5", "<constant>*asin(x1 + 2)"],
)
def test_rows_that_a_loss_leaves_out_do_not_spoil_gradients(text):
    m = module(text).double()
    y = m(column(-4.0, 0.0, -1.5))
    assert y.isnan().any()
    y[~y.isnan()].sum().backward()
    assert torch.isfinite(m.constants.grad).all()


@pytest.mark.parametrize(
    "text",
    ["cbrt(x1)", "pow1_5(x1)", "sqrt(x1)", "pow1_4(x1)", "x1^0.5", "cbrt(x1)^3", "asin(x1 + 1)", "acosh(x1 + 1)"],
)
def test_infinite_slopes_give_zero_gradients(text):
    X = column(0.0).requires_grad_()
    module(text)(X).sum().backward()
    assert X.grad.item() == 0.0


def test_odd_roots_on_both_sides():
    X = column(-8.0, 8.0).requires_grad_()
    y = module("cbrt(x1)")(X)
    y.sum().backward()
    torch.testing.assert_close(y.detach(), torch.tensor([-2.0, 2.0], dtype=torch.float64))
    torch.testing.assert_close(X.grad, column(1 / 12, 1 / 12))


def test_negative_base_with_a_fitted_integer_exponent():
    m = module("x1^<constant>", [3.0])
    y = m(column(-2.0, 2.0, dtype=torch.float32))
    y.sum().backward()
    assert y.tolist() == [-8.0, 8.0]
    assert m.constants.grad.item() == pytest.approx(8 * np.log(2.0), rel=1e-6)


def test_dtype_and_device_follow_the_data():
    m = module("<constant>*x1 + 0.1")
    assert m(column(1.0, dtype=torch.float32)).dtype == torch.float32
    assert m(column(1.0)).dtype == torch.float64
    assert m.double().constants.dtype == torch.float64
    assert m(torch.tensor([[1], [2]])).dtype == torch.get_default_dtype()
    # meta tensors have no values but a device, like a GPU's
    assert m.to("meta")(torch.empty(3, 1, device="meta")).device.type == "meta"
    assert module("x1", np.zeros(0))(column(1.0)).item() == 1.0


def test_state_dict_and_copies():
    m = module("<constant>*x1 + <constant>", [2.0, 3.0])
    other = module("<constant>*x1 + <constant>")
    assert other.constants.tolist() == [1.0, 1.0]
    other.load_state_dict(m.state_dict())
    assert other.constants.tolist() == [2.0, 3.0]
    assert list(m.state_dict()) == ["constants"]
    assert copy.deepcopy(m)(column(1.0)).item() == 5.0
    start = torch.tensor([7.0])
    held = module("<constant>*x1", start)
    start[0] = 0.0
    assert held.constants.item() == 7.0


def test_repr_shows_the_formula():
    assert repr(module("<constant>*sin(x1)")) == "ExpressionModule(<constant>*sin(x1))"


def test_training_finds_the_constants():
    m = module("<constant>*sin(<constant>*x1)", [1.0, 1.2]).double()
    X = torch.linspace(-2, 2, 50, dtype=torch.float64).reshape(-1, 1)
    y = 2.5 * torch.sin(1.5 * X[:, 0])
    optimizer = torch.optim.LBFGS(m.parameters(), max_iter=50, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = ((m(X) - y) ** 2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(m.constants.detach().numpy(), [2.5, 1.5], rtol=1e-4)


def test_columns_by_name_and_shapes():
    m = module("speed*time")
    assert m({"time": torch.ones(2), "speed": torch.full((2,), 3.0)}).tolist() == [3.0, 3.0]
    assert module("x1")(torch.empty(0, 1)).shape == (0,)
    assert module("2*pi")(torch.empty(4, 2)).shape == (4,)
    assert module("0*x1")(column(np.inf, np.nan, 1.0)).isnan().tolist() == [True, True, False]
    assert module("x1 + inf")(column(1.0)).isnan().all()


@pytest.mark.parametrize(
    ("text", "X", "message"),
    [
        ("x2", torch.zeros(3, 1), "needs column 2, X has 1"),
        ("speed", torch.zeros(3, 1), "pass a mapping"),
        ("x1", torch.zeros(3), "shape"),
        ("x1", np.zeros((3, 1)), "got ndarray"),
        ("x1", {"x2": torch.zeros(1)}, "no column 'x1'"),
        ("x1 + x2", {"x1": torch.zeros(1), "x2": torch.zeros(2)}, "one length"),
        ("x1", torch.zeros(3, 1, dtype=torch.complex64), "complex"),
    ],
)
def test_bad_data(text, X, message):
    with pytest.raises(EvaluationError, match=message):
        module(text)(X)


def test_wrong_number_of_constants():
    with pytest.raises(EvaluationError, match=r"shape \(1,\), got \(2,\)"):
        module("<constant>*x1", [1.0, 2.0])


def test_deep_expressions():
    m = torch_module(["sin"] * 10_000 + ["*", "<constant>", "x1"], ["x1"])
    m(column(1.0, dtype=torch.float32)).sum().backward()
    assert torch.isfinite(m.constants.grad).all()
