"""docs/reproduce.md says what the committed captions and tables say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flash_ansr.paper.ablations import ABLATIONS
from flash_ansr.paper.registry import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
TRAINED = "ablations"


def minutes_of(name: str) -> float:
    """Minutes of the run whose caption is committed."""
    caption = (ROOT / "results" / "reproduce" / name / "caption.txt").read_text(encoding="utf-8")
    assert f"Command: flash-ansr paper run {name} --scale small --seed 0" in caption
    found = re.search(r"^Minutes: ([\d.]+),", caption, re.MULTILINE)
    assert found is not None
    return float(found[1])


def lines_of(text: str) -> dict[str, list[str]]:
    """Cells of the lines of a Markdown table by the first of them."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {row[0].strip("`"): row for row in rows}


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != TRAINED])
def test_minutes_are_those_of_the_run(name: str) -> None:
    shown = float(lines_of(PAGE.partition("## What came out")[2])[name][-1])
    assert shown == pytest.approx(minutes_of(name), abs=0.051)  # to a tenth


def test_everything_without_training_takes_a_quarter_of_an_hour() -> None:
    assert sum(minutes_of(name) for name in EXPERIMENTS if name != TRAINED) < 15


def test_the_ablations_are_those_of_the_table() -> None:
    measured = lines_of((ROOT / "results" / "ablations" / "table.md").read_text(encoding="utf-8"))
    shown = lines_of(PAGE.partition("## The ablations")[2].partition("## What came out")[0])
    assert {run.title for run in ABLATIONS.values()} == set(measured) - {"run", "---"}
    for run in ABLATIONS.values():
        title, seed, seen, candidates, _, recovery, length, _, distinct, rewrites, bloat, loss, outside = measured[
            run.title
        ]
        assert shown[title] == [title, seed, candidates, recovery, length, distinct, rewrites, bloat, loss, outside]
        assert seen == "128,000"
