"""Which columns matter, which are only a factor, and which only a term: read off a polynomial model.

The model is a polynomial of low degree in the columns, or their logarithms, of log|y| where y has one sign. It need not
be exact: a column matters, or is more than a factor, where leaving its terms out makes the residual clearly larger.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.candidates.rank_tests import standard
from flash_ansr.infer.proposers.closed_form.library import arguments
from flash_ansr.infer.proposers.closed_form.linear_algebra import project_out
from flash_ansr.infer.proposers.closed_form.monomials import monomial_text, monomial_values, to_grid
from flash_ansr.infer.proposers.data import Data, FloatArray

# growth of the mean square of the residual that still counts as none
_NO_GROWTH = 1.2
_TRIED = (1, -1, 2, -2, 0.5, -0.5)
_MAX_TERMS_PER_ROW = 0.4
_MAX_TERMS = 60
# growth of the mean square of the residual that still counts as none, and that shows that columns matter; terms that
# are not there make it grow a thousandfold
_NO_ADDEND_GROWTH = 1.5
_MATTERS = 3.0
_NEAR = 10.0
_N_MONOMIALS = 60
_MOST_ADDENDS = 4
_FUNCTIONS = (("log", np.log), ("exp", np.exp), ("sin", np.sin), ("cos", np.cos))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A factor or a term of y whose columns occur nowhere else.

    Attributes
    ----------
    text : str
    values : array (n_rows,)
    others : tuple of int
        The columns of the rest.
    coefficient : float
        About its coefficient in y.
    """

    text: str
    values: FloatArray
    others: tuple[int, ...]
    coefficient: float = 1.0


def common_factor(data: Data) -> Part | None:
    """The product of columns that enter as a power and nowhere else, or None where there is none."""
    if len(data.log_columns[0]) < 2:
        return None
    model = Polynomial(data, logarithm=data.one_sign)
    if model.degree < 2:
        return None
    exponents = np.zeros(data.n_columns)
    for k, log in zip(*data.log_columns, strict=True):
        exponents[k] = _exponent_in_logarithms(model, k, log) if data.one_sign else _exponent_by_trial(model, k)
    others = tuple(k for k in relevant(data) if exponents[k] == 0)
    if not exponents.any() or not others:
        return None
    return Part(monomial_text(exponents), monomial_values(data, exponents[None])[0], others)


def _exponent_in_logarithms(model: Polynomial, k: int, log: FloatArray) -> float:
    """The exponent of a column that log|y| is linear in, and without which nothing else changes; 0 for others."""
    _, (growth,), (slope,) = model.as_terms((k,), log[None], model.data.log_y)
    exponent = float(to_grid(np.array([slope]), 2)[0])
    return exponent if growth < _NO_GROWTH and abs(slope - exponent) < 0.1 else 0.0


def _exponent_by_trial(model: Polynomial, k: int) -> float:
    """The exponent p of a column that y/x^p does not depend on any more, 0 where there is none."""
    data = model.data
    tried = _TRIED if data.positive[k] else _TRIED[:4]
    column, y = data.columns[k] / data.scales[k], data.y / max(float(np.abs(data.y).max()), 1e-300)
    growth = model.without(k, np.stack([y / column**p for p in tried]))
    return tried[int(growth.argmin())] if growth.min() < _NO_GROWTH else 0.0


def relevant(data: Data, same: float = _NO_GROWTH, most_left: float = 1.0) -> tuple[int, ...]:
    """The active columns without which the polynomial model is clearly worse; all where it cannot tell.

    Parameters
    ----------
    same : float
        Growth of the mean square of what the model leaves that still counts as none.
    most_left : float
        Share of the variance that the model may leave: what it does not describe, columns may be needed for.
    """
    model = Polynomial(data, logarithm=data.one_sign)
    if model.degree < 2:
        return data.active
    target = data.log_y if data.one_sign else data.y / np.abs(data.y).max()
    if most_left < 1 and model.share_left(target) > most_left:
        return data.active
    found = tuple(k for k in data.active if model.without(k, target[None])[0] > same)
    return found or data.active


def addends(data: Data) -> list[Part]:
    """Terms with columns of their own, the surest first, one for each set of columns.

    A coefficient is as good as the polynomial is a model of the rest; it is a start, and is fitted together with all
    that is found in the residual.
    """
    model = Polynomial(data)
    if model.degree < 2 or len(data.active) < 2:
        return []
    size = max(float(np.abs(data.y).max()), 1e-300)
    terms: defaultdict[tuple[int, ...], list[tuple[str, FloatArray]]] = defaultdict(list)
    for columns, text, values in _terms(data):
        if np.isfinite(values).all() and np.ptp(values) > 0:
            terms[columns].append((text, values))
    found = []
    for columns, own in terms.items():
        others = tuple(k for k in data.active if k not in columns)
        if not others:
            continue
        without, growth, slopes = model.as_terms(columns, np.stack([values for _, values in own]), data.y / size)
        best = int(np.argmin(growth))
        if without > _MATTERS and growth[best] < _NO_ADDEND_GROWTH:
            found.append((float(growth[best]), Part(*own[best], others, float(slopes[best]) * size)))
    found.sort(key=lambda pair: pair[0])
    # beside a term that the polynomial cannot be, such as x^2 in logarithms, others look like terms for no reason
    return [addend for growth, addend in found[:_MOST_ADDENDS] if growth < _NEAR * found[0][0]]


