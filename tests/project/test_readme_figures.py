"""Figures in README.md and docs/results.md are those of the committed tables, and the tables are those of the rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_flash_ansr

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = README + (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
# headers of the README and of the report
COLUMNS = {
    "correct on new data": "vNRR",
    "correct outside the range": "xNRR",
    "same formula": "symbolic recovery",
    "length": "length ratio, recovered, both simplified",
}
UNITS = {"us": 1.0, "ms": 1e3, "MB": 1.0, "%": 0.01, "s": 1.0, "": 1.0}


def cells(line: str) -> list[str]:
    """Cells of a row of a Markdown table, without bold marks."""
    return [cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")]


TABLES = {row[0]: row[1:] for row in map(cells, PAGE.splitlines()) if len(row) > 1}


def agrees(shown: str, value: float) -> bool:
    """Whether a number as shown, with a unit, is ``value`` rounded to the digits that it shows."""
    digits, unit = re.fullmatch(r"([\d.,]+) ?(\D*)", shown).groups()  # type: ignore[union-attr]
    plain = digits.replace(",", "")
    zeros = len(plain) - len(plain.rstrip("0")) if "." not in plain and plain != "0" else 0
    decimals = len(plain.partition(".")[2]) - zeros
    return abs(float(plain) - value / UNITS[unit]) <= 0.5 * 10.0**-decimals * (1 + 1e-9)


def facts(*path: str) -> dict[str, Any]:
    """A committed file of results."""
    return json.loads(RESULTS.joinpath(*path).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("shown", "value", "right"),
    [
        ("11.2 us", 11.186, True),
        ("11.2 us", 11.31, False),
        ("10,900", 10899.2, True),
        ("10,900", 10779.2, False),
        ("2.4 ms", 2387.1, True),
        ("0 %", 0.0, True),
        ("0 %", 0.02, False),
        ("35 %", 0.3467, True),
    ],
)
def test_numbers_are_compared_by_their_digits(shown: str, value: float, right: bool) -> None:
    assert agrees(shown, value) == right


def report(sweep: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the committed table of a sweep."""
    text = (RESULTS / sweep / "report" / "summary.md").read_text(encoding="utf-8")
    head, _, *rows = map(cells, text.splitlines())
    return head, rows


@pytest.mark.parametrize(
    "sweep",
    [
        "noise_5s",
        "decoding",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("time", "noise", "points", "refiner")),
    ],
)
def test_tables_are_what_the_rows_say(sweep: str) -> None:
    done = run_flash_ansr("bench", "report", str(RESULTS / sweep), "--format", "markdown")
    head, _, *rows = [cells(line) for line in done.stdout.splitlines() if line.startswith("|")]
    assert (head, rows) == report(sweep)


@pytest.mark.parametrize(
    ("sweep", "title", "column"),
    [
        ("noise", "vNRR in 2 s, noise on 512 targets", "noise"),
        ("points", "vNRR in 2 s, 40 of the laws, points", "points"),
    ],
)
def test_tables_over_noise_and_points_are_the_committed_ones(sweep: str, title: str, column: str) -> None:
    head, rows = report(sweep)
    axis, recovery = head.index(column), next(i for i, name in enumerate(head) if name.startswith("vNRR"))
    reported = {(row[0], float(row[axis])): row[recovery].split(" ")[0] for row in rows}
    lines = PAGE[PAGE.index(title) :].splitlines()
    places = [float(cell.removesuffix(" %")) / (100 if " %" in cell else 1) for cell in cells(lines[0])[1:]]
    for line, system in zip(lines[2:4], ("ours", "operon"), strict=True):
        name, *shown = cells(line)
        assert name.lower() == system
        assert [cell.removesuffix(" %") for cell in shown] == [reported[system, place] for place in places]


def test_the_table_of_proposers_is_the_committed_one() -> None:
    head, rows = report("proposers")
    recovery = next(i for i, name in enumerate(head) if name.startswith("vNRR"))
    reported = {(row[0], row[1], row[3]): row[recovery].split(" ")[0] for row in rows}
    guide = (ROOT / "docs/inference.md").read_text(encoding="utf-8")
    lines = guide[guide.index("| | 1 s | 5 s |") :].split("\n\n")[0].splitlines()[2:]
    shown = {name.replace("`", ""): row for name, *row in map(cells, lines)}
    assert set(shown) == {label for label, _, _ in reported}
    for label, row in shown.items():
        places = [(label, seconds, noise) for noise in ("0", "0.01") for seconds in ("1 s", "5 s")]
        assert row == [reported[place] for place in places]


