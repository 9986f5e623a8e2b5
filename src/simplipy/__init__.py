"""SimpliPy: expressions, evaluation and exact handling of formulas in the operators of symbolic regression.

Importing it loads NumPy and the native core only; SymPy, torch, pandas and matplotlib are imported where they are used.
"""

from typing import TYPE_CHECKING

from simplipy._version import __version__
from simplipy.errors import ConversionError, EvaluationError, FitError, ParseError, SimplipyError
from simplipy.expression.expression import Expression, evaluate_many, from_sympy, parse, parse_many
from simplipy.expression.intervals import Enclosure, enclose_many, enclosure
from simplipy.expression.operators import OPERATORS, Operator
from simplipy.expression.token_batch import TokenBatch
from simplipy.fit.constants import fit_constants
from simplipy.fit.result import Fit, FitStatus
from simplipy.fit.tidying import tidy
from simplipy.simplification.engine import Engine, Explanation, StopReason, canonical_key, simplify, simplify_many

if TYPE_CHECKING:
    from simplipy.equivalence.verdict import Verdict, equivalent

__all__ = [
    "OPERATORS",
    "ConversionError",
    "Enclosure",
    "Engine",
    "EvaluationError",
    "Explanation",
    "Expression",
    "Fit",
    "FitError",
    "FitStatus",
    "Operator",
    "ParseError",
    "SimplipyError",
    "StopReason",
    "TokenBatch",
    "Verdict",
    "__version__",
    "canonical_key",
    "enclose_many",
    "enclosure",
    "equivalent",
    "evaluate_many",
    "fit_constants",
    "from_sympy",
    "parse",
    "parse_many",
    "simplify",
    "simplify_many",
    "tidy",
]


def __getattr__(name: str) -> object:
    # the comparison of expressions costs more to import than all else, and few programs need it
    if name in ("Verdict", "equivalent"):
        from simplipy.equivalence import verdict

        return getattr(verdict, name)
    raise AttributeError(f"module 'simplipy' has no attribute {name!r}")
