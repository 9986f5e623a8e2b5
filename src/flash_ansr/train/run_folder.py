"""The folder of a training run: resolved config, versions, metrics, checkpoints.

    config.yaml       the whole config; ``--resume`` reads it
    prior.yaml        the whole prior, a copy that later versions of it do not reach; ``--resume`` reads it
    versions.json     what it was trained with
    metrics.jsonl     a row for every logged step and every validation
    tensorboard/      the same for TensorBoard
    checkpoints/N/    weights, optimizer, position after N steps; the newest two, and the last before the decay

Rows after the step at which a run is resumed are dropped, so the file is that of a run without a break.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import yaml

from flash_ansr.checkpoint.folder import newest_checkpoint
from flash_ansr.data import Prior, PriorError, load_prior
from flash_ansr.model.config import ConfigError, from_mapping, to_mapping
from flash_ansr.train.config import TrainConfig
from flash_ansr.versions import versions
from simplipy.files.output_files import make_folder, write_whole

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

    def create(self, config: TrainConfig, prior: Prior) -> None:
        """Start a new run."""
        if self.path.exists() and any(self.path.iterdir()):
            raise ConfigError(f"{self.path} is not empty; continue it with --resume, or choose another --out")
        make_folder(self.checkpoints)
        write_whole(self.path / "prior.yaml", _as_yaml(prior))
        write_whole(self.path / "versions.json", json.dumps(versions(), indent=1) + "\n")
        write_whole(self.path / "config.yaml", _as_yaml(config))

    def change(self, config: TrainConfig) -> None:
        """Store the config with which a run goes on, and tell where its prior is not today's."""
        write_whole(self.path / "config.yaml", _as_yaml(config))
        source = config.data.prior
        try:
            changed = load_prior(source) != self.prior()
        except PriorError:  # a file that is gone
            changed = True
        if changed:
            warnings.warn(
                f"the prior '{source}' is another one now than when the run began; "
                f"it goes on with its own copy, {self.path / 'prior.yaml'}",
                stacklevel=2,
            )

    def config(self) -> TrainConfig:
        """The config of the run."""
        path = self.path / "config.yaml"
        if not path.is_file():
            raise ConfigError(f"{self.path} is no training run: it has no config.yaml")
        return from_mapping(TrainConfig, yaml.safe_load(path.read_text(encoding="utf-8")))

    def prior(self) -> Prior:
        """The prior of the run."""
        path = self.path / "prior.yaml"
        if not path.is_file():
            raise ConfigError(f"{self.path} has no prior.yaml; put the file of the prior there that it was begun with")
        return load_prior(path)

    def with_steps(self, steps: int) -> TrainConfig:
        """The config of the run with another end, which can move until the decay begins."""
        config, latest = self.config(), self.latest()
        optimizer, n_done = config.optimizer, 0 if latest is None else int(latest.name)
        if n_done > optimizer.decay_start:
            kept = [path for path in self._checkpoints() if int(path.name) <= optimizer.decay_start]
            remedy = f"remove the checkpoints after {kept[-1]} to go on from there" if kept else "start a new run"
            raise ConfigError(
                f"the end of {self.path} cannot move any more: its decay began after step {optimizer.decay_start}, "
                f"and it is at {n_done}; {remedy}"
            )
        return dataclasses.replace(config, optimizer=optimizer.with_steps(steps, n_done))

    def checkpoint(self, step: int) -> Path:
        """Folder of the checkpoint after a number of steps."""
        return self.checkpoints / f"{step:08d}"

    def latest(self) -> Path | None:
        """Folder of the newest whole checkpoint."""
        return newest_checkpoint(self.path)

    def prune(self, decay_start: int) -> None:
        """Drop all checkpoints but the newest and the last from which the run can be prolonged."""
        paths = self._checkpoints()
        steady = [path for path in paths if int(path.name) <= decay_start]
        for path in set(paths) - {*paths[-N_KEPT:], *steady[-1:]}:
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
        """Drop the rows after a step, and the checkpoints, which are damaged: see ``latest``."""
        for path in self._checkpoints():
            if int(path.name) > step:
                shutil.rmtree(path)
        rows = [row for row in self.metrics() if row["step"] <= step]
        write_whole(self.path / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def _checkpoints(self) -> list[Path]:
        """Those that the run wrote, oldest first; a folder with another name is someone's own."""
        return sorted(path for path in self.checkpoints.glob("[0-9]*") if path.name.isdigit())


def _as_yaml(config: TrainConfig | Prior) -> str:
    # JSON makes lists of tuples, which YAML has no safe word for
    return yaml.safe_dump(json.loads(json.dumps(to_mapping(config))), sort_keys=False)
