"""Targets: functions of y that may be a sum where y is not, with the inverse as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.proposers.data import Data, FloatArray, relative_weight


@dataclass(frozen=True)
class TransformedTarget:
    """T(y) to be explained by a sum E, so that y = T^-1(E).

    Attributes
    ----------
    name : str
    values : array (n_rows,)
        T(y/unit), to keep powers of y within doubles.
    unit : float
        The factor of the coefficients: T(y) = unit*values.
    inverse : str
        Infix text of T^-1 with ``{}`` for E.
    weight : array (n_rows,), optional
        Of residuals of the values; None weighs relative errors.
    is_power : bool
        Whether T(y) is a power of y, so that both are power laws or none.
    """

    name: str
    values: FloatArray
    unit: float
    inverse: str
    weight: FloatArray | None = None
    is_power: bool = False

    def row_weight(self, data: Data) -> FloatArray:
        """Weights of residuals of the values, those of the data included, (n_rows,)."""
        return data.root_weight * (relative_weight(self.values) if self.weight is None else self.weight)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A target: T, the text of its inverse, tokens that it needs, the values that T^-1 gives.

    Of a power of y, y must keep its sign where ``one_sign`` says so, as for the logarithm.
    """

    function: Callable[[FloatArray], FloatArray]
    inverse: str
    tokens: tuple[str, ...] = ()
    low: float = -np.inf
    high: float = np.inf
    one_sign: bool = False
    power: float = 0.0


_KINDS = {
    "1/y": _Kind(lambda z: 1 / z, "1/({})", power=-1),
    "y^2": _Kind(lambda z: z**2, "sqrt({})", ("pow1_2",), one_sign=True, power=2),
    "1/y^2": _Kind(lambda z: 1 / z**2, "1/sqrt({})", ("pow1_2",), one_sign=True, power=-2),
    # shifted by the unit's logarithm: the constant term takes it up
    "log y": _Kind(np.log, "exp({})", ("exp",), one_sign=True),
    "sqrt y": _Kind(np.sqrt, "({})^2", one_sign=True, power=0.5),
    "1/sqrt y": _Kind(lambda z: 1 / np.sqrt(z), "1/({})^2", one_sign=True, power=-0.5),
    "logit y": _Kind(lambda y: np.log(y / (1 - y)), "1/(1 + exp(-({})))", ("exp",), 0.0, 1.0),
    "exp y": _Kind(np.exp, "log({})", ("log",), -50.0, 50.0),
    "asin y": _Kind(np.arcsin, "sin({})", ("sin",), -1.0, 1.0),
    "acos y": _Kind(np.arccos, "cos({})", ("cos",), -1.0, 1.0),
    "atanh y": _Kind(np.arctanh, "tanh({})", ("tanh",), -1.0, 1.0),
    "tan y": _Kind(np.tan, "atan({})", ("atan",), -np.pi / 2, np.pi / 2),
    "sin y": _Kind(np.sin, "asin({})", ("asin",), -np.pi / 2, np.pi / 2),
    "cos y": _Kind(np.cos, "acos({})", ("acos",), 0.0, np.pi),
}
# with noise the others are left out, and the common ones come first
_OF_NOISY = "1/y, y^2, log y, sqrt y, 1/y^2, exp y, tan y, sin y, cos y, asin y, acos y, atanh y".split(", ")
# rows that must be left
_LEAST_ROWS = 0.3


def targets(data: Data) -> list[TransformedTarget]:
    """The targets that are defined on all rows, the common ones first; with noise, on the rows that are no noise."""
    size = float(np.sqrt(np.mean(data.y**2))) or 1.0
    weight = np.ones(data.n_rows) if data.noise else None
    found = [TransformedTarget("y", data.y / size, size, "{}", weight, is_power=True)]
    for name in _OF_NOISY if data.noise else _KINDS:
        kind = _KINDS[name]
        if (kind.one_sign and not data.one_sign) or not data.allows(*kind.tokens):
            continue
        is_flipped = kind.one_sign and float(np.sum(data.y)) < 0
        scale = size if kind.power else 1.0
        unit, z = float(scale**kind.power), (-data.y if is_flipped else data.y) / scale
        with np.errstate(all="ignore"):
            made = _noisy(kind, z, 2 * data.noise / scale) if data.noise else _exact(kind, z)
        if made is not None and 0 < unit < np.inf:
            inverse = f"-({kind.inverse})" if is_flipped else kind.inverse
            found.append(TransformedTarget(name, made[0], unit, inverse, made[1], is_power=bool(kind.power)))
    return found


def _within(kind: _Kind, z: FloatArray) -> FloatArray:
    """T of values, NaN where T is not the inverse of T^-1."""
    return kind.function(np.where((z >= kind.low) & (z <= kind.high), z, np.nan))


def _exact(kind: _Kind, z: FloatArray) -> tuple[FloatArray, None] | None:
    """T of all values."""
    values = _within(kind, z)
    fine = np.isfinite(values).all() and np.ptp(values) > 1e-9 * np.abs(values).max()
    return (values, None) if fine else None


def _noisy(kind: _Kind, z: FloatArray, step: float) -> tuple[FloatArray, FloatArray] | None:
    """T of values, with the weights that their absolute errors give them; rows near the edge of a domain have none."""
    if np.mean((z >= kind.low) & (z <= kind.high)) < 1 - _LEAST_ROWS:
        return None
    values, above, below = (_within(kind, v) for v in (z, z + step, z - step))
    slope = (np.abs(above - values) + np.abs(values - below)) / (2 * step)
    fine = np.isfinite(slope) & (slope > 0) & ((np.abs(z) > step) | (kind.power == 0))
    weight = np.where(fine, 1 / slope, 0.0)
    if np.count_nonzero(weight) < max(_LEAST_ROWS * len(z), 8):
        return None
    return np.where(weight > 0, values, 0.0), weight / weight.max()
