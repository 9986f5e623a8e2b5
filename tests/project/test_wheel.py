"""A wheel holds everything that the package needs, and works where nothing else of the project is."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import flash_ansr, simplipy
from flash_ansr.data import Generator, prior_names
assert str(flash_ansr.__file__).startswith({folder!r}), flash_ansr.__file__
assert str(simplipy.__file__).startswith({folder!r}), simplipy.__file__
print(prior_names(), Generator("paper").batch(0, range(3)).X.shape[2])
"""


def output_of(*command: str, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wheel_installs_both_cores(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check")
    # the build folder of `make venv`: what is compiled there is not compiled again
    build = ("-C", f"build-dir={ROOT / 'build' / 'python'}")
    output_of(*pip, "wheel", "--no-deps", "--no-build-isolation", *build, "--wheel-dir", str(tmp_path), str(ROOT))
    (wheel,) = tmp_path.glob("flash_ansr-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for package in ("simplipy", "flash_ansr"):
        assert sum(name.startswith(f"{package}/_core.") and name.endswith((".so", ".pyd")) for name in names) == 1
        assert f"{package}/_core.pyi" in names
        assert f"{package}/py.typed" in names
    for name in ("paper", "wide", "unsimplified", "constants_u15", "sympy_simplified"):
        assert f"flash_ansr/data/priors/{name}.yaml" in names
    assert "simplipy/data/rules.txt" in names
    assert {f"flash_ansr/weights/nano/{name}" for name in ("checkpoint.json", "weights.safetensors")} <= set(names)

    folder = tmp_path / "site"
    output_of(*pip, "install", "--no-deps", "--target", str(folder), str(wheel))
    said = output_of(
        sys.executable, "-S", "-c", CODE.format(folder=str(folder)), cwd=tmp_path, env=_environment(folder)
    )
    assert said.strip().endswith("17")


def _environment(folder: Path) -> dict[str, str]:
    """The wheel first, then this environment's libraries; -S leaves out the editable install."""
    import numpy

    libraries = Path(numpy.__file__).parents[1]
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), str(libraries)))}
