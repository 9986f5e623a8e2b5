"""Problems as files for others to use: NumPy's npz, or Parquet with one row a problem.

Files appear whole or not at all; a run that is stopped early writes the problems that it has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from flash_ansr.data.errors import DataError
from flash_ansr.data.generator import Generator
from simplipy.output_files import replacing

_CHUNK = 2048
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Made:
    """What a run has written."""

    path: Path
    n_problems: int
    n_rows: int
    stopped: str | None  # why before the end


def make_file(
    generator: Generator,
    path: Path,
    n: int,
    seed: int = 0,
    n_threads: int = 1,
    time_limit: float | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Made:
    """Write the problems 0 to n-1 of a seed.

    Parameters
    ----------
    path : Path
        ``.npz`` or ``.parquet``.
    n_threads : int
        The file does not depend on it.
    time_limit : float, optional
        Seconds after which the problems made so far are written. An interrupt (Ctrl-C) does the same.
    progress : callable
        Called with the number of problems that are done.
    """
    if n < 1:
        raise DataError(f"n must be >= 1 problem, got {n}")
    if path.suffix not in (".npz", ".parquet"):
        raise DataError(f"the file must end in .npz or .parquet, got {str(path)!r}")
    chunks: list[Arrays] = []
    stopped = None
    try:
        for chunk in _chunks(generator, n, seed, n_threads, time_limit):
            chunks.append(chunk)
            progress(sum(len(c["n_rows"]) for c in chunks))
    except KeyboardInterrupt:
        stopped = "interrupted"
    n_done = sum(len(chunk["n_rows"]) for chunk in chunks)
    if stopped is None and n_done < n:
        stopped = "time limit"
    if not chunks:
        return Made(path, 0, 0, stopped)
    arrays = _joined(chunks)
    metadata = {"prior": generator.prior.name, "seed": seed, "n": n_done}
    with replacing(path) as temporary:
        if path.suffix == ".npz":
            _write_npz(temporary, arrays, generator, metadata)
        else:
            _write_parquet(temporary, arrays, generator, metadata)
    return Made(path, n_done, int(arrays["n_rows"].sum()), stopped)


def _chunks(generator: Generator, n: int, seed: int, n_threads: int, time_limit: float | None) -> Iterator[Arrays]:
    deadline = None if time_limit is None else monotonic() + time_limit
    for start in range(0, n, _CHUNK):
        if deadline is not None and monotonic() > deadline:
            return
        yield generator.flat(seed, range(start, min(n, start + _CHUNK)), n_threads)


def _joined(chunks: list[Arrays]) -> Arrays:
    """The arrays of all chunks, token ids without start and end, padded with -1."""
    names = ("X", "y", "n_rows", "n_columns", "lengths", "noise", "constants", "n_constants")
    arrays = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in names}
    width = int(arrays["lengths"].max())
    tokens = np.full((len(arrays["lengths"]), width), -1, dtype=np.int16)
    ids = [chunk["token_ids"] for chunk in chunks]
    start = 0
    for part in ids:
        tokens[start : start + len(part), : part.shape[1] - 2] = part[:, 1:-1]
        start += len(part)
    tokens[np.arange(width) >= arrays["lengths"][:, None]] = -1
    return arrays | {"tokens": tokens}


def _write_npz(path: Path, arrays: Arrays, generator: Generator, metadata: dict[str, Any]) -> None:
    vocabulary = np.array(generator.vocabulary.tokens)
    with path.open("wb") as file:
        content: dict[str, Any] = {**arrays, "vocabulary": vocabulary, "metadata": np.array(json.dumps(metadata))}
        np.savez_compressed(file, **content)


def _write_parquet(path: Path, arrays: Arrays, generator: Generator, metadata: dict[str, Any]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError("a .parquet file needs pyarrow: pip install 'flash-ansr[parquet]', or write .npz") from None

    def lists(values: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Any:
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))

    n_variables = generator.vocabulary.n_variables
    words = np.array(generator.vocabulary.tokens)
    table = pa.table(
        {
            "tokens": lists(words[arrays["tokens"][arrays["tokens"] >= 0]], arrays["lengths"]),
            "n_rows": arrays["n_rows"],
            "n_columns": arrays["n_columns"],
            "X": lists(arrays["X"].ravel(), arrays["n_rows"] * n_variables),  # row by row
            "y": lists(arrays["y"], arrays["n_rows"]),
            "constants": lists(arrays["constants"], arrays["n_constants"]),
            "noise": arrays["noise"],
        },
        metadata={"flash_ansr": json.dumps(metadata | {"n_variables": n_variables})},
    )
    pq.write_table(table, path, compression="zstd")
