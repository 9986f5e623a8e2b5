"""Torch modules from expressions. Input: prefix tokens. Differentiable; never fits, see the caller's optimizer.

Undefinedness is sticky, so one mask serves a whole expression: a partial function sees a harmless operand in the rows
where it is undefined, and the result of those rows becomes NaN at the very end. Rows that a loss leaves out therefore
give zero gradients instead of 0 * NaN. Where a derivative is infinite (a root at 0, asin at 1) the gradient is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from simplipy.errors import EvaluationError
from simplipy.export.numpy_function import check_variables, leaf_values
from simplipy.expression.data_binding import column_numbers
from simplipy.expression.expression import parse
from simplipy.expression.operator_forms import FORMS, OperatorForms
from simplipy.expression.operators import CONSTANT
from simplipy.expression.prefix import fold


class ExpressionModule(nn.Module):
    """Expression as a module; made by ``torch_module``.

    Attributes
    ----------
    constants : nn.Parameter (n_constants,)
        The free constants in prefix order.
    """

    constants: nn.Parameter

    def __init__(self, tokens: Sequence[str], variables: Sequence[str], constants: Any = None) -> None:
        super().__init__()
        self.tokens = tuple(tokens)
        self.variables = tuple(variables)
        check_variables(self.tokens, self.variables)
        self.constants = nn.Parameter(_initial(constants, self.tokens.count(CONSTANT)))

    def extra_repr(self) -> str:
        """Formula, shown in the module's repr."""
        return parse(self.tokens).infix()

    def forward(self, X: Tensor | Mapping[str, Tensor]) -> Tensor:
        """Values on the rows of X.

        Parameters
        ----------
        X : Tensor (n_rows, n_columns), or mapping of names to (n_rows,) tensors
            x_k is column k-1 of a tensor. Device and dtype of the result follow it.

        Returns
        -------
        Tensor (n_rows,)
            NaN where the expression is undefined.
        """
        columns, like = _columns(X, self.variables)
        defined = torch.ones_like(like, dtype=torch.bool)  # (n_rows,)

        def inside(value: Tensor, ok: Tensor | None) -> Tensor:
            nonlocal defined
            defined = defined if ok is None else defined & ok
            return value

        by_name = dict(zip(self.variables, columns, strict=False))
        values = leaf_values(by_name, self.constants.to(like), like.new_tensor)
        result = fold(
            self.tokens,
            lambda token: inside(*_finite(values(token))),
            lambda token, operands: inside(*_applied(FORMS[token], operands)),
        )
        return torch.where(defined, result, math.nan)


def torch_module(tokens: Sequence[str], variables: Sequence[str], constants: Any = None) -> ExpressionModule:
    """Differentiable module of an expression.

    Parameters
    ----------
    tokens : sequence of str
        Prefix tokens of a valid expression.
    variables : sequence of str
        Names of its variables.
    constants : array or Tensor (n_constants,), optional
        Initial values of the free constants, ones by default. A tensor or array keeps its dtype.

    Returns
    -------
    ExpressionModule
        From (n_rows, n_columns) to (n_rows,), with the parameter ``constants`` (n_constants,).
    """
    return ExpressionModule(tokens, variables, constants)


def _initial(constants: Any, n_constants: int) -> Tensor:
    """Start values of the parameter, a copy of its own."""
    if constants is None:
        return torch.ones(n_constants)
    values: Tensor = torch.as_tensor(constants).detach().clone()
    values = values if values.ndim else values.reshape(1)
    if values.shape != (n_constants,):
        raise EvaluationError(f"constants must have shape ({n_constants},), got {tuple(values.shape)}")
    return values if values.is_floating_point() else values.to(torch.get_default_dtype())


def _columns(X: Any, variables: Sequence[str]) -> tuple[list[Tensor], Tensor]:
    """Columns of the variables as floats, and one column that gives number of rows, dtype and device."""
    if isinstance(X, Mapping):
        missing = [name for name in variables if name not in X]
        if missing:
            raise EvaluationError(f"no column {missing[0]!r} in the data; columns are: {', '.join(X) or 'none'}")
        columns = [X[name] for name in variables] or list(X.values())[:1]
    elif not isinstance(X, Tensor) or X.ndim != 2 or X.shape[1] == 0:
        got = f"shape {tuple(X.shape)}" if isinstance(X, Tensor) else type(X).__name__
        raise EvaluationError(f"X must be a tensor of shape (n_rows, n_columns) or a mapping of columns, got {got}")
    else:
        columns = [X[:, i] for i in column_numbers(variables, None, X.shape[1])] or [X[:, 0]]
    if not columns or any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
        shapes = ", ".join(str(tuple(column.shape)) for column in columns) or "none"
        raise EvaluationError(f"columns must be one-dimensional and of one length, got shapes: {shapes}")
    if any(column.is_complex() for column in columns):
        raise EvaluationError("X is complex; expressions are real, pass X.real or two columns")
    floats = [c if c.is_floating_point() else c.to(torch.get_default_dtype()) for c in columns]
    return floats, floats[0].detach()


def _finite(value: Tensor) -> tuple[Tensor, Tensor]:
    """Value of a leaf, 1 where it is not finite, and where it is."""
    ok = torch.isfinite(value)
    return torch.where(ok, value, 1.0), ok


def _applied(forms: OperatorForms, operands: list[Tensor]) -> tuple[Tensor, Tensor | None]:
    """Value of an operator, finite outside its domain, and where it is defined; None is everywhere."""
    ok: Tensor | None = forms.where_defined(torch, *operands)
    if ok is not None:
        operands = [torch.where(ok, operand, forms.harmless) for operand in operands]
    if forms.steep is not None:
        # the infinite slope meets the detached operand, and the zeros of `where` cut it off
        steep = forms.steep(torch, *operands)
        masks = steep if isinstance(steep, tuple) else (steep,) * len(operands)
        operands = [torch.where(m, operand.detach(), operand) for m, operand in zip(masks, operands, strict=True)]
    value: Tensor = forms.values(torch, *operands)
    return value, ok
