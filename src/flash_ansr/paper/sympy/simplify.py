"""The input of SymPy's ``simplify`` and the use of its answer, as in the paper's comparison.

Free constants get numbers of U(-10, 10), so that SymPy can merge them, and numbers are free constants again afterwards.
SymPy gets what it would read from text: evaluated, and with x**(1/3) for odd roots.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from flash_ansr.paper.sympy.cpu_limit import TimeOver, cpu_limit
from simplipy import Expression, parse
from simplipy.errors import SimplipyError

_LARGEST = 10.0


class Answer(NamedTuple):
    """A skeleton, or the reason why there is none, and the CPU seconds that SymPy took."""

    skeleton: Expression | None
    reason: str | None
    seconds: float


def simplified(expression: Expression, seed: int | tuple[int, ...], limit: float, **options: Any) -> Answer:
    """SymPy's form of an expression; ``sympy.simplify`` alone is timed. On the main thread only, for the limit.

    Parameters
    ----------
    expression : Expression
    seed : int or tuple of int
        Of the numbers that stand for free constants.
    limit : float
        CPU seconds for ``simplify``, and as many for the way to SymPy.
    **options
        Of ``sympy.simplify``.
    """
    import sympy

    from simplipy.export.sympy_bridge import from_sympy, to_sympy

    start = time.thread_time()
    try:
        with cpu_limit(limit):
            numbers = np.random.default_rng(seed).uniform(-_LARGEST, _LARGEST, expression.n_constants)
            given = to_sympy(expression.with_constants(numbers).tokens, principal_roots=True).doit()
        start = time.thread_time()
        with cpu_limit(limit):
            result = sympy.simplify(given, **options)
        seconds = time.thread_time() - start
        return Answer(parse(from_sympy(result, principal_roots=True)).skeleton(), None, seconds)
    except TimeOver:
        return Answer(None, "time limit", limit)
    except SimplipyError as error:
        reason = f"not real: {error}"
    except Exception as error:  # SymPy raises all sorts of errors of its own on odd input
        reason = f"{type(error).__name__}: {error}"
    return Answer(None, reason[:200], time.thread_time() - start)
