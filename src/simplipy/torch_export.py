"""Torch modules from expressions. Input: prefix tokens. Differentiable; never fits, see the caller's optimizer.

Undefinedness is sticky, so one mask serves a whole expression: a partial function sees a harmless operand in the rows
where it is undefined, and the result of those rows becomes NaN at the very end. Rows that a loss leaves out therefore
give zero gradients instead of 0 * NaN. Where a derivative is infinite (a root at 0, asin at 1) the gradient is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from simplipy.errors import EvaluationError
from simplipy.expression import parse
from simplipy.numpy_export import column_numbers, compile_steps
from simplipy.operators import OPERATORS


class _Row(NamedTuple):
    """One line of the table: value, where it is defined, harmless operand, where the slope is infinite."""

    value: Callable[..., Tensor]
    domain: Callable[..., Tensor] | None = None
    harmless: float = 1.0
    steep: Callable[..., Tensor] | None = None


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
        self._steps = compile_steps(self.tokens, self.variables)
        self.constants = nn.Parameter(_initial(constants, self.tokens.count("<constant>")))

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
        constants = self.constants.to(like)
        defined = torch.ones_like(like, dtype=torch.bool)  # (n_rows,)
        stack: list[Tensor] = []
        for step in self._steps:
            if step.kind == "operator":
                operands = [stack.pop() for _ in range(OPERATORS[step.token].arity)]
                value, ok = _applied(TABLE[step.token], operands)
            else:
                if step.kind == "column":
                    value = columns[step.place]
                elif step.kind == "constant":
                    value = constants[step.place]
                else:
                    value = like.new_tensor(step.value)
                ok = torch.isfinite(value)
                value = torch.where(ok, value, 1.0)
            defined = defined if ok is None else defined & ok
            stack.append(value)
        return torch.where(defined, stack[0], math.nan)


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
        columns = [X[:, i] for i in column_numbers(variables, X.shape[1])] or [X[:, 0]]
    if not columns or any(column.shape != columns[0].shape or column.ndim != 1 for column in columns):
        shapes = ", ".join(str(tuple(column.shape)) for column in columns) or "none"
        raise EvaluationError(f"columns must be one-dimensional and of one length, got shapes: {shapes}")
    if any(column.is_complex() for column in columns):
        raise EvaluationError("X is complex; expressions are real, pass X.real or two columns")
    floats = [c if c.is_floating_point() else c.to(torch.get_default_dtype()) for c in columns]
    return floats, floats[0].detach()


def _applied(row: _Row, operands: list[Tensor]) -> tuple[Tensor, Tensor | None]:
    """Value of an operator, finite outside its domain, and where it is defined; None is everywhere."""
    ok = None if row.domain is None else row.domain(*operands)
    if ok is not None:
        operands = [torch.where(ok, operand, row.harmless) for operand in operands]
    if row.steep is not None:
        # the infinite slope meets the detached operand, and the zeros of `where` cut it off
        steep = row.steep(*operands)
        operands = [torch.where(steep, operand.detach(), operand) for operand in operands]
    return row.value(*operands), ok


def _odd_root(n: int) -> _Row:
    """Real root of odd order on both sides of zero."""

    def value(a: Tensor) -> Tensor:
        size = torch.abs(a)
        guess = size.pow(1 / n)
        # 1 / n is rounded; one Newton step brings the last digits
        step = (guess - size / guess.pow(n - 1)) / n
        return torch.sign(a) * torch.where(torch.isfinite(step), guess - step, guess)

    return _Row(value, steep=lambda a: a == 0)


def _pow(a: Tensor, b: Tensor) -> Tensor:
    """Power inside its domain."""
    # beside a negative base only integers are in the domain, so there is no slope along the exponent
    return torch.pow(a, torch.where(a > 0, b, b.detach()))


def _pow_domain(a: Tensor, b: Tensor) -> Tensor:
    """Where a power is defined."""
    in_domain = (a > 0) | ((a == 0) & (b >= 0)) | ((a < 0) & (torch.floor(b) == b))
    # of an operand that has overflown only the size is known: not the parity of an exponent, nor the base beside 1
    known = (torch.isfinite(a) & torch.isfinite(b)) | (a == 0) | (b == 0) | ((a > 0) & (a != 1))
    return in_domain & known


TABLE: dict[str, _Row] = {
    "+": _Row(torch.add),
    "-": _Row(torch.sub),
    "*": _Row(torch.mul),
    "/": _Row(torch.div, lambda a, b: b != 0),  # noqa: ARG005
    "pow": _Row(_pow, _pow_domain, steep=lambda a, b: (a == 0) & (b > 0) & (b < 1)),
    "abs": _Row(torch.abs),
    "inv": _Row(torch.reciprocal, lambda a: a != 0),
    "neg": _Row(torch.neg),
    "pow2": _Row(lambda a: a * a),
    "pow3": _Row(lambda a: a * a * a),
    "pow4": _Row(lambda a: (a * a) * (a * a)),
    "pow5": _Row(lambda a: (a * a) * (a * a) * a),
    "pow1_2": _Row(torch.sqrt, lambda a: a >= 0, steep=lambda a: a == 0),
    "pow1_3": _odd_root(3),
    "pow1_4": _Row(lambda a: torch.sqrt(torch.sqrt(a)), lambda a: a >= 0, steep=lambda a: a == 0),
    "pow1_5": _odd_root(5),
    "sin": _Row(torch.sin),
    "cos": _Row(torch.cos),
    "tan": _Row(torch.tan),
    "asin": _Row(torch.asin, lambda a: a.abs() <= 1, steep=lambda a: a.abs() == 1),
    "acos": _Row(torch.acos, lambda a: a.abs() <= 1, steep=lambda a: a.abs() == 1),
    "atan": _Row(torch.atan),
    "sinh": _Row(torch.sinh),
    "cosh": _Row(torch.cosh),
    "tanh": _Row(torch.tanh),
    "asinh": _Row(torch.asinh),
    "acosh": _Row(torch.acosh, lambda a: a >= 1, steep=lambda a: a == 1),
    "atanh": _Row(torch.atanh, lambda a: a.abs() < 1, harmless=0.0),
    "exp": _Row(torch.exp),
    "log": _Row(torch.log, lambda a: a > 0),
    "mult2": _Row(lambda a: 2 * a),
    "mult3": _Row(lambda a: 3 * a),
    "mult4": _Row(lambda a: 4 * a),
    "mult5": _Row(lambda a: 5 * a),
    "div2": _Row(lambda a: a / 2),
    "div3": _Row(lambda a: a / 3),
    "div4": _Row(lambda a: a / 4),
    "div5": _Row(lambda a: a / 5),
}
