"""NumPy callable, torch module and LaTeX."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests import oracle
from tests.columns import ALL_NAMES, bind, environment
from tests.needs import need
from tests.strategies import UNARY, examples, expressions, points, token_lists

parse = simplipy.parse


@examples(80)
@given(token_lists(8), points(len(ALL_NAMES)), st.data())
def test_numpy_callable_agrees_with_multiprecision(
    prefix: list[str], rows: list[list[float]], data: st.DataObject
) -> None:
    e = parse(prefix)
    constants = data.draw(points(e.n_constants, 1))[0]
    f = e.numpy()
    got = f(bind(rows), constants or None)
    assert got.shape == (len(rows),)
    for value, row in zip(got, rows, strict=True):
        outcome = oracle.evaluate(prefix, environment(row), constants)
        if isinstance(outcome, oracle.Near):  # powers of NumPy are good to some ulp, so a little more room
            assert abs(float(value) - outcome.value) <= 4 * outcome.bound, (prefix, row)


@pytest.mark.parametrize("op", UNARY)
def test_numpy_callable_has_the_true_domain(op: str) -> None:
    """And warns of nothing: filterwarnings is error here."""
    X = np.array([[-3.0], [-1.0], [-0.5], [0.0], [0.5], [1.0], [3.0]])
    got = parse([op, "x1"]).numpy()(X)
    np.testing.assert_allclose(got, parse([op, "x1"])(X), rtol=1e-13, atol=1e-15)


def test_numpy_callable_takes_arrays() -> None:
    X = np.random.default_rng(0).normal(size=(11, 3))
    f = parse("<constant>*x1 + x3").numpy()
    np.testing.assert_allclose(f(X, [2.0]), 2 * X[:, 0] + X[:, 2], rtol=1e-14)
    np.testing.assert_allclose(f(X, constants=np.array([2.0])), 2 * X[:, 0] + X[:, 2], rtol=1e-14)
    assert parse("3").numpy()(X).tolist() == [3.0] * 11
    assert parse("x1").numpy()(np.zeros((0, 1))).shape == (0,)


def test_numpy_callable_wants_its_constants() -> None:
    with pytest.raises(ValueError, match="constant"):
        parse("<constant>*x1").numpy()(np.ones((2, 1)))
    with pytest.raises(ValueError, match="constant"):
        parse("<constant>*x1").numpy()(np.ones((2, 1)), [1.0, 2.0])


def test_numpy_callable_does_not_alias_its_input() -> None:
    X = np.ones((3, 1))
    result = parse("x1").numpy()(X)
    result[:] = 7.0
    assert (X == 1.0).all()


def test_torch_module_agrees_with_evaluation() -> None:
    torch = need("torch")

    @examples(50)
    @given(token_lists(8, names=False), points(5), st.data())
    def check(prefix: list[str], rows: list[list[float]], data: st.DataObject) -> None:
        e = parse(prefix)
        constants = data.draw(points(e.n_constants, 1))[0]
        module = e.torch().double()
        if constants:
            with torch.no_grad():
                module.constants.copy_(torch.tensor(constants, dtype=torch.float64))
        got = module(torch.tensor(rows, dtype=torch.float64))
        assert got.shape == (len(rows),)
        for value, row in zip(got.detach().numpy(), rows, strict=True):
            outcome = oracle.evaluate(prefix, environment(row + [1.0] * (len(ALL_NAMES) - 5)), constants)
            if isinstance(outcome, oracle.Near):
                tolerance = 4 * float(outcome.bound) + 1e-14 * abs(float(outcome.value))
                assert abs(float(value) - float(outcome.value)) <= tolerance, (prefix, row)

    check()


def test_torch_module_is_a_module_with_one_parameter() -> None:
    torch = need("torch")
    module = parse("<constant>*x1 + sin(<constant>*x2) + 3").torch()
    assert isinstance(module, torch.nn.Module)
    assert [name for name, _ in module.named_parameters()] == ["constants"]
    assert isinstance(module.constants, torch.nn.Parameter)
    assert module.constants.shape == (2,)
    assert module.constants.requires_grad
    assert "constants" in module.state_dict()
    assert sum(p.numel() for p in parse("x1 + 1").torch().parameters()) == 0


def test_torch_module_learns_its_constants() -> None:
    torch = need("torch")
    module = parse("<constant>*x1 + <constant>").torch().double()
    x = torch.linspace(-1, 1, 20, dtype=torch.float64)[:, None]
    y = 3 * x[:, 0] - 0.5
    with torch.no_grad():
        module.constants.copy_(torch.tensor([1.0, 1.0]))
    for _ in range(200):
        module.zero_grad()
        ((module(x) - y) ** 2).mean().backward()
        with torch.no_grad():
            module.constants -= 0.5 * module.constants.grad
    assert module.constants.detach().numpy() == pytest.approx([3.0, -0.5], abs=1e-6)


@pytest.mark.parametrize("op", UNARY)
def test_torch_module_passes_gradients_to_its_input(op: str) -> None:
    torch = need("torch")
    x = np.array([[-1.7], [-0.4], [0.6], [1.9]])
    e = parse([op, "x1"])
    inputs = torch.tensor(x, requires_grad=True)
    e.torch().double()(inputs).nansum().backward()
    expected = e.gradient(x, wrt="variables")
    inside = ~np.isnan(expected)
    assert inside.any()
    np.testing.assert_allclose(inputs.grad.numpy()[inside], expected[inside], rtol=1e-10)


def test_torch_module_keeps_the_dtype_of_its_input() -> None:
    torch = need("torch")
    assert parse("x1 + 0.5").torch()(torch.ones(3, 1)).dtype == torch.float32
    assert parse("x1 + 0.5").torch()(torch.ones(3, 1, dtype=torch.float64)).dtype == torch.float64


def test_torch_module_can_be_pickled() -> None:
    torch = need("torch")
    module = parse("<constant>*pow1_3(x1)").torch()
    x = torch.tensor([[-8.0], [27.0]])
    other = pickle.loads(pickle.dumps(module))
    assert torch.equal(other(x), module(x))


def test_constant_expression_in_torch_fills_every_row() -> None:
    torch = need("torch")
    assert parse("2.5").torch()(torch.zeros(3, 1)).tolist() == [2.5] * 3


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x1/x2", [r"\frac", "x_{1}|x_1"]),
        ("sin(x1)", [r"\\sin"]),
        ("sqrt(x1)", [r"\\sqrt"]),
        ("pow1_3(x1)", [r"\\sqrt\s*\[\s*3\s*\]"]),
        ("pow1_5(x1)", [r"\\sqrt\s*\[\s*5\s*\]"]),
        ("abs(x1)", [r"\||vert"]),
        ("x1^x2", [r"\^"]),
        ("pi", [r"\\pi"]),
        ("log(x1)", [r"\\log|\\ln"]),
        ("x12", [r"x_\{12\}"]),
        ("alpha*x1", ["alpha"]),
        ("1.5e-20*x1", [r"10\^\{?-20"]),
    ],
)
def test_latex_has_the_right_commands(text: str, parts: list[str]) -> None:
    latex = parse(text).latex()
    for part in parts:
        assert re.search(part if part != r"\frac" else r"\\[dt]?frac", latex), latex


@examples(150)
@given(expressions(10, specials=True))
def test_latex_is_balanced(e: simplipy.Expression) -> None:
    latex = e.latex()
    bare = re.sub(r"\\[\\{}]", "", latex)
    depth = 0
    for char in bare:
        depth += (char == "{") - (char == "}")
        assert depth >= 0, latex
    assert depth == 0, latex
    assert len(re.findall(r"\\left(?![a-z])", latex)) == len(re.findall(r"\\right(?![a-z])", latex)), latex


def test_latex_can_be_typeset() -> None:
    parser = need("matplotlib.mathtext").MathTextParser("path")

    @examples(40)
    @given(expressions(8, names=False))
    def check(e: simplipy.Expression) -> None:
        parser.parse(f"${e.latex()}$")

    check()


def test_latex_precision() -> None:
    e = parse("3.14159265*x1")
    assert "3.14" in e.latex(precision=3)
    assert "3.141" not in e.latex(precision=3)
    assert "3.14159265" in e.latex()


@pytest.mark.parametrize("name", ["a%b", "a#b", "a&b", "a$b", "a{b", "a}b", "a_b_c", "a^b", "a\\b", "a~b"])
def test_latex_escapes_names(name: str) -> None:
    latex = parse(["sin", f"`{name}`"]).latex()
    bare = re.sub(r"\\[%#&${}_\\]", "", latex)
    assert not re.search(r"[%#&$~]", bare), latex
    assert bare.count("{") == bare.count("}"), latex
    assert not re.search(r"_\w+_", bare), f"a double subscript: {latex}"


def test_minus_signs_do_not_touch() -> None:
    assert "--" not in parse(["-", "x1", "-3"]).latex().replace(" ", "")
    assert "--" not in parse(["neg", "-3"]).latex().replace(" ", "")


def test_powers_bind_in_latex() -> None:
    """(-2)^2, (x1 + x2)^2 and sin(x1)^2 have to keep their base together."""
    for text in ("(-2)^2", "(x1 + x2)^2", "(x1^2)^3", "(x1/x2)^x3"):
        assert "(" in parse(text).latex(), text
    latex = [parse(text).latex() for text in ("-x1^2", "(-x1)^2", "sin(x1)^2", "sin(x1^2)", "(x1*x2)^2", "x1*x2^2")]
    assert len(set(latex)) == len(latex)
