"""The folder of a trained network, looked at without torch: which one is meant, and whether it can be read at all.

What is in it is for ``flash_ansr.checkpoint.weights``.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

from simplipy.errors import SimplipyError

FORMAT = 1
WEIGHTS_FILE = "weights.safetensors"
JSON_FILE = "checkpoint.json"
PRIOR_FILE = "prior.yaml"
_LENGTH_BYTES = 8  # with which a safetensors file begins: the size of its header


class CheckpointError(SimplipyError):
    """A folder that is no checkpoint, or one that this version cannot use."""


def newest_checkpoint(run: str | Path) -> Path | None:
    """Folder of the newest whole checkpoint of a training run, with a warning where a newer one is damaged.

    The newest one where all are damaged, None where there is none.
    """
    found = sorted((path for path in (Path(run) / "checkpoints").glob("[0-9]*") if path.is_dir()), reverse=True)
    whole = next((path for path in found if _is_whole(path)), None)
    if whole is not None and whole != found[0]:
        warnings.warn(f"{found[0]} is damaged: the run goes on from {whole.name}", stacklevel=2)
    return whole or (found[0] if found else None)


def prior_of_run(checkpoint: str | Path) -> Path | None:
    """File of the prior that a run keeps beside its checkpoints, None for a checkpoint that is elsewhere."""
    file = Path(checkpoint).resolve().parent.parent / PRIOR_FILE
    return file if file.is_file() else None


def find_checkpoint(path: str | Path) -> Path:
    """The checkpoint that a path means: the folder itself, or the newest one of a training run.

    Raises
    ------
    CheckpointError
        When there is none, or its files are not what a checkpoint has.
    """
    path = Path(path)
    if not path.exists():
        raise CheckpointError(f"there is no checkpoint {path}; name the folder of a training run or of a checkpoint")
    folder = newest_checkpoint(path) or path
    read_json(folder)
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise CheckpointError(f"{folder} has no {path.name}")
    if _tensors_end(path) is None:
        raise CheckpointError(f"{path} is damaged: its header is cut off; copy it again")
    return folder


def weights_hash(path: str | Path) -> str:
    """16 hexadecimal digits of the weights that a path means."""
    return hashlib.sha256((find_checkpoint(path) / WEIGHTS_FILE).read_bytes()).hexdigest()[:16]


def read_json(folder: str | Path) -> dict[str, object]:
    """The content of ``checkpoint.json`` in the format of this version."""
    path = Path(folder) / JSON_FILE
    if not path.is_file():
        raise CheckpointError(f"{folder} is no checkpoint: it has no {JSON_FILE}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is no JSON: {error}") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise CheckpointError(f"{path} has format {found!r}, this version reads {FORMAT}; update flash-ansr or retrain")
    return dict(content)


def _is_whole(folder: Path) -> bool:
    """Whether all files of a checkpoint have the length that they should have."""
    try:
        read_json(folder)
    except CheckpointError:
        return False
    return all(_tensors_end(path) == path.stat().st_size for path in folder.glob("*.safetensors"))


def _tensors_end(path: Path) -> int | None:
    """The length that a file of tensors should have by its header, None for a header that cannot be read."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if not 0 < length <= path.stat().st_size - _LENGTH_BYTES:
            return None
        try:
            tensors = json.loads(file.read(length))
        except ValueError:
            return None
    ends = [tensor["data_offsets"][1] for name, tensor in tensors.items() if name != "__metadata__"]
    return _LENGTH_BYTES + length + int(max(ends, default=0))
