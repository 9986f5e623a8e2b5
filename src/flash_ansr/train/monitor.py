"""Reports of a run while it runs: progress bar, metrics file, TensorBoard. Never changes the run."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass

from flash_ansr.progress_bar import progress_bar
from flash_ansr.train.config import TrainConfig
from flash_ansr.train.run_folder import RunFolder


@dataclass(slots=True)
class Totals:
    """Counts of the problems that a run has seen so far, over all processes; stored in checkpoints.

    Attributes
    ----------
    step, samples, tokens, rows : int
        Steps, problems, target tokens, rows of tables.
    seconds : float
        Time spent training.
    skipped : int
        Steps that changed nothing, as their gradient was not finite.
    """

    step: int = 0
    samples: int = 0
    tokens: int = 0
    rows: int = 0
    seconds: float = 0.0
    skipped: int = 0

    def advance(self, n_samples: int, n_tokens: int, n_rows: int, *, finite: bool = True) -> None:
        """Count one step."""
        self.step += 1
        self.samples += n_samples
        self.tokens += n_tokens
        self.rows += n_rows
        self.skipped += not finite


class Monitor:
    """Reports on the first process; on the others it keeps the time only.

    Parameters
    ----------
    folder : RunFolder
    config : TrainConfig
    totals : Totals
        Read, but for its seconds, which are kept here.
    enabled : bool
        False: say nothing.

    Attributes
    ----------
    data_seconds : float
        Time of the CPU that went into making problems so far; set by the loop.
    """

    def __init__(self, folder: RunFolder, config: TrainConfig, totals: Totals, enabled: bool) -> None:
        self.folder, self.config, self.totals, self.enabled = folder, config, totals, enabled
        self.data_seconds = 0.0
        self.validation_loss: float | None = None
        self._last_time, self._last_samples, self._last_data = time.monotonic(), totals.samples, 0.0
        self._step_seconds = 0.0  # since the last logged step, without validations
        self._open = ExitStack()

    def __enter__(self) -> Monitor:
        name, n_steps = self.folder.path.name, self.config.optimizer.steps
        bar = progress_bar(name, n_steps, self.totals.step, show=self.enabled, keep=True)
        self._bar = self._open.enter_context(bar)
        if self.enabled:
            from torch.utils.tensorboard import SummaryWriter

            writer = SummaryWriter(str(self.folder.path / "tensorboard"), purge_step=self.totals.step + 1)
            self._writer = self._open.enter_context(writer)
        self._last_time = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._tick()
        self._open.close()

    def stepped(self, loss: float, gradient_norm: float, learning_rate: float) -> None:
        """Log a step."""
        self.pause()
        elapsed = max(self._step_seconds, 1e-9)
        speed = (self.totals.samples - self._last_samples) / elapsed
        data_share = (self.data_seconds - self._last_data) / elapsed
        self._last_samples, self._last_data, self._step_seconds = self.totals.samples, self.data_seconds, 0.0
        self._write(
            {
                "loss": loss,
                "gradient_norm": gradient_norm,
                "learning_rate": learning_rate,
                "samples_per_second": round(speed, 1),
                "data_share": round(data_share, 4),
            }
        )
        status = [self.folder.path.name, f"loss {loss:.3f}", f"{speed:.0f} samples/s"]
        if self.validation_loss is not None:
            status.insert(2, f"validation {self.validation_loss:.3f}")
        if self.totals.skipped:
            status.append(f"{self.totals.skipped} steps skipped")
        self._bar.reach(self.totals.step, "  ".join(status))

    def pause(self) -> None:
        """The time since the last call went into steps; until ``validated`` it does not."""
        self._step_seconds += self._tick()

    def validated(self, loss: float) -> None:
        """Log a validation."""
        self._tick()
        self.validation_loss = loss
        self._write({"validation_loss": loss})

    def _tick(self) -> float:
        """Add the time since the last call to the totals, and return it."""
        now = time.monotonic()
        elapsed, self._last_time = now - self._last_time, now
        self.totals.seconds += elapsed
        return elapsed

    def _write(self, values: dict[str, float]) -> None:
        if not self.enabled:
            return
        totals = self.totals
        seen = {"samples": totals.samples, "tokens": totals.tokens, "rows": totals.rows, "skipped": totals.skipped}
        self.folder.append({"step": totals.step, **seen, "seconds": round(totals.seconds, 2), **values})
        for name, value in values.items():
            self._writer.add_scalar(name, value, totals.step)
