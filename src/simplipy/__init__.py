"""SimpliPy: expressions, evaluation and exact handling of formulas in the operators of symbolic regression.

A name is imported at its first use, so that a call for help does not load NumPy. SymPy, torch, pandas and matplotlib
are imported by the functions that need them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simplipy._version import __version__

if TYPE_CHECKING:
    from simplipy.equivalence.verdict import Verdict, equivalent
    from simplipy.errors import ConversionError, EvaluationError, FitError, ParseError, SimplipyError
    from simplipy.expression.expression import Expression, evaluate_many, from_sympy, parse, parse_many
    from simplipy.expression.intervals import Enclosure, enclose_many, enclosure
    from simplipy.expression.operators import OPERATORS, Operator
    from simplipy.expression.token_batch import TokenBatch
    from simplipy.fit.constants import fit_constants
    from simplipy.fit.result import Fit, FitStatus
    from simplipy.fit.tidying import tidy
    from simplipy.simplification.engine import Engine, Explanation, StopReason, canonical_key, simplify, simplify_many

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

# the imports above for the interpreter: a module and its public names
_NAMES_OF = {
    "equivalence.verdict": "Verdict equivalent",
    "errors": "ConversionError EvaluationError FitError ParseError SimplipyError",
    "expression.expression": "Expression evaluate_many from_sympy parse parse_many",
    "expression.intervals": "Enclosure enclose_many enclosure",
    "expression.operators": "OPERATORS Operator",
    "expression.token_batch": "TokenBatch",
    "fit.constants": "fit_constants",
    "fit.result": "Fit FitStatus",
    "fit.tidying": "tidy",
    "simplification.engine": "Engine Explanation StopReason canonical_key simplify simplify_many",
}
_MODULE_OF = {name: f"simplipy.{module}" for module, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    # called only for what is not there yet
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'simplipy' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
