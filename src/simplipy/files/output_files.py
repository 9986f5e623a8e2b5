"""Files that commands write: whole or not at all, in folders that are made where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simplipy.errors import SimplipyError


def make_parent(path: Path) -> None:
    """Make the folders above a path that are missing, but none at the root of the file system."""
    make_folder(path.parent, f" for {path.name}")


def make_folder(folder: Path, purpose: str = "") -> None:
    """Make a folder, and those above it that are missing, but none at the root of the file system."""
    folder = folder.resolve()  # without "..", which would hide how near the root it is
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    if missing and missing[-1].parent == Path(folder.anchor):
        raise SimplipyError(
            f"there is no folder {missing[-1]}{purpose}; "
            "missing folders are made, but none at the root of the file system"
        )
    folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; at the end the file takes its real name, so that a reader never sees half of it."""
    make_parent(path)
    if path.is_dir():
        raise SimplipyError(f"{path} is a folder; name a file")
    partial = path.with_name(f".{path.name}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that no reader ever sees half of."""
    with replacing(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
