"""SymPy as the simplifier of proposals, for the paper's comparison: slow, with a limit of a CPU second a formula.

As in the paper, free constants get numbers first, so that SymPy can merge them, and numbers are free constants again
afterwards.
"""

from __future__ import annotations

import numpy as np
import sympy

import simplipy
from flash_ansr.cpu_limit import TimeOver, cpu_limit
from simplipy import Expression, TokenBatch
from simplipy.errors import ConversionError

_SECONDS = 1.0
_LARGEST = 10.0


def simplified_by_sympy(batch: TokenBatch) -> TokenBatch:
    """Each formula as ``sympy.simplify`` gives it, or as it was where that is longer, fails or takes too long."""
    return TokenBatch.from_expressions(_simplified(e) for e in batch.expressions())


def _simplified(expression: Expression) -> Expression:
    try:
        with cpu_limit(_SECONDS):
            numbers = np.random.default_rng(0).uniform(-_LARGEST, _LARGEST, expression.n_constants)
            shorter = sympy.simplify(expression.with_constants(numbers).to_sympy().doit(), ratio=1)
            tokens = simplipy.from_sympy(shorter).skeleton()
    except (TimeOver, ConversionError, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError):
        return expression
    return tokens if len(tokens) <= len(expression) else expression
