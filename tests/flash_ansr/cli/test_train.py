"""The commands train and models: output, files, exit codes."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
import torch

from flash_ansr import cli
from flash_ansr.checkpoint.weights import Checkpoint, load_network, load_tensors, read_checkpoint, save_checkpoint
from flash_ansr.model import Network
from flash_ansr.train.run_folder import RunFolder
from simplipy.cli.terminal import console
from tests.networks import SMALL


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `flash-ansr` with these arguments, on a screen of 120 columns."""
    out, err = io.StringIO(), io.StringIO()
    console().width = 120
    argv = mock.patch.object(sys, "argv", ["flash-ansr", *arguments])
    with argv, redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        cli.main()
    code = end.value.code
    return code if isinstance(code, int) else 0, out.getvalue(), err.getvalue()


def test_a_misspelt_key_is_one_line() -> None:
    code, out, err = run("train", "nano", "--set", "optimizer.step=3")
    assert (code, out) == (2, "")
    assert err == "error: unknown key 'optimizer.step'; did you mean 'optimizer.steps'?\n"


def test_missing_things_are_named(tmp_path: Path) -> None:
    assert run("train", "nanoo")[0] == 2
    assert (
        run("train", str(tmp_path / "none.yaml"))[2] == f"error: {tmp_path / 'none.yaml'}: No such file or directory\n"
    )
    assert "is no training run" in run("train", "nano", "--out", str(tmp_path), "--resume")[2]
    assert "is no training run" in run("train", "report", str(tmp_path))[2]
    assert "is no checkpoint" in run("models", "info", str(tmp_path))[2]
    assert "there is no checkpoint" in run("train", "nano", "--out", str(tmp_path / "a"), "--init-from", "nodir")[2]
    assert not (tmp_path / "a").exists()


def test_what_the_machine_lacks_is_told_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    out = tmp_path / "run"
    code, _, err = run("train", "nano", "--out", str(out), "--set", "run.accelerator=cuda", "--set", "run.devices=1")
    assert code == 2
    assert err.startswith("error: run.accelerator=cuda with run.devices=1, but torch sees 0 CUDA devices here")
    assert "batch_size must be a multiple" in run("train", "nano", "--out", str(out), "--set", "run.devices=3")[2]
    assert not out.exists()


def test_training_ends_with_the_next_command(tmp_path: Path) -> None:
    small = ["model.encoder.dim=16", "model.decoder.dim=16", "run.devices=1", "run.n_validation=16"]
    quick = [*small, "optimizer.steps=2", "optimizer.batch_size=4"]
    assignments = [word for key in quick for word in ("--set", key)]
    code, out, _ = run("train", "nano", "--out", str(tmp_path / "run"), *assignments)
    assert code == 0
    assert f"flash-ansr fit DATA.csv --target y --checkpoint {tmp_path / 'run'}" in out


def test_plan() -> None:
    small = ["--set", "model.encoder.dim=16", "--set", "model.decoder.dim=16"]
    code, out, _ = run("train", "nano", *small, "--plan", "--samples", "1000")
    assert code == 0
    for word in (
        "parameters",
        "MFLOP",
        "problems/s a process of 1 thread, measured here",
        "hours for 1,000 problems",
        "at best",
        "One device was measured; more are multiples of it.",
        "GB",
    ):
        assert word in out


def test_models(tmp_path: Path) -> None:
    network = Network(SMALL)
    folder = tmp_path / "runs" / "mine" / "checkpoints" / "00000007"
    save_checkpoint(folder, Checkpoint(SMALL, ("a", "b"), "abc", step=7), network.state_dict())
    code, out, _ = run("models", "list", "--folder", str(tmp_path / "runs"))
    assert code == 0
    for name in ("nano", "micro", "3M", "120M", "mine"):
        assert name in out
    code, out, _ = run("models", "info", str(tmp_path / "runs" / "mine"))
    assert code == 0
    content = json.loads(out)
    assert content["step"] == 7
    assert content["parameters"] == network.n_parameters()
    assert content["vocabulary"] == ["a", "b"]
    assert content["rules_are_current"] is False


