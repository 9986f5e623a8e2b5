"""Devices and torch's threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from flash_ansr import FlashANSR
from flash_ansr.infer.proposers.neural.devices import best_device, device_of, one_thread


def test_devices_that_are_there() -> None:
    assert device_of("auto").type == best_device()
    assert device_of("cpu") == torch.device("cpu")


@pytest.mark.parametrize("options", [{}, {"pipeline": "paper"}, {"proposers": ["prior"]}])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("abacus", "device must be 'auto' or a device that torch knows, got 'abacus'"),
        ("", "device must be 'auto' or a device that torch knows, got ''"),
        (7.5, "device must be 'auto' or a device that torch knows, got 7.5"),
        ("cuda:99", "device must be one that is there, got 'cuda:99': .*'auto' takes the fastest"),
    ],
)
def test_devices_that_are_not_there(name: object, message: str, options: dict[str, object]) -> None:
    model = FlashANSR(n_samples=64, device=name, **options)
    with pytest.raises(ValueError, match=message):
        model.check_parameters()
    with pytest.raises(ValueError, match=message):
        model.fit(np.ones((3, 1)), [1.0, 2.0, 3.0])


def test_all_leave_the_threads_that_the_first_found() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        inside, leave, seen = threading.Event(), threading.Event(), []

        def look() -> None:
            seen.append(torch.get_num_threads())

        def other() -> None:
            with one_thread():
                look()
                inside.set()
                leave.wait(10)
                look()
            look()

        thread = threading.Thread(target=other)
        with one_thread():
            look()
            thread.start()
            inside.wait(10)
        look()
        leave.set()
        thread.join()
        late = threading.Thread(target=look)
        late.start()
        late.join()
        assert seen == [1, 1, 3, 1, 3, 3]
    finally:
        torch.set_num_threads(before)
