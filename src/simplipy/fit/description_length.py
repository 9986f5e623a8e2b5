"""Description length of a fitted formula, in nats: the length of the formula, and of the data given the formula.

Data of n rows cost n/2 * log(FVU), for errors that are normal with an unknown deviation. A token costs the choice among
those that formulas are made of. A number that is written out costs its digits, a fitted one the digits that the data
determine: one that the data know well is an unlikely coincidence with 2 or 1/2, and so a good reason to write that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal

import numpy as np

from simplipy.expression.expression import Expression
from simplipy.expression.operators import CONSTANT
from simplipy.expression.prefix import inherit
from simplipy.fit.result import Fit

TOKEN = 2.5
# beyond that, what laws rarely have
_RARE = {
    **dict.fromkeys(("sin", "cos", "exp", "log"), 0.5),
    **dict.fromkeys(("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "abs"), 2.0),
    **dict.fromkeys(("pow4", "pow5", "pow1_3", "pow"), 1.0),
    **dict.fromkeys(("pow1_4", "pow1_5"), 3.0),
}
_DIGIT = 0.35
_FREE = 0.5
# laws have small simple exponents: one that is none is a formula that imitates another
_FREE_EXPONENT = 3.0
_LARGE_EXPONENT = 5.0


def description_length(fit: Fit, n_rows: int, floor: float = 1e-300) -> float:
    """Description length of a fit to ``n_rows`` rows; smaller is better, infinite where there is no fit.

    Parameters
    ----------
    fit : Fit
    n_rows : int
    floor : float
        FVUs below it count as equal to it.

    Examples
    --------
    >>> import numpy as np, simplipy
    >>> x = np.linspace(1, 3, 50)
    >>> y = 2 * x + 0.01 * np.sin(1000 * x)
    >>> free, simple = (simplipy.fit_constants(f, x[:, None], y) for f in ("<constant>*x1", "2*x1"))
    >>> description_length(simple, 50) < description_length(free, 50)
    True
    """
    return data_cost(fit.fvu, len(fit.constants), n_rows, floor) + formula_cost(fit, n_rows)


def data_cost(fvu: float, n_constants: int, n_rows: int, floor: float = 1e-300) -> float:
    """Cost of the rows given the formula; with few rows, constants explain much by chance."""
    if not math.isfinite(fvu):
        return math.inf
    freedom = max(n_rows - n_constants - 1, 1) / n_rows
    return 0.5 * n_rows * math.log(max(fvu, floor) / min(freedom, 1.0))


def formula_cost(fit: Fit, n_rows: int) -> float:
    """Cost of the formula and its numbers."""
    tokens = fit.skeleton.tokens
    total = TOKEN * len(tokens) + sum(_RARE.get(token, 0.0) for token in tokens) + digits_cost(tokens)
    n_exponents = roles_of_constants(fit.skeleton).count("exponent")
    return total + _FREE_EXPONENT * n_exponents + large_exponents_cost(fit) + fitted_cost(fit, n_rows)


def large_exponents_cost(fit: Fit) -> float:
    """Cost of fitted exponents that are larger than those of laws."""
    roles = zip(fit.constants.tolist(), roles_of_constants(fit.skeleton), strict=False)
    return sum((max(abs(value) - _LARGE_EXPONENT, 0.0) for value, role in roles if role == "exponent"), 0.0)


def fitted_cost(fit: Fit, n_rows: int) -> float:
    """Cost of the fitted numbers."""
    return sum(map(free_cost, fit.constants.tolist(), _errors(fit, n_rows)), 0.0)


def _errors(fit: Fit, n_rows: int) -> Iterable[float]:
    """Standard errors; where constants that share their work have none, what the residuals would leave of one."""
    errors = fit.stderr
    if np.isfinite(errors).all():
        return map(float, errors)
    if not math.isfinite(fit.fvu):
        return [math.inf] * len(fit.constants)
    return map(float, np.abs(fit.constants) * math.sqrt(max(fit.fvu, 0.0) / n_rows))


def free_cost(value: float, error: float) -> float:
    """Cost of a fitted number: the digits that its standard error leaves."""
    if not (math.isfinite(error) and math.isfinite(value)):
        return _FREE
    return _FREE + math.log1p(min(abs(value) / max(error, 1e-300), 1e16))


def number_cost(token: str) -> float:
    """Cost of a number that is written out: its digits, wherever the point is.

    Examples
    --------
    >>> number_cost("2") < number_cost("12") < number_cost("1.25") < number_cost("3.1416")
    True
    >>> number_cost("200") == number_cost("2")
    True
    """
    digits = "".join(map(str, Decimal(token).as_tuple().digits)).strip("0")
    return _DIGIT * len(digits) + math.log(int(digits)) if digits else 0.0


def digits_cost(tokens: Iterable[str]) -> float:
    """Cost of all numbers among these tokens."""
    return sum(number_cost(t) for t in tokens if is_number(t))


def is_number(token: str) -> bool:
    """Whether a token is a number that is written out."""
    return token[-1].isdigit() and token[0] in "-.0123456789"


def roles_of_constants(skeleton: Expression) -> list[str]:
    """For each free constant in prefix order: the base or the exponent of a power, or neither.

    Examples
    --------
    >>> from simplipy import parse
    >>> roles_of_constants(parse("<constant> + <constant>^x1 + x1^<constant>"))
    ['', 'base', 'exponent']
    """
    tokens = skeleton.tokens
    roles = inherit(tokens, "", lambda i, k, _: ("base", "exponent")[k] if tokens[i] == "pow" else "")
    return [role for token, role in zip(tokens, roles, strict=True) if token == CONSTANT]
