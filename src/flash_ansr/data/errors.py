"""Errors of data generation. Each message names the thing, the constraint, the value and the remedy."""

from simplipy.errors import SimplipyError


class DataError(SimplipyError):
    """Base of the errors that a caller of ``flash_ansr.data`` can cause and mend."""


class PriorError(DataError):
    """A prior with an unknown key, an impossible range or an unknown holdout."""


class ExhaustedPriorError(DataError):
    """A prior that accepts hardly any problem."""
