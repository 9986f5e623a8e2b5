"""A mining run: one length after the other, in shards that a later run can take up again.

The core builds and joins terms; settling.py turns what it proposes into rules, shards.py keeps both on disk. A run with
the same options and `resume` reads what is there and computes the rest; the result is the same. A time limit, a limit
of memory and Ctrl-C end a run early; what is verified by then is its result.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import simplipy
from simplipy import _core
from simplipy.errors import SimplipyError
from simplipy.mining.config import MineConfig
from simplipy.mining.redundancy import rule_set, without_covered
from simplipy.mining.rule import Rule
from simplipy.mining.settling import settle
from simplipy.mining.shards import Proposal, Shard, Shards
from simplipy.mining.verification import Finding
from simplipy.mining.verifier import Verifier

COUNTS = ("tested", "thin", "reducible", "proposed", "irreducible")
_SECONDS_PER_SHARD = 2.0
_FIRST_TASKS = 16
_SEARCH_SHARE = 0.5  # of the time limit; what was found has to be verified as well
_MAX_GROUND = 2  # tokens of a part without metavariables; a longer one is an instance of a metavariable


@dataclass
class LengthReport:
    """The outcome of one length.

    Attributes
    ----------
    length : int
        Tokens of the patterns.
    existing : int
        Terms over irreducible operands that there are.
    counts : dict of str to int
        Terms tested, and what became of them.
    existing_by_variables, tested_by_variables : list of int
        The same, by the number of metavariables of a term.
    complete : bool
        Whether all were tested and all proposals verified.
    n_rules, n_unused, n_rejected : int
        Rules found, verified rules that the engine does not use, proposals that verification rejected.
    n_implied, n_open : int
        Proposals that put a rejected one into a longer term; proposals that were not verified before the run stopped.
    seconds_search, seconds_verify : float
        Wall-clock time of both parts.
    """

    length: int
    existing: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    existing_by_variables: list[int] = field(default_factory=list)
    tested_by_variables: list[int] = field(default_factory=list)
    complete: bool = True
    n_rules: int = 0
    n_unused: int = 0
    n_rejected: int = 0
    n_implied: int = 0
    n_open: int = 0
    seconds_search: float = 0.0
    seconds_verify: float = 0.0


@dataclass
class Mined:
    """The result of a run: rules after pruning, what was pruned, unused and rejected, and a report for each length."""

    config: MineConfig
    rules: list[Rule] = field(default_factory=list)
    pruned: list[Rule] = field(default_factory=list)
    unused: list[Rule] = field(default_factory=list)
    rejected: list[tuple[Rule, Finding]] = field(default_factory=list)
    lengths: list[LengthReport] = field(default_factory=list)
    stopped: str = ""

    def text(self) -> str:
        """The rules as a JSON file with one rule a line, the same for equal options."""
        head = {"format": "simplipy rules 1", "config": self.config.row(), "n_rules": len(self.rules)}
        parts = [json.dumps(head)[1:-1]]
        for name, rules in (("rules", self.rules), ("unused", self.unused)):
            rows = ",\n".join(json.dumps(rule.row()) for rule in rules)
            parts.append(f'"{name}": [\n{rows}\n]')
        return "{" + ",\n".join(parts) + "}\n"

    def provenance(self, command: str) -> dict[str, Any]:
        """Where the rules come from: command, options, counts and times for each length, versions, hash."""
        return {
            "command": command,
            "config": self.config.row(),
            "sha256": hashlib.sha256(self.text().encode()).hexdigest(),
            "versions": {
                "simplipy": simplipy.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "machine": platform.machine(),
            },
            "stopped": self.stopped,
            "n_rules": len(self.rules),
            "n_pruned": len(self.pruned),
            "lengths": [
                {k: round(v, 2) if isinstance(v, float) else v for k, v in vars(report).items()}
                for report in self.lengths
            ],
        }


Progress = Callable[[LengthReport, int, int], None]


def no_progress(_report: LengthReport, _n_rules: int, _n_verified: int) -> None:
    """For a run that nobody watches."""


@dataclass
class Discovery:
    """One run.

    Parameters
    ----------
    config : MineConfig
        The search to run.
    folder : Path or None
        Where shards are kept; None keeps none.
    resume : bool
        Take up the shards of an earlier run with the same options.
    n_threads : int
        Threads of the search and processes of verification; the result does not depend on it.
    time_limit : float or None
        Seconds after which nothing new is begun; the search ends at half of them, to leave time for verification.
    memory_limit : int or None
        Bytes that the terms of all lengths may take; the run ends before a length that needs more.
    progress : callable, optional
        Called with the report of the current length, the number of rules so far, and how many proposals of this length
        verification has dealt with.
    """

    config: MineConfig
    folder: Path | None = None
    resume: bool = False
    n_threads: int = 2
    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        for name, unit in (("time_limit", "seconds"), ("memory_limit", "bytes")):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise SimplipyError(f"{name} must be > 0 {unit} or None, got {limit}")
        seconds = math.inf if self.time_limit is None else self.time_limit
        self._search_end, self._end = (time.monotonic() + share * seconds for share in (_SEARCH_SHARE, 1.0))
        self._memory_left = math.inf if self.memory_limit is None else self.memory_limit
        self._miner = _core.Miner(max_ground=_MAX_GROUND, **self.config.row())
        self._shards = None if self.folder is None else Shards(self.folder, self.config, self.resume)

    def run(self) -> Mined:
        """Mine all lengths, prune, and return what was found; Ctrl-C ends the search early."""
        mined = Mined(self.config)
        with Verifier(self.n_threads, self.config.seed + 1, self._end, self._shards) as verify:
            for length in range(2, self.config.max_length + 1):
                by_variables = self._miner.n_terms(length)
                report = LengthReport(length, sum(by_variables), existing_by_variables=by_variables)
                report.tested_by_variables = [0] * len(by_variables)
                mined.lengths.append(report)
                proposals, kept = self._search(report, mined)
                self._settle(proposals, report, mined, verify)
                if not mined.stopped and length < self.config.max_length:
                    mined.stopped = self._commit(length, kept)
                if mined.stopped:
                    break
        try:
            mined.rules, mined.pruned = without_covered(mined.rules)
        except KeyboardInterrupt:  # all of them hold, some are not needed
            mined.stopped = "interrupted"
        mined.unused.sort(key=Rule.sort_key)
        return mined

    def _settle(self, proposals: list[Proposal], report: LengthReport, mined: Mined, verify: Verifier) -> None:
        """From proposals to rules."""
        start = time.monotonic()
        n_verified = 0

        def show(n: int) -> None:
            nonlocal n_verified
            n_verified += n
            self.progress(report, len(mined.rules), n_verified)

        settle(proposals, mined, report, partial(verify, progress=show))
        mined.stopped = mined.stopped or verify.stopped
        report.seconds_verify = time.monotonic() - start
        show(0)

    def _commit(self, length: int, kept: list[tuple[Any, Any]]) -> str:
        """Make the irreducible terms of a length operands of the next ones; or say why the run has to end."""
        needed = sum(self._miner.bytes_of(length, terms) for terms, _ in kept)
        if needed > self._memory_left:
            return (
                f"memory: terms of {length} tokens take {needed / 1e9:.3g} GB, {self._memory_left / 1e9:.3g} GB "
                "are left; use fewer variables, constants or operators, or more --memory"
            )
        self._memory_left -= needed
        while kept:
            self._miner.commit(length, *kept.pop(0))
        self._miner.end_length(length)
        return ""

    def _search(self, report: LengthReport, mined: Mined) -> tuple[list[Proposal], list[tuple[Any, Any]]]:
        """All shards of one length: proposals, and the irreducible terms of each shard."""
        self._miner.set_rules(rule_set(mined.rules))
        start = time.monotonic()
        proposals: list[Proposal] = []
        kept: list[tuple[Any, Any]] = []
        n_tasks, first, size = self._miner.n_tasks(report.length), 0, _FIRST_TASKS
        while first < n_tasks:
            if time.monotonic() > self._search_end:
                mined.stopped = "time limit"
                break
            began = time.monotonic()
            try:
                last, shard = self._shard(report.length, first, min(n_tasks, first + size))
            except KeyboardInterrupt:
                mined.stopped = "interrupted"
                break
            found, counts, *terms = shard
            proposals += found
            kept.append((terms[0], terms[1]))
            for name, count in zip(COUNTS, counts, strict=False):
                report.counts[name] += count
            report.tested_by_variables = [a + b for a, b in zip(report.tested_by_variables, counts[-1], strict=True)]
            report.seconds_search = time.monotonic() - start
            self.progress(report, len(mined.rules), 0)
            size = _next_size(last - first, time.monotonic() - began)
            first = last
        report.complete = first >= n_tasks
        return proposals, kept

    def _shard(self, length: int, first: int, last: int) -> tuple[int, Shard]:
        """One shard, from disk where it is there; and the task behind its last one."""
        stored = self._shards.read(length, first) if self._shards else None
        if stored is not None:
            return stored
        shard = self._miner.run(length, first, last, self.n_threads)
        if self._shards:
            self._shards.write(length, first, last, shard)
        return last, shard


def _next_size(size: int, seconds: float) -> int:
    """Tasks of the next shard, so that it takes about as long as a person waits for a bar to move."""
    return max(_FIRST_TASKS, min(4 * size, int(size * _SECONDS_PER_SHARD / max(seconds, 1e-3))))
