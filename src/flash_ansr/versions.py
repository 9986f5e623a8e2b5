"""Versions of the packages behind a result, and hashes of the rule set and of the code itself."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import import_module, metadata, resources
from pathlib import Path

import simplipy
from flash_ansr import __version__

_PACKAGES = ("numpy", "scipy", "sympy", "torch", "lightning-fabric")

# They need the canonical order, cancellation, constants and spelling, which are no rules; C is a free constant.
_SKELETONS = """
x2 + x1; x1 * x2; x3 + x2 * x1; x1 * x1; x1 + x1; x1 - x1; x1 / x1; x1 - x2; x2 - x1; -(x1 - x2)
x1 / x2; 1 / (x1 / x2); x1 / (x2 / x3); x1 / x2 / x3; x1 * x2 / x1; (x1 + x2) / (x2 + x1); (x1 + x2) - x2
C; C + C; C * C; C * x1 * C; C + x1 + C; C * (C * x1 + C); C / x1; C / (C * x1); (C * x1) ^ 2; C ^ C; -C * x1
C * x1 + C * x2; C * x1 + C * x1; C * x1 - C * x2; (C + x1) / (C + x1); (C * x1 + C) / C; C - C * x1; x1 / C
x1 ^ 2 * x1; x1 ^ 2 * x1 ^ 3; (x1 ^ 2) ^ (1/2); (x1 ^ (1/2)) ^ 2; x1 ^ C * x1 ^ C; x1 ^ C; C ^ x1; (C * x1) ^ C
2 * x1; 3 * x1 / 4; x1 + 2 * x1; x1 / 2 + x1 / 2; x1 * (x2 + x3); x1 * x2 + x1 * x3; (x1 + x2) ^ 2; x1 * x2 * x3 * x4
exp(log(x1)); log(exp(x1)); exp(x1) * exp(x2); exp(C * x1 + C); log(C * x1); log(x1 ^ 2); log(x1) + log(x2); exp(-x1)
sin(-x1); cos(-x1); sin(x1) / cos(x1); sin(x1) ^ 2 + cos(x1) ^ 2; tanh(-x1); asin(sin(x1))
sin(C * x1 + C); sinh(x1) / cosh(x1); abs(-x1); abs(x1 ^ 2); abs(x1 * x2); abs(C * x1)
(C * x1) ^ (1/2); C * x1 ^ (1/2); 1 / x1 ^ 2; 1 / (1 / x1); x1 / (C * x2 + C)
"""


@cache
def rule_set_hash() -> str:
    """SHA-256 of the simplifier: its rules, and the normal forms of skeletons that need what is no rule.

    Targets of training and proposals of a network agree only where it does.
    """
    rules = resources.files("simplipy").joinpath("data", "rules.txt").read_text(encoding="utf-8")
    return hashlib.sha256("\n".join([rules, *normal_forms()]).encode()).hexdigest()


def normal_forms() -> list[str]:
    """Prefix tokens of a fixed list of skeletons, simplified."""
    skeletons = [text.replace("C", "<constant>") for text in _SKELETONS.replace("\n", ";").split(";") if text.strip()]
    return [" ".join(form) for form in simplipy.simplify_many([simplipy.parse(s).tokens for s in skeletons])]


@cache
def code_hash() -> str:
    """A short SHA-256 of sources and compiled cores of both packages: commits share a version number."""
    digest = hashlib.sha256()
    for name in ("simplipy", "flash_ansr"):
        folder = Path(str(import_module(name).__file__)).parent
        for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
            digest.update(path.read_bytes())
        digest.update(Path(str(import_module(f"{name}._core").__file__)).read_bytes())
    return digest.hexdigest()[:12]


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of what numbers depend on; packages that are missing are left out."""
    found = {"flash-ansr": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found | {"rules": rule_set_hash(), "code": code_hash()}
