"""Files of skeletons: one JSON value a line, a list of prefix tokens or an object that has one under "tokens"."""

from __future__ import annotations

import json
from pathlib import Path

from flash_ansr.data.errors import DataError


def read_skeletons(path: Path) -> list[list[str]]:
    """Skeletons of a file; lines whose tokens are null, as left by a simplifier that gave up, are skipped.

    Where lines have an index, that is their order: processes that write a file end in any order.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise DataError(
            f"no file of skeletons {str(path)!r}; make one with: flash-ansr data skeletons --out {path}"
        ) from None
    skeletons: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"{path}, line {number} is no JSON: {error}") from None
        tokens = row.get("tokens") if isinstance(row, dict) else row
        if tokens is not None:
            index = row.get("index", number) if isinstance(row, dict) else number
            skeletons.append((index, tokens))
    if not skeletons:
        raise DataError(f"{path} has no skeletons")
    return [tokens for _, tokens in sorted(skeletons, key=lambda pair: pair[0])]
