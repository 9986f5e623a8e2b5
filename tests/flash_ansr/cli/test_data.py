"""The commands of `flash-ansr data`: output, JSON, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import run_flash_ansr


def test_make(tmp_path: Path) -> None:
    out = tmp_path / "new" / "a.npz"
    done = run_flash_ansr(
        "data", "make", "--n", "30", "--seed", "1", "--workers", "2", "--out", str(out), "--rows", "16"
    )
    assert done.returncode == 0
    assert done.stdout.startswith("30 problems, 480 rows")
    assert done.stderr == ""
    with np.load(out) as file:
        assert {"X", "y", "n_rows", "tokens", "vocabulary"} <= set(file.files)
        assert file["X"].shape == (480, 9)


@pytest.mark.parametrize(
    ("expr", "code", "start"), [("2*x1*x2 + 3", 1, "held out by"), ("x1^x2^x3", 0, "not held out")]
)
def test_check(expr: str, code: int, start: str) -> None:
    done = run_flash_ansr("data", "check", expr)
    assert done.returncode == code
    assert done.stdout.startswith(start)


def test_check_as_json() -> None:
    done = run_flash_ansr("data", "check", "-x1*sin(x2)", "--holdout", "x1*sin(x2)", "--holdout", "nguyen", "--json")
    facts = json.loads(done.stdout)
    assert facts["held_out"]
    assert (facts["by"], facts["entry_expression"], facts["match"]) == ("expression", "x1*sin(x2)", "canonical")


def test_show() -> None:
    done = run_flash_ansr("data", "show", "--prior", "paper", "--n", "3", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 3
    assert {"formula", "skeleton", "drawn", "rows", "y"} <= set(rows[0])
    assert "formula" in run_flash_ansr("data", "show", "--n", "1").stdout


def test_stats(tmp_path: Path) -> None:
    figure = tmp_path / "stats.png"
    done = run_flash_ansr("data", "stats", "--prior", "paper", "--n", "200", "--out", str(figure), "--json")
    summary = json.loads(done.stdout)
    assert summary["medians"]["drawn"]["lengths"] >= summary["medians"]["simplified"]["lengths"]
    assert summary["outcomes"]["accepted"] == 200
    assert 0.3 < summary["acceptance"] < 0.7
    assert figure.stat().st_size > 20_000
    text = run_flash_ansr("data", "stats", "--prior", "paper", "--n", "50").stdout
    assert "simplified (L_max 4)" in text
    assert "held out symbolic" in text
    assert run_flash_ansr("data", "stats", "--prior", "wide", "--n", "50").stdout.count("simplified (all rules)") == 1


def test_skeletons(tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    done = run_flash_ansr("data", "skeletons", "--simplifier", "simplipy", "--n", "40", "--out", str(out))
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "--prior", "papr"), "did you mean 'paper'?"),
        (("check", "x1 +"), "error: "),
        (("check", "x1", "--holdout", "fastsbr"), "did you mean 'fastsrb'?"),
        (("make", "--out", "a.csv"), ".npz or .parquet"),
        (("make", "--n", "5", "--out", "/nowhere/a.npz"), "there is no folder /nowhere for a.npz"),
        (("stats", "--n", "10", "--out", "a.gif"), "--out must end in .png, .pdf or .svg, got 'a.gif'"),
    ],
)
def test_mistakes_end_with_a_message(arguments: tuple[str, ...], message: str) -> None:
    done = run_flash_ansr("data", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
