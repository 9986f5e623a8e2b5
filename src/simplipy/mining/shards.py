"""The folder of a mining run: what each part of the search found and what verification found, so that a run can go on.

Every file is written whole or not at all. A run with the same options reads what is there and computes the rest; a
damaged file is an error that names it, never a part that is left out.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import simplipy
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_folder, write_whole
from simplipy.mining.config import MineConfig
from simplipy.mining.rule import Rule
from simplipy.mining.verification import Finding

Proposal = tuple[list[str], list[str], bool, str]
Shard = tuple[list[Proposal], tuple[Any, ...], Any, Any]  # proposals, counts, kept (n, 3), keys (n,)
T = TypeVar("T")

_OWN_FILES = ("config.json", "length*.json", "length*.npz", "verified*.json", ".*.part", ".*.npz")
_DAMAGED = (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile)


class Shards:
    """Parts of one run on disk.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    config : MineConfig
        The options of the run.
    resume : bool
        Keep what an earlier run with the same options left; otherwise it is removed.
    """

    def __init__(self, folder: Path, config: MineConfig, resume: bool) -> None:
        self.folder = folder
        about = folder / "config.json"
        row = {"config": config.row(), "version": simplipy.__version__}
        if resume and about.exists():
            if _read(about, _json) != row:
                raise SimplipyError(
                    f"{folder} has shards of a run with other options; remove it or mine without --resume"
                )
            return
        if folder.exists():
            _clear(folder)
        make_folder(folder)
        write_whole(about, json.dumps(row))

    def read(self, length: int, first: int) -> tuple[int, Shard] | None:
        """The shard that begins with this task, and the task behind its last one; None where there is none."""
        header, arrays = self._paths(length, first)
        if not header.exists():
            return None
        row = _read(header, _header)
        kept, keys = _read(arrays, _arrays)
        return row["last"], (row["proposals"], row["counts"], kept, keys)

    def write(self, length: int, first: int, last: int, shard: Shard) -> None:
        """Keep a shard."""
        header, arrays = self._paths(length, first)
        proposals, counts, kept, keys = shard
        partial = arrays.with_name(f".{arrays.name}")
        np.savez(partial, kept=kept, keys=keys)
        partial.replace(arrays)
        rows = [[" ".join(p), " ".join(q), masks, condition] for p, q, masks, condition in proposals]
        # the header last: a shard without it is not there
        write_whole(header, json.dumps({"last": last, "counts": counts, "proposals": rows}))

    def findings(self) -> dict[str, Finding]:
        """The verdicts of verification so far, by ``rule_key``."""
        found: dict[str, Finding] = {}
        for path in sorted(self.folder.glob("verified*.json")):
            found |= _read(path, _findings)
        return found

    def add_findings(self, findings: Mapping[str, Finding]) -> None:
        """Keep what verification found about a batch of rules."""
        n = sum(1 for _ in self.folder.glob("verified*.json"))
        rows = [[key, *astuple(finding)] for key, finding in findings.items()]
        write_whole(self.folder / f"verified{n:06d}.json", json.dumps(rows))

    def _paths(self, length: int, first: int) -> tuple[Path, Path]:
        stem = f"length{length}-from{first:08d}"
        return self.folder / f"{stem}.json", self.folder / f"{stem}.npz"


def rule_key(rule: Rule) -> str:
    """A text that no other rule of a run has."""
    return f"{' '.join(rule.pattern)} -> {' '.join(rule.replacement)} [{rule.kind}] {', '.join(rule.conditions)}"


def _clear(folder: Path) -> None:
    """Remove the shards of an earlier run; a folder of anything else is left alone."""
    own = {path for pattern in _OWN_FILES for path in folder.glob(pattern)}
    others = sorted(path.name for path in folder.iterdir() if path not in own)
    if others:
        raise SimplipyError(
            f"{folder} must hold shards of mining only, got {others[0]!r} too; choose another --out or remove it"
        )
    for path in own:
        path.unlink()


def _read(path: Path, reader: Callable[[Path], T]) -> T:
    """The content of a file, or an error that says which one is damaged and what to do."""
    try:
        return reader(path)
    except FileNotFoundError:
        reason = "it is missing"
    except _DAMAGED as error:
        reason = f"{type(error).__name__}: {error}"
    raise SimplipyError(f"{path} is damaged ({reason}); remove {path.stem}.* there, or mine without --resume")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _header(path: Path) -> dict[str, Any]:
    row = _json(path)
    proposals = [(p.split(), q.split(), masks, condition) for p, q, masks, condition in row["proposals"]]
    return {"last": int(row["last"]), "counts": tuple(row["counts"]), "proposals": proposals}


def _arrays(path: Path) -> tuple[Any, Any]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        kept, keys = stored["kept"], stored["keys"]
    if kept.shape != (len(keys), 3) or kept.dtype != np.uint32 or keys.dtype != np.uint64:
        raise ValueError(f"arrays of other shapes: {kept.shape} {kept.dtype}, {keys.shape} {keys.dtype}")
    return kept, keys


def _findings(path: Path) -> dict[str, Finding]:
    return {key: Finding(*values) for key, *values in _json(path)}
