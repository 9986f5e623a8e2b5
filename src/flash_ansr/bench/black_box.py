"""Tables without a known law, by the protocol of SRBench: 75 % of the rows to fit, 25 % to test.

A task is one split of one table. Its row holds R2 on both parts, so that a report needs no table. The folder of the
tables is no part of a task: rows of the same tables are alike wherever these are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from flash_ansr.bench.execute import fit, without_law
from flash_ansr.bench.numeric import fvu
from flash_ansr.bench.rows import BenchError, Row, Task
from flash_ansr.bench.systems import Trees
from flash_ansr.bench.systems.base import FloatArray
from flash_ansr.catalogues.streams import digest_of
from simplipy import Expression
from simplipy.errors import SimplipyError, did_you_mean

# the name that tasks on tables have as their catalogue
BLACK_BOX = "pmlb"
# rows to fit at most, of larger tables
MOST_ROWS = 10_000
_TEST_SHARE = 0.25
_TARGET = "target"
_SUFFIXES = tuple(f"{text}{packed}" for text in (".tsv", ".csv") for packed in (".gz", ""))
# settings of the authors for SRBench, with the time limit in the place of evaluations and generations; the settings of
# eggp, symregg and rils_rols are in worker.py. SRBench standardises for all of these but rils_rols.
SETTINGS: dict[str, dict[str, Any]] = {
    "gplearn": {"scale": "standard"},
    "eggp": {"scale": "standard", "choice": "own"},
    "symregg": {"scale": "standard", "choice": "own"},
    "operon": {
        "scale": "standard",
        "allowed_symbols": "add,mul,aq,constant,variable",
        "objectives": ["r2"],
        "optimizer_iterations": 5,
        "population_size": 500,
        "pool_size": 500,
        "max_length": 50,
        "max_depth": 10,
        "tournament_size": 5,
        "reinserter": "keep-best",
        "offspring_generator": "basic",
        "choice": "own",
    },
}


@dataclass(frozen=True, slots=True, eq=False)
class DataTable:
    """A table: columns and a target, all finite.

    Attributes
    ----------
    X : ndarray, shape (n, k)
    y : ndarray, shape (n,)
    """

    X: FloatArray
    y: FloatArray

    @property
    def digest(self) -> str:
        """Of all values."""
        return digest_of(np.column_stack([self.X, self.y]))

    def split(self, seed: int, most_rows: int) -> tuple[DataTable, DataTable]:
        """Rows to fit, at most so many, and rows to test, drawn as SRBench draws them."""
        from sklearn.model_selection import train_test_split

        fitted, tested = train_test_split(np.arange(len(self.y)), test_size=_TEST_SHARE, random_state=seed)
        # both parts are in random order
        return self._at(fitted[:most_rows]), self._at(tested)

    def _at(self, rows: np.typing.NDArray[np.int64]) -> DataTable:
        return DataTable(self.X[rows], self.y[rows])


@dataclass(frozen=True, slots=True)
class TableFolder:
    """A folder of tables, and how a task on one becomes a row.

    Attributes
    ----------
    path : Path
        Its files ``*.tsv`` and ``*.csv``, also with ``.gz``; the target is the column `target`, or the last one.
    """

    path: Path

    def names(self) -> list[str]:
        """Names of the tables: of their files, without the ending.

        Raises
        ------
        BenchError
            When there are none.
        """
        return list(self._files())

    def chosen(self, names: list[str]) -> list[str]:
        """These tables, all where no name is given."""
        known = self.names()
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known, f"it has {', '.join(known[:5])}")
                raise BenchError(f"the folder {self.path} has no table {name!r}; {hint}")
        return names or known

    def read(self, name: str) -> DataTable:
        """A table by its name."""
        return _read(self._files()[name])

    def digest(self, task: Task) -> str:
        """Of the table of a task."""
        return self.read(task.problem).digest

    def run_task(self, task: Task) -> Row:
        """Split the table, fit, and return the row with R2 on both parts. A failure of the system is a row too."""
        table = self.read(task.problem)
        fitted, tested = table.split(task.dataset, task.points)
        row, found = fit(task, fitted.X, fitted.y, {"problem": table.digest})
        sizes = {"n_rows": len(fitted.y), "n_test_rows": len(tested.y), "n_columns": table.X.shape[1]}
        row = replace(row, report=row.report | sizes)
        if found is None:
            return row
        try:
            r2 = {"r2_test": _r2(found, tested), "r2_fit": _r2(found, fitted)}
        except SimplipyError as error:  # a law in columns that are not there
            return without_law(row, error)
        size = found.n_nodes if isinstance(found, Trees) else len(found)
        # a system that saw standardised columns counts its formula in these, as SRBench does
        return replace(row, report=r2 | {"size": size} | row.report)

    def _files(self) -> dict[str, Path]:
        files: dict[str, Path] = {}
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else []:
            if suffix := next((s for s in _SUFFIXES if file.name.endswith(s)), None):
                name = file.name.removesuffix(suffix)
                if name in files:
                    raise BenchError(f"{file} and {files[name]} have the same name; remove one of them")
                files[name] = file
        if not files:
            raise BenchError(f"no tables in {self.path}; --data must name a folder with files *.tsv.gz or *.csv")
        return files


@functools.lru_cache(maxsize=4)
def _read(file: Path) -> DataTable:
    """The table of a file; one stays for the tasks that come next."""
    try:
        frame = pd.read_csv(file, sep="\t" if ".tsv" in file.suffixes else ",")
    except (OSError, ValueError) as error:
        raise BenchError(f"cannot read the table {file}: {error}") from error
    target = _TARGET if _TARGET in frame else frame.columns[-1]
    if frame.shape[1] < 2 or len(frame) < 2:
        raise BenchError(f"{file} must have two columns and two rows at least, got {frame.shape[1]} and {len(frame)}")
    for column in frame:
        values = pd.to_numeric(frame[column], errors="coerce")
        if not np.isfinite(values).all():
            value = frame[column][~np.isfinite(values)].iloc[0]
            raise BenchError(f"{file}: all values must be finite numbers, got {value!r} in the column {column!r}")
    return DataTable(
        np.ascontiguousarray(frame.drop(columns=target), dtype=np.float64),
        np.asarray(frame[target], dtype=np.float64),
    )


def _r2(found: Expression | Trees, table: DataTable) -> float:
    """Share of the variance that is explained; minus infinity where a prediction is not finite."""
    prediction = found.predict(table.X) if isinstance(found, Trees) else found(table.X)
    return 1 - fvu(table.y, prediction)
