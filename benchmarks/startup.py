"""Start-up: CPU seconds of imports and of calls for help, with byte code and without it.

    python benchmarks/startup.py [--repeats 5] [--without 1]

Each measurement is a process of its own, and the least of the repeats counts. It is the user and system time of the
process, since the wall time of a process depends on what else the machine does. "With byte code" reads a cache that a
process before has filled, as after `make`; "without" compiles every module anew, as in a container that has no byte
code and may not write any. The last column is the ratio to the import of the libraries that the estimator stands on.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = "import of scikit-learn and pandas"
# what the estimator inherits from, and the tables that it returns
CODE_OF_LIBRARIES = "from sklearn.base import BaseEstimator, RegressorMixin; import pandas"


def cases() -> dict[str, list[str]]:
    """Names and arguments to Python."""
    return {
        "an empty program": ["-c", ""],
        "import numpy": ["-c", "import numpy"],
        "import simplipy": ["-c", "import simplipy"],
        LIBRARIES: ["-c", CODE_OF_LIBRARIES],
        "from flash_ansr import FlashANSR": ["-c", "from flash_ansr import FlashANSR"],
        "simplipy --help": ["-m", "simplipy", "--help"],
        "flash-ansr --help": ["-m", "flash_ansr", "--help"],
        "flash-ansr fit --help": ["-m", "flash_ansr", "fit", "--help"],
    }


def cpu_seconds(arguments: list[str], cache: Path, is_written: bool) -> float:
    """User and system time of one process that looks for byte code in a folder, and writes it there if it may."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not is_written:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="processes for a measurement with byte code")
    parser.add_argument("--without", type=int, default=1, help="processes for a measurement without byte code")
    options = parser.parse_args()
    with_code: dict[str, float] = {}
    without: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        full, empty = Path(folder, "full"), Path(folder, "empty")
        for arguments in cases().values():
            cpu_seconds(arguments, full, is_written=True)
        # one after the other, so that a busy minute does not fall on one case
        for repeat in range(max(options.repeats, options.without)):
            for name, arguments in cases().items():
                if repeat < options.repeats:
                    seconds = cpu_seconds(arguments, full, is_written=False)
                    with_code[name] = min(seconds, with_code.get(name, seconds))
                if repeat < options.without:
                    seconds = cpu_seconds(arguments, empty, is_written=False)
                    without[name] = min(seconds, without.get(name, seconds))
    print(f"{'CPU seconds':34} {'byte code':>9} {'none':>6} {'ratio':>6}")
    for name, seconds in with_code.items():
        ratio = seconds / with_code[LIBRARIES]
        print(f"{name:34} {seconds:9.2f} {without[name]:6.2f} {ratio:6.2f}")


if __name__ == "__main__":
    main()
