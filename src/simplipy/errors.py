"""The errors of the package, one tree. Each message names the thing, the constraint, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A hint for an unknown word: the known word that is most like it, or the other text where none is.

    Examples
    --------
    >>> did_you_mean("bugdet", ["budget", "points"], "known keys: budget, points")
    "did you mean 'budget'?"
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise
