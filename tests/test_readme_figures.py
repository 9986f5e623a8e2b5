"""Figures of the search in README.md are those of the committed rows."""

from __future__ import annotations

import re
from pathlib import Path

from tests.command_line import run_flash_ansr

ROOT = Path(__file__).parents[1]
COLUMNS = ("vNRR", "xNRR", "symbolic recovery", "length ratio, recovered, both simplified")


def cells(line: str) -> list[str]:
    """Cells of a row of a Markdown table, without bold marks."""
    return [cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")]


def test_the_headline_is_what_the_rows_say() -> None:
    done = run_flash_ansr("bench", "report", str(ROOT / "results" / "time"), "--format", "markdown")
    head, _, *rows = [cells(line) for line in done.stdout.splitlines() if line.startswith("|")]
    places = [next(i for i, name in enumerate(head) if name.startswith(column)) for column in COLUMNS]
    reported = {f"{row[0]}, {row[1]}".lower(): [row[i].split(" ")[0] for i in places] for row in rows if row[3] == "0"}
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = [cells(line) for line in page.splitlines() if line.startswith("| ")]
    shown = {
        row[0].lower(): [cell.removesuffix(" %") for cell in row[1:]]
        for row in table
        if re.fullmatch(r".+, [\d.]+ s", row[0])
    }
    assert {"ours, 1 s", "ours, 5 s", "ours, 30 s", "operon, 1 s", "operon, 5 s"} <= set(shown)
    assert shown == {name: reported[name] for name in shown}
