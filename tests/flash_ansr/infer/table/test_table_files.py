"""Tables from Excel files, and the choice of features and target."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flash_ansr.infer.table.table_files import choose_columns, read_table_file
from simplipy.files.text_tables import TableError, TextFormat
from tests.needs import need

ROWS = [[1.5, 2, "a"], [2.5, 4, "b"], [-3.25, None, "a"]]


def workbook(folder: Path, *sheets: list[list[Any]], names: tuple[str, ...] = ("first", "Second", "3")) -> Path:
    openpyxl = need("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in zip(names, sheets, strict=False):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = folder / "book.xlsx"
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("above", "names", "units", "notes"),
    [
        ([["x", "y", "c"]], ["x", "y", "c"], {}, []),
        ([["x", "y", "c"], ["m", "[m/s]", None]], ["x", "y", "c"], {"x": "m", "y": "m/s"}, []),
        ([["length\n(mm)", "y", "c"]], ["length (mm)", "y", "c"], {"length (mm)": "mm"}, []),
        ([["Data of May"], [], ["x", "y", "c"]], ["x", "y", "c"], {}, ["the first of 1: 'Data of May'"]),
        (
            [["by", "Ann"], ["x", "y", "c"], ["m", "s", "-"]],
            ["x", "y", "c"],
            {"x": "m", "y": "s", "c": "1"},
            ["by Ann"],
        ),
    ],
)
def test_a_sheet(
    above: list[list[Any]], names: list[str], units: dict[str, str], notes: list[str], tmp_path: Path
) -> None:
    table = read_table_file(workbook(tmp_path, [*above, *ROWS]))
    assert list(table.frame) == names
    assert table.frame.iloc[:, 0].tolist() == [1.5, 2.5, -3.25]
    np.testing.assert_array_equal(table.frame.iloc[:, 1], [2, 4, np.nan])
    assert table.frame.iloc[:, 2].tolist() == ["a", "b", "a"]
    assert table.units == units
    assert len(table.notes) == len(notes)
    for note, word in zip(table.notes, notes, strict=True):
        assert word in note


def test_cells_of_every_type(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 1)
    rows = [["", "n", "t", "b", "d", "empty"], [1, 1, "1,000.5", True, day, None], [2, 2, "900", False, day, None]]
    table = read_table_file(workbook(tmp_path, rows))
    assert list(table.frame) == ["n", "t", "b", "d", "empty"]
    assert [str(dtype)[:8] for dtype in table.frame.dtypes[:4]] == ["int64", "float64", "bool", "datetime"]
    assert table.frame["empty"].isna().all()
    assert table.frame["t"].tolist() == [1000.5, 900.0]
    assert [note[:16] for note in table.notes] == ["the first column", "column 't' was r"]


def test_numbers_without_header(tmp_path: Path) -> None:
    path = workbook(tmp_path, [[1, 2.5], [3, 4.5]])
    assert list(read_table_file(path).frame) == ["x1", "x2"]
    assert read_table_file(path, TextFormat(header=True)).frame.to_numpy().tolist() == [[3, 4.5]]


def test_sheets(tmp_path: Path) -> None:
    path = workbook(tmp_path, *([[name, "y"], [1, 2]] for name in "abc"))
    first = read_table_file(path)
    assert next(iter(first.frame)) == "a"
    assert first.notes == (
        "the file has the sheets 'first', 'Second', '3'; the first was read, and --sheet names another",
    )
    for sheet, name in (("Second", "b"), ("2", "b"), ("3", "c"), ("1", "a")):
        table = read_table_file(path, sheet=sheet)
        assert next(iter(table.frame)) == name
        assert table.notes == ()
    with pytest.raises(
        TableError, match=r"no sheet 'second'; did you mean 'Second'\? sheets are: 'first', 'Second', '3'"
    ):
        read_table_file(path, sheet="second")
    with pytest.raises(TableError, match="no sheet '4'; sheets are"):
        read_table_file(path, sheet="4")


def test_files_that_are_no_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.xlsx").write_text("no zip")
    with pytest.raises(TableError, match=r"broken\.xlsx is no table"):
        read_table_file(tmp_path / "broken.xlsx")
    with pytest.raises(TableError, match="has no rows in the sheet 'first'; --sheet names another"):
        read_table_file(workbook(tmp_path, [], [["a"], [1]]))
    with pytest.raises(TableError, match="has no rows"):
        read_table_file(workbook(tmp_path, [["a", "b"]]))
    (tmp_path / "old.xls").write_bytes(b"")
    with pytest.raises(TableError, match=r"has none of the endings of tables: .* save it as \.xlsx or \.csv"):
        read_table_file(tmp_path / "old.xls")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=r"has no sheets, only Excel files .* leave out --sheet 2"):
        read_table_file(tmp_path / "a.csv", sheet="2")
    path = workbook(tmp_path, [["a"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(TableError, match=r"Excel files need openpyxl: pip install 'flash-ansr\[excel\]'"):
        read_table_file(path)


TABLE = pd.DataFrame({"a": [1.0, 2.0], "t": ["u", "v"], "d": pd.to_datetime(["2020", "2021"]), "y": ["1,5", "2,5"]})


def test_columns_that_numbers_can_be_made_of() -> None:
    columns = choose_columns(TABLE, None)
    assert list(columns.features) == ["a", "t"]
    assert columns.target.name == "y"
    assert list(columns.left_out) == ["d"]
    assert columns.left_out["d"].startswith("its values are dates")
    assert list(choose_columns(TABLE, "a", ["t", "d"]).features) == ["t", "d"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("a,y", "--target must be one column, got 'a,y': a law gives one; run the command once for each"),
        ("z,y", "there is no column 'z,y'"),
        (
            "t",
            "the target 't' must be numeric: 'u' in row 1 is no number; name another with --target, or write numbers",
        ),
        ("d", "the target 'd' must be numeric: its values are dates"),
    ],
)
def test_targets_that_are_none(target: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        choose_columns(TABLE, target)


def test_gaps_of_the_target() -> None:
    table = TABLE.assign(a=[np.nan, 1.0])
    with pytest.raises(
        TableError, match="the target 'a' is missing in 1 of 2 rows, first in row 1; fill them, or --missing"
    ):
        choose_columns(table, "a")
    for missing in ("drop", "median"):
        assert choose_columns(table, "a", missing=missing).target.isna().tolist() == [True, False]
    with pytest.raises(TableError, match="the target 'a' is infinite in 1 of 2 rows, first in row 2; correct"):
        choose_columns(TABLE.assign(a=[1.0, np.inf]), "a", missing="drop")
