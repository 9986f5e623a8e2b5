"""Optional modules of the tests: absent means skipped, but a failure where CI=true."""

import importlib
import os
import warnings
from types import ModuleType

import pytest

IN_CI = os.environ.get("CI") == "true"


def need(name: str) -> ModuleType:
    """Import a module that a test needs and that the package itself does not require."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a third party warns about on import is not ours
            return importlib.import_module(name)
    except ImportError:
        if IN_CI:
            raise
        pytest.skip(f"{name} is not installed", allow_module_level=True)
