"""The input of SymPy's ``simplify`` and the use of its answer, as in the paper's comparison.

Free constants get numbers of U(-10, 10), so that SymPy can merge them, and numbers are free constants again afterwards.
SymPy gets what it would read from text: evaluated, and with x**(1/3) for odd roots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simplipy import Expression, parse

if TYPE_CHECKING:
    import sympy

_LARGEST = 10.0


def with_numbers(expression: Expression, seed: int | tuple[int, ...]) -> sympy.Expr:
    """The expression for SymPy, with a number for each free constant."""
    from simplipy.export.sympy_bridge import to_sympy

    numbers = np.random.default_rng(seed).uniform(-_LARGEST, _LARGEST, expression.n_constants)
    return to_sympy(expression.with_constants(numbers).tokens, principal_roots=True).doit()


def without_numbers(answer: sympy.Basic) -> Expression:
    """The skeleton of what SymPy answers; a ConversionError where it has left the reals."""
    from simplipy.export.sympy_bridge import from_sympy

    return parse(from_sympy(answer, principal_roots=True)).skeleton()
