"""SymPy as the simplifier of proposals, for the paper's comparison: slow, with a limit of a CPU second a formula."""

from __future__ import annotations

import sympy

from flash_ansr.paper.sympy.cpu_limit import TimeOver, cpu_limit
from flash_ansr.paper.sympy.simplify import with_numbers, without_numbers
from simplipy import Expression, TokenBatch
from simplipy.errors import ConversionError

_SECONDS = 1.0


def simplified_by_sympy(batch: TokenBatch) -> TokenBatch:
    """Each formula as ``sympy.simplify`` gives it, or as it was where that is longer, fails or takes too long."""
    return TokenBatch.from_expressions(_simplified(e) for e in batch.expressions())


def _simplified(expression: Expression) -> Expression:
    try:
        with cpu_limit(_SECONDS):
            answer = without_numbers(sympy.simplify(with_numbers(expression, 0), ratio=1))
    except (TimeOver, ConversionError, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError):
        return expression
    return answer if len(answer) <= len(expression) else expression
