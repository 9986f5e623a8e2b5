"""What imports and calls for help bring in and leave alone, each looked at in a fresh interpreter."""

from __future__ import annotations

import importlib
import importlib.resources
import shutil
import subprocess
import sys

import pytest

import simplipy

HEAVY = ("torch", "sympy", "pandas", "scipy", "matplotlib")
# nothing but typer and the native core is needed to print help
ABOVE_HELP = (*HEAVY, "numpy", "sklearn", "rich", "yaml", "flash_ansr.regressor", "flash_ansr.bench", "flash_ansr.data")


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_light() -> None:
    loaded = fresh(f"import sys, simplipy; print([m for m in {HEAVY} if m in sys.modules])")
    assert loaded == "[]"


def test_names_are_imported_when_they_are_used() -> None:
    code = """
import sys, simplipy, flash_ansr
print([m for m in ("numpy", "simplipy._core", "sklearn") if m in sys.modules])
missing = [name for package in (simplipy, flash_ansr) for name in package.__all__ if name not in dir(package)]
print(missing, [name for name in simplipy.__all__ if not hasattr(simplipy, name)], "simplify" in vars(simplipy))
"""
    assert fresh(code) == "[]\n[] [] True"


@pytest.mark.parametrize("package", ["simplipy", "flash_ansr"])
def test_an_unknown_name_is_no_attribute(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'simplfy'"):
        _ = importlib.import_module(package).simplfy


def test_the_estimator_leaves_what_only_some_searches_need() -> None:
    # scikit-learn itself imports SciPy, and pandas where it is installed
    others = ("torch", "sympy", "matplotlib", "rich", "typer", "yaml", "mpmath", "flint", "sklearn.linear_model")
    own = ("flash_ansr.data", "flash_ansr.model", "flash_ansr.bench", "flash_ansr.cli", "simplipy.equivalence.verdict")
    code = f"""
import sys
from flash_ansr import FlashANSR
print([m for m in {others + own} if m in sys.modules])
"""
    assert fresh(code) == "[]"


@pytest.mark.parametrize(
    "call",
    [
        "flash_ansr --help",
        "flash_ansr --version",
        "flash_ansr fit --help",
        "flash_ansr bench run --help",
        "flash_ansr paper run --help",
        "simplipy --help",
        "simplipy mine --help",
    ],
)
def test_help_is_light(call: str) -> None:
    code = f"""
import contextlib, io, runpy, sys
sys.argv = {call.split()}
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
print(bool(printed.getvalue()), [m for m in {ABOVE_HELP} if m in sys.modules])
"""
    assert fresh(code) == "True []"


def test_rules_are_compiled_at_their_first_use() -> None:
    code = """
import simplipy, simplipy.fit.shorter_forms, simplipy.equivalence.family
from flash_ansr import regressor
from simplipy.simplification.engine import _bundled_rules
print(_bundled_rules.cache_info().currsize, simplipy.simplify("x1 + x1"), _bundled_rules.cache_info().currsize)
"""
    assert fresh(code) == "0 2*x1 1"


def test_catalogues_are_light() -> None:
    code = f"""
import sys
from flash_ansr import catalogues
catalogues.load("nguyen")["Nguyen-1"].sample(5, 0)
print([m for m in (*{HEAVY}, "rich", "typer") if m in sys.modules])
"""
    assert fresh(code) == "[]"


def test_training_data_is_light() -> None:
    code = f"""
import sys
from flash_ansr.data import ProblemStream
ProblemStream("paper", batch_size=4, holdouts=["x1*x2"]).batch(0)
print([m for m in (*{HEAVY}, "rich", "typer") if m in sys.modules])
"""
    assert fresh(code) == "[]"


def test_ordinary_use_is_light() -> None:
    code = f"""
import sys, numpy as np, simplipy
X = np.ones((3, 2))
e = simplipy.parse("x1*sin(x2) + <constant>")
e(X, [1.0]); e.gradient(X, [1.0]); e({{"x1": [1.0], "x2": [2.0]}}, [1.0])
e.latex(); e.infix(); e.diff("x1"); repr(e); e.numpy()(X, [1.0]); simplipy.evaluate_many([e], X, [[1.0]])
print([m for m in {HEAVY} if m in sys.modules])
"""
    assert fresh(code) == "[]"


def test_the_command_line_is_light() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "simplipy", "show", "x1 + 1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "simplipy" in imported
    assert not imported & set(HEAVY)


def test_denormals_survive_the_import() -> None:
    """Flush-to-zero at link time would change the arithmetic of the whole process."""
    code = """
import numpy as np, simplipy
simplipy.parse("exp(x1)")(np.ones((1000, 1)))
tiny = float("5e-324")
print(tiny > 0, tiny * 1.0 > 0, 1e-310 / 10 > 0, bool((np.array([5e-324] * 9) * 1.0 > 0).all()))
"""
    assert fresh(code) == "True True True True"


def test_denormals_survive_in_threads() -> None:
    code = """
import numpy as np, simplipy
X = np.full((5000, 1), 5e-324)
values, defined = simplipy.evaluate_many([simplipy.parse("1*x1")] * 8, X, n_threads=4)
print(bool((values > 0).all()), bool(defined.all()), 5e-324 * 1.0 > 0)
"""
    assert fresh(code) == "True True True"


def test_import_changes_no_global_state() -> None:
    code = """
import os, random, signal, sys, threading, warnings
import numpy as np
np.random.seed(0); random.seed(0)
def state():
    n_tasks = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 0
    return (str(np.random.get_state()), random.getstate(), np.geterr(), np.get_printoptions(), warnings.filters[:],
            sys.getrecursionlimit(), signal.getsignal(signal.SIGINT), threading.active_count(), n_tasks, *os.environ)
before = state()
import simplipy
simplipy.parse("x1 + 1")(np.ones((2, 1)))
print([k for k, (a, b) in enumerate(zip(before, state())) if a != b])
"""
    assert fresh(code) == "[]"


def test_import_says_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import simplipy"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "name",
    [
        "OPERATORS",
        "Expression",
        "TokenBatch",
        "parse",
        "parse_many",
        "evaluate_many",
        "from_sympy",
        "SimplipyError",
        "ParseError",
        "EvaluationError",
    ],
)
def test_public_names(name: str) -> None:
    assert hasattr(simplipy, name)
    assert name in dir(simplipy)
    if hasattr(simplipy, "__all__"):
        assert name in simplipy.__all__


def test_public_things_are_documented() -> None:
    for name in ("parse", "parse_many", "evaluate_many", "from_sympy", "Expression", "TokenBatch"):
        assert getattr(simplipy, name).__doc__, name
    for name in (
        "infix",
        "latex",
        "to_sympy",
        "numpy",
        "torch",
        "skeleton",
        "with_constants",
        "rename",
        "diff",
        "gradient",
        "subtrees",
        "__call__",
    ):
        assert getattr(simplipy.Expression, name).__doc__, name


def test_the_package_is_typed() -> None:
    assert importlib.resources.files("simplipy").joinpath("py.typed").is_file()


def test_version() -> None:
    from importlib.metadata import version

    assert simplipy.__version__ == version("flash-ansr")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="reads a shared library by readelf of binutils")
@pytest.mark.parametrize("module", ["simplipy._core", "flash_ansr._core"])
def test_variables_of_threads_leave_room_for_other_libraries(module: str) -> None:
    # what a process reserves for libraries that are loaded late is under 2 kB in all
    path = importlib.import_module(module).__file__
    assert path is not None
    segments = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    sizes = [int(line.split()[5], 16) for line in segments.splitlines() if line.split()[:1] == ["TLS"]]
    assert sum(sizes) <= 128
