"""Commands where torch, Lightning or Dask are absent: one line that says what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NEURAL = "pip install 'flash-ansr[neural]'"

RUN_ALL = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder
absent = {"torch", "lightning_fabric", "safetensors", "tensorboard", "distributed"}
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *where: None if name in absent else found(name, *where)
from flash_ansr.cli import main
said = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["flash-ansr", *arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            said.append([end.code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(said))
"""


def without_extras(folder: Path, *commands: list[str]) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each command, all in one fresh interpreter without the extras."""
    process = [sys.executable, "-c", RUN_ALL, json.dumps(commands)]
    done = subprocess.run(process, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


def test_every_command_says_what_to_install(tmp_path: Path) -> None:
    commands = {
        ("models", "list"): NEURAL,
        ("models", "info", "nano"): NEURAL,
        ("train", "nano", "--plan"): NEURAL,
        ("train", "nano"): NEURAL,
        ("train", "report", "runs/nano"): NEURAL,
        ("paper", "run", "hyperparameters", "--scale", "tiny"): NEURAL,
        ("bench", "run", "nguyen", "--system", "linear", "--dask", "tcp://localhost:1", "--threads", "1"): (
            "'flash-ansr[bench]'"
        ),
    }
    said = without_extras(tmp_path, *map(list, commands))
    for (arguments, remedy), (code, out, err) in zip(commands.items(), said, strict=True):
        assert (code, out) == (2, ""), arguments
        assert err.startswith("error: "), arguments
        assert remedy in err, arguments
        assert "Traceback" not in err, arguments


def test_the_rest_works_and_tells_that_there_is_no_network(tmp_path: Path) -> None:
    rows = "\n".join(f"{x},{3 * x * x}" for x in range(1, 30))
    (tmp_path / "data.csv").write_text(f"x,y\n{rows}\n")
    weights = tmp_path / "network"
    weights.mkdir()
    (weights / "checkpoint.json").write_text('{"format": 1}')
    (weights / "weights.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    quick = ["fit", "data.csv", "--samples", "200", "--seed", "0", "--json"]
    found, unusable, absent = without_extras(
        tmp_path, quick, [*quick, "--checkpoint", "network"], [*quick, "--checkpoint", "nowhere"]
    )
    assert json.loads(found[1])["report"]["neural"] == f"torch is not installed: {NEURAL}"
    assert unusable[0] == 2
    assert unusable[2].startswith("error: the checkpoint network cannot be used: torch is not installed: pip install")
    assert absent[0] == 2
    assert "there is no checkpoint nowhere" in absent[2]


@pytest.mark.parametrize("name", ["wrongly_named_module"])
def test_other_imports_are_no_remedy(name: str) -> None:
    from flash_ansr.extras import remedy

    assert remedy(ModuleNotFoundError(name=name)) is None
