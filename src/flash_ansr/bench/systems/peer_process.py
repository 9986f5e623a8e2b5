"""Another system in a process of its own, run by the Python that has it; worker.py has the other end of the pipe."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from flash_ansr.bench.systems.base import SystemMissingError

_WORKER = Path(__file__).with_name("worker.py")
# to load a large library on a busy machine
_START_SECONDS = 300.0
# bytes from the end of stderr, which say why it ended
_MAX_LAST_WORDS = 400


class PeerProcess:
    """A running worker.

    Parameters
    ----------
    system : str
        As the worker calls it.
    python : Path
        The interpreter to run it with.
    n_threads : int
        Of its linear algebra, and of Julia where it runs on that.
    """

    def __init__(self, system: str, python: Path, n_threads: int = 1) -> None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHON_JULIACALL_THREADS")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [str(python), "-u", str(_WORKER), system],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **dict.fromkeys(names, str(n_threads))},
        )
        self._lock = threading.Lock()  # one question at a time: answers have no names
        first = self._read(_START_SECONDS)
        if "versions" not in first:
            self.close()
            raise SystemMissingError(str(first.get("missing", first)))
        self.versions: dict[str, str] = first["versions"]

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request; a worker that does not answer in time is ended.

        Raises
        ------
        TimeoutError, RuntimeError
            When there is no answer in time, or the worker died.
        """
        assert self._process.stdin is not None
        with self._lock:
            try:
                self._process.stdin.write((json.dumps(request) + "\n").encode())
                self._process.stdin.flush()
                return self._read(seconds)
            except BrokenPipeError:
                raise RuntimeError(self._end()) from None
            except KeyboardInterrupt:  # an answer to this question must not be read as one to the next
                self.close()
                raise

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        if self._errors.closed:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _MAX_LAST_WORDS))
        self._last_words = " ".join(self._errors.read().decode(errors="replace").split())
        self._errors.close()

    def _end(self) -> str:
        """How the process ended, and its last words on stderr."""
        self.close()
        end = f"the system's process ended with code {self._process.returncode}"
        return f"{end}: {self._last_words}" if self._last_words else end

    def _read(self, seconds: float) -> dict[str, Any]:
        """The next line. A worker writes a line at once, and one for each question."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            self.close()
            raise TimeoutError(f"no answer within {seconds:.0f} s")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise RuntimeError(self._end())
        answer: dict[str, Any] = json.loads(line)
        return answer
