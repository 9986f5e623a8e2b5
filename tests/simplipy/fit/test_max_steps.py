"""Rough fits: few steps from the caller's start."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from simplipy.errors import FitError

X = np.linspace(0.1, 4, 60).reshape(-1, 1)
Y = 2.5 * np.exp(-0.7 * X[:, 0]) + 0.3
FORMULA = "<constant>*exp(<constant>*x1) + <constant>"


def fvu(start: float, max_steps: int | None) -> float:
    x0 = np.array([1.0, start, 0.0])
    return simplipy.fit_constants(FORMULA, X, Y, x0=x0, n_restarts=0, max_steps=max_steps).fvu


def test_more_steps_come_closer_until_nothing_changes() -> None:
    errors = [fvu(-3.0, n) for n in (1, 2, 4, None)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 1e-6
    assert errors[-1] < 1e-24


def test_numbers_that_enter_linearly_are_exact_after_any_step() -> None:
    assert fvu(-0.7, 1) < 1e-24


def test_the_number_of_steps_must_be_positive() -> None:
    with pytest.raises(FitError, match="max_steps must be >= 1 or None, got 0"):
        fvu(-0.7, 0)
