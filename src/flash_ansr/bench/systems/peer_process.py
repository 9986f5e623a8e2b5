"""Another system in a process of its own, started by the Python that has it; see worker.py for what is said."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from flash_ansr.bench.systems.base import SystemMissingError

_WORKER = Path(__file__).with_name("worker.py")
# to load a large library on a busy machine
_START_SECONDS = 120.0
_TAIL = 400


class PeerProcess:
    """A running worker.

    Parameters
    ----------
    system : str
        As the worker calls it.
    python : Path
        The interpreter to run it with.
    """

    def __init__(self, system: str, python: Path) -> None:
        self._process = subprocess.Popen(
            [str(python), "-u", str(_WORKER), system],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # a worker must not take more cores than a fit may use
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        self._unread = b""
        first = self._read(_START_SECONDS)
        if "versions" not in first:
            self.close()
            raise SystemMissingError(str(first.get("missing", first)))
        self.versions: dict[str, str] = first["versions"]

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request; a worker that has none in time is ended.

        Raises
        ------
        TimeoutError, RuntimeError
            When there is no answer in time, or the worker died.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError(f"the system's process ended with code {self._process.wait()}") from None
        return self._read(seconds)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self.close()
                raise TimeoutError(f"no answer within {seconds:.0f} s")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                self.close()
                raise RuntimeError(f"the system's process ended with code {self._process.returncode}")
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
