"""The error of a catalogue that cannot be read or drawn from."""

from simplipy.errors import SimplipyError


class CatalogueError(SimplipyError):
    """A catalogue or problem that cannot be read or drawn from; the message names the place and the remedy."""
