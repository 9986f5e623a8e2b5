"""Rows that survive a stop, captions, names, and the command line of the paper's experiments."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

import flash_ansr.cli.paper
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.rows import Task, read_rows
from flash_ansr.checkpoint.folder import CheckpointError, weights_hash
from flash_ansr.paper import context as context_module
from flash_ansr.paper import registry
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.experiment import Exhibit, Experiment, MissingError, PaperError, Scale, markdown
from flash_ansr.paper.registry import EXPERIMENTS
from flash_ansr.paper.run import run_experiment
from tests.command_line import run_flash_ansr

NAMES = """simplifier_ecdf data_statistics recovery_time length_time scaling_law points noise ablations decoding refiner
inference_simplifier gaussian_map training_curves token_embeddings per_expression gallery_1d gallery_2d oscillator
memory rule_table hyperparameters vocabulary excluded_equations throughput_claim settings decontamination
data_hyperparameters""".split()


def empty_exhibit(context: Context) -> Exhibit:
    rows = context.each({"a": "a", "b": "b"}, lambda key: {"length": len(key)}, "keys")
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    return Exhibit({"probe": figure}, [f"{len(rows)} rows"], "| a |", ["a note"])


PROBE = Experiment("probe", "Figure 0", "It works.", empty_exhibit, "two rows", "more", 0.1)


def probe_of(folder: Path) -> Context:
    return Context(folder, folder / "rows", Scale.TINY)


def test_rows_of_other_code_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(code: str) -> Facts:
        monkeypatch.setattr(context_module, "code_hash", lambda: code)
        return probe_of(tmp_path).each({"a": 0}, lambda _: {"by": code}, "keys")[0]

    assert facts("1") == {"by": "1"}
    assert facts("2") == {"by": "2"}
    assert facts("1") == {"by": "1"}
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2


def test_every_name_of_the_paper_is_there() -> None:
    assert set(NAMES) <= set(EXPERIMENTS)
    assert all(e.claim.endswith(".") and e.where and e.small and e.full for e in EXPERIMENTS.values())


def test_small_is_planned_for_a_quarter_of_an_hour() -> None:
    assert sum(e.minutes for e in EXPERIMENTS.values() if "runs" not in e.needs) < 15


def test_every_name_has_a_row_on_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reproduce.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page.partition("## What came out")[2], re.MULTILINE)
    assert listed == list(EXPERIMENTS)


def test_rows_are_made_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def work(key: str) -> Facts:
        asked.append(key)
        if key == "c" and len(asked) == 3:
            raise KeyboardInterrupt
        return {"key_length": len(key), "bad": float("nan")}

    context = probe_of(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        context.each({"a": "a", "bb": "bb", "c": "c"}, work, "keys")
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"key": "cut of')
    rows = context.each({"c": "c", "bb": "bb", "a": "a"}, work, "keys")
    assert asked == ["a", "bb", "c", "c"]
    assert [row["key_length"] for row in rows] == [1, 2, 1]
    assert rows[0]["bad"] is None


def test_another_seed_has_rows_of_its_own(tmp_path: Path) -> None:
    seeds = [
        replace(probe_of(tmp_path), seed=seed).each({"a": 0}, lambda _, s=seed: {"seed": s}, "") for seed in (0, 1, 0)
    ]
    assert [rows[0]["seed"] for rows in seeds] == [0, 1, 0]


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"no": "key"}\n')
    with pytest.raises(PaperError, match="line 1 is no row of this experiment"):
        probe_of(tmp_path).each({"a": 0}, lambda _: {}, "")


def test_benchmark_tasks_are_shared_and_relabelled(tmp_path: Path) -> None:
    plan = Plan("nguyen", system="power_law", label="first", limit=2, points=[20])
    (first,) = probe_of(tmp_path / "a").bench([plan])
    second_context = Context(tmp_path / "b", tmp_path / "a" / "rows", Scale.TINY)
    (second,) = second_context.bench([replace(plan, label="second"), Plan("nguyen", system="pysr", limit=1)])
    assert (first.label, second.label) == ("first", "second")
    assert [row.started for row in first.rows] == [row.started for row in second.rows]
    assert len(list(read_rows([tmp_path / "a" / "rows"]))) == 2
    assert len(list(read_rows([tmp_path / "b" / "rows.jsonl"]))) == 2
    assert any("pysr is left out" in note for note in second_context.notes)


def test_another_seed_has_data_sets_of_its_own(tmp_path: Path) -> None:
    plan = Plan("nguyen", system="power_law", limit=1, points=[20], datasets=2)
    numbers = []
    for seed in (0, 1):
        (group,) = replace(probe_of(tmp_path), seed=seed).bench([plan])
        numbers.append([row.task.dataset for row in group.rows])
    assert numbers == [[0, 1], [2, 3]]


def asked_tasks(context: Context, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Task], Path]:
    """Tasks of a plan, and the file of their rows; none is run."""
    seen: list[tuple[list[Task], Path]] = []

    def fake(tasks: Iterable[Task], path: Path, **_: object) -> SimpleNamespace:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        seen.append((list(tasks), path))
        return SimpleNamespace(interrupted=False)

    with monkeypatch.context() as patched:
        patched.setattr(context_module, "run_tasks", fake)
        assert context.bench([plan]) == []
    return seen[0]


def checkpoint_with(folder: Path, weights: bytes) -> Path:
    """A folder that passes for a checkpoint."""
    folder.mkdir(exist_ok=True)
    (folder / "checkpoint.json").write_text('{"format": 1}')
    (folder / "weights.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}" + weights)
    return folder


def test_rows_belong_to_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "network"
    context = replace(probe_of(tmp_path / "out"), checkpoint=checkpoint_with(folder, b"one"))
    plan = Plan("nguyen", system="ours", limit=1)
    (task,), path = asked_tasks(context, plan, monkeypatch)
    assert task.settings == {"checkpoint": str(folder)}  # the search without a pipeline of its own uses it too
    assert asked_tasks(context, plan, monkeypatch)[1] == path
    checkpoint_with(folder, b"two")
    assert asked_tasks(context, plan, monkeypatch)[1] != path
    named = replace(plan, settings={"checkpoint": str(checkpoint_with(tmp_path / "b0", b"three"))})
    (task,), other = asked_tasks(context, named, monkeypatch)
    assert task.settings == named.settings
    assert other.name.endswith(f"-{weights_hash(tmp_path / 'b0')}.jsonl")
    floor = replace(plan, settings={"proposers": ["prior"]})
    (task,), without = asked_tasks(context, floor, monkeypatch)
    assert task.settings == floor.settings
    assert without.name == "nguyen-ours.jsonl"


def test_a_missing_network_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "why_not_neural", lambda: "torch is not installed")
    with pytest.raises(MissingError, match="a network is needed, but torch is not installed"):
        probe_of(tmp_path).network()
    monkeypatch.setattr(context_module, "why_not_neural", lambda: None)
    with pytest.raises(CheckpointError, match=r"is no checkpoint: it has no checkpoint\.json"):
        replace(probe_of(tmp_path), checkpoint=tmp_path).network()


def test_torch_is_imported_by_none_of_the_lists() -> None:
    code = "import sys, flash_ansr.paper.registry; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_needs_torch_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for name in ("hyperparameters", "architecture", "training_curves", "ablations"):
        assert {"network", "runs"} & set(EXPERIMENTS[name].needs)
        with pytest.raises(MissingError, match=rf"{name} needs torch: pip install 'flash-ansr\[neural\]'"):
            run_experiment(EXPERIMENTS[name], tmp_path, Scale.TINY)


def test_what_a_run_writes(tmp_path: Path) -> None:
    written = run_experiment(PROBE, tmp_path, Scale.SMALL, seed=3)
    folder = tmp_path / "probe"
    assert [path.name for path in written] == ["rows.jsonl", "probe.png", "table.md", "caption.txt"]
    assert (folder / "probe.png").read_bytes()[:4] == b"\x89PNG"
    caption = (folder / "caption.txt").read_text()
    for part in (
        "It works.",
        "- 2 rows",
        "two rows",
        "- a note",
        "--scale small --seed 3",
        "Seed: 3",
        "Minutes: 0.0",
        "numpy",
    ):
        assert part in caption
    before = json.loads((folder / "summary.json").read_text())["minutes"]
    run_experiment(PROBE, tmp_path, Scale.SMALL, seed=3)
    assert json.loads((folder / "summary.json").read_text())["minutes"] > before
    assert run_experiment(PROBE, tmp_path, Scale.FULL)[0].parent.name == "probe-full"
    assert not list(tmp_path.rglob("*.part"))


def test_a_table_in_markdown() -> None:
    assert markdown([{"a": 1, "b": "x|y"}, {"a": 2, "b": ""}]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 | x\\|y |",
        "| 2 |  |",
    ]


def test_a_run_that_fails_leaves_an_earlier_summary(tmp_path: Path) -> None:
    def failing(_: Context) -> Exhibit:
        raise ValueError("no")

    run_experiment(PROBE, tmp_path)
    before = json.loads((tmp_path / "probe" / "summary.json").read_text())
    with pytest.raises(ValueError, match="no"):
        run_experiment(replace(PROBE, make=failing), tmp_path)
    after = json.loads((tmp_path / "probe" / "summary.json").read_text())
    assert after.pop("minutes") > before.pop("minutes")
    assert after == before


def test_list() -> None:
    flash_ansr.cli.paper.console().width = 120
    done = run_flash_ansr("paper", "list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in NAMES)
    one = run_flash_ansr("paper", "list", "noise")
    assert "noise of 0, 0.1, 1 and 10 %" in one.stdout


def test_mistakes_are_one_line() -> None:
    assert run_flash_ansr("paper", "run", "nois").stderr == (
        "error: the paper has no experiment 'nois'; did you mean 'noise'?\n"
    )
    assert (
        "'large' is not one of 'tiny', 'small', 'full'"
        in run_flash_ansr("paper", "run", "noise", "--scale", "large").stderr
    )
    assert "no ablation 'b9'; there are: b0, b0_seed1, b0_seed2, b1" in run_flash_ansr("paper", "train", "b9").stderr
    assert "did you mean 'nesymres'?" in run_flash_ansr("paper", "train", "nesymre").stderr


def test_all_leaves_out_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(_: Context) -> Exhibit:
        raise MissingError("weights are missing")

    def stopped(_: Context) -> Exhibit:
        raise KeyboardInterrupt

    chosen = {"lacking": replace(PROBE, name="lacking", make=lacking), "probe": PROBE}
    monkeypatch.setattr(registry, "EXPERIMENTS", chosen)
    done = run_flash_ansr("paper", "run", "all", "--out", str(tmp_path))
    assert done.returncode == 0
    assert "probe: Figure 0" in done.stdout
    assert done.stderr == "left out lacking: weights are missing\n"
    alone = run_flash_ansr("paper", "run", "lacking", "--out", str(tmp_path))
    assert (alone.returncode, alone.stderr) == (2, "error: weights are missing\n")
    chosen["probe"] = replace(PROBE, make=stopped)
    halted = run_flash_ansr("paper", "run", "probe", "--out", str(tmp_path))
    assert halted.returncode == 130
    assert "the same command goes on from here" in halted.stdout


def test_all_goes_on_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(context: Context) -> Exhibit:
        raise PaperError("too few rows for a curve")

    broken = replace(EXPERIMENTS["memory"], make=breaks)
    monkeypatch.setattr(
        "flash_ansr.paper.registry.EXPERIMENTS", {"memory": broken, "settings": EXPERIMENTS["settings"]}
    )
    done = run_flash_ansr("paper", "run", "all", "--scale", "tiny", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "failed memory: too few rows for a curve" in done.stderr
    assert (tmp_path / "settings-tiny" / "caption.txt").exists()
