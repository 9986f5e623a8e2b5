"""SymPy as the simplifier of proposals, for the paper's comparison: slow, with a limit of a CPU second a formula."""

from __future__ import annotations

from typing import Any

import sympy

import simplipy
from flash_ansr.cpu_limit import TimeOver, cpu_limit
from simplipy import Expression, TokenBatch
from simplipy.errors import ConversionError

_SECONDS = 1.0


def simplified_by_sympy(batch: TokenBatch) -> TokenBatch:
    """Each formula as ``sympy.simplify`` gives it, or as it was where that is longer, fails or takes too long."""
    return TokenBatch.from_expressions(_simplified(e) for e in batch.expressions())


def _simplified(expression: Expression) -> Expression:
    try:
        with cpu_limit(_SECONDS):
            shorter = sympy.simplify(expression.to_sympy().doit(), ratio=1)
            tokens = simplipy.from_sympy(_with_own_constants(shorter)).skeleton()
    except (TimeOver, ConversionError, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError):
        return expression
    return tokens if len(tokens) <= len(expression) else expression


def _with_own_constants(result: Any) -> Any:
    """Every occurrence of a free constant as a constant of its own, every other number free."""
    counter = iter(range(1, 10_000))
    constants = {s for s in result.free_symbols if type(s).__name__ == "FreeConstant"}

    def walk(node: Any) -> Any:
        if node in constants:
            return type(node)(f"k{next(counter)}", real=True)
        return node.func(*map(walk, node.args), evaluate=False) if node.args and constants & node.free_symbols else node

    return walk(result)
