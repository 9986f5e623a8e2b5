"""`simplipy mine` and `simplipy verify`: files, exit codes, messages."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import simplipy
from tests.command_line import run

FEW = "sin asin tan atan neg"


def mine(out: Path, *more: str) -> object:
    common = ("--max-length", "3", "--variables", "1", "--constants", "0", "--operators", FEW, "--threads", "1")
    return run("mine", "--out", str(out), *common, *more)


def test_mine_writes_rules_provenance_and_a_rule_file(tmp_path: Path) -> None:
    out, text = tmp_path / "rules.json", tmp_path / "rules.txt"
    done = mine(out, "--rule-file", str(text))
    assert done.returncode == 0
    assert f"rules written to {out}" in done.stdout.replace("\n", " ")
    rules = json.loads(out.read_text())["rules"]
    assert {"pattern": "tan atan a", "replacement": "a", "kind": "exact"} in rules
    provenance = json.loads((tmp_path / "rules.provenance.json").read_text())
    assert provenance["n_rules"] == len(rules)
    assert provenance["command"].startswith("simplipy mine --out")
    assert simplipy.Engine(rules=text).simplify("tan(atan(x))") == "x"


def test_verify_accepts_what_was_mined(tmp_path: Path) -> None:
    mine(tmp_path / "rules.json")
    done = run("verify", str(tmp_path / "rules.json"), "--threads", "1")
    assert done.returncode == 0
    assert "rules hold" in done.stdout


def test_verify_names_a_wrong_rule_and_its_counterexample(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("# two\ngood: tan(atan(a)) -> a\nbad: acos(cos(a)) -> abs(a)\nunmarked: sin(asin(a)) -> a\n")
    done = run("verify", str(path))
    assert done.returncode == 1
    assert "rejected: bad: acos(cos(a)) -> abs(a)" in done.stdout
    assert "the values differ far out at a = " in done.stdout
    assert "[extends] is missing" in done.stdout
    assert "1 of 3 rules hold" in done.stdout
    row = json.loads(run("verify", str(path), "--json").stdout)
    assert [failure["rule"].split(":")[0] for failure in row["failures"]] == ["bad", "unmarked"]


def test_the_papers_method_finds_rules_too(tmp_path: Path) -> None:
    out = tmp_path / "rules.json"
    common = ("--max-length", "3", "--variables", "1", "--constants", "0", "--no-literals", "--threads", "1")
    done = run("mine", "--out", str(out), *common, "--operators", "sin asin tan atan tanh pow5", "--method", "paper")
    assert done.returncode == 0
    found = {(row["pattern"], row["replacement"]) for row in json.loads(out.read_text())["rules"]}
    assert ("tan atan a", "a") in found


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.json", '{"rules": [', "simplipy mine"),
        ("r.json", '{"rules": 3}', "simplipy mine"),
        ("r.json", '{"rules": []}', "at least one rule"),
        ("r.json", '{"rules": [{"pattern": "sin", "replacement": "a", "kind": "exact"}]}', "rule 1: token 1"),
        ("r.json", '{"rules": [{"pattern": "sin z", "replacement": "z", "kind": "exact"}]}', "'z'"),
        ("r.json", '{"rules": [{"pattern": "sin a", "replacement": "b", "kind": "exact"}]}', "'b'"),
        ("r.json", '{"rules": [{"pattern": "sin a", "replacement": "a", "kind": "odd"}]}', "'odd'"),
        ("r.txt", "", "at least one rule"),
        ("r.txt", "# one\nx: tan(atan(a) -> a\n", "line 2: position 4"),
        ("r.txt", "x: tan(atan(a)) -> a [a bigger 3]", "a condition is"),
        ("r.txt", "x: tan(atan(a)) -> a [a in [1]]", "a condition is"),
        ("r.txt", "x: tan(atan(a)) -> a [a > foo]", "a condition is"),
        ("r.txt", "x: tan(atan(a)) -> a [b > 3]", "'b'"),
        ("r.txt", "\udcff", "UTF-8"),
    ],
)
def test_verify_names_what_is_wrong_with_a_file(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    done = run("verify", str(tmp_path / name))
    assert done.returncode == 2
    assert message in done.stderr


def test_verify_rejects_a_rule_that_comes_twice(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("x: tan(atan(a)) -> a\ny: tan(atan(a)) -> a\n")
    done = run("verify", str(tmp_path / "r.txt"))
    assert done.returncode == 1
    assert "rejected: y" in done.stdout
    assert "an earlier rule has the same pattern" in done.stdout


def test_a_killed_run_resumes_to_the_same_bytes_with_other_threads(tmp_path: Path) -> None:
    """SIGKILL leaves no half-written file behind that a later run would trip over."""
    options = ("--max-length", "5", "--variables", "1", "--constants", "1")
    whole, killed = tmp_path / "whole.json", tmp_path / "killed.json"
    few = ("--operators", "sin asin cos acos tan atan abs neg pow2 pow1_2 mult2 div2 + *")
    assert run("mine", "--out", str(whole), *options, *few, "--threads", "1").returncode == 0
    command = [sys.executable, "-m", "simplipy", "mine", "--out", str(killed), *options, *few, "--threads", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        shards = tmp_path / "killed.shards"
        while process.poll() is None and not list(shards.glob("length4-*.json")):
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert not killed.exists()
    done = run("mine", "--out", str(killed), *options, *few, "--threads", "2", "--resume")
    assert done.returncode == 0
    assert killed.read_bytes() == whole.read_bytes()


def test_mistakes_are_named(tmp_path: Path) -> None:
    done = run("mine", "--out", str(tmp_path / "rules.json"), "--max-length", "99")
    assert done.returncode == 2
    assert "max_length must be from 2 to 8, got 99" in done.stderr
    done = run("mine", "--out", str(tmp_path / "rules.json"), "--method", "magic")
    assert done.returncode == 2
    assert "--method" in done.stderr
    done = run("mine", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "--out must be a file" in done.stderr
    done = run("mine", "--out", str(tmp_path / "rules.json"), "--method", "paper", "--resume")
    assert done.returncode == 2
    assert "--resume needs --method join" in done.stderr
    (tmp_path / "no.json").write_text("[]")
    done = run("verify", str(tmp_path / "no.json"))
    assert done.returncode == 2
    assert "simplipy mine" in done.stderr
