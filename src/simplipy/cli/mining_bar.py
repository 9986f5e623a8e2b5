"""The progress bar of `simplipy mine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import progress
from rich.console import Console

if TYPE_CHECKING:
    from simplipy.mining.discovery import LengthReport


class MiningBar(progress.Progress):
    """A progress bar on stderr: terms of the current length, terms per second, rules."""

    def __init__(self) -> None:
        columns = (
            progress.SpinnerColumn(),
            progress.TextColumn("length {task.fields[length]}"),
            progress.BarColumn(),
            progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f} terms, {task.fields[rate]:,.0f}/s"),
            progress.TextColumn("{task.fields[classes]:,} irreducible, {task.fields[verified]:,} proposals verified"),
            progress.TextColumn("{task.fields[rules]:,} rules"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
        )
        super().__init__(*columns, console=Console(stderr=True), transient=True)
        self._task_of: dict[int, progress.TaskID] = {}

    def show(self, report: LengthReport, n_rules: int, n_verified: int = 0) -> None:
        """Show where a length stands."""
        tested = report.counts["tested"]
        facts: dict[str, Any] = {
            "length": report.length,
            "rate": tested / max(report.seconds_search, 1e-3),
            "classes": report.counts["irreducible"],
            "rules": n_rules,
            "verified": n_verified,
        }
        if report.length not in self._task_of:
            self._task_of[report.length] = self.add_task("", total=report.existing, **facts)
        self.update(self._task_of[report.length], completed=tested, **facts)
