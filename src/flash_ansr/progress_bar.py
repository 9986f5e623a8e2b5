"""The progress bar of long operations: the present step, how many of how many, time gone and time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """A bar that is shown; see ``progress_bar``."""

    def __init__(self, progress: Progress, step: str, total: int, done: int) -> None:
        self._progress = progress
        self._task = progress.add_task(step, total=total, completed=done)

    def advance(self, step: str | None = None) -> None:
        """One more is done; the text names the present step, if that changed."""
        self._progress.update(self._task, advance=1, description=step)

    def reach(self, done: int, step: str | None = None) -> None:
        """So many are done."""
        self._progress.update(self._task, completed=done, description=step)


@contextmanager
def progress_bar(step: str, total: int, done: int = 0, show: bool = True, keep: bool = False) -> Iterator[Bar]:
    """A bar on stderr, where that is a terminal; it disappears at the end, or is kept."""
    from rich import progress as rich_progress
    from rich.console import Console

    columns = (
        rich_progress.TextColumn("{task.description}"),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn("left"),
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    # in a file, a bar would still leave an empty line
    hidden = not show or not console.is_terminal
    with rich_progress.Progress(*columns, console=console, disable=hidden, transient=not keep) as progress:
        yield Bar(progress, step, total, done)
