"""The 27 nonlinear problems of NIST's StRD, from both of their starts, against the certified values."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from tests.nist import NAMES, read

# certified digits of the standard errors of data that are exact to 13 digits: their residuals are rounding
LOOSE_ERRORS = {"Lanczos1": 0.5}


def test_all_problems_are_there() -> None:
    assert len(NAMES) == 27


@pytest.mark.parametrize("start", [0, 1], ids=["start1", "start2"])
@pytest.mark.parametrize("name", NAMES)
def test_certified_values(name: str, start: int) -> None:
    problem = read(name)
    fit = simplipy.fit_constants(problem.model, problem.X, problem.y, parameters=problem.starts[start], n_restarts=0)
    assert fit.status is simplipy.FitStatus.OK
    assert list(fit.parameters) == list(problem.certified)
    np.testing.assert_allclose(list(fit.parameters.values()), list(problem.certified.values()), rtol=1e-6)
    np.testing.assert_allclose(fit.stderr, list(problem.stderr.values()), rtol=LOOSE_ERRORS.get(name, 1e-5))
    assert fit.loss * len(problem.y) == pytest.approx(
        problem.residual_sum_of_squares, rel=0.01 if name == "Lanczos1" else 1e-9
    )
