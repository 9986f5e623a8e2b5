"""SimpliPy: expressions, evaluation and exact handling of formulas in the operators of symbolic regression.

Importing it loads NumPy and the native core only; SymPy, torch, pandas and matplotlib are imported where they are used.
"""

from simplipy._version import __version__
from simplipy.equivalence import Verdict, equivalent
from simplipy.errors import ConversionError, EvaluationError, ParseError, SimplipyError
from simplipy.expression import Expression, evaluate_many, from_sympy, parse, parse_many
from simplipy.operators import OPERATORS, Operator
from simplipy.simplification import Engine, Explanation, StopReason, canonical_key, simplify, simplify_many
from simplipy.token_batch import TokenBatch

__all__ = [
    "OPERATORS",
    "ConversionError",
    "Engine",
    "EvaluationError",
    "Explanation",
    "Expression",
    "Operator",
    "ParseError",
    "SimplipyError",
    "StopReason",
    "TokenBatch",
    "Verdict",
    "__version__",
    "canonical_key",
    "equivalent",
    "evaluate_many",
    "from_sympy",
    "parse",
    "parse_many",
    "simplify",
    "simplify_many",
]
