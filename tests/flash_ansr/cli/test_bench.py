"""`flash-ansr bench`: what it prints, exit codes, no traceback for a user's mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from flash_ansr.bench.report import figures
from tests.command_line import Done, run_flash_ansr


def run(*arguments: str) -> Done:
    return run_flash_ansr("bench", *arguments)


def test_list() -> None:
    done = run("list")
    assert done.returncode == 0
    assert "fastsrb    120       115" in done.stdout
    assert "systems: ours, linear, stepwise, power_law, operon" in done.stdout


def test_list_problems() -> None:
    done = run("list", "fastsrb")
    assert "1/(1/d1 + n/d2)" in done.stdout
    assert "(excluded: sqrt of a negative number at 50 % of the rows)" in " ".join(done.stdout.split())
    assert len(done.stdout.splitlines()) >= 122


def test_show(tmp_path: Path) -> None:
    plot = tmp_path / "deep" / "law.png"
    done = run("show", "fastsrb", "I.27.6", "--plot", str(plot))
    assert done.returncode == 0
    for text in ("1/(1/d1 + n/d2)", "easy", "d1: log(0.001, 0.1)", "256 rows, digest f42878ec6c42920b"):
        assert text in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert run("show", "nguyen", "NGUYEN-3").stdout.startswith("Nguyen-3: ")


def test_run_resume_and_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(figures.STYLE, "figure.dpi", 30)
    out = str(tmp_path / "results")
    options = ("--system", "power_law", "--budget", "1", "--out", out)
    first = run("run", "nguyen", "--limit", "4", *options)
    assert first.returncode == 0
    assert "4 rows added, 0 were there, 0 failures" in " ".join(first.stdout.split())
    more = run(
        "run", "nguyen", "--system", "power_law", "--budget", "1", "--out", out, "--points", "256", "--points", "8"
    )
    assert "20 rows added, 4 were there" in " ".join(more.stdout.split())
    assert [path.name for path in Path(out).iterdir()] == ["nguyen-power_law.jsonl"]
    report = run("report", out, "--out", str(tmp_path / "report"))
    assert report.returncode == 0
    assert "power_law" in report.stdout
    assert (tmp_path / "report" / "nguyen-points.png").exists()
    assert run("report", out, "--format", "latex").stdout.startswith("\\begin{tabular}")


def test_settings_and_sweeps(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(
        "catalogue: nguyen\nlimit: 2\nruns:\n  - {system: linear}\n  - {system: power_law, points: [8, 16]}\n"
    )
    done = run("run", "--sweep", str(sweep), "--out", str(tmp_path), "--quiet")
    assert done.returncode == 0
    assert sorted(p.name for p in tmp_path.glob("*.jsonl")) == ["nguyen-linear.jsonl", "nguyen-power_law.jsonl"]
    refused = run("run", "nguyen", "--system", "linear", "--set", "depth=3", "--out", str(tmp_path / "b"))
    assert refused.returncode == 2
    assert "does not take these settings" in refused.stderr


def test_failures_tell_their_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no memory left")

    monkeypatch.setattr("flash_ansr.bench.systems.baselines.LinearBaseline.fit", fail)
    done = run("run", "nguyen", "--system", "linear", "--limit", "2", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "2 rows added, 0 were there, 2 failures" in done.stdout
    assert done.stderr == "first failure: RuntimeError: no memory left\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nguyen", "--set", "foo=1"), "the system 'ours' has no setting 'foo'; known are:"),
        (("list", "fastsrbb"), "'fastsrbb' is neither a catalogue"),
        (("show", "fastsrb", "I.27.66"), "did you mean 'I.27.6'?"),
        (("run", "nguyen", "--system", "operron"), "no system 'operron'; there are: ours"),
        (("run", "nguyen", "--system", "linear", "--budget", "-1"), "budget must be seconds > 0, or null, got -1.0"),
        (("run", "nguyen", "--system", "linear", "--points", "0"), "points must be whole numbers >= 1, got 0"),
        (("run", "nguyen", "--set", "pipeline"), "--set must be NAME=VALUE, as in pipeline=paper, got 'pipeline'"),
        (("run",), "name a catalogue, or a file by --sweep, and not both"),
        (("run", "nguyen", "--sweep", "x.yaml"), "name a catalogue, or a file by --sweep, and not both"),
        (("report", "nowhere"), "cannot read rows from nowhere"),
        (("report", "nowhere", "--format", "html"), "'html' is not one of 'text', 'markdown', 'latex'"),
        (("show", "nguyen", "foo"), "the catalogue nguyen has no problem 'foo'; it has Nguyen-1, Nguyen-2"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
