"""A result as a folder: ``result.json`` with the law and all that predicting needs, ``candidates.csv`` to look at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from flash_ansr.infer.law import Law
from simplipy import parse

FORMAT = 1
RESULT_FILE = "result.json"
CANDIDATES_FILE = "candidates.csv"


class ResultError(ValueError):
    """A folder that is no result, or one that this version cannot read."""


@dataclass(frozen=True, slots=True)
class SavedResult:
    """What is written.

    Attributes
    ----------
    parameters : mapping
        Of the estimator, plain values only.
    columns : sequence of str
        Names of all columns of X.
    named_columns : bool
        Whether X was a table with these names.
    selected : sequence of int
        Columns that laws are written in.
    law, baseline : Law
    laws : sequence of Law
        Of the candidates, best first.
    candidates : DataFrame
    report : mapping
    """

    parameters: Mapping[str, Any]
    columns: Sequence[str]
    named_columns: bool
    selected: Sequence[int]
    law: Law
    baseline: Law
    laws: Sequence[Law]
    candidates: pd.DataFrame
    report: Mapping[str, Any]


def write_result(folder: str | Path, saved: SavedResult) -> None:
    """Write the folder whole or not at all; a result that is there is replaced."""
    folder = Path(folder)
    content = {
        "format": FORMAT,
        "law": saved.law.named.infix(),
        "latex": saved.law.named.latex(precision=4),
        "columns": list(saved.columns),
        "named_columns": saved.named_columns,
        "selected": [int(k) for k in saved.selected],
        "law_tokens": saved.law.expression.tokens,
        "baseline_tokens": saved.baseline.expression.tokens,
        "candidate_tokens": [law.expression.tokens for law in saved.laws],
        "parameters": dict(saved.parameters),
        "report": dict(saved.report),
    }
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    (new / RESULT_FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    saved.candidates.to_csv(new / CANDIDATES_FILE, index=False)  # formulas with all their digits
    if folder.exists():
        if any(folder.iterdir()) and not (folder / RESULT_FILE).is_file():
            shutil.rmtree(new)
            raise ResultError(f"{folder} exists and is no result; choose another folder")
        for file in new.iterdir():
            file.replace(folder / file.name)
        new.rmdir()
    else:
        new.rename(folder)


def read_result(folder: str | Path) -> SavedResult:
    """Read what ``write_result`` wrote."""
    folder = Path(folder)
    path = folder / RESULT_FILE
    if not path.is_file():
        raise ResultError(f"{folder} is no result: it has no {RESULT_FILE}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ResultError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ResultError(f"{path} has another format than this version reads, {FORMAT}; fit again or update")
    try:
        return _result(content, pd.read_csv(folder / CANDIDATES_FILE))
    except (KeyError, IndexError, TypeError, ValueError, OSError) as error:
        raise ResultError(f"{folder} is damaged: {type(error).__name__}: {error}") from None


def _result(content: Mapping[str, Any], candidates: pd.DataFrame) -> SavedResult:
    names = [content["columns"][k] for k in content["selected"]]
    laws = [Law(parse(tokens), names) for tokens in content["candidate_tokens"]]
    candidates["expression"] = pd.Series([law.named for law in laws], dtype=object)
    return SavedResult(
        parameters=content["parameters"],
        columns=content["columns"],
        named_columns=content["named_columns"],
        selected=content["selected"],
        law=Law(parse(content["law_tokens"]), names),
        baseline=Law(parse(content["baseline_tokens"]), names),
        laws=laws,
        candidates=candidates,
        report=content["report"],
    )
