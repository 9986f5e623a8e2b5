"""A file of skeletons simplified by SymPy: slow, so made once, in parallel, resumable line by line.

`sympy.simplify` runs for at most a second of CPU time. Where SymPy gives up there is a line with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from flash_ansr.data.errors import DataError
from flash_ansr.data.generator import Generator
from flash_ansr.paper.sympy.simplify import simplified
from simplipy import parse
from simplipy.files.output_files import write_whole

_CHUNK = 16
Row = dict[str, Any]
_NOT_FINITE: Row = {"tokens": None, "reason": "not finite"}


def make_skeletons(
    generator: Generator,
    path: Path,
    indices: Sequence[int],
    seed: int = 0,
    simplifier: str = "sympy",
    time_limit: float = 1.0,
    n_workers: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Append the skeletons of a seed that the file lacks, in chunks as they are ready.

    Parameters
    ----------
    path : Path
        JSON lines with ``index``, ``tokens`` (null if given up) and ``reason``.
    indices : sequence of int
        Which skeletons.
    simplifier : {"sympy", "simplipy", "none"}
        The function that simplifies.
    time_limit : float
        Seconds of CPU time for SymPy on one skeleton.
    progress : callable
        Called with how many of the indices are there.

    Returns
    -------
    int
        Lines with tokens.
    """
    if simplifier not in ("sympy", "simplipy", "none"):
        raise DataError(f"simplifier must be sympy, simplipy or none, got {simplifier!r}")
    rows = kept_rows(path)
    missing = [i for i in indices if i not in rows]
    n_there = len(indices) - len(missing)
    progress(n_there)
    chunks = [missing[start : start + _CHUNK] for start in range(0, len(missing), _CHUNK)]
    if simplifier == "sympy":
        results = _simplified(generator, chunks, seed, time_limit, n_workers)
    else:
        results = (_drawn(generator, chunk, seed, simplifier == "simplipy") for chunk in chunks)
    with path.open("a", encoding="utf-8") as file:
        for result in results:
            for row in result:
                file.write(json.dumps(row) + "\n")
                rows[row["index"]] = row
            file.flush()
            n_there += len(result)
            progress(n_there)
    return sum(row["tokens"] is not None for row in rows.values())


def sympy_simplified(tokens: list[str], seed: tuple[int, int], time_limit: float) -> Row:
    """Tokens of the skeleton after SymPy, or the reason why there are none. On the main thread only, for its timer."""
    answer = simplified(parse(tokens), seed, time_limit)
    return {"tokens": answer.skeleton and answer.skeleton.tokens, "reason": answer.reason}


def _simplified_chunk(indices: list[int], drawn: list[list[str] | None], seed: int, time_limit: float) -> list[Row]:
    return [
        {"index": i} | (sympy_simplified(tokens, (seed, i), time_limit) if tokens else _NOT_FINITE)
        for i, tokens in zip(indices, drawn, strict=True)
    ]


def _simplified(
    generator: Generator, chunks: list[list[int]], seed: int, time_limit: float, n_workers: int
) -> Iterator[list[Row]]:
    drawn = (generator.skeletons(seed, chunk, simplified=False) for chunk in chunks)
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_simplified_chunk, chunks, drawn, repeat(seed), repeat(time_limit))


def _drawn(generator: Generator, chunk: list[int], seed: int, simplified: bool) -> list[Row]:
    found = generator.skeletons(seed, chunk, simplified)
    return [
        {"index": i} | ({"tokens": tokens, "reason": None} if tokens else _NOT_FINITE)
        for i, tokens in zip(chunk, found, strict=True)
    ]


def kept_rows(path: Path) -> dict[int, Row]:
    """Rows that are there by index; a line that was cut off when a run ended is dropped from the file."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        if lines:
            json.loads(lines[-1])
    except json.JSONDecodeError:
        lines.pop()
        write_whole(path, "".join(f"{line}\n" for line in lines))
    rows = [json.loads(line) for line in lines]
    if any(not isinstance(row, dict) or "index" not in row for row in rows):
        raise DataError(f"{path} was not written by this command: its lines have no index; choose another --out")
    return {row["index"]: row for row in rows}
