"""The catalogue ``science``: a problem for each form, with constants in their usual ranges."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.catalogues import Problem, Sign, load
from flash_ansr.catalogues.science import Law, field_names, load_field
from flash_ansr.catalogues.science.development import HELD_OUT_FIELDS

PROBLEMS = load("science").problems
LAWS = {f"{field}.{law.key}": law for field in HELD_OUT_FIELDS for law in load_field(field)}


def numbers_of(problem: Problem, law: Law) -> dict[str, float]:
    """The number at the place of each constant of the law."""
    pairs = zip(law.expression.tokens, problem.expression.tokens, strict=True)
    constants = {q.name for q in law.quantities if q.role in ("fitted", "universal")}
    return {name: float(token) for name, token in pairs if name in constants}


def test_the_problems_are_laws_of_the_held_out_fields() -> None:
    assert len(PROBLEMS) == 210
    assert {problem.name for problem in PROBLEMS} <= set(LAWS)
    assert {problem.name.split(".")[0] for problem in PROBLEMS} == set(HELD_OUT_FIELDS) <= set(field_names())


def test_each_form_has_one_problem() -> None:
    forms = [LAWS[problem.name].form() for problem in PROBLEMS]
    assert len(set(forms)) == len(forms)
    assert set(forms) == {law.form() for law in LAWS.values()}


def test_constants_lie_in_their_usual_ranges_with_three_digits() -> None:
    n_fitted = 0
    for problem in PROBLEMS:
        law = LAWS[problem.name]
        values = numbers_of(problem, law)
        for quantity in law.quantities:
            if quantity.role == "universal" and quantity.name in values:
                assert values[quantity.name] == quantity.value, problem.name
            elif quantity.role == "fitted" and quantity.range is not None:
                n_fitted += 1
                value = values[quantity.name]
                size = max(abs(quantity.range.low), abs(quantity.range.high))
                drawn = {Sign.AS_DRAWN: value, Sign.NEGATIVE: -value, Sign.BOTH: abs(value)}[quantity.range.sign]
                low, high = quantity.range.low - 5e-3 * abs(value), quantity.range.high + 5e-3 * size
                assert low <= drawn <= high, (problem.name, quantity.name)
                assert value == float(f"{value:.3g}")
    assert n_fitted > 100


def test_columns_are_the_variables_of_the_law_in_its_order() -> None:
    for problem in PROBLEMS:
        law = LAWS[problem.name]
        variables = [q for q in law.quantities if q.role == "variable"]
        assert [v.name for v in problem.variables] == [q.name for q in variables]
        assert [v.range for v in problem.variables] == [q.range for q in variables]
        names = {f"x{k}": q.name for k, q in enumerate(variables, start=1)}
        for old, new in zip(law.expression.tokens, problem.expression.tokens, strict=True):
            assert names.get(new, old) == old


@pytest.mark.parametrize("widened", [False, True])
def test_problems_are_defined_and_not_constant(widened: bool) -> None:
    for problem in PROBLEMS:
        sample = problem.sample(100, 0, widened=widened)
        assert np.isfinite(sample.X).all(), problem.name
        assert np.ptp(sample.y) > 0, problem.name
        assert widened or sample.n_redrawn < 20, problem.name
