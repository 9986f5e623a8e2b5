"""SimpliPy: expressions, evaluation and exact handling of formulas in the operators of symbolic regression.

Importing it loads NumPy and the native core only; SymPy, torch, pandas and matplotlib are imported where they are used.
"""

from simplipy._version import __version__
from simplipy.errors import ConversionError, EvaluationError, ParseError, SimplipyError
from simplipy.expression import Expression, evaluate_many, from_sympy, parse, parse_many
from simplipy.operators import OPERATORS, Operator
from simplipy.token_batch import TokenBatch

__all__ = [
    "OPERATORS",
    "ConversionError",
    "EvaluationError",
    "Expression",
    "Operator",
    "ParseError",
    "SimplipyError",
    "TokenBatch",
    "__version__",
    "evaluate_many",
    "from_sympy",
    "parse",
    "parse_many",
]
