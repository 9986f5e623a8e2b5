"""A file of skeletons simplified by SymPy: slow, so made once, in parallel, resumable line by line.

As in the paper's comparison: free constants get numbers of U(-10, 10), `sympy.simplify` runs for at most a second, here
of CPU time, and numbers are free constants again afterwards. Where SymPy gives up there is a line with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from flash_ansr.cpu_limit import TimeOver, cpu_limit
from flash_ansr.data.errors import DataError
from flash_ansr.data.generator import Generator
from simplipy import Expression, SimplipyError, from_sympy, parse
from simplipy.output_files import write_whole

_CHUNK = 16
Row = dict[str, Any]


def make_skeletons(
    generator: Generator,
    path: Path,
    n: int,
    seed: int = 0,
    simplifier: str = "sympy",
    time_limit: float = 1.0,
    n_workers: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Append the skeletons 0 to n-1 of a seed that the file lacks, in the order in which they are ready.

    Parameters
    ----------
    path : Path
        JSON lines with ``index``, ``tokens`` (null if given up) and ``reason``.
    simplifier : {"sympy", "simplipy", "none"}
        What simplifies.
    time_limit : float
        Seconds of CPU time for SymPy on one skeleton.
    progress : callable
        Called with the number of lines that are there.

    Returns
    -------
    int
        Lines with tokens.
    """
    if simplifier not in ("sympy", "simplipy", "none"):
        raise DataError(f"simplifier must be sympy, simplipy or none, got {simplifier!r}")
    rows = kept_rows(path)
    missing = [i for i in range(n) if i not in rows]
    progress(n - len(missing))
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
            progress(len(rows))
    return sum(row["tokens"] is not None for row in rows.values())


def sympy_simplified(tokens: list[str], seed: tuple[int, int], time_limit: float) -> Row:
    """Tokens of the skeleton after SymPy, or the reason why there are none. On the main thread only, for its timer."""
    import sympy

    expression = parse(tokens)
    numbers = np.random.default_rng(seed).uniform(-10, 10, expression.n_constants)
    try:
        with cpu_limit(time_limit):
            simplified = sympy.simplify(expression.with_constants(numbers).to_sympy())
            result: Expression = from_sympy(simplified).skeleton()
    except TimeOver:
        return {"tokens": None, "reason": "time limit"}
    except SimplipyError as error:
        return {"tokens": None, "reason": f"not real: {error}"[:200]}
    except Exception as error:  # SymPy raises all sorts of errors of its own on odd input
        return {"tokens": None, "reason": f"{type(error).__name__}: {error}"[:200]}
    return {"tokens": result.tokens, "reason": None}


def _simplified_chunk(work: list[tuple[int, list[str]]], seed: int, time_limit: float) -> list[Row]:
    return [{"index": i} | sympy_simplified(tokens, (seed, i), time_limit) for i, tokens in work]


def _simplified(
    generator: Generator, chunks: list[list[int]], seed: int, time_limit: float, n_workers: int
) -> Iterator[list[Row]]:
    pool = ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"))
    waiting = iter(chunks)
    running: set[Future[list[Row]]] = set()
    try:
        while True:
            while len(running) < 2 * n_workers and (chunk := next(waiting, None)) is not None:
                drawn = generator.skeletons(seed, chunk, simplified=False)
                work = [(i, tokens) for i, tokens in zip(chunk, drawn, strict=True) if tokens is not None]
                running.add(pool.submit(_simplified_chunk, work, seed, time_limit))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(cancel_futures=True)


def _drawn(generator: Generator, chunk: list[int], seed: int, simplified: bool) -> list[Row]:
    found = generator.skeletons(seed, chunk, simplified)
    return [
        {"index": i, "tokens": tokens, "reason": None if tokens else "not finite"}
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
