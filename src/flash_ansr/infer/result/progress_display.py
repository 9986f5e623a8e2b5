"""The progress of a search on the terminal: time, candidates a second, the best law so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from flash_ansr.infer.result.law import shortened
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


@contextmanager
def search_display(budget: Budget, callback: Callback | None) -> Iterator[Callback]:
    """A line that a search keeps up to date while it runs: a callback that shows progress and asks the given one."""
    bar = Progress(
        TimeElapsedColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rate]:>7,.0f} candidates/s  {task.fields[law]}"),
        transient=True,
        console=Console(stderr=True, markup=False, highlight=False),
    )
    task = bar.add_task("search", total=1.0, rate=0.0, law="")

    def show(progress: SearchProgress) -> bool | None:
        parts = [progress.elapsed / budget.time_limit] if budget.time_limit else []
        if budget.n_samples:
            parts.append(progress.n_drawn / budget.n_samples)
        best = progress.best
        law = "" if best is None else f"{best.expression.infix(precision=4)}  FVU {fvu_text(best.fvu)}"
        rate = (progress.n_fitted + progress.n_screened) / max(progress.elapsed, 1e-9)
        bar.update(task, completed=min(1.0, max(parts, default=0.0)), rate=rate, law=shortened(law, _LAW_WIDTH))
        return None if callback is None else callback(progress)

    with bar:
        yield show
