"""The errors of the package, one tree. Each message names the thing, the constraint, the value and the remedy."""


class SimplipyError(ValueError):
    """Base of all errors that a caller can cause and mend."""


class ParseError(SimplipyError):
    """Text or tokens that are no expression."""


class EvaluationError(SimplipyError):
    """An expression that cannot be evaluated on the given data."""


class ConversionError(SimplipyError):
    """An expression that has no counterpart in the other system."""


class FitError(SimplipyError):
    """Data, starts or options that no fit can work with."""
