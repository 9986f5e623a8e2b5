"""docs/reproduce.md says what the committed captions and tables say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from flash_ansr.paper.ablations.networks import ABLATIONS
from flash_ansr.paper.registry import EXPERIMENTS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
TRAINED = "ablations"
# files whose numbers the page may quote
QUOTED = ("caption.txt", "table.md", "summary.md", "metrics.md", "gaussian_map.txt")
NUMBER = re.compile(r"(?<![\w.,^/])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w^])")
# a small whole number counts things in the sentence itself, or names a size of the paper
SMALL = 12


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
        title, seed, seen, candidates, _, *values = measured[run.title]
        assert shown[title] == [title, seed, candidates, *values]
        assert seen == "128,000"


def numbers_of(text: str) -> list[tuple[float, int]]:
    """Numbers of a text, each with its decimals."""
    found = (match[0].replace(",", "") for match in NUMBER.finditer(text))
    return [(float(t), len(t.partition(".")[2])) for t in found]


def sources_of(name: str, cell: str) -> str:
    """What a row may quote: the caption and table of its name, and the reports of the folders that it names."""
    folders = [ROOT / "results" / "reproduce" / name, *(ROOT / part for part in re.findall(r"`(results/\w+)`", cell))]
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.name in QUOTED]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != TRAINED])
def test_numbers_are_those_of_the_run(name: str) -> None:
    cell = lines_of(PAGE.partition("## What came out")[2])[name][2]
    known = np.array([value for value, _ in numbers_of(sources_of(name, cell))])
    stray = [
        value
        for value, decimals in numbers_of(re.sub(r"`[^`]*`", "", cell))
        if not (decimals == 0 and value <= SMALL) and not np.any(np.abs(known - value) <= 0.5001 * 10.0**-decimals)
    ]
    assert stray == []
