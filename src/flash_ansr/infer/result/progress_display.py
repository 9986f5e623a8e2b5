"""The progress of a search on stderr: time, candidates a second, the best law so far.

On a terminal it is one line that changes. Elsewhere it is a log: a line for a better law, and a last one.
"""

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
_SECONDS_A_LINE = 1.0


def fvu_text(fvu: float, digits: int = 2) -> str:
    """A fraction of variance as people read it: below the rounding of doubles its digits say nothing.

    Examples
    --------
    >>> fvu_text(0.0123), fvu_text(4e-28)
    ('1.2e-02', '< 1e-15')
    """
    return "< 1e-15" if fvu < _ROUNDING else f"{fvu:.{digits - 1}e}"


@contextmanager
def search_display(budget: Budget, callback: Callback | None) -> Iterator[Callback]:
    """A line that a search keeps up to date, or a log: a callback that shows progress and asks the given one."""
    console = Console(stderr=True, markup=False, highlight=False)
    is_log = not (console.is_terminal or console.is_jupyter)
    log = _Log(console)
    bar = Progress(
        TimeElapsedColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rate]:>7,.0f} candidates/s  {task.fields[law]}"),
        transient=True,
        console=console,
        disable=is_log,
    )
    task = bar.add_task("search", total=1.0, rate=0.0, law="")

    def show(progress: SearchProgress) -> bool | None:
        parts = [progress.elapsed / budget.time_limit] if budget.time_limit else []
        if budget.n_samples:
            parts.append(progress.n_drawn / budget.n_samples)
        best = progress.best
        law = "" if best is None else f"{best.expression.infix(precision=4)}  FVU {fvu_text(best.fvu)}"
        n_candidates = progress.n_fitted + progress.n_screened
        rate = n_candidates / max(progress.elapsed, 1e-9)
        bar.update(task, completed=min(1.0, max(parts, default=0.0)), rate=rate, law=shortened(law, _LAW_WIDTH))
        if is_log:
            log.show(f"{progress.elapsed:.1f} s  {n_candidates:,} candidates  {law}", law, progress.elapsed)
        return None if callback is None else callback(progress)

    with bar:
        yield show
    if is_log:
        log.end()


class _Log:
    """Lines where no terminal is: a line for a new law, at most one a second, and the last state of the search."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line, self._law, self._next_line = "no candidates", "", 0.0

    def show(self, line: str, law: str, elapsed: float) -> None:
        """Print the line where its law is a new one; keep it for the end."""
        self._line = line
        if law != self._law and elapsed >= self._next_line:
            self._console.print(line, soft_wrap=True)
            self._law, self._next_line = law, elapsed + _SECONDS_A_LINE

    def end(self) -> None:
        """Print the last line."""
        self._console.print(self._line, soft_wrap=True)
