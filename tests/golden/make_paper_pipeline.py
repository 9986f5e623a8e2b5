"""Writes paper_pipeline.json: the best candidates of the paper's pipeline with a tiny seeded network."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.flash_ansr.infer.search.test_paper_pipeline import GOLDEN, facts, fitted
from tests.networks import write_checkpoint

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        rows = facts(fitted(write_checkpoint(Path(folder) / "tiny")))
    GOLDEN.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n", encoding="utf-8")
