"""SymPy as the simplifier of proposals, for the paper's comparison: slow, with a limit of a CPU second a formula."""

from __future__ import annotations

from flash_ansr.paper.sympy.simplify import simplified
from simplipy import Expression, TokenBatch

_SECONDS = 1.0


def simplified_by_sympy(batch: TokenBatch) -> TokenBatch:
    """Each formula as ``sympy.simplify`` gives it, or as it was where that is longer, fails or takes too long."""
    return TokenBatch.from_expressions(map(_shorter, batch.expressions()))


def _shorter(expression: Expression) -> Expression:
    found = simplified(expression, 0, _SECONDS, ratio=1).skeleton
    return expression if found is None or len(found) > len(expression) else found
