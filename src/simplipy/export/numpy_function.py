"""NumPy functions from expressions. Input: prefix tokens. Evaluates without the core, one array operation a token.

Undefined is NaN, and NaN passes through every operation, so it is sticky; an infinity is an overflow of doubles and
stays, since the exact value is finite: atan(exp(1000)) is pi/2. Speed is left to the core.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from simplipy.errors import ConversionError, EvaluationError
from simplipy.expression.data_binding import Floats, bind_constants, bind_data, column_numbers
from simplipy.expression.operator_forms import FORMS
from simplipy.expression.operators import CONSTANT, OPERATORS, leaf_kind, variable_name
from simplipy.expression.prefix import fold

T = TypeVar("T")

_SYMBOL_VALUES = {"pi": math.pi, "e": math.e, "inf": math.nan, "-inf": math.nan, "nan": math.nan}


def check_variables(tokens: Sequence[str], variables: Sequence[str]) -> None:
    """Refuse tokens with a variable that is not among these."""
    for token in tokens:
        if (
            token not in OPERATORS
            and leaf_kind(token) == "variable"
            and (name := variable_name(token)) not in variables
        ):
            raise ConversionError(f"variable {name!r} is not among the given variables: {', '.join(variables)}")


def leaf_values(columns: Mapping[str, T], constants: Iterable[T], number: Callable[[float], T]) -> Callable[[str], T]:
    """Floats of the leaves for one fold, which meets the last free constant first.

    Parameters
    ----------
    columns : mapping of str to object
        Floats of the variables by name.
    constants : iterable of object
        Floats of the free constants in prefix order.
    number : callable
        Value of a number.
    """
    left = list(constants)

    def value(token: str) -> T:
        kind = leaf_kind(token)
        if kind == "variable":
            return columns[variable_name(token)]
        if kind == "constant":
            return left.pop()
        return number(_SYMBOL_VALUES[token] if kind == "symbol" else float(token))

    return value


class NumpyFunction:
    """Expression as a function of arrays; made by ``numpy_function``. It can be pickled."""

    def __init__(self, tokens: Sequence[str], variables: Sequence[str]) -> None:
        self.tokens = tuple(tokens)
        self.variables = tuple(variables)
        self.n_constants = self.tokens.count(CONSTANT)
        check_variables(self.tokens, self.variables)

    def __repr__(self) -> str:
        return f"NumpyFunction({' '.join(self.tokens)})"

    def __call__(self, X: Any, constants: Any = None) -> Floats:
        """Floats on the rows of X.

        Parameters
        ----------
        X : array (n_rows, n_columns), DataFrame or mapping of names to (n_rows,) columns
            x_k is column k-1 of an array; tables and mappings bind by name.
        constants : array (n_constants,), optional
            Floats of the free constants, in prefix order.

        Returns
        -------
        array (n_rows,)
            float64, NaN where the expression is undefined.
        """
        matrix, names = bind_data(X, self.variables)
        numbers = column_numbers(self.variables, names, matrix.shape[1])
        columns = {n: _finite(matrix[:, i].astype(np.float64)) for n, i in zip(self.variables, numbers, strict=True)}
        values = _finite(np.array(bind_constants(constants), dtype=np.float64))
        if len(values) != self.n_constants:
            raise EvaluationError(f"constants must have {self.n_constants} values, one a <constant>, got {len(values)}")
        with np.errstate(all="ignore"):
            result = fold(self.tokens, leaf_values(columns, values, np.float64), _applied)
        return np.array(np.broadcast_to(result, len(matrix)))


def numpy_function(tokens: Sequence[str], variables: Sequence[str]) -> NumpyFunction:
    """Pure NumPy function of an expression.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    variables : sequence of str
        Names of its variables.

    Returns
    -------
    callable
        ``f(X, constants=None)``, from (n_rows, n_columns) to float64 (n_rows,), NaN where undefined.

    Examples
    --------
    >>> f = numpy_function(["/", "x1", "x2"], ["x1", "x2"])
    >>> f(np.array([[1.0, 2.0], [0.0, 0.0]]))
    array([0.5, nan])
    """
    return NumpyFunction(tokens, variables)


def _finite(values: Floats) -> Floats:
    """NaN for infinite input: an infinite subterm is undefined."""
    return np.where(np.isfinite(values), values, np.nan)


def _applied(token: str, operands: list[Any]) -> Any:
    """Value of an operator, NaN outside its domain."""
    forms = FORMS[token]
    value = forms.values(np, *operands)
    defined = forms.where_defined(np, *operands)
    return value if defined is None else np.where(defined, value, np.nan)
