"""The commands simplify and equivalent: output, JSON, lines from stdin, exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from simplipy import cli


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """The command line in this process, with these bytes on stdin."""

    def call(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["simplipy", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            cli.main()
        done = Done(end.value.code or 0, *capsys.readouterr())
        assert "Traceback" not in done.stdout + done.stderr
        return done

    return call


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("x1 + x1",), "2*x1"),
        (("-x1 + x1 + x2",), "x2"),
        (("--", "-x1 + x1 + x2"), "x2"),
        (("exp(log(x1))",), "x1"),
        (("exp(log(x1))", "--domain", "preserve"), "exp(log(x1))"),
        (("exp(log(x1))", "--domain", "extend"), "x1"),
        (("4*x1/pi", "--mask-numbers"), "<constant>*x1"),
        (("2*pi*x1/x1", "--fold-numbers"), "6.283185307179586"),
        (("abs(x1)", "--range", "x1=0:inf"), "x1"),
        (("abs(x1*x2)", "--range", "x1=0:", "--range", "x2=0:10"), "x1*x2"),
        (("abs(x1)", "--range", "x1=-1:inf"), "abs(x1)"),
        (("x1 + x1", "--max-pattern-length", "0"), "2*x1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_simplify(run: Callable[..., Done], arguments: tuple[str, ...], expected: str) -> None:
    assert run("simplify", *arguments) == (0, expected + "\n", "")


def test_simplify_json(run: Callable[..., Done]) -> None:
    done = run("simplify", "<constant>*x1 + x1", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "input": "<constant>*x1 + x1",
        "infix": "<constant>*x1",
        "tokens": ["*", "<constant>", "x1"],
        "input_length": 5,
        "length": 3,
        "n_constants": 1,
    }


def test_explain_shows_rules_and_constants(run: Callable[..., Done]) -> None:
    done = run("simplify", "exp(log(x1)) + <constant> + sin(<constant>)", "--explain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "-> <constant> + x1" in done.stdout
    assert "exponential of a logarithm" in done.stdout
    assert "<constant>1 = c1 + sin(c2)" in done.stdout
    assert "8 tokens -> 3; the result simplifies to itself" in done.stdout


def test_explain_json(run: Callable[..., Done]) -> None:
    done = run("simplify", "exp(log(x1)) + <constant> + sin(<constant>)", "--explain", "--json")
    facts = json.loads(done.stdout)
    assert facts["stop"] == "FIXPOINT"
    assert facts["constants"] == ["c1 + sin(c2)"]
    assert facts["steps"][0]["before"] == facts["input"]
    assert facts["steps"][-1]["after"] == facts["infix"]
    assert any("exponential of a logarithm" in step["rules"] for step in facts["steps"])


def test_explain_of_what_is_short_already(run: Callable[..., Done]) -> None:
    done = run("simplify", "x1", "--explain")
    assert done == (0, "x1\n1 tokens -> 1; the result simplifies to itself\n", "")


def test_lines_from_stdin(run: Callable[..., Done]) -> None:
    assert run("simplify", "-", stdin=b"x + x\r\n\nexp(log(x))\nx/x") == (0, "2*x\nx\n1\n", "")
    assert run("simplify", "-", "--domain", "preserve", stdin=b"exp(log(x))\n").stdout == "exp(log(x))\n"
    assert run("simplify", "-", stdin=b"") == (0, "", "")
    assert run("simplify", "-", stdin="\ufeffgröße + größe\n".encode()).stdout == "2*größe\n"


def test_bad_lines_are_named_and_the_others_printed(run: Callable[..., Done]) -> None:
    done = run("simplify", "-", stdin=b"x + x\nx +\nsinn(x)\n\n\xff\nx/x\n")
    assert (done.returncode, done.stdout) == (2, "2*x\n1\n")
    assert [line[:6] for line in done.stderr.splitlines() if line.startswith("line")] == ["line 2", "line 3", "line 5"]
    assert "did you mean 'sin'" in done.stderr


def test_json_lines_say_which_line(run: Callable[..., Done]) -> None:
    done = run("simplify", "-", "--json", stdin=b"x + x\n)\n1/x/x\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["line"], row["infix"]) for row in rows] == [(1, "2*x"), (3, "1/x^2")]
    assert done.returncode == 2


@pytest.mark.parametrize(("results_seen", "bar"), [(False, True), (True, False)])
def test_progress_bar_is_for_terminals(
    run: Callable[..., Done], monkeypatch: pytest.MonkeyPatch, results_seen: bool, bar: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: results_seen)
    done = run("simplify", "-", stdin=b"x + x\n" * 600)
    assert done.stdout == "2*x\n" * 600
    assert ("lines" in done.stderr) == bar


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("simplify",), "EXPR"),
        (("simplify", "x1 +"), "operand is missing"),
        (("simplify", "x1", "--domain", "wider"), "extend"),
        (("simplify", "x1", "--range", "x1"), "NAME=LOW:HIGH"),
        (("simplify", "x1", "--range", "x1=a:b"), "NAME=LOW:HIGH"),
        (("simplify", "x1", "--range", "x1=2:1"), "low <= high"),
        (("simplify", "x1", "--range", "x1=0:1", "--explain"), "--explain does not take --range"),
        (("simplify", "x1", "--max-pattern-length", "-1"), "max-pattern-length"),
        (("simplify", "x1", "--explian"), "explian"),
        (("equivalent", "x1"), "B"),
        (("equivalent", "x1", "x1 +"), "operand is missing"),
        (("equivalent", "x1", "x1", "--rtol", "-1"), "rtol must be >= 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_end_with_2(run: Callable[..., Done], arguments: tuple[str, ...], pattern: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert pattern in done.stderr


def test_equivalent(run: Callable[..., Done]) -> None:
    done = run("equivalent", "x1 + x2", "x2 + x1")
    assert done == (0, "equivalent (proved)\ndomain: same\nfamily: same\n", "")
    done = run("equivalent", "exp(log(x1))", "x1", "--json")
    verdict = json.loads(done.stdout)
    assert done.returncode == 0
    assert verdict["domain"] == "b wider"
    assert verdict["counterexample"] is None


def test_not_equivalent(run: Callable[..., Done]) -> None:
    done = run("equivalent", "x1^2", "x1")
    assert done.returncode == 1
    assert done.stdout.startswith("not equivalent (numeric)\n  at x1 = ")
    verdict = json.loads(run("equivalent", "x1^2", "x1", "--json").stdout)
    assert verdict["equivalent"] is False
    assert verdict["counterexample"]["x1"] not in (0, 1)


def test_numbers_that_were_fitted(run: Callable[..., Done]) -> None:
    assert run("equivalent", "3.14159265*x1", "pi*x1").returncode == 1
    assert run("equivalent", "3.14159265*x1", "pi*x1", "--rtol", "1e-6").returncode == 0