def _terms(data: Data) -> Iterator[tuple[tuple[int, ...], str, FloatArray]]:
    monomials = arguments(data, _N_MONOMIALS)
    for exponents, text, values in zip(monomials.exponents, monomials.texts, monomials.values, strict=True):
        yield tuple(int(k) for k in np.flatnonzero(exponents)), text, values
    with np.errstate(all="ignore"):
        for k in data.active:
            for name, function in _FUNCTIONS:
                yield (k,), f"{name}(x{k + 1})", function(data.columns[k])


class Polynomial:
    """Least squares of targets on the monomials of the columns up to a degree, by orthonormal bases."""

    def __init__(self, data: Data, logarithm: bool = False) -> None:
        self.data = data
        rows = dict(zip(*data.log_columns, strict=True))
        base = {k: standard(rows.get(k, data.columns[k])) for k in data.active}
        most = min(_MAX_TERMS_PER_ROW * data.n_rows, _MAX_TERMS)
        self.degree = next((d for d in (4, 3, 2) if math.comb(len(base) + d, d) <= most), 0)
        self._weight = data.log_weight if logarithm else data.root_weight
        degrees = range(self.degree + 1)
        self._powers = [p for d in degrees for p in itertools.combinations_with_replacement(data.active, d)]
        terms = [np.prod([base[k] for k in p], axis=0) if p else np.ones(data.n_rows) for p in self._powers]
        self._terms = np.stack(terms) * self._weight
        self._full = _basis(self._terms)

    @property
    def n_terms(self) -> int:
        """Terms of the full model."""
        return len(self._full)

    def residuals(self, target: FloatArray) -> FloatArray:
        """The residuals of the full model of a target, (n_rows,), weighted."""
        return np.asarray(project_out((target * self._weight)[None], self._full)[0])

    def share_left(self, target: FloatArray) -> float:
        """Share of the weighted variance of a target that the full model leaves."""
        beyond_mean = project_out((target * self._weight)[None], _basis(self._weight[None]))
        return float(np.sum(self.residuals(target) ** 2)) / max(float(np.sum(beyond_mean**2)), 1e-300)

    def gain(self, target: FloatArray) -> float:
        """Growth of the mean square of a target where the terms of the highest degree are left out."""
        lower = [i for i, p in enumerate(self._powers) if len(p) < self.degree]
        return float(self._growth(_basis(self._terms[lower]), target[None])[0])

    def without(self, k: int, targets: FloatArray) -> FloatArray:
        """Growth of the mean squares of targets, (n, n_rows), where column k is left out."""
        return self._growth(_basis(self._terms[self._apart(k)]), targets)

    def as_terms(
        self, columns: tuple[int, ...], terms: FloatArray, target: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Growth of the mean square without these columns, with them in one of the terms (n, n_rows), coefficients."""
        basis = _basis(self._terms[self._apart(*columns)])
        left = project_out((target * self._weight)[None], basis)[0]
        own = project_out(terms * self._weight, basis)
        sizes = np.linalg.norm(own, axis=1)
        new = sizes > 1e-6 * np.linalg.norm(terms * self._weight, axis=1)
        slopes = np.where(new, own @ left, 0.0) / np.where(new, sizes, 1.0) ** 2
        total = float(left @ left)
        squares = np.maximum(total - (slopes * sizes) ** 2, 0.0)
        full = float(np.sum(self.residuals(target) ** 2)) / max(self.data.n_rows - self.n_terms, 1)
        # what the full model leaves may be rounding alone
        full = max(full, 1e-24 * total / self.data.n_rows, 1e-300)
        n_free = max(self.data.n_rows - len(basis) - 1, 1)
        return total / n_free / full, squares / n_free / full, slopes

    def _apart(self, *columns: int) -> list[int]:
        return [i for i, p in enumerate(self._powers) if not set(columns) & set(p)]

    def _growth(self, basis: FloatArray, targets: FloatArray) -> FloatArray:
        left = [(project_out(targets * self._weight, model), len(model)) for model in (basis, self._full)]
        mean_squares = [np.sum(rows**2, axis=1) / max(self.data.n_rows - n, 1) for rows, n in left]
        return np.asarray(mean_squares[0] / np.maximum(mean_squares[1], 1e-300))


def _basis(terms: FloatArray) -> FloatArray:
    q, _ = np.linalg.qr(terms.T)
    return np.ascontiguousarray(q.T)
