"""Systems by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems.base import Found, Request, System, SystemMissingError
from flash_ansr.bench.systems.baselines import Linear, PowerLaw
from flash_ansr.bench.systems.ours import Ours
from flash_ansr.bench.systems.peers import REMEDIES, Peer

__all__ = ["SYSTEMS", "Found", "Request", "System", "SystemMissingError", "make_system"]

SYSTEMS: dict[str, Callable[..., System]] = {
    "ours": Ours,
    "linear": Linear,
    "power_law": PowerLaw,
    **{name: partial(Peer, name) for name in REMEDIES},
}


def make_system(name: str, settings: dict[str, Any]) -> System:
    """A system with these settings; it starts nothing before it is asked.

    Raises
    ------
    BenchError
        When there is no such system, or it has no such setting.
    """
    if name not in SYSTEMS:
        raise BenchError(f"no system {name!r}; there are: {', '.join(SYSTEMS)}")
    try:
        return SYSTEMS[name](**settings)
    except TypeError as error:
        raise BenchError(f"the system {name!r} does not take these settings: {error}") from error
