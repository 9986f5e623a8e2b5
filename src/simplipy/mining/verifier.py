"""Verification of many rules: in batches, over processes, until a deadline. What is on disk already is not redone."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from simplipy.mining.rule import Rule
from simplipy.mining.shards import Shards, rule_key
from simplipy.mining.verification import Finding, verify_rule

_BATCH = 256
_CHUNK = 16
# with fewer rules than this, starting processes takes longer than the work
_MIN_FOR_PROCESSES = 200


@dataclass
class Verifier:
    """Verifies rules; used as a context, at the end of which no process is left.

    Parameters
    ----------
    n_processes : int
        The findings do not depend on it.
    seed : int
        Of the points.
    deadline : float
        As ``time.monotonic`` counts; no batch is begun after it.
    shards : Shards or None
        Where findings are kept, and found by a run that goes on.

    Attributes
    ----------
    stopped : str
        Why some rules were not verified; "" where all were.
    """

    n_processes: int
    seed: int
    deadline: float = math.inf
    shards: Shards | None = None
    stopped: str = field(default="", init=False)
    _pool: Any = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._known = self.shards.findings() if self.shards else {}

    def __enter__(self) -> Verifier:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()

    def __call__(self, rules: Sequence[Rule], progress: Callable[[int], object]) -> list[Finding | None]:
        """Findings of these rules, in order; None for those that the deadline or Ctrl-C left out.

        ``progress`` is called with the number of rules that were dealt with since the last call.
        """
        missing = [rule for rule in rules if rule_key(rule) not in self._known]
        progress(len(rules) - len(missing))
        over_processes = self.n_processes > 1 and len(missing) >= _MIN_FOR_PROCESSES
        for batch in (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)):
            if time.monotonic() > self.deadline:
                self.stopped = "time limit"
            if self.stopped:
                break
            try:
                findings = self._verified([(rule, self.seed) for rule in batch], over_processes)
            except KeyboardInterrupt:
                self.stopped = "interrupted"
                break
            found = dict(zip(map(rule_key, batch), findings, strict=True))
            self._known |= found
            if self.shards:
                self.shards.add_findings(found)
            progress(len(batch))
        return [self._known.get(rule_key(rule)) for rule in rules]

    def _verified(self, jobs: Sequence[tuple[Rule, int]], over_processes: bool) -> list[Finding]:
        if not over_processes:
            return list(itertools.starmap(verify_rule, jobs))
        if self._pool is None:
            # Ctrl-C is for this process to answer
            ignore_interrupts = (signal.SIGINT, signal.SIG_IGN)
            context = multiprocessing.get_context("spawn")
            self._pool = context.Pool(self.n_processes, signal.signal, ignore_interrupts)
        return self._pool.starmap(verify_rule, jobs, chunksize=_CHUNK)  # type: ignore[no-any-return]
