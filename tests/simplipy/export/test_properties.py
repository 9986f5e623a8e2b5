"""Exports over the whole language, names in backquotes and numbers of every size too; see also test_*_export.py."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

import simplipy
from tests import oracle
from tests.columns import ALL_NAMES, bind, environment
from tests.needs import need
from tests.strategies import EVERY_OPERATOR, examples, expressions, points, token_lists

parse = simplipy.parse


@examples(80)
@given(token_lists(8, operators=EVERY_OPERATOR), points(len(ALL_NAMES)), st.data())
def test_numpy_function_agrees_with_multiprecision(
    prefix: list[str], rows: list[list[float]], data: st.DataObject
) -> None:
    e = parse(prefix)
    constants = data.draw(points(e.n_constants, 1))[0]
    got = e.numpy()(bind(rows), constants or None)
    assert got.shape == (len(rows),)
    for value, row in zip(got, rows, strict=True):
        outcome = oracle.evaluate(prefix, environment(row), constants)
        if isinstance(outcome, oracle.Near):  # powers of NumPy are good to some ulp, so a little more room
            assert abs(float(value) - outcome.value) <= 4 * outcome.bound, (prefix, row)


@examples(80)
@given(token_lists(7, constants=False, operators=EVERY_OPERATOR), points(len(ALL_NAMES), 3))
def test_sympy_and_back_keeps_values_and_domain(prefix: list[str], rows: list[list[float]]) -> None:
    e = parse(prefix)
    back = simplipy.from_sympy(e.to_sympy())
    assert set(back.variables) <= set(e.variables)
    for row in rows:
        before, after = (oracle.evaluate(t, environment(row)) for t in (prefix, back.tokens))
        if oracle.Status.UNDECIDED in (before, after):
            continue
        if oracle.Status.UNDEFINED in (before, after):
            assert before == after, (prefix, back, row)
            continue
        assert abs(before.value - after.value) <= before.bound + after.bound, (prefix, back, row)


def test_torch_module_is_a_module_with_one_parameter() -> None:
    torch = need("torch")
    module = parse("<constant>*pow1_3(x1) + sin(<constant>*x2) + 3").torch()
    assert isinstance(module, torch.nn.Module)
    assert [name for name, _ in module.named_parameters()] == ["constants"]
    assert module.constants.shape == (2,)
    assert sum(p.numel() for p in parse("x1 + 1").torch().parameters()) == 0
    X = torch.tensor([[-8.0, 1.0], [27.0, 2.0]])
    assert torch.equal(pickle.loads(pickle.dumps(module))(X), module(X))


def test_latex_can_be_typeset() -> None:
    parser = need("matplotlib.mathtext").MathTextParser("path")

    @examples(40)
    @given(expressions(8, names=False, operators=EVERY_OPERATOR))
    def check(e: simplipy.Expression) -> None:
        parser.parse(f"${e.latex()}$")

    check()
