"""A result as a folder: ``result.json`` with the law and all that predicting needs, ``candidates.csv`` to look at."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from flash_ansr.infer.proposers.base import Proposer
from flash_ansr.infer.result.law import Law
from flash_ansr.infer.settings import FullPipeline, PaperPipeline, pipeline_mapping
from flash_ansr.infer.table.encoding import Encoding
from simplipy import parse
from simplipy.errors import SimplipyError
from simplipy.files.output_files import make_folder, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = 1
RESULT_FILE = "result.json"
CANDIDATES_FILE = "candidates.csv"
FIGURE_FILE = "law.png"
_FILES = (CANDIDATES_FILE, FIGURE_FILE, RESULT_FILE)
_NEW = ".new"  # folder inside, so that it is on the same disk: a result is moved out of it when it is whole


class ResultError(SimplipyError):
    """A folder that is no result, or one that this version cannot read."""


@dataclass(frozen=True, slots=True)
class SavedResult:
    """The content of a result folder.

    Attributes
    ----------
    parameters : mapping
        Of the estimator, plain values only.
    columns : sequence of str
        Names of all columns of X.
    named_columns : bool
        Whether X was a table with these names.
    encoding : Encoding
        How these columns become the variables of laws.
    ranges : sequence of (low, high)
        Of these variables, in the rows of the fit.
    laws : sequence of Law
        Of the candidates, the law first.
    baseline : Law
    candidates : DataFrame
    report : mapping
    """

    parameters: Mapping[str, Any]
    columns: Sequence[str]
    named_columns: bool
    encoding: Encoding
    ranges: Sequence[tuple[float, float]]
    laws: Sequence[Law]
    baseline: Law
    candidates: pd.DataFrame
    report: Mapping[str, Any]


def stored_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator that a file can hold; a callback, for example, is left out."""
    stored: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, FullPipeline | PaperPipeline):
            stored[name] = pipeline_mapping(value)
        else:
            with suppress(TypeError):
                stored[name] = _plain(value)
    return stored


def _plain(value: Any) -> Any:
    """The value in what JSON has: NumPy's numbers as Python's, sets sorted; a TypeError for what it cannot hold."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Proposer):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    raise TypeError(f"a result cannot hold a {type(value).__name__}")


def check_folder(folder: str | Path) -> None:
    """Refuse a folder that is there and is no result; changes nothing."""
    folder = Path(folder)
    if folder.exists() and not (folder.is_dir() and _is_result(folder)):
        raise ResultError(f"{folder} exists and is no result; choose another folder")


def _is_result(folder: Path) -> bool:
    """Whether a folder is empty, a result, or what a killed search left; files of our names may be somebody else's."""
    names = {path.name for path in folder.iterdir()}
    if RESULT_FILE in names:
        with suppress(OSError, ValueError):
            content = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
            return isinstance(content, dict) and {"format", "law_tokens"} <= set(content)
        return False
    names -= {_NEW, f".{CANDIDATES_FILE}.part"}
    if CANDIDATES_FILE in names and names <= {*_FILES}:
        with (folder / CANDIDATES_FILE).open(encoding="utf-8", errors="replace") as file:
            return file.readline().startswith("expression,length,")
    return not names


def start_folder(folder: str | Path) -> None:
    """Make the folder of a run, or clear the result of an earlier one; refuse a folder that is something else."""
    check_folder(folder)
    folder = Path(folder)
    make_folder(folder)
    _clear(folder)


def _clear(folder: Path) -> None:
    for name in (*_FILES, f".{CANDIDATES_FILE}.part"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / _NEW, ignore_errors=True)


def write_candidates(folder: str | Path, candidates: pd.DataFrame) -> None:
    """Write ``candidates.csv``, formulas with all their digits."""
    write_whole(Path(folder) / CANDIDATES_FILE, candidates.to_csv(index=False))


def write_result(folder: str | Path, saved: SavedResult, figure: Figure | None = None) -> None:
    """Write the folder, whole or not at all: it replaces a result that is there, which a failure leaves as it is."""
    law = saved.laws[0]
    content = {
        "format": FORMAT,
        "law": law.named.infix(),
        "latex": law.named.latex(precision=4),
        "columns": list(saved.columns),
        "named_columns": saved.named_columns,
        "encoding": saved.encoding.to_json(),
        "ranges": [list(pair) for pair in saved.ranges],
        "law_tokens": law.expression.tokens,
        "baseline_tokens": saved.baseline.expression.tokens,
        "candidate_tokens": [law.expression.tokens for law in saved.laws],
        "parameters": _plain(saved.parameters),
        "report": _plain(saved.report),
    }
    folder, new = Path(folder), Path(folder) / _NEW
    check_folder(folder)
    try:
        write_candidates(new, saved.candidates)
        if figure is not None:
            figure.savefig(new / FIGURE_FILE, dpi=120)
        write_whole(new / RESULT_FILE, json.dumps(content, indent=1) + "\n")
        for name in reversed(_FILES):
            (folder / name).unlink(missing_ok=True)
        for name in _FILES:  # ``result.json`` last: with it the result is whole
            if (new / name).exists():
                (new / name).replace(folder / name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if not (folder / RESULT_FILE).exists():
            _clear(folder)
            with suppress(OSError):  # a file of somebody else is in it
                folder.rmdir()


def read_result(folder: str | Path) -> SavedResult:
    """Read what ``write_result`` wrote."""
    folder = Path(folder)
    path = folder / RESULT_FILE
    if not path.is_file():
        raise ResultError(f"{folder} is no result: it has no {RESULT_FILE}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no UTF-8
        raise ResultError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ResultError(f"{path} has another format than this version reads, {FORMAT}; fit again or update")
    try:
        return _result(content, pd.read_csv(folder / CANDIDATES_FILE))
    except (KeyError, IndexError, TypeError, ValueError, OSError) as error:
        raise ResultError(f"{folder} is damaged: {type(error).__name__}: {error}") from None


def _result(content: Mapping[str, Any], candidates: pd.DataFrame) -> SavedResult:
    if "encoding" in content:
        encoding = Encoding.from_json(content["encoding"])
    else:  # of a version that knew numbers only, and the columns that it searched
        unused = set(range(len(content["columns"]))) - set(content["selected"])
        encoding = Encoding.of_numbers(content["columns"]).without({content["columns"][k]: "unused" for k in unused})
    names = encoding.names
    laws = [Law(parse(tokens), names) for tokens in content["candidate_tokens"]]
    candidates["expression"] = pd.Series([law.named for law in laws], dtype=object)
    plain = {name: content[name] for name in ("parameters", "columns", "named_columns", "report")}
    baseline = Law(parse(content["baseline_tokens"]), names)
    ranges = content.get("ranges", [(-math.inf, math.inf)] * len(names))  # not in results of earlier versions
    return SavedResult(encoding=encoding, laws=laws, baseline=baseline, candidates=candidates, ranges=ranges, **plain)
