"""The command line: output, --json, exit codes, no traceback for a user's mistake."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Done, run


@pytest.mark.parametrize(("arguments", "code"), [(("show", "x1"), 0), (("show", "x1 +"), 2)])
def test_python_dash_m(arguments: tuple[str, ...], code: int) -> None:
    command = [sys.executable, "-m", "simplipy", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def strict_json(text: str) -> object:
    """JSON proper: NaN and Infinity are not in the standard."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def lists_in(thing: object) -> list[list]:
    """Every list anywhere in a JSON document."""
    if isinstance(thing, dict):
        return [found for value in thing.values() for found in lists_in(value)]
    if isinstance(thing, list):
        return [thing, *(found for value in thing for found in lists_in(value))]
    return []


def assert_refused(done: Done, *patterns: str) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    for pattern in patterns:
        assert re.search(pattern, done.stderr), done.stderr


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("x1,x2,mass,my var\n1,2,3,4\n-1,0.5,2,8\n2.5e0,-1,1,16\n")
    return path


def test_show() -> None:
    done = run("show", "x1*sin(x2)/2")
    assert done.returncode == 0, done.stderr
    assert "\\sin" in done.stdout
    assert "div2" in done.stdout
    assert "5" in done.stdout
    assert done.stderr == ""


def test_show_json() -> None:
    done = run("show", "x1*sin(x2)/2", "--json")
    assert done.returncode == 0, done.stderr
    shown = strict_json(done.stdout)
    assert isinstance(shown, dict)
    assert shown["tokens"] == ["div2", "*", "x1", "sin", "x2"]
    assert shown["length"] == 5
    assert "\\sin" in shown["latex"]


@pytest.mark.parametrize("arguments", [("--json", "--", "-x1^2"), ("-x1^2", "--json"), ("--json", "-x1^2")])
def test_show_of_a_leading_minus(arguments: tuple[str, ...]) -> None:
    done = run("show", *arguments)
    assert done.returncode == 0, done.stderr
    assert strict_json(done.stdout)["tokens"] == ["neg", "pow2", "x1"]


def test_names_are_shown_as_they_are() -> None:
    done = run("show", "`[red]a`*`:smile:` + `[/]`")
    assert done.returncode == 0, done.stderr
    assert "`[red]a`*`:smile:` + `[/]`" in done.stdout


def test_show_does_not_need_ascii() -> None:
    done = run("show", "`größe µ` + 1", "--json")
    assert done.returncode == 0, done.stderr
    assert strict_json(done.stdout)["tokens"] == ["+", "`größe µ`", "1"]


def test_eval_json(csv: Path) -> None:
    done = run("eval", "x1^2 + log(x2)", "--data", str(csv), "--json")
    assert done.returncode == 0, done.stderr
    columns = [c for c in lists_in(strict_json(done.stdout)) if len(c) == 3 and c[2] is None]
    assert columns, done.stdout
    assert columns[0][0] == pytest.approx(1 + math.log(2))
    assert columns[0][1] == pytest.approx(1 + math.log(0.5))


def test_eval_text(csv: Path) -> None:
    done = run("eval", "x1 + 100.25", "--data", str(csv))
    assert done.returncode == 0, done.stderr
    numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", done.stdout)]
    for expected in (101.25, 99.25, 102.75):
        assert expected in numbers, done.stdout


def test_eval_binds_columns_by_name(csv: Path) -> None:
    done = run("eval", "mass*`my var`", "--data", str(csv), "--json")
    assert done.returncode == 0, done.stderr
    assert [12.0, 16.0, 16.0] in lists_in(strict_json(done.stdout))


