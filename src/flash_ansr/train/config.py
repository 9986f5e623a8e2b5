"""Training configs: YAML files in ``configs/``, each on top of another (``extends``, by default ``base``).

A config is resolved before anything runs: what a run folder stores says everything about the run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml

from flash_ansr.model.config import ConfigError, ModelConfig, from_mapping, to_mapping
from flash_ansr.strict_config import NOT_NEGATIVE, POSITIVE, between, check_bounds, merged

Precision = Literal["auto", "32-true", "bf16-mixed", "16-mixed"]

CONFIG_FOLDER = Path(__file__).parents[1] / "configs"


@dataclass(frozen=True, slots=True)
class DataConfig:
    """Where problems come from.

    Attributes
    ----------
    prior : str
        Name of a prior of ``flash_ansr.data``.
    max_rows : int or None
        Rows of a table that the network sees at most; None leaves it to the prior.
    first_index : int
        Problem of the stream at which the first batch begins, rounded up to a whole batch.
    """

    prior: str = "paper"
    max_rows: Annotated[int | None, POSITIVE] = None
    first_index: Annotated[int, NOT_NEGATIVE] = 0

    def __post_init__(self) -> None:
        check_bounds(self, ConfigError)


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """AdamW with warmup, constant phase and linear decay.

    Attributes
    ----------
    batch_size : int
        Problems in a step, over all processes.
    micro_batches : int
        Pieces into which a process cuts its share, sorted by length: less padding, less memory, the same gradient.
    steps : int
    learning_rate, weight_decay, beta1, beta2 : float
    clip : float
        Largest norm of the gradient.
    warmup, decay : float
        Shares of the steps in which the learning rate rises from 0 and falls to 0.
    """

    batch_size: Annotated[int, POSITIVE] = 128
    micro_batches: Annotated[int, POSITIVE] = 4
    steps: Annotated[int, POSITIVE] = 1000
    learning_rate: Annotated[float, POSITIVE] = 1e-4
    weight_decay: Annotated[float, NOT_NEGATIVE] = 0.01
    beta1: Annotated[float, between(0, 1)] = 0.9
    beta2: Annotated[float, between(0, 1)] = 0.95
    clip: Annotated[float, POSITIVE] = 2.0
    warmup: Annotated[float, between(0, 1)] = 0.1
    decay: Annotated[float, between(0, 1)] = 0.2

    def __post_init__(self) -> None:
        check_bounds(self, ConfigError)
        if self.warmup + self.decay > 1:
            raise ConfigError(f"warmup + decay must be at most 1, got {self.warmup} + {self.decay}")

    @property
    def n_warmup(self) -> int:
        """Steps in which the learning rate rises."""
        return round(self.warmup * self.steps)

    @property
    def decay_start(self) -> int:
        """Step from which on the learning rate falls."""
        return self.steps - round(self.decay * self.steps)

    def learning_rate_at(self, step: int) -> float:
        """Learning rate of the step with this number, the first being 0."""
        n_decay = self.steps - self.decay_start
        rising = (step + 1) / self.n_warmup if step < self.n_warmup else 1.0
        falling = (self.steps - step) / n_decay if n_decay else 1.0
        return self.learning_rate * min(1.0, rising, falling)

    def with_steps(self, steps: int, n_done: int) -> OptimizerConfig:
        """The same with another end for a run of which ``n_done`` steps are done, whose learning rates stay.

        The warm-up keeps its length in steps, the decay its share of them: only its start moves.
        """
        moved = dataclasses.replace(self, steps=steps)
        needed = max(n_done, self.n_warmup)
        if min(self.decay_start, moved.decay_start) < needed:
            raise ConfigError(
                f"optimizer.steps={steps} of a run at step {n_done} with a warm-up of {self.n_warmup}: the end can "
                f"move only while the decay lies ahead, and it begins at {self.decay_start} now and at "
                f"{moved.decay_start} then; take more steps, or start a new run with --init-from"
            )
        return dataclasses.replace(moved, warmup=self.n_warmup / steps)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How training runs; none of it changes what is learnt, but for rounding.

    Attributes
    ----------
    accelerator, strategy : str
        As Lightning Fabric names them.
    precision : str
        Of matrix products: float32, or bfloat16 or float16 where autocast allows it; weights and tables are float32.
        ``auto`` becomes bfloat16 where the device has instructions for it when the run begins.
    devices : int
        Processes on this machine. Under torchrun its own number counts.
    n_threads : int or None
        Threads of a process on a CPU; None leaves it to torch.
    compile : bool
        ``torch.compile``.
    log_every, validate_every, checkpoint_every : int
        Steps in between.
    n_validation : int
        Problems of the fixed validation set.
    """

    accelerator: Literal["auto", "cpu", "cuda"] = "auto"
    strategy: Literal["auto", "ddp", "fsdp"] = "auto"
    precision: Precision = "32-true"
    devices: Annotated[int, POSITIVE] = 1
    n_threads: Annotated[int | None, POSITIVE] = None
    compile: bool = False
    log_every: Annotated[int, POSITIVE] = 20
    validate_every: Annotated[int, POSITIVE] = 500
    checkpoint_every: Annotated[int, POSITIVE] = 1000
    n_validation: Annotated[int, POSITIVE] = 2048

    def __post_init__(self) -> None:
        check_bounds(self, ConfigError)


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Everything about a training run."""

    seed: int = 0
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    run: RunConfig = field(default_factory=RunConfig)

    @property
    def first_batch(self) -> int:
        """Position in the stream of the batch of the first step."""
        return -(-self.data.first_index // self.optimizer.batch_size)


def load_config(source: str | Path, assignments: Iterable[str] = ()) -> TrainConfig:
    """Config of a file, or of a name such as ``nano``, changed by assignments such as ``optimizer.steps=100``.

    Examples
    --------
    >>> from flash_ansr.train.config import load_config
    >>> load_config("nano", ["model.encoder.dim=192"]).model.encoder.dim
    192
    """
    return _assigned(_read(config_path(source)), assignments)


def changed_config(config: TrainConfig, assignments: Iterable[str]) -> TrainConfig:
    """A config changed by assignments such as ``optimizer.steps=100``."""
    return _assigned(to_mapping(config), assignments)


def config_path(source: str | Path) -> Path:
    """The file itself, or the one of that name that comes with the package."""
    path = Path(source)
    if path.suffix in {".yaml", ".yml"}:
        return path
    packaged = CONFIG_FOLDER / f"{source}.yaml"
    if not packaged.is_file():
        raise ConfigError(
            f"no config named '{source}'; known: {', '.join(config_names())}, or the path of a .yaml file"
        )
    return packaged


def config_names() -> list[str]:
    """Names of the configs that come with the package."""
    return sorted(path.stem for path in CONFIG_FOLDER.glob("*.yaml"))


def _read(path: Path) -> dict[str, Any]:
    """A file on top of what it extends."""
    try:
        mapping = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no YAML: {error}") from None
    if not isinstance(mapping, dict):
        raise ConfigError(f"{path} must hold keys and values, got {type(mapping).__name__}")
    base = mapping.pop("extends", None if path.resolve() == (CONFIG_FOLDER / "base.yaml").resolve() else "base")
    return mapping if base is None else merged(_read(config_path(base)), mapping)


def _assigned(mapping: dict[str, Any], assignments: Iterable[str]) -> TrainConfig:
    for assignment in assignments:
        _assign(mapping, assignment)
    return from_mapping(TrainConfig, mapping)


def _assign(mapping: dict[str, Any], assignment: str) -> None:
    """Set one dotted key."""
    name, equals, text = assignment.partition("=")
    if not equals or not name:
        raise ConfigError(f"--set needs KEY=VALUE such as optimizer.steps=100, got '{assignment}'")
    *sections, key = name.strip().split(".")
    for section in sections:
        below = mapping.setdefault(section, {})
        if not isinstance(below, dict):
            raise ConfigError(f"'{section}' in '{name}' is a value, not a section")
        mapping = below
    try:
        mapping[key] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {assignment}: the value is no YAML: {error}") from None
