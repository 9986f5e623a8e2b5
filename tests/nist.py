"""NIST's reference problems of nonlinear regression: reader of `tests/golden/nist`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "golden" / "nist"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))


@dataclass(frozen=True)
class Problem:
    """Model, starts (name -> value) of both difficulties, certified values and standard errors, data."""

    name: str
    model: str
    starts: tuple[dict[str, float], dict[str, float]]
    certified: dict[str, float]
    stderr: dict[str, float]
    residual_sum_of_squares: float
    X: dict[str, np.ndarray]
    y: np.ndarray


def read(name: str) -> Problem:
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    head = dict(line.split(": ", 1) for line in lines[:4])
    left, model = head["model"].split(" = ", 1)
    at = next(i for i, line in enumerate(lines) if line.startswith("data:"))
    rows = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in lines[5:at]}
    table = np.array([[float(v) for v in line.split()] for line in lines[at + 1 :]])
    columns = dict(zip(lines[at].split()[1:], table.T, strict=True))
    y = columns.pop("y")
    by_column = [{parameter: row[k] for parameter, row in rows.items()} for k in range(4)]
    return Problem(
        name=head["name"],
        model=model,
        starts=(by_column[0], by_column[1]),
        certified=by_column[2],
        stderr=by_column[3],
        residual_sum_of_squares=float(head["residual sum of squares"]),
        X=columns,
        y=np.log(y) if left == "log(y)" else y,
    )