def test_eval_of_an_indicator(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x,colour\n1,red\n2,blue\n3,\n")
    done = run("eval", 'x + 10*(colour == "red")', "--data", str(tmp_path / "data.csv"))
    assert "│    red │ 1 │                       11 │" in done.stdout
    assert "3 rows, 1 undefined" in done.stdout
    done = run("eval", 'x + 10*(colour == "red")', "--data", str(tmp_path / "data.csv"), "--json")
    assert json.loads(done.stdout)["values"] == [11.0, 2.0, None]


def test_eval_does_not_depend_on_the_order_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "swapped.csv"
    path.write_text("x2,x1\n10,1\n20,2\n")
    done = run("eval", "x1 - x2", "--data", str(path), "--json")
    assert [-9.0, -18.0] in lists_in(strict_json(done.stdout))


def test_eval_of_an_empty_cell_is_undefined(tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text("x1,x2\n1,5\n,6\n3,7\n")
    done = run("eval", "x1 + x2", "--data", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert [6.0, None, 10.0] in lists_in(strict_json(done.stdout))


@pytest.mark.parametrize("arguments", [("--help",), ("show", "--help"), ("eval", "--help")])
def test_help(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 0
    assert "usage" in done.stdout.lower()
    assert len(done.stdout) > 150
    if arguments == ("--help",):
        assert "show" in done.stdout
        assert "eval" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("show", "x1 + * x2"), r"(?m)^\s*\^"),
        (("show", "sinn(x1)"), "sin"),
        (("show", "sin(x1"), r"\^"),
        (("show", ""), "empty"),
        (("show",), "."),
        (("show", "x1", "--jsno"), "."),
        (("shwo", "x1"), "."),
        (("eval", "x1"), "--data"),
        (("eval", "x1", "--data", "no_such_file.csv"), "error: no_such_file.csv: No such file"),
        (("eval", "x1", "--data", "."), "."),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_end_with_2(arguments: tuple[str, ...], pattern: str) -> None:
    done = run(*arguments)
    assert_refused(done, pattern)
    assert done.stderr.strip()


def test_missing_column_is_named(csv: Path) -> None:
    assert_refused(run("eval", "x1 + speed", "--data", str(csv)), "speed")
    assert_refused(run("eval", "x7", "--data", str(csv)), "x7")


def test_free_constants_are_refused(csv: Path) -> None:
    assert_refused(run("eval", "<constant>*x1", "--data", str(csv)), "write a number for each <constant>")


@pytest.mark.parametrize(
    "content", ["", "x1\n1\nabc\n", "x1,x2\n1,2\n3\n4,5,6\n", "\x00\x01\x02"], ids=["empty", "text", "ragged", "binary"]
)
def test_broken_csv(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(content)
    assert_refused(run("eval", "x1", "--data", str(path)), "broken.csv|line|row|column")


def test_csv_with_a_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "header.csv"
    path.write_text("x1\n")
    done = run("eval", "x1", "--data", str(path), "--json")
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr


def test_csv_as_spreadsheets_write_it(tmp_path: Path) -> None:
    path = tmp_path / "bom.csv"
    path.write_bytes(b"\xef\xbb\xbfx1,x2\r\n1,2\r\n3,4\r\n")
    done = run("eval", "x1*x2", "--data", str(path), "--json")
    assert done.returncode == 0, done.stderr
    assert [2.0, 12.0] in lists_in(strict_json(done.stdout))


def test_tables_of_laboratories(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("# of a balance\nx1;x2\n1,5;2\n3;4\n")
    out = tmp_path / "new" / "out.csv"
    done = run("eval", "x1*x2", "--data", str(path), "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    assert [3.0, 12.0] in lists_in(strict_json(done.stdout))
    assert "note: columns are separated by semicolons" in done.stderr
    assert out.read_text().splitlines() == ["x1,x2,value", "1.5,2,3.0", "3.0,4,12.0"]
    assert_refused(run("eval", "x1", "--data", str(path), "--out", str(path)), "is the table itself")
    path.write_text("x1,x2\n1,2\n1,late\n")
    assert_refused(run("eval", "x1*x2", "--data", str(path)), "'x2' has a value that is no number: 'late' in row 2")


@pytest.mark.parametrize("command", ["simplify", "show", "eval", "equivalent", "mine", "verify", "operators"])
def test_help_fits_a_screen_and_shows_flags_as_flags(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(command, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "<bool>" not in text
    assert "…" not in text
    assert "Example: simplipy " in text
    if command == "mine":
        assert "--method <join|paper>" in text


def test_no_arguments_explain_themselves() -> None:
    done = run()
    assert done.returncode in (0, 2)
    assert "usage" in (done.stdout + done.stderr).lower()
    assert "Traceback" not in done.stderr
