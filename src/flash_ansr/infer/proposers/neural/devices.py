"""The device of a network, and torch's threads while it is sampled. Imports torch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_n_inside = 0
_n_before = 1


def device_of(name: str) -> torch.device:
    """The device with this name; "auto" takes CUDA or MPS where they are.

    Raises
    ------
    ValueError
        torch does not know it, or it is not there.
    """
    try:
        device = torch.device(best_device() if name == "auto" else name)
    except (RuntimeError, TypeError):
        raise ValueError(f"device must be 'auto' or a device that torch knows, got {name!r}") from None
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"device must be one that is there, got {name!r}: {why}; 'auto' takes the fastest") from None
    return device


def best_device() -> str:
    """The fastest device there is."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in torch's own operations; several may ask for it at a time, and all leave what the first found.

    The number is one of each Python thread, and a new thread takes the one that was set last: a second search, in a
    thread that was started meanwhile, would find and leave 1.
    """
    global _n_inside, _n_before
    with _lock:
        if _n_inside == 0:
            _n_before = torch.get_num_threads()
        _n_inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            torch.set_num_threads(_n_before)