def test_an_unreadable_run_is_a_row_and_the_network_of_the_package_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broken", "mine"):
        folder = tmp_path / "runs" / name / "checkpoints" / "00000007"
        save_checkpoint(folder, Checkpoint(SMALL, ("a", "b"), step=7), Network(SMALL).state_dict())
    (tmp_path / "runs" / "broken" / "checkpoints" / "00000007" / "checkpoint.json").write_text("{")
    save_checkpoint(tmp_path / "shipped", Checkpoint(SMALL, ("a", "b"), step=1234), Network(SMALL).state_dict())
    monkeypatch.setattr("flash_ansr.infer.search.set_up.bundled_checkpoint", lambda: tmp_path / "shipped")
    code, out, _ = run("models", "list", "--folder", str(tmp_path / "runs"))
    assert code == 0
    rows = {line.split()[1]: line for line in out.splitlines() if line.startswith("│") and line[2] != " "}
    assert "unreadable" in rows["broken"]
    assert "7" in rows["mine"]
    assert "1,234" in rows["shipped"]
    assert "in this package" in rows["shipped"]


def test_export(tmp_path: Path) -> None:
    source, out = tmp_path / "run" / "checkpoints" / "00000007", tmp_path / "out"
    weights, moments = Network(SMALL).state_dict(), {"a/exp_avg": torch.zeros(3)}
    about = Checkpoint(SMALL, ("a", "b"), "abc", 7, {"next_index": 3}, {"config": {"data": {"max_rows": 64}}})
    save_checkpoint(source, about, weights, extra={"optimizer": moments})
    code, said, _ = run("models", "export", str(tmp_path / "run"), "--out", str(out), "--dtype", "float16")
    assert code == 0
    assert f"--checkpoint {out}" in said
    assert sorted(path.name for path in out.iterdir()) == ["checkpoint.json", "weights.safetensors"]
    assert {tensor.dtype for tensor in load_tensors(out, "weights").values()} == {torch.float16}
    network, found = load_network(out)
    assert found == about
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(weight, weights[name], rtol=1e-3, atol=1e-4)
    assert run("models", "export", str(source), "--out", str(source))[2].endswith("it would lose its rest\n")
    (tmp_path / "notes.txt").write_text("mine")
    assert "is no checkpoint" in run("models", "export", str(source), "--out", str(tmp_path))[2]
    weights["decoder.head.weight"][0, 0] = 1e6
    save_checkpoint(source, about, weights)
    code, _, err = run("models", "export", str(source), "--out", str(out), "--dtype", "float16")
    assert code == 2
    assert "'decoder.head.weight'" in err
    assert "is not finite as torch.float16; take float32" in err


def test_resume_refuses_other_changes_than_the_end(tmp_path: Path) -> None:
    small = ["model.encoder.dim=16", "model.decoder.dim=16", "run.devices=1", "run.n_validation=16"]
    quick = [*small, "optimizer.steps=2", "optimizer.batch_size=4", "optimizer.decay=0"]
    folder = tmp_path / "run"
    first = [word for key in quick for word in ("--set", key)]
    assert run("train", "nano", "--out", str(folder), *first)[0] == 0
    again = ["train", "nano", "--out", str(folder), "--resume"]
    refused = "error: --resume continues a run as it is: leave out --minutes and --set"
    for more in (["--minutes", "1"], ["--set", "seed=1"], ["--set", "optimizer.steps=3", "--set", "seed=1"]):
        code, _, err = run(*again, *more)
        assert code == 2
        assert err.startswith(refused)
    assert "leave one of them out" in run(*again, "--init-from", str(folder))[2]
    assert "optimizer.steps must be of type int" in run(*again, "--set", "optimizer.steps=x")[2]
    assert read_checkpoint(folder / "checkpoints" / "00000002").step == 2
    assert run(*again, "--set", "optimizer.steps=3")[0] == 0
    assert read_checkpoint(folder / "checkpoints" / "00000003").step == 3
    assert RunFolder(folder).config().optimizer.steps == 3
