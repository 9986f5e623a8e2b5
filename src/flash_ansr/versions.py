"""What produced a result: versions of the packages, and the hash of the rule set that normalises expressions."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata, resources

from flash_ansr import __version__

_PACKAGES = ("numpy", "torch", "lightning-fabric")


@cache
def rule_set_hash() -> str:
    """SHA-256 of the simplifier's rules: targets of training and proposals of a network agree only where it does."""
    rules = resources.files("simplipy").joinpath("data", "rules.txt").read_bytes()
    return hashlib.sha256(rules).hexdigest()


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of what numbers depend on; packages that are missing are left out."""
    found = {"flash-ansr": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found | {"rules": rule_set_hash()}
