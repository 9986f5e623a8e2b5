"""The progress of a search on the terminal: time, candidates a second, the best law so far."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.search.progress import Callback
from flash_ansr.infer.search.progress import Progress as SearchProgress

_LAW_WIDTH = 60
_ROUNDING = 1e-15


def fvu_text(fvu: float) -> str:
    """A fraction of variance as people read it: below the rounding of doubles its digits say nothing.

    Examples
    --------
    >>> fvu_text(0.0123), fvu_text(4e-28)
    ('1.2e-02', '< 1e-15')
    """
    return "< 1e-15" if fvu < _ROUNDING else f"{fvu:.1e}"


class SearchDisplay:
    """A line that a search keeps up to date while it runs."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._bar = Progress(
            TimeElapsedColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rate]:>7,.0f} candidates/s  {task.fields[law]}"),
            transient=True,
            console=Console(stderr=True, markup=False, highlight=False),
        )
        self._task = self._bar.add_task("search", total=1.0, rate=0.0, law="")

    def __enter__(self) -> SearchDisplay:
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def following(self, callback: Callback | None) -> Callback:
        """A callback that shows progress and then asks the given one."""

        def show(progress: SearchProgress) -> bool | None:
            parts = [progress.elapsed / self._budget.time_limit] if self._budget.time_limit else []
            if self._budget.n_samples:
                parts.append(progress.n_drawn / self._budget.n_samples)
            best = progress.best
            law = "" if best is None else f"{best.expression.infix(precision=4)}  FVU {fvu_text(best.fvu)}"
            self._bar.update(
                self._task,
                completed=min(1.0, max(parts, default=0.0)),
                rate=(progress.n_fitted + progress.n_screened) / max(progress.elapsed, 1e-9),
                law=law if len(law) <= _LAW_WIDTH else law[: _LAW_WIDTH - 1] + "…",
            )
            return None if callback is None else callback(progress)

        return show