def test_the_headline_is_the_committed_one() -> None:
    head, rows = report("time")
    places = [next(i for i, name in enumerate(head) if name.startswith(column)) for column in COLUMNS.values()]
    reported = {f"{row[0]}, {row[1]}".lower(): [row[i].split(" ")[0] for i in places] for row in rows if row[3] == "0"}
    assert TABLES["time limit"] == list(COLUMNS)
    shown = {
        name.lower(): [cell.removesuffix(" %") for cell in row]
        for name, row in TABLES.items()
        if re.fullmatch(r".+, [\d.]+ s", name)
    }
    assert {f"{system}, {seconds} s" for system in ("ours", "operon") for seconds in (1, 5, 30)} <= set(shown)
    assert shown == {name: reported[name] for name in shown}


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ('ours, `domain="extend"`', "ours_extend_L7"),
        ('ours, `domain="preserve"`', "ours_preserve_L7"),
        ("SymEngine, building the expression only", "symengine"),
        (
            'the paper\'s algorithm in Python (`Engine(method="paper")`, L_max 4, our stand-in for its rules)',
            "paper_L4",
        ),
        ("SymPy `simplify`", "sympy"),
        ("SymPy `simplify(ratio=1)`", "sympy_ratio1"),
    ],
)
def test_the_table_of_simplifiers_is_that_of_the_benchmark(name: str, engine: str) -> None:
    measured = facts("simplify", "summary.json")["engines"][engine]
    keys = ("median_us", "times_faster_than_sympy_median", "mean_length_ratio", "share_longer")
    values = [*(measured[key] for key in keys), measured["megabytes_over_interpreter"]]
    assert [agrees(shown, value) for shown, value in zip(TABLES[name], values, strict=True)] == [True] * 5


def test_the_table_of_evaluation_is_that_of_the_benchmark() -> None:
    measured = facts("evaluate", "summary.json")
    speed = TABLES["evaluation, times as fast as `sympy.lambdify` (geometric mean)"][0]
    assert agrees(speed, measured["lambdify_over_ours"])
    mean, largest = TABLES["derivatives by all constants, cost in evaluations (mean; largest)"][0].split("; ")
    assert agrees(mean, measured["gradient_over_evaluation"])
    assert agrees(largest, measured["gradient_over_evaluation_largest"])
    beyond = TABLES["100,000 rows x 50 columns, memory beyond the result"][0]
    assert agrees(beyond, measured["megabytes_beyond_result"])
    assert agrees(TABLES["parsing 10,000 formulas"][0], measured["seconds_to_parse_10000"])


def test_figures_in_sentences_are_those_of_the_files() -> None:
    text = " ".join(PAGE.split())
    batch = facts("simplify", "summary.json")["engines"]["ours_extend_L7"]["batch_us"]
    one, two = re.search(r"`simplify_many` takes (\S+ us) each on one thread and (\S+ us) on two", text).groups()  # type: ignore[union-attr]
    assert agrees(one, batch["1"])
    assert agrees(two, batch["2"])
    mined = json.loads((ROOT / "src/simplipy/data/mined_rules.provenance.json").read_text(encoding="utf-8"))
    bundled = (ROOT / "src/simplipy/data/rules.txt").read_text(encoding="utf-8").splitlines()
    n_rules, spent = re.search(r"The (\d+) rules behind our simplifier were mined in (\d+ s)", text).groups()  # type: ignore[union-attr]
    assert int(n_rules) == sum(" -> " in line for line in bundled if not line.startswith("#"))
    assert agrees(spent, sum(row["seconds_search"] + row["seconds_verify"] for row in mined["lengths"]))
    seven = facts("rules", "length7.provenance.json")["lengths"][-1]
    millions, search = re.search(r"all (\d+) million patterns of seven tokens were searched in (\d+ s)", text).groups()  # type: ignore[union-attr]
    assert agrees(millions, seven["existing"] / 1e6)
    assert agrees(search, seven["seconds_search"])
    fewer = re.search(r"alone it needs (\d+) times fewer candidates", text).group(1)  # type: ignore[union-attr]
    table = [cells(line) for line in (RESULTS / "neural/summary.md").read_text(encoding="utf-8").splitlines()]
    assert [fewer] == [row[-1] for row in table if row[0] == "wide"]
