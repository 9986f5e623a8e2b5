"""Packages that only some of the program needs, and the extras that install them."""

from __future__ import annotations

_EXTRAS = {
    "torch": "neural",
    "lightning_fabric": "neural",
    "safetensors": "neural",
    "tensorboard": "neural",
    "distributed": "bench",
    "openpyxl": "excel",
    "pyarrow": "parquet",
}


def remedy(error: ModuleNotFoundError) -> str | None:
    """The command that installs a package after its import failed; None where no extra has it.

    Examples
    --------
    >>> remedy(ModuleNotFoundError(name="torch.nn"))
    "torch is not installed: pip install 'flash-ansr[neural]'"
    """
    package = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(package)
    return None if extra is None else f"{package} is not installed: pip install 'flash-ansr[{extra}]'"
