"""The audit of the holdout check, on fewer problems than the benchmark takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "decontamination.py"


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["paper", "wide", "science"])
def test_nothing_held_out_and_memory_flat(prior: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--prior", prior, "--n", "100000", "--collisions", "10000"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / f"{prior}.json").read_text())
    assert facts["n_leaks"] == 0
    assert facts.get("laws_that_leak", []) == []
    assert facts["skeletons_looked_at"] > 1000
    assert facts["confirmed"]["symbolic"] == facts["collisions"]["symbolic"]
    first, *_, last = facts["resident_megabytes"][1:]
    assert last < 1.2 * first
