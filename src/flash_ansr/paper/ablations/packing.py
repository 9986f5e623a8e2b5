"""Trained runs made small enough to pass on: weights in float16, curves, configs; nothing that only ``--resume`` needs.

A packed folder holds runs as ``--runs`` reads them. Static corpora are not packed but what costs hours of them, the
answers of SymPy: unpacked in a folder of runs, they make the corpora anew. A corpus is named without the folder in
which it was made, so that a packed run contains nothing about the machine that trained it.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from flash_ansr.checkpoint.folder import JSON_FILE
from flash_ansr.paper.ablations.networks import ABLATIONS, Ablation, checkpoint_of
from flash_ansr.paper.ablations.static_corpora import DRAWS_FILE
from flash_ansr.paper.experiment import PaperError, need_torch
from flash_ansr.paper.sympy.skeletons import kept_rows
from simplipy.files.output_files import make_folder, write_whole

if TYPE_CHECKING:
    from flash_ansr.train.run_folder import RunFolder


def pack_runs(runs: Path, out: Path) -> list[Path]:
    """Write every finished ablation of a folder to another one.

    Parameters
    ----------
    runs : Path
        Folder of the training runs.
    out : Path
        Gets a folder for each run, and ``sympy_draws.jsonl.gz``; packed runs that are there are replaced.

    Returns
    -------
    list of Path
        The packed runs.

    Raises
    ------
    PaperError
        When no run is finished, or ``out`` is ``runs``.
    """
    need_torch("packing runs")
    from flash_ansr.train.run_folder import RunFolder

    if runs.resolve() == out.resolve():
        raise PaperError(f"{out} holds the runs themselves, which need their rest to go on; name another --out")
    packed, answers = [], set[Path]()
    for run in ABLATIONS.values():
        folder, checkpoint = RunFolder(runs / run.name), checkpoint_of(runs, run.name)
        if checkpoint is None or int(checkpoint.name) < folder.config().optimizer.steps:
            continue
        _pack(run, folder, checkpoint, out)
        packed.append(out / run.name)
        if run.corpus is not None:
            answers.add(Path(folder.config().data.prior).with_name(DRAWS_FILE))
    if not packed:
        raise PaperError(f"{runs} holds no finished ablation; train one by `flash-ansr paper train b0 --runs {runs}`")
    for draws in answers:
        lines = "".join(f"{json.dumps(row)}\n" for _, row in sorted(kept_rows(draws).items()))
        write_whole(out / f"{draws.name}.gz", gzip.compress(lines.encode(), mtime=0))
    return packed


def _pack(run: Ablation, folder: RunFolder, checkpoint: Path, out: Path) -> None:
    import torch

    from flash_ansr.checkpoint.weights import export_checkpoint

    target = out / run.name
    make_folder(target)
    corpus = Path(folder.config().data.prior) if run.corpus is not None else None
    for name in ("config.yaml", "prior.yaml", "versions.json", "metrics.jsonl"):
        write_whole(target / name, _without_folder((folder.path / name).read_text(encoding="utf-8"), corpus))
    shutil.rmtree(target / "checkpoints", ignore_errors=True)
    packed = target / "checkpoints" / checkpoint.name
    export_checkpoint(checkpoint, packed, torch.float16)
    write_whole(packed / JSON_FILE, _without_folder((packed / JSON_FILE).read_text(encoding="utf-8"), corpus))


def _without_folder(text: str, corpus: Path | None) -> str:
    """A text in which a static corpus is named by its files alone."""
    return text if corpus is None else text.replace(f"{corpus.parent}/", "")
