"""Text tables as laboratories write them: the same rows come out, and notes tell what was found out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simplipy.files.text_tables import TableError, TextFormat, read_text_table, why_not_numeric

ROWS = [[1.5, 2.0], [2.5, 4.0], [-3.25, 1e-3]]

# text, names, a word of each note
TABLES = {
    "commas": ("a,b\n1.5,2\n2.5,4\n-3.25,1e-3\n", ["a", "b"], []),
    "blanks after commas": ("a, b\n1.5, 2\n2.5, 4\n-3.25, 1e-3\n", ["a", "b"], []),
    "semicolons": ("a;b\n1.5;2\n2.5;4\n-3.25;1e-3\n", ["a", "b"], ["semicolons"]),
    "decimal commas": ("a;b\n1,5;2\n2,5;4\n-3,25;1e-3\n", ["a", "b"], ["semicolons", "as in '1,5'"]),
    "tabs": ("a\tb\n1.5\t2\n2.5\t4\n-3.25\t1e-3\n", ["a", "b"], ["tabs"]),
    "tabs and decimal commas": ("a\tb\n1,5\t2\n2,5\t4\n-3,25\t0,001\n", ["a", "b"], ["tabs", "decimal"]),
    "blanks": ("a   b\n1.5 2\n  2.5    4\n-3.25 1e-3  \n", ["a", "b"], ["blanks"]),
    "comments": ("# of 2020\na,b\n1.5,2\n# pause\n2.5,4\n\n-3.25,1e-3\n", ["a", "b"], []),
    "names in a comment": ("# made here\n# a b\n1.5 2\n2.5 4\n-3.25 1e-3\n", ["a", "b"], ["blanks", "comment: a, b"]),
    "no header": ("1.5,2\n2.5,4\n-3.25,1e-3\n", ["x1", "x2"], ["numbers only"]),
    "index": (",a,b\n0,1.5,2\n1,2.5,4\n2,-3.25,1e-3\n", ["a", "b"], ["index"]),
    "index of an index": ("Unnamed: 0,a,b\n0,1.5,2\n1,2.5,4\n2,-3.25,1e-3\n", ["a", "b"], ["index"]),
    "separator at the end": ("a,b,\n1.5,2,\n2.5,4,\n-3.25,1e-3,\n", ["a", "b"], ["neither a name nor values"]),
    "index of R": ('"","a","b"\n"1",1.5,2\n"2",2.5,4\n"3",-3.25,1e-3\n', ["a", "b"], ["index 1, 2, ..."]),
    "separator at the end of rows": ("a,b\n1.5,2,\n2.5,4,\n-3.25,1e-3,\n", ["a", "b"], ["rows end with a separator"]),
    "blanks in names": ("my a,my b\n1.5,2\n2.5,4\n-3.25,1e-3\n", ["my a", "my b"], []),
    "quotes": ('"a, b";c\n1.5;2\n2.5;4\n-3.25;1e-3\n', ["a, b", "c"], ["semicolons"]),
}


def written(folder: Path, text: str, encoding: str = "utf-8", name: str = "data.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_same_rows_from_every_kind_of_text(kind: str, newline: str, tmp_path: Path) -> None:
    text, names, notes = TABLES[kind]
    table = read_text_table(written(tmp_path, text.replace("\n", newline)))
    assert list(table.frame.columns) == names
    np.testing.assert_array_equal(table.frame.to_numpy(), ROWS)
    assert len(table.notes) == len(notes), table.notes
    for note, word in zip(table.notes, notes, strict=True):
        assert word in note


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", []),
        ("utf-8-sig", []),
        ("utf-16", []),
        ("latin-1", ["the file is not UTF-8 and was read as Windows-1252"]),
    ],
)
def test_encodings(encoding: str, note: list[str], tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, "größe,µ\n1,2\n", encoding))
    assert list(table.frame.columns) == ["größe", "µ"]
    assert list(table.notes) == note


def test_letters_of_windows_end_no_line(tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, "temp – °C,b…,y\n1,2,3\n4,5,6\n", "cp1252"))
    assert list(table.frame.columns) == ["temp – °C", "b…", "y"]
    path = tmp_path / "odd.csv"
    path.write_bytes(b"\x81,b\n1,2\n")  # no letter of Windows
    assert read_text_table(path).notes == ("the file is not UTF-8 and was read as Latin-1",)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("3.047D+00", "3.047e+00"), ("\u22121.5", "-1.5"), ("1 000", "1000"), ("1'234", "1234"), ("12.5 %", "0.125")],
)
def test_numbers_that_people_write(text: str, hint: str) -> None:
    why = why_not_numeric(pd.Series(["3", text]))
    assert why is not None
    assert why.endswith(f"in row 2 is no number: write {hint}")


def test_what_the_caller_says_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "2019,2020\n1,2\n", name="data.csv")
    assert read_text_table(path).frame.shape == (2, 2)
    assert list(read_text_table(path, TextFormat(header=True)).frame.columns) == ["2019", "2020"]
    path = written(tmp_path, "a;b\n1,000;2\n", name="data.csv")
    assert read_text_table(path).frame["a"].tolist() == [1.0]
    assert read_text_table(path, TextFormat(decimal=".")).frame["a"].tolist() == ["1,000"]


def test_names_that_are_there_twice_stay_so(tmp_path: Path) -> None:
    assert list(read_text_table(written(tmp_path, "a,a\n1,2\n")).frame.columns) == ["a", "a"]


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, "a,b\n"))
    assert table.frame.empty
    assert list(table.frame.columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n# more\n3,4,5\n", "line 4 has 3 fields, the lines above it have 2"),
        ("a,b\n1,2,3\n4,5,6\n", "its header has 2 names, its rows have 3 fields"),
        ("", "is empty"),
        ("a\x00b", "it is binary, not text"),
    ],
)
def test_what_is_no_table(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=message):
        read_text_table(written(tmp_path, text))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([1, 2], None),
        ([True, False], None),
        (["1", "x"], "'x' in row 2 is no number"),
        (["1,5"], "'1,5' in row 1 is no number: write 1.5, or read the file with --decimal ,"),
        (["1,000,000"], "'1,000,000' in row 1 is no number: the comma is no decimal sign; write 1000000"),
        (["1", 2.5], None),
        ([1j], "its values are complex numbers"),
        (pd.to_datetime(["2020-01-01"]), "its values are dates; convert them to a number such as seconds"),
    ],
)
def test_why_a_column_is_not_numeric(values: object, why: str | None) -> None:
    found = why_not_numeric(pd.Series(values))
    assert found == why if why is None else found.startswith(why)
