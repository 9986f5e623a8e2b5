"""Symbolic regression on top of ``simplipy``. Importing it never imports torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simplipy._version import __version__

if TYPE_CHECKING:
    from flash_ansr.infer.candidates.proposals import Proposals
    from flash_ansr.infer.proposers.base import Proposer, ProposerContext
    from flash_ansr.infer.result.extrapolation import ExtrapolationWarning
    from flash_ansr.price.prices import plausibility
    from flash_ansr.regressor import FlashANSR

__all__ = [
    "ExtrapolationWarning",
    "FlashANSR",
    "Proposals",
    "Proposer",
    "ProposerContext",
    "__version__",
    "plausibility",
]

_MODULES = {
    "ExtrapolationWarning": "flash_ansr.infer.result.extrapolation",
    "FlashANSR": "flash_ansr.regressor",
    "Proposals": "flash_ansr.infer.candidates.proposals",
    "Proposer": "flash_ansr.infer.proposers.base",
    "ProposerContext": "flash_ansr.infer.proposers.base",
    "plausibility": "flash_ansr.price.prices",
}


def __getattr__(name: str) -> Any:
    # scikit-learn and pandas are imported with the estimator, not with the package; called for what is not there yet
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
