"""The description length of rows by a formula, in nats: the price of its form, of its numbers, and of what it leaves.

The only place where forms are weighed against errors. A form costs what the laws of science make it cost
(``flash_ansr.price``), and the numbers that laws often write out are part of it. All other numbers count as fitted, and
cost the digits that the rows determine: half the logarithm of their Fisher information. The rows cost n/2 * log(FVU).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from flash_ansr.infer.candidates.numbers import numbers_of
from flash_ansr.infer.table.table import FloatArray
from flash_ansr.price import is_usual, usual_prices
from simplipy import Expression, Fit, parse
from simplipy.expression.operators import CONSTANT
from simplipy.fit.description_length import data_cost, is_number, large_exponents_cost
from simplipy.fit.score import GAMMA

# nats of a token where no form is looked at: the choice of one of some thirty
TOKEN_NATS = math.log(30)

# of a constant: half of all tables hold no law
_NOTHING_NATS = math.log(2)
# of a fitted number, whatever its digits
_ANY_NUMBER = 0.5
# digits of a double
_MOST_SIZES = 1e16
# of correlations near 1, which rounding hides
_MOST_JOINT = 12.0


def decades(nats: float, n_rows: int) -> float:
    """A description length as decades of FVU on so many rows."""
    return round(2 * nats / (n_rows * math.log(10)), 6)


def form_prices(forms: Sequence[Expression], n_columns: int, gamma: float = GAMMA) -> FloatArray:
    """The prices of forms, (n, 2), see ``Prices.both``; they grow in proportion to gamma."""
    prices: FloatArray = usual_prices().both(forms, n_columns)
    prices[[not form.variables for form in forms]] = _NOTHING_NATS
    return prices * (gamma / GAMMA)


def description_nats(fit: Fit, n_rows: int, n_columns: int, gamma: float = GAMMA, floor: float = 1e-300) -> float:
    """Description length of a fit to ``n_rows`` rows; infinite where there is no fit.

    Parameters
    ----------
    fit : Fit
        Of a formula whose rare numbers are free.
    n_rows : int
    n_columns : int
        Columns that the variables are chosen from.
    gamma : float
        The price of forms is in proportion to it.
    floor : float
        FVUs below it count as equal to it.
    """
    form = float(form_prices([fit.skeleton], n_columns, gamma)[0, 0]) + large_exponents_cost(fit)
    return data_cost(fit.fvu, len(fit.constants), n_rows, floor) + form + numbers_nats(fit, n_rows)


def with_rare_numbers_free(formula: Expression) -> tuple[Expression, list[float]]:
    """The formula with free constants for the numbers that laws do not write out, and their values.

    Examples
    --------
    >>> from simplipy import parse
    >>> skeleton, values = with_rare_numbers_free(parse("x1^2/2 + 36.8*x1"))
    >>> print(skeleton, values)
    x1^2/2 + <constant>*x1 [36.8]
    """
    tokens, values = formula.tokens, []
    for i, token in enumerate(tokens):
        if is_number(token) and not is_usual(float(token)):
            values.append(float(token))
            tokens[i] = CONSTANT
    return parse(tokens), values


def numbers_nats(fit: Fit, n_rows: int) -> float:
    """The digits of the fitted constants that the rows determine, one by one and together.

    A constant is one of many values up to its size, or up to the size at which it would move the formula as much as y
    deviates: one that is nearly 0, and could be left out, costs as much as others.
    """
    n = len(fit.constants)
    if not n:
        return 0.0
    known = math.sqrt(n_rows / min(max(fit.fvu, 1e-300), 1.0))  # sizes of y's deviation in its error
    covariance = fit.covariance[:n, :n]
    errors = np.sqrt(np.diag(covariance))
    if not (np.isfinite(covariance).all() and (errors > 0).all()):
        return n * (_ANY_NUMBER + math.log1p(known))
    correlation = covariance / errors / errors[:, None]
    sign, log_det = np.linalg.slogdet(correlation)
    joint, alone = _MOST_JOINT * (n - 1), np.ones(n)
    if sign > 0 and -0.5 * log_det < joint:
        joint, alone = -0.5 * float(log_det), 1 / np.sqrt(np.diag(np.linalg.inv(correlation)).clip(1.0))
    sizes = np.abs(fit.constants) / errors + alone * known
    return n * _ANY_NUMBER + float(np.log1p(np.minimum(sizes, _MOST_SIZES)).sum()) + joint


def rough_nats(
    formulas: Sequence[Expression],
    fvus: Sequence[float],
    n_constants: Sequence[int],
    n_rows: int,
    n_columns: int,
    gamma: float,
    floor: float,
) -> FloatArray:
    """Description lengths of formulas with all of their numbers, as far as they are known without standard errors.

    Numbers that laws write out are part of the form or fitted, whichever is shorter.
    """
    free = np.array([formula.n_constants for formula in formulas])
    numbers = [numbers_of(formula) for formula in formulas]
    counts = np.array([[sum(not is_usual(number) for number in own), len(own)] for own in numbers]) + free[:, None]
    known = np.log1p(np.sqrt(n_rows / np.clip(fvus, floor, 1.0)))  # of a number that the rows determine by itself
    forms = form_prices(formulas, n_columns, gamma) + counts * (_ANY_NUMBER + known[:, None])
    data = [data_cost(fvu, n, n_rows, floor) for fvu, n in zip(fvus, n_constants, strict=True)]
    return np.asarray(np.array(data) + forms.min(axis=1))
