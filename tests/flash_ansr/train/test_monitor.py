"""What a run tells about its speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from flash_ansr.data import load_prior
from flash_ansr.train import monitor as module
from flash_ansr.train.monitor import Monitor, Totals
from flash_ansr.train.run_folder import RunFolder
from tests.flash_ansr.train.test_training import tiny


def test_validation_is_no_training_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten problems a second, logged every fourth step, with a validation in between that takes long."""
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    folder, config, totals = RunFolder(tmp_path / "run"), tiny(), Totals()
    folder.create(config, load_prior("wide"))
    with Monitor(folder, config, totals, enabled=True) as monitor:
        for step in range(1, 9):
            now += 1.0
            totals.advance(10, 50, 80)
            monitor.data_seconds += 0.25
            if step == 3:
                monitor.pause()
                now += 1000.0
                monitor.validated(2.5)
            if step % 4 == 0:
                monitor.stepped(2.0, 1.0, 1e-3)
    rows = [row for row in folder.metrics() if "loss" in row]
    assert [row["samples_per_second"] for row in rows] == [10.0, 10.0]
    assert [row["data_share"] for row in rows] == [0.25, 0.25]
    assert [row["seconds"] for row in folder.metrics()] == [1003.0, 1004.0, 1008.0]
