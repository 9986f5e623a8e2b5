"""Targets: functions of y that may be a sum where y is not, with the inverse as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import Data, FloatArray, relative_weight

_POWERS = ("y", "1/y", "y^2", "1/y^2", "sqrt y", "1/sqrt y")


@dataclass(frozen=True)
class TransformedTarget:
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
    weight : array (n_rows,), optional
        Of residuals of the values; None weighs relative errors.
    """

    name: str
    values: FloatArray
    unit: float
    inverse: str
    weight: FloatArray | None = None

    def row_weight(self, data: Data) -> FloatArray:
        """Weights of residuals of the values, those of the data included, (n_rows,)."""
        return data.root_weight * (relative_weight(self.values) if self.weight is None else self.weight)

    @property
    def is_power(self) -> bool:
        """Whether T(y) is a power of y, so that both are power laws or none."""
        return self.name in _POWERS


def targets(data: Data) -> list[TransformedTarget]:
    """The targets that are defined on all rows, the common ones first; with noise, on the rows that are no noise."""
    if data.noise:
        return _noisy_targets(data)
    y = data.y
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    z = y / size
    one_sign = bool((y > 0).all() or (y < 0).all())
    sign = "" if y[0] > 0 else "-"
    found = [TransformedTarget("y", z, size, "{}")]

    def add(name: str, values: FloatArray, unit: float, inverse: str, tokens: str) -> None:
        if not data.allows(*tokens.split()):
            return
        if np.isfinite(values).all() and np.ptp(values) > 1e-9 * np.abs(values).max() and 0 < unit < np.inf:
            found.append(TransformedTarget(name, values, float(unit), inverse))

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


@dataclass(frozen=True, slots=True)
class _Kind:
    """A target of noisy values: T, the text of its inverse, tokens that it needs, whether y must keep its sign."""

    name: str
    function: Callable[[FloatArray], FloatArray]
    inverse: str
    tokens: tuple[str, ...] = ()
    one_sign: bool = False
    power: float | None = None


_KINDS = (
    _Kind("1/y", lambda z: 1 / z, "1/({})", power=-1),
    _Kind("y^2", lambda z: z**2, "sqrt({})", ("pow1_2",), True, 2),
    _Kind("log y", np.log, "exp({})", ("exp",), True),
    _Kind("sqrt y", np.sqrt, "({})^2", (), True, 0.5),
    _Kind("1/y^2", lambda z: z**-2.0, "1/sqrt({})", ("pow1_2",), True, -2),
    _Kind("exp y", np.exp, "log({})", ("log",)),
    _Kind("tan y", np.tan, "atan({})", ("atan",)),
    _Kind("sin y", np.sin, "asin({})", ("asin",)),
    _Kind("cos y", np.cos, "acos({})", ("acos",)),
    _Kind("asin y", np.arcsin, "sin({})", ("sin",)),
    _Kind("acos y", np.arccos, "cos({})", ("cos",)),
    _Kind("atanh y", np.arctanh, "tanh({})", ("tanh",)),
)
# arguments beyond which T is not the inverse of T^-1
_RANGES = {
    "exp y": (-50.0, 50.0),
    "tan y": (-np.pi / 2, np.pi / 2),
    "sin y": (-np.pi / 2, np.pi / 2),
    "cos y": (0.0, np.pi),
    "asin y": (-1.0, 1.0),
    "acos y": (-1.0, 1.0),
    "atanh y": (-1.0, 1.0),
}
# rows that must be left
_LEAST_ROWS = 0.3


def _noisy_targets(data: Data) -> list[TransformedTarget]:
    """Targets with the weights that absolute errors of y give them; rows near the edge of a domain have none."""
    y = data.y
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    found = [TransformedTarget("y", y / size, size, "{}", np.ones(data.n_rows))]
    sign = -1.0 if data.one_sign and float(np.sum(y)) < 0 else 1.0
    for kind in _KINDS:
        if (kind.one_sign and not data.one_sign) or not data.allows(*kind.tokens):
            continue
        unit = size if kind.power is not None else 1.0
        flip = sign if kind.one_sign else 1.0
        low, high = _RANGES.get(kind.name, (-np.inf, np.inf))
        z, step = flip * y / unit, 2 * data.noise / unit
        if np.mean((z >= low) & (z <= high)) < 1 - _LEAST_ROWS:
            continue
        with np.errstate(all="ignore"):
            inside = [np.where((v >= low) & (v <= high), v, np.nan) for v in (z, z + step, z - step)]
            values, above, below = map(kind.function, inside)
            slope = (np.abs(above - values) + np.abs(values - below)) / (2 * step)
            fine = np.isfinite(slope) & (slope > 0) & ((np.abs(z) > step) | (kind.power is None))
            weight = np.where(fine, 1 / slope, 0.0)
        if np.count_nonzero(weight) < max(_LEAST_ROWS * data.n_rows, 8):
            continue
        values = np.where(weight > 0, values, 0.0)
        inverse = kind.inverse if flip > 0 else f"-({kind.inverse})"
        found.append(
            TransformedTarget(kind.name, values, float(unit ** (kind.power or 0.0)), inverse, weight / weight.max())
        )
    return found
