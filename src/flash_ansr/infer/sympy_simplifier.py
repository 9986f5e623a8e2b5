"""SymPy as the simplifier of proposals, for the paper's comparison: slow, with a limit of a CPU second a formula."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sympy

import simplipy
from simplipy import Expression, TokenBatch
from simplipy.errors import ConversionError

_SECONDS = 1.0


class _TimeOver(BaseException):
    """Passes through SymPy's own handlers."""


def simplified_by_sympy(batch: TokenBatch) -> TokenBatch:
    """Each formula as ``sympy.simplify`` gives it, or as it was where that is longer, fails or takes too long."""
    return TokenBatch.from_expressions(_simplified(e) for e in batch.expressions())


def _simplified(expression: Expression) -> Expression:
    try:
        with _limit(_SECONDS):
            shorter = sympy.simplify(expression.to_sympy().doit(), ratio=1)
            tokens = simplipy.from_sympy(_with_own_constants(shorter)).skeleton()
    except (_TimeOver, ConversionError, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError):
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


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise _TimeOver after so many seconds, in the main thread of systems with timers; elsewhere there is no limit."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def over(*_: Any) -> None:
        raise _TimeOver

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
