"""A mining run: one length after the other, in shards that a later run can take up again.

The core builds and joins terms; settling.py turns what it proposes into rules. What is on disk is a folder of shards
beside the output: the options of the run, and for each part of each length what it found. A run with the same options
and `resume` reads what is there and computes the rest; the result is the same.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import simplipy
from simplipy import _core
from simplipy.errors import SimplipyError
from simplipy.mining.config import MineConfig
from simplipy.mining.pruning import rule_set, without_covered
from simplipy.mining.rule import Rule
from simplipy.mining.settling import Proposal, settle, verifier

COUNTS = ("tested", "thin", "reducible", "proposed", "irreducible")
_SECONDS_PER_SHARD = 2.0
_FIRST_TASKS = 16
_MAX_GROUND = 2  # tokens of a part without metavariables; a longer one is an instance of a metavariable


@dataclass
class LengthReport:
    """What happened at one length.

    Attributes
    ----------
    length : int
        Tokens of the patterns.
    existing : int
        Terms over irreducible operands that there are.
    counts : dict of str to int
        Terms tested, and what became of them.
    complete : bool
        Whether all were tested.
    n_rules, n_unused, n_rejected : int
        Rules found, verified rules that the engine does not use, proposals that verification rejected.
    seconds_search, seconds_verify : float
        Wall-clock time of both parts.
    """

    length: int
    existing: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    complete: bool = True
    n_rules: int = 0
    n_unused: int = 0
    n_rejected: int = 0
    seconds_search: float = 0.0
    seconds_verify: float = 0.0


@dataclass
class Mined:
    """The result of a run: rules after pruning, what was pruned, unused and rejected, and a report for each length."""

    config: MineConfig
    rules: list[Rule] = field(default_factory=list)
    pruned: list[Rule] = field(default_factory=list)
    unused: list[Rule] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    lengths: list[LengthReport] = field(default_factory=list)
    stopped: str = ""

    def text(self) -> str:
        """The rules as a JSON file, the same for equal options."""
        head = {"format": "simplipy rules 1", "config": self.config.row(), "n_rules": len(self.rules)}
        return _json_text(head, {"rules": self.rules, "unused": self.unused})

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


def _json_text(head: dict[str, Any], lists: dict[str, list[Rule]]) -> str:
    """JSON with one rule a line."""
    parts = [json.dumps(head)[1:-1]]
    for name, rules in lists.items():
        rows = ",\n".join(json.dumps(rule.row()) for rule in rules)
        parts.append(f'"{name}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"


Progress = Callable[[LengthReport, int], None]


class Discovery:
    """One run.

    Parameters
    ----------
    config : MineConfig
        What to search.
    folder : Path or None
        Where shards are kept; None keeps none.
    resume : bool
        Take up the shards of an earlier run with the same options.
    n_threads : int
        Threads of the search and processes of verification; the result does not depend on it.
    time_limit : float or None
        Seconds after which no new shard is begun.
    progress : callable, optional
        Called with the report of the current length and the number of rules so far.
    """

    def __init__(
        self,
        config: MineConfig,
        folder: Path | None = None,
        resume: bool = False,
        n_threads: int = 2,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        if time_limit is not None and not time_limit > 0:
            raise SimplipyError(f"time_limit must be > 0 seconds or None, got {time_limit}")
        self.config = config
        self.folder = folder
        self.n_threads = n_threads
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._progress = progress or (lambda _report, _n_rules: None)
        self._miner = _core.Miner(
            config.max_length,
            config.max_replacement,
            config.n_variables,
            config.n_constants,
            _MAX_GROUND,
            config.max_conditional,
            config.literals,
            list(config.operators),
            config.seed,
        )
        if folder is not None:
            _open_folder(folder, config, resume)

    def run(self) -> Mined:
        """Mine all lengths, prune, and return what was found; Ctrl-C ends the search early."""
        mined = Mined(self.config)
        with verifier(self.n_threads) as verify:
            for length in range(2, self.config.max_length + 1):
                report = LengthReport(length, existing=self._miner.n_terms(length))
                mined.lengths.append(report)
                proposals, kept, keys = self._search(report, mined)
                start = time.monotonic()
                settled = settle(proposals, mined.rules + mined.unused, self.config.seed + 1, verify)
                mined.rules += settled.rules
                mined.unused += settled.unused
                mined.rejected += [r.row() | {"reason": f.reason, "at": f.counterexample} for r, f in settled.rejected]
                report.n_rules, report.n_unused = len(settled.rules), len(settled.unused)
                report.n_rejected = len(settled.rejected)
                report.seconds_verify = time.monotonic() - start
                self._progress(report, len(mined.rules))
                if mined.stopped:
                    break
                self._miner.set_rules(rule_set(mined.rules))
                if length < self.config.max_length:
                    self._miner.commit(length, kept, keys)
        mined.rules, mined.pruned = without_covered(mined.rules)
        mined.unused.sort(key=Rule.sort_key)
        return mined

    def _search(self, report: LengthReport, mined: Mined) -> tuple[list[Proposal], Any, Any]:
        """All shards of one length."""
        start = time.monotonic()
        proposals: list[Proposal] = []
        kept: list[Any] = [np.empty(0, np.int64)]
        keys: list[Any] = [np.empty(0, np.uint64)]
        n_tasks, first, size = self._miner.n_tasks(report.length), 0, _FIRST_TASKS
        while first < n_tasks:
            if self._deadline is not None and time.monotonic() > self._deadline:
                mined.stopped = "time limit"
                break
            began = time.monotonic()
            try:
                last, shard = self._shard(report.length, first, min(n_tasks, first + size))
            except KeyboardInterrupt:
                mined.stopped = "interrupted"
                break
            found, counts, some_kept, some_keys = shard
            proposals += found
            kept.append(some_kept)
            keys.append(some_keys)
            for name, count in zip(COUNTS, counts, strict=True):
                report.counts[name] += count
            report.seconds_search = time.monotonic() - start
            self._progress(report, len(mined.rules))
            size = _next_size(last - first, time.monotonic() - began)
            first = last
        report.complete = first >= n_tasks
        return proposals, np.concatenate(kept), np.concatenate(keys)

    def _shard(self, length: int, first: int, last: int) -> tuple[int, Any]:
        """One shard, from disk where it is there; and the task behind its last one."""
        if self.folder is None:
            return last, self._miner.run(length, first, last, self.n_threads)
        stem = f"length{length}-from{first:08d}"
        header, arrays = self.folder / f"{stem}.json", self.folder / f"{stem}.npz"
        if header.exists():
            row = json.loads(header.read_text(encoding="utf-8"))
            with np.load(arrays, allow_pickle=False) as stored:
                proposals = [(p.split(), q.split(), masks, condition) for p, q, masks, condition in row["proposals"]]
                return row["last"], (proposals, row["counts"], stored["kept"], stored["keys"])
        shard = self._miner.run(length, first, last, self.n_threads)
        proposals, counts, kept, keys = shard
        partial = arrays.with_name(f".{stem}.npz")
        np.savez(partial, kept=kept, keys=keys)
        partial.replace(arrays)
        row = {
            "last": last,
            "counts": list(counts),
            "proposals": [[" ".join(p), " ".join(q), masks, condition] for p, q, masks, condition in proposals],
        }
        write_atomically(header, json.dumps(row))  # last: a shard without it is not there
        return last, shard


def _next_size(size: int, seconds: float) -> int:
    """Tasks of the next shard, so that it takes about as long as a person waits for a bar to move."""
    return max(_FIRST_TASKS, min(4 * size, int(size * _SECONDS_PER_SHARD / max(seconds, 1e-3))))


def _open_folder(folder: Path, config: MineConfig, resume: bool) -> None:
    """Make the folder, or check that what is there belongs to this run."""
    about = folder / "config.json"
    row = {"config": config.row(), "version": simplipy.__version__}
    if resume and about.exists():
        if json.loads(about.read_text(encoding="utf-8")) != row:
            raise SimplipyError(f"{folder} has shards of a run with other options; remove it or mine without --resume")
        return
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(about, json.dumps(row))


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader never sees half of it."""
    partial = path.with_name(f".{path.name}.new")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
