"""Symbolic regression on top of ``simplipy``. Importing it never imports torch."""

from typing import TYPE_CHECKING, Any

from simplipy._version import __version__

if TYPE_CHECKING:
    from flash_ansr.regressor import FlashANSR

__all__ = ["FlashANSR", "__version__"]


def __getattr__(name: str) -> Any:
    # scikit-learn and pandas are imported with the estimator, not with the package
    if name == "FlashANSR":
        from flash_ansr.regressor import FlashANSR

        return FlashANSR
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
