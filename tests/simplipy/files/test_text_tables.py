"""Text tables as laboratories write them: the same rows come out, and notes tell what was found out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simplipy.files.text_tables import TableError, TextFormat, read_text_table

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
    "bars": ("a|b\n1.5|2\n2.5|4\n-3.25|1e-3\n", ["a", "b"], ["bars"]),
    "Markdown": ("| a | b |\n|---|--:|\n| 1.5 | 2 |\n| 2.5 | 4 |\n| -3.25 | 1e-3 |\n", ["a", "b"], ["bars"]),
    "a rule below the header": ("a b\n--- ---\n1.5 2\n2.5 4\n-3.25 1e-3\n", ["a", "b"], ["blanks"]),
    "bars around blanks": ("  a   |  b\n 1.5 | 2\n 2.5 | 4\n -3.25 | 1e-3\n", ["a", "b"], ["bars"]),
    "lines above the header": (
        "Device: 7\nmade 3 May, by Ann, here\n\na,b\n1.5,2\n2.5,4\n-3.25,1e-3\n",
        ["a", "b"],
        ["the first of 2: 'Device: 7'"],
    ),
    "lines above numbers": (
        "Device: 7\n1.5,2\n2.5,4\n-3.25,1e-3\n",
        ["x1", "x2"],
        ["the first of 1: 'Device: 7'", "numbers only"],
    ),
    "lines above and blanks": (
        "written by the device\n\na b\n1.5 2\n2.5 4\n-3.25 1e-3\n",
        ["a", "b"],
        ["blanks", "the first of 1"],
    ),
    "a name with a line break": ('"a\n(m)",b\n1.5,2\n2.5,4\n-3.25,1e-3\n', ["a (m)", "b"], []),
    "a line break in a cell": (
        'a,b,"note"\n1.5,2,"one\nline"\n2.5,4,x\n-3.25,1e-3,x\n',
        ["a", "b", "note"],
        [],
    ),
    "units": ("a,b\nm,[km/h]\n1.5,2\n2.5,4\n-3.25,1e-3\n", ["a", "b"], []),
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
    np.testing.assert_array_equal(table.frame.iloc[:, :2].to_numpy(dtype=float), ROWS)
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


def test_units_are_kept(tmp_path: Path) -> None:
    in_row = read_text_table(written(tmp_path, "a;b (s);c\nm;;-\n1;2;x\n3;4;y\n"))
    assert in_row.units == {"a": "m", "b (s)": "s", "c": "1"}
    assert in_row.frame["a"].tolist() == [1, 3]
    in_names = read_text_table(written(tmp_path, '"length\n[m]",speed (m/s),y\n1,2,3\n'))
    assert in_names.units == {"length [m]": "m", "speed (m/s)": "m/s"}
    assert read_text_table(written(tmp_path, "a,b\n1,2\n")).units == {}


def test_a_first_row_of_texts_is_no_row_of_units(tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, "sex,grade\nm,a\nf,b\nm,a\n"))
    assert table.frame["sex"].tolist() == ["m", "f", "m"]


@pytest.mark.parametrize(
    ("text", "values", "note"),
    [
        ('a,b\n"1,000",1\n"12,345.5",2\n', [1000.0, 12345.5], "'1,000' as 1000"),
        ("a;b\n1,000.5;1\n900;2\n", [1000.5, 900.0], "'1,000.5' as 1000.5"),
        ("a;b\n1.234,5;1\n900;2\n", [1234.5, 900.0], "'1.234,5' as 1234.5"),
        ("a;b\n12 %;1\n50 %;2\n", [0.12, 0.5], "'12 %' as 0.12"),
        ("a\tb\n1 000\t1\n2 000\t2\n", [1000.0, 2000.0], "'1 000' as 1000"),
    ],
)
def test_numbers_that_people_write(text: str, values: list[float], note: str, tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, text))
    assert table.frame["a"].tolist() == values
    assert any(note in found for found in table.notes), table.notes


def test_texts_lose_their_blanks_and_nothing_else(tmp_path: Path) -> None:
    table = read_text_table(written(tmp_path, 'a | b\n red | 1 \n 5" pipe | 2\n x"y | 3\n'))
    assert table.frame["a"].tolist() == ["red", '5" pipe', 'x"y']
    assert table.frame["b"].tolist() == [1, 2, 3]


def test_what_the_caller_says_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "2019,2020\n1,2\n", name="data.csv")
    assert read_text_table(path).frame.shape == (2, 2)
    assert list(read_text_table(path, TextFormat(header=True)).frame.columns) == ["2019", "2020"]
    path = written(tmp_path, "a;b\n1,000;2\n", name="data.csv")
    assert read_text_table(path).frame["a"].tolist() == [1.0]
    assert read_text_table(path, TextFormat(decimal=".")).frame["a"].tolist() == [1000.0]
    path = written(tmp_path, "a|b\n1|2\n", name="data.csv")
    assert read_text_table(path, TextFormat(separator="bar")).frame["b"].tolist() == [2]


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
