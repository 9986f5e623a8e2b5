"""The figures in docs/mining.md are those of the committed runs."""

import json
from math import comb, factorial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "mining.md").read_text(encoding="utf-8")
BUNDLED = ROOT / "src" / "simplipy" / "data" / "mined_rules.provenance.json"
LENGTH_7 = ROOT / "results" / "rules" / "length7.provenance.json"
N_UNARY, N_BINARY, N_LITERALS, N_CONSTANTS, N_VARIABLES = 33, 5, 5, 2, 4


def lengths(path):
    return {row["length"]: row for row in json.loads(path.read_text(encoding="utf-8"))["lengths"]}


def set_partitions(n, k):
    """Ways to put n things into k unnamed classes."""
    if n == k:
        return 1
    return 0 if k == 0 or k > n else k * set_partitions(n - 1, k) + set_partitions(n - 1, k - 1)


def all_terms(length):
    """Terms of a length by metavariables, infinities aside: shapes of trees, times operators, times leaves."""
    counts = [0] * (N_VARIABLES + 1)
    for n_binary in range((length + 1) // 2):
        n_unary, n_leaves = length - 1 - 2 * n_binary, n_binary + 1
        shapes = factorial(length) // (factorial(n_binary) * factorial(n_leaves) * factorial(n_unary)) // length
        shapes *= N_BINARY**n_binary * N_UNARY**n_unary
        for n in range(n_leaves + 1):  # leaves with a metavariable
            others = n_leaves - n
            filled = sum(comb(others, k) * N_LITERALS ** (others - k) for k in range(min(others, N_CONSTANTS) + 1))
            for k in range(min(n, N_VARIABLES) + 1):
                counts[k] += shapes * comb(n_leaves, n) * set_partitions(n, k) * filled
    return counts


@pytest.mark.parametrize("length", range(2, 7))
def test_counts_of_the_bundled_run(length):
    row = lengths(BUNDLED)[length]
    assert row["complete"]
    rejected = row["n_rejected"] + row["n_implied"]
    shown = f"| {length} | {row['counts']['tested']:,} | {row['n_rules']:,} | {row['n_unused']:,} | {rejected:,} |"
    assert shown in PAGE


@pytest.mark.parametrize("n", range(1, 5))
def test_coverage_of_length_seven(n):
    row = lengths(LENGTH_7)[7]
    tested, existing = row["tested_by_variables"][n], row["existing_by_variables"][n]
    assert f"| {n} | {all_terms(7)[n]:,} | {existing:,} | {tested:,} |" in PAGE


def test_rules_of_length_seven():
    """What the run kept, less what verification with another seed rejects, less the bundled ones."""
    verified = json.loads(LENGTH_7.with_name("length7.verify.json").read_text(encoding="utf-8"))
    n_kept = json.loads(LENGTH_7.read_text(encoding="utf-8"))["n_rules"]
    n_bundled = json.loads(BUNDLED.read_text(encoding="utf-8"))["n_rules"]
    n_rejected = len(verified["failures"])
    assert verified["n_rules"] == n_kept
    assert f"rejects {n_rejected} of the {n_kept:,} rules" in PAGE
    assert f"Besides the {n_bundled} rules of up to six tokens, {n_kept - n_rejected - n_bundled:,} of seven" in PAGE
    assert lengths(LENGTH_7)[7]["existing"] == lengths(LENGTH_7)[7]["counts"]["tested"]


def test_the_most_used_rules():
    used = json.loads((ROOT / "results" / "rules" / "rules.json").read_text(encoding="utf-8"))["used"]
    for name, n in list(used.items())[:10]:
        assert f"| `{name}` | {n} |" in PAGE


def test_kinds_and_sample():
    result = json.loads((ROOT / "results" / "rules" / "rules.json").read_text(encoding="utf-8"))
    mined = json.loads(BUNDLED.with_name("mined_rules.json").read_text(encoding="utf-8"))
    assert sum(sum(row.values()) for row in result["kinds"].values()) == mined["n_rules"]
    for length, row in result["kinds"].items():
        assert f"| {length} | {row['exact']} | {row['extends']} | {row['conditional']} |" in PAGE
    for pattern, replacement, kind in result["sample"]:
        assert f"| `{pattern}` | `{replacement}` | {kind} |" in PAGE


def test_the_comparison_of_methods():
    result = json.loads((ROOT / "results" / "rules" / "methods.json").read_text(encoding="utf-8"))
    for task, methods in result.items():
        for method, row in methods.items():
            assert f"| {task} | {method} | " in PAGE
            alone = f"{row['n_about_numbers_and_infinities']} | {row['n_wrong_about_infinities']}"
            assert f"| {row['n_rules']} | {alone} | {row['n_wrong']} of {row['n_real']} |" in PAGE
