"""Problems as files for others to use: NumPy's npz, or Parquet with one row a problem.

Files appear whole or not at all; a run that is stopped early writes the problems that it has.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from flash_ansr.data.errors import DataError
from flash_ansr.data.generator import Generator
from simplipy.files.output_files import replacing

_CHUNK = 2048
_BLOCK = 2**20  # bytes that a thread compresses at a time
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Made:
    """Summary of the files that a run has written."""

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
            _write_npz(temporary, arrays, generator, metadata, n_threads)
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


def _write_npz(path: Path, arrays: Arrays, generator: Generator, metadata: dict[str, Any], n_threads: int) -> None:
    """Write the file of ``np.savez_compressed``, compressed by threads: one alone takes longer than the drawing."""
    text = {"vocabulary": np.array(generator.vocabulary.tokens), "metadata": np.array(json.dumps(metadata))}
    with ZipFile(path, "w") as file, ThreadPoolExecutor(n_threads) as pool:
        for name, array in arrays.items():
            _write_member(file, f"{name}.npy", array, pool)
        for name, array in text.items():
            np.save(content := BytesIO(), array)
            file.writestr(ZipInfo(f"{name}.npy"), content.getvalue())


def _write_member(file: ZipFile, name: str, array: npt.NDArray[Any], pool: ThreadPoolExecutor) -> None:
    """Add a file that is compressed here: ``ZipFile`` itself compresses in one thread."""
    assert file.fp is not None
    np.lib.format.write_array_header_1_0(head := BytesIO(), np.lib.format.header_data_from_array_1_0(array))
    data = array.ravel().view(np.uint8).data
    blocks = [head.getbuffer(), *(data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))]
    pieces = [*pool.map(_deflated, blocks), zlib.compressobj(wbits=-zlib.MAX_WBITS).flush()]
    info = ZipInfo(name)
    info.CRC = 0
    info.compress_type, info.header_offset = ZIP_DEFLATED, file.fp.tell()
    info.file_size, info.compress_size = sum(map(len, blocks)), sum(map(len, pieces))
    for block in blocks:
        info.CRC = zlib.crc32(block, info.CRC)
    file.fp.write(info.FileHeader())
    file.fp.writelines(pieces)
    file.filelist.append(info)
    file.start_dir = file.fp.tell()


def _deflated(block: memoryview) -> bytes:
    """A piece of a raw deflate stream that others may follow. A higher level takes twice the time for 3 %."""
    stream = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
    return stream.compress(block) + stream.flush(zlib.Z_FULL_FLUSH)


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
