"""Terms of their own: y = c*t(some columns) + g(the others), read off a polynomial model, so that g is sought alone.

The coefficient is as good as the polynomial is a model of g; it is a start, and is fitted together with all that is
found in the residual.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flash_ansr.infer.proposers.closed_form.data import Data, FloatArray
from flash_ansr.infer.proposers.closed_form.features.library import arguments
from flash_ansr.infer.proposers.closed_form.screening import Polynomial

# growth of the mean square of the residual that still counts as none, and that shows that columns matter; terms that
# are not there make it grow a thousandfold
_SAME = 1.5
_MATTERS = 3.0
_NEAR = 10.0
_N_MONOMIALS = 60
_MOST = 4
_FUNCTIONS = (("log", np.log), ("exp", np.exp), ("sin", np.sin), ("cos", np.cos))

Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Addend:
    """A term of y whose columns occur nowhere else.

    Attributes
    ----------
    text : str
    values : array (n_rows,)
    coefficient : float
        About its factor in y.
    others : tuple of int
        The columns of the rest.
    """

    text: str
    values: FloatArray
    coefficient: float
    others: Columns


def addends(data: Data) -> list[Addend]:
    """Terms with columns of their own, the surest first, one for each set of columns."""
    model = Polynomial(data)
    if model.degree < 2 or len(data.active) < 2:
        return []
    size = max(float(np.abs(data.y).max()), 1e-300)
    found = []
    for columns, terms in _by_columns(data).items():
        others = tuple(k for k in data.active if k not in columns)
        if not others:
            continue
        without, growth, slopes = model.as_terms(columns, np.stack([values for _, values in terms]), data.y / size)
        best = int(np.argmin(growth))
        if without > _MATTERS and growth[best] < _SAME:
            text, values = terms[best]
            found.append((float(growth[best]), Addend(text, values, float(slopes[best]) * size, others)))
    found.sort(key=lambda pair: pair[0])
    # beside a term that the polynomial cannot be, such as x^2 in logarithms, others look like terms for no reason
    return [addend for growth, addend in found[:_MOST] if growth < _NEAR * found[0][0]]


def _by_columns(data: Data) -> dict[Columns, list[tuple[str, FloatArray]]]:
    """Simple terms by the columns that they are made of."""
    terms: defaultdict[Columns, list[tuple[str, FloatArray]]] = defaultdict(list)
    for columns, text, values in _terms(data):
        if np.isfinite(values).all() and np.ptp(values) > 0:
            terms[columns].append((text, values))
    return terms


def _terms(data: Data) -> Iterator[tuple[Columns, str, FloatArray]]:
    monomials = arguments(data, _N_MONOMIALS, 0, None)
    assert monomials.exponents is not None
    for exponents, text, values in zip(monomials.exponents, monomials.texts, monomials.values, strict=True):
        yield tuple(int(k) for k in np.flatnonzero(exponents)), text, values
    with np.errstate(all="ignore"):
        for k in data.active:
            for name, function in _FUNCTIONS:
                yield (k,), f"{name}(x{k + 1})", function(data.columns[k])
