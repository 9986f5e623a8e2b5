"""Targets: functions of y that may be a sum where y is not, with the inverse as text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.closed_form.data import Data, FloatArray

_POWERS = ("y", "1/y", "y^2", "1/y^2", "sqrt y", "1/sqrt y")


@dataclass(frozen=True)
class Target:
    """T(y) to be explained by a sum E, so that y = T^-1(E).

    Attributes
    ----------
    name : str
    values : array (n_rows,)
        T(y/unit), to keep powers of y within doubles.
    unit : float
        What coefficients are multiplied by: T(y) = unit*values.
    inverse : str
        Infix text of T^-1 with ``{}`` for E.
    """

    name: str
    values: FloatArray
    unit: float
    inverse: str

    @property
    def is_power(self) -> bool:
        """Whether T(y) is a power of y, so that both are power laws or none."""
        return self.name in _POWERS


def targets(data: Data, operators: Collection[str] | None) -> list[Target]:
    """The targets that are defined on all rows, the common ones first."""
    y = data.y
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    z = y / size
    one_sign = bool((y > 0).all() or (y < 0).all())
    sign = "" if y[0] > 0 else "-"
    found = [Target("y", z, size, "{}")]

    def add(name: str, values: FloatArray, unit: float, inverse: str, tokens: str) -> None:
        if operators is not None and not all(t in operators for t in tokens.split()):
            return
        if np.isfinite(values).all() and np.ptp(values) > 1e-9 * np.abs(values).max() and 0 < unit < np.inf:
            found.append(Target(name, values, float(unit), inverse))

    with np.errstate(all="ignore"):
        if (z != 0).all():
            add("1/y", 1 / z, 1 / size, "1/({})", "")
        if one_sign:
            add("y^2", z**2, size**2, sign + "sqrt({})", "pow1_2")
            add("1/y^2", 1 / z**2, size**-2.0, sign + "1/sqrt({})", "pow1_2")
            # shifted by the unit's logarithm below: the constant term takes it up
            add("log y", np.log(np.abs(y)), 1.0, sign + "exp({})", "exp")
            add("sqrt y", np.sqrt(np.abs(z)), np.sqrt(size), sign + "({})^2", "")
            add("1/sqrt y", 1 / np.sqrt(np.abs(z)), 1 / np.sqrt(size), sign + "1/({})^2", "")
        if (y > 0).all() and y.max() < 1:
            add("logit y", np.log(y / (1 - y)), 1.0, "1/(1 + exp(-({})))", "exp")
        if np.abs(y).max() < 50:
            add("exp y", np.exp(y), 1.0, "log({})", "log")
        if np.abs(y).max() <= 1:
            add("asin y", np.arcsin(y), 1.0, "sin({})", "sin")
            add("acos y", np.arccos(y), 1.0, "cos({})", "cos")
            add("atanh y", np.arctanh(y), 1.0, "tanh({})", "tanh")
        if np.abs(y).max() < np.pi / 2:
            add("tan y", np.tan(y), 1.0, "atan({})", "atan")
            add("sin y", np.sin(y), 1.0, "asin({})", "asin")
        if (y >= 0).all() and y.max() <= np.pi:
            add("cos y", np.cos(y), 1.0, "acos({})", "acos")
    return found
