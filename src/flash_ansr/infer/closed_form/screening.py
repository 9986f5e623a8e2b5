"""Which columns matter, and which are only a factor: read off a polynomial model.

The model is a polynomial of low degree in the columns, or their logarithms, of log|y| where y has one sign. It need not
be exact: a column matters, or is more than a factor, where leaving its terms out makes the residual clearly larger.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.closed_form.data import Data, FloatArray
from flash_ansr.infer.closed_form.snapping import to_grid

# growth of the mean square of the residual that still counts as none
_SAME = 1.2
_SAME_AT_BOTH_SIGNS = 1.05
_TRIED = (1, -1, 2, -2, 0.5, -0.5)
_MAX_TERMS_PER_ROW = 0.4


@dataclass(frozen=True, slots=True)
class Separation:
    """y = monomial * g(the other columns).

    Attributes
    ----------
    exponents : array (n_columns,)
        Of the factor, zero for columns that g depends on.
    others : tuple of int
        The columns of g.
    """

    exponents: FloatArray
    others: tuple[int, ...]


def common_factor(data: Data) -> Separation | None:
    """The columns that enter as a power and nowhere else, or None where there is none."""
    columns, _ = data.log_columns
    if len(columns) < 2:
        return None
    one_sign = (data.y > 0).all() or (data.y < 0).all()
    exponents = _of_one_sign(data) if one_sign else _of_both_signs(data)
    if exponents is None:
        return None
    others = tuple(k for k in relevant(data) if exponents[k] == 0)
    return Separation(exponents, others) if exponents.any() and others else None


def _of_one_sign(data: Data) -> FloatArray | None:
    """Exponents of the columns that log|y| is linear in, and without which nothing else changes."""
    model = _Polynomial(data, np.log(np.abs(data.y)))
    if model.degree < 2:
        return None
    exponents = np.zeros(data.n_columns)
    for k, log in zip(*data.log_columns, strict=True):
        ratio, slope = model.as_factor(k, log)
        exponent = float(to_grid(np.array([slope]), 2)[0])
        if ratio < _SAME and abs(slope - exponent) < 0.1:
            exponents[k] = exponent
    return exponents


def _of_both_signs(data: Data) -> FloatArray | None:
    """Exponents p of the columns that y/x^p does not depend on any more, tried one by one."""
    exponents = np.zeros(data.n_columns)
    for k in data.log_columns[0]:
        data.clock.check()
        for p in _TRIED if data.positive[k] else _TRIED[:4]:
            rest = data.y / (data.columns[k] / data.scales[k]) ** p
            model = _Polynomial(data, rest)
            if model.degree >= 2 and model.without(k) < _SAME_AT_BOTH_SIGNS:
                exponents[k] = p
                break
    return exponents


def relevant(data: Data) -> tuple[int, ...]:
    """The active columns without which the polynomial model is clearly worse; all where it cannot tell."""
    one_sign = (data.y > 0).all() or (data.y < 0).all()
    model = _Polynomial(data, np.log(np.abs(data.y)) if one_sign else data.y)
    if model.degree < 2:
        return data.active
    found = tuple(k for k in data.active if model.without(k) > _SAME)
    return found or data.active


class _Polynomial:
    """Least squares of a target on the monomials of the columns up to a degree."""

    def __init__(self, data: Data, target: FloatArray) -> None:
        columns, logs = data.log_columns
        rows = dict(zip(columns, logs, strict=True))
        base = {k: _standard(rows.get(k, data.columns[k])) for k in data.active}
        self.degree = 0
        self._target = target
        self._n = data.n_rows
        self._weight = data.root_weight
        for degree in (4, 3, 2):
            powers = [p for d in range(degree + 1) for p in itertools.combinations_with_replacement(data.active, d)]
            if len(powers) <= _MAX_TERMS_PER_ROW * data.n_rows and len(powers) <= 60:
                self.degree = degree
                break
        else:
            return
        self._powers = powers
        self._terms = np.stack([np.prod([base[k] for k in p], axis=0) if p else np.ones(self._n) for p in powers])
        self._full = self._mean_square(self._terms)[0]

    def without(self, k: int) -> float:
        """Growth of the mean square where column k is left out."""
        kept = [i for i, p in enumerate(self._powers) if k not in p]
        return self._mean_square(self._terms[kept])[0] / max(self._full, 1e-300)

    def as_factor(self, k: int, log: FloatArray) -> tuple[float, float]:
        """Growth of the mean square where column k enters as log|x_k| alone, and its coefficient."""
        kept = [i for i, p in enumerate(self._powers) if k not in p]
        mean_square, coefficients = self._mean_square(np.vstack([self._terms[kept], log]))
        return mean_square / max(self._full, 1e-300), float(coefficients[-1])

    def _mean_square(self, terms: FloatArray) -> tuple[float, FloatArray]:
        A = (terms * self._weight).T
        coefficients, *_ = np.linalg.lstsq(A, self._target * self._weight, rcond=1e-12)
        residual = self._target * self._weight - A @ coefficients
        return float(residual @ residual) / max(self._n - len(terms), 1), np.asarray(coefficients, dtype=np.float64)


def _standard(column: FloatArray) -> FloatArray:
    return np.asarray((column - column.mean()) / max(float(column.std()), 1e-300))
