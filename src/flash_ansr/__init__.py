"""Symbolic regression on top of :mod:`simplipy`. Importing it never imports torch."""

from simplipy._version import __version__

__all__ = ["__version__"]
