"""The soundness checker catches what is wrong, and nothing else. It lies in benchmarks/, beside what it measures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import simplipy
from simplipy.equivalence.verdict import sorted_form

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"

ROWS = [
    "x1*sin(x2) + exp(x3)*x1",
    "log(x1)/(x2 - 3)",
    "(x1 + x2)*(x1 - x2)/x3",
    "acosh(x1 + 2) - tanh(x2*x1)",
    "x1^x2 + 1/x3",
]


@pytest.fixture
def checks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import _soundness

    yield _soundness
    sys.modules.pop("_soundness")


class Stub:
    """Sorted operands, and what a table of infix texts says; constants go through in order or as the stub is told."""

    def __init__(self, table: dict[str, str], constants: Callable[[int], list[str]] | None = None) -> None:
        self._table = {sorted_form(simplipy.parse(k).tokens): simplipy.parse(v).tokens for k, v in table.items()}
        self._constants = constants or (lambda n: [f"c{k + 1}" for k in range(n)])

    def simplify(self, rows, domain):
        return [list(self._table.get(sorted_form(row), sorted_form(row))) for row in rows]

    def constants(self, tokens, domain):
        return [simplipy.parse(text) for text in self._constants(tokens.count("<constant>"))]


def kinds(checks, row: str, table: dict[str, str], domain: str = "extend", constants=None) -> set[str]:
    """Kinds of offences that one row with a stub for a simplifier gives."""
    rows = [simplipy.parse(row).tokens]
    (report,) = checks.check_rows(rows, Stub(table, constants), domain)
    return {o.kind for o in report.offences}


def test_what_is_right_passes(checks):
    rows = [simplipy.parse(text).tokens for text in ROWS]
    for domain in ("extend", "preserve"):
        for report in checks.check_rows(rows, Stub({}), domain):
            assert report.offences == []
            assert report.n_common > 50


@pytest.mark.parametrize(
    ("row", "output", "domain", "expected"),
    [
        ("x1/x1", "0", "extend", {"wrong value"}),
        ("x1/x1", "1", "preserve", set()),
        ("log(x1^2)", "2*log(x1)", "extend", {"narrowed"}),
        ("2*log(x1)", "log(x1^2)", "extend", set()),
        ("2*log(x1)", "log(x1^2)", "preserve", {"widened"}),
        ("sqrt(x1^2)", "x1", "extend", {"wrong value"}),
        ("sqrt(x1^2)", "abs(x1)", "preserve", set()),
        ("acos(cos(x1))", "abs(x1)", "extend", {"wrong value"}),
        ("exp(log(x1))", "x1", "extend", set()),
        ("exp(log(x1))", "x1", "preserve", {"widened"}),
        ("sqrt(x1)*sqrt(x2)", "sqrt(x1*x2)", "preserve", {"widened"}),
        ("log(exp(x1))", "x1", "preserve", set()),
        ("(sin(x1)^2 + cos(x1)^2)*x2", "x2", "preserve", set()),
        ("1 + x1*1e-20", "1", "extend", {"wrong value"}),
        ("tanh(x1^2 + 30)", "1", "extend", {"wrong value"}),
        ("x1 + x2", "x2 + x1*1 + 0", "extend", {"longer"}),
        ("asin(x1) - asin(x1)", "0", "extend", set()),
        ("asin(x1) - asin(x1)", "0", "preserve", {"widened"}),
        ("cbrt(x1)", "x1^(1/3)", "extend", {"narrowed", "longer"}),
    ],
)
def test_offences(checks, row, output, domain, expected):
    assert kinds(checks, row, {row: output}, domain) - {"not idempotent"} == expected


def test_constants_go_through_the_map(checks):
    row = "exp(x1 + <constant>)"
    table = {row: "<constant>*exp(x1)"}
    assert kinds(checks, row, table, constants=lambda n: ["exp(c1)"]) == set()
    assert kinds(checks, row, table, constants=lambda n: ["c1"]) == {"wrong value"}
    assert kinds(checks, row, table, constants=lambda n: []) == {"no constants"}
    row = "x1*abs(<constant>)"
    table = {row: "x1*exp(<constant>)"}
    assert {"no constants"} <= kinds(checks, row, table, constants=lambda n: ["log(c1)"])
    assert "no constants" not in kinds(checks, row, {row: "x1*abs(<constant>)"})


def test_again_and_order(checks):
    table = {"sin(x1) + x2": "x1 + x2", "x1 + x2": "x2 + x1 + 0"}
    assert {"not idempotent", "wrong value"} <= kinds(checks, "sin(x1) + x2", table)

    class Unsorted(Stub):
        def simplify(self, rows, domain):
            return [list(row) for row in rows]

    (report,) = checks.check_rows([simplipy.parse("x1 + x2*x3 + sin(x1)").tokens], Unsorted({}), "extend")
    assert {o.kind for o in report.offences} == {"order matters"}


def test_shuffles_keep_the_meaning(checks):
    rng = np.random.default_rng(0)
    tokens = simplipy.parse("(x1 + x2*x3*x4 + 1)*sin(x1 + x2 + x3)/(x1*x2)").tokens
    spellings = {tuple(checks.shuffled(tokens, rng)) for _ in range(20)}
    assert len(spellings) > 10
    assert {sorted_form(list(s)) for s in spellings} == {sorted_form(tokens)}


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import soundness

    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("\n".join(json.dumps(simplipy.parse(text).tokens) for text in ROWS))
    arguments = [
        "soundness.py",
        str(corpus),
        "--engine",
        "identity",
        "--limit",
        "3",
        "--json",
        str(tmp_path / "out.json"),
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    assert soundness.main() == 1  # order matters to what changes nothing
    summary = json.loads((tmp_path / "out.json").read_text())["summary"]
    assert summary["extend"]["rows"] == summary["preserve"]["rows"] == 3
    assert summary["extend"]["wrong value"] == summary["preserve"]["narrowed"] == 0
    assert "order matters" in capsys.readouterr().out
    assert len(soundness.random_rows(5, 0)) == 5
    for row in soundness.random_rows(20, 1):
        assert simplipy.parse(row).tokens == row
