"""The folder of a training run: resolved config, versions, metrics, checkpoints.

    config.yaml       the whole config; ``--resume`` reads it
    versions.json     what it was trained with
    metrics.jsonl     a row for every logged step and every validation
    tensorboard/      the same for TensorBoard
    checkpoints/N/    weights, optimizer, position after N steps; the newest two

Rows after the step at which a run is resumed are dropped, so the file is that of a run without a break.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from flash_ansr.checkpoint_folder import newest_checkpoint
from flash_ansr.model.config import ConfigError, from_mapping, to_mapping
from flash_ansr.train.config import TrainConfig
from flash_ansr.versions import versions

N_KEPT = 2


class RunFolder:
    """Reads and writes the files of a run.

    Parameters
    ----------
    path : path
        The folder, which need not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.checkpoints = self.path / "checkpoints"

    def create(self, config: TrainConfig) -> None:
        """Start a new run."""
        if self.path.exists() and any(self.path.iterdir()):
            raise ConfigError(f"{self.path} is not empty; continue it with --resume, or choose another --out")
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(to_mapping(config), sort_keys=False)
        (self.path / "config.yaml").write_text(text, encoding="utf-8")
        (self.path / "versions.json").write_text(json.dumps(versions(), indent=1) + "\n", encoding="utf-8")

    def config(self) -> TrainConfig:
        """The config of the run."""
        path = self.path / "config.yaml"
        if not path.is_file():
            raise ConfigError(f"{self.path} is no training run: it has no config.yaml")
        return from_mapping(TrainConfig, yaml.safe_load(path.read_text(encoding="utf-8")))

    def checkpoint(self, step: int) -> Path:
        """Folder of the checkpoint after a number of steps."""
        return self.checkpoints / f"{step:08d}"

    def latest(self) -> Path | None:
        """Folder of the newest checkpoint."""
        return newest_checkpoint(self.path)

    def prune(self) -> None:
        """Drop all checkpoints but the newest."""
        for path in sorted(self.checkpoints.glob("[0-9]*"))[:-N_KEPT]:
            shutil.rmtree(path)

    def append(self, row: dict[str, Any]) -> None:
        """Add a row of metrics."""
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All rows of metrics; a last line that was cut off is left out."""
        path = self.path / "metrics.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def rewind(self, step: int) -> None:
        """Drop the rows after a step."""
        rows = [row for row in self.metrics() if row["step"] <= step]
        new = self.path / ".metrics.new"
        new.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        new.replace(self.path / "metrics.jsonl")
