"""Systems by name."""

from __future__ import annotations

from typing import Any

from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems import ours  # noqa: F401 - registers itself, as the first of the list

# isort: split
from flash_ansr.bench.systems import baselines, peers, trees  # noqa: F401 - these register themselves too
from flash_ansr.bench.systems.base import SYSTEMS, Answer, Request, System, SystemMissingError, Trees

__all__ = ["SYSTEMS", "Answer", "Request", "System", "SystemMissingError", "Trees", "make_system"]


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
