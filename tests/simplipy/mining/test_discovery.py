"""Mining: the same rules for any threads and shards, complete against a brute-force search, resumable."""

import itertools
import json

import numpy as np
import pytest

import simplipy
from simplipy import OPERATORS
from simplipy.errors import SimplipyError
from simplipy.mining import discovery, verifier
from simplipy.mining.config import MineConfig
from simplipy.mining.discovery import Discovery
from simplipy.mining.redundancy import Refuted, is_covered, options_with, rule_set
from simplipy.mining.rule import Rule, read_line
from simplipy.mining.shards import Shards, rule_key
from simplipy.mining.verification import verify_rule

FEW = ("+", "-", "*", "sin", "cos", "asin", "abs", "pow2", "neg", "mult2")
INVERSES = (
    "sin",
    "asin",
    "cos",
    "acos",
    "tan",
    "atan",
    "sinh",
    "asinh",
    "cosh",
    "acosh",
    "tanh",
    "atanh",
    "inv",
    "abs",
)


@pytest.fixture(scope="module")
def inverses():
    return Discovery(MineConfig(max_length=4, n_variables=1, n_constants=0, operators=INVERSES)).run()


def lines(mined):
    return {rule.line().partition(": ")[2] for rule in mined.rules}


def test_identities_of_inverse_functions_are_found_with_their_kinds(inverses):
    assert {
        "sin(asin(a)) -> a [extends]",
        "tan(atan(a)) -> a",
        "acosh(cosh(a)) -> abs(a)",
        "asin(sin(a)) -> a [a in [-pi/2, pi/2]]",
        "acos(cos(a)) -> abs(a) [a in [-pi, pi]]",
        "tan(asin(tanh(a))) -> sinh(a)",
        "sinh(acosh(1/a)) -> tan(acos(a)) [extends]",
    } <= lines(inverses)


def test_what_holds_on_a_branch_only_is_no_rule_without_its_condition(inverses):
    for rule in inverses.rules:
        if rule.pattern[:2] in {("acos", "cos"), ("asin", "sin"), ("atan", "tan")} and len(rule.pattern) == 3:
            assert rule.conditions


def test_every_rule_shortens_and_uses_no_metavariable_more_often(inverses):
    for rule in inverses.rules:
        assert len(rule.replacement) < len(rule.pattern)
        assert all(rule.replacement.count(name) <= rule.pattern.count(name) for name in "abcd")


def test_no_rule_is_covered_by_the_others(inverses):
    for rule in inverses.rules:
        others = [other for other in inverses.rules if other is not rule]
        assert not is_covered(rule, options_with(rule_set(others))), rule.line()


def test_counts_add_up(inverses):
    for report in inverses.lengths:
        assert report.complete
        assert report.counts["tested"] == report.existing
        parts = ("thin", "reducible", "proposed", "irreducible")
        assert sum(report.counts[name] for name in parts) == report.existing


def brute_force(operators, max_length):
    """All terms over one metavariable with their values at points of the test's own."""
    terms = {1: [("x1",)]}
    for length in range(2, max_length + 1):
        terms[length] = [(op, *t) for op in operators if OPERATORS[op].arity == 1 for t in terms[length - 1]]
        for op in operators:
            if OPERATORS[op].arity == 2:
                for n in range(1, length - 1):
                    pairs = itertools.product(terms[n], terms[length - 1 - n])
                    terms[length] += [(op, *left, *right) for left, right in pairs]
    return terms


def test_nothing_that_shortens_is_missed():
    """Every term with an equal shorter term is shortened by the canonicaliser and the mined rules together."""
    max_length, max_replacement = 4, 3
    mined = Discovery(MineConfig(max_length, max_replacement, 1, 0, literals=False, operators=FEW)).run()
    terms = brute_force(FEW, max_length)
    x = np.random.default_rng(5).uniform(-4, 4, (40, 1))
    options = options_with(rule_set(mined.rules))
    flat = [t for length in terms for t in terms[length]]
    values, defined = simplipy.evaluate_many([simplipy.parse(list(t)) for t in flat], x)
    n_missed = []
    shorter = [i for i, t in enumerate(flat) if len(t) <= max_replacement]
    for i, tokens in enumerate(flat):
        if not defined[i].all():
            continue  # where the domains differ, equality at these points is not enough
        equal = [
            j for j in shorter if len(flat[j]) < len(tokens) and defined[j].all() and np.allclose(values[i], values[j])
        ]
        if equal:
            short = simplipy._core.simplify_tokens(list(tokens), options)
            if len(short) > min(len(flat[j]) for j in equal):
                n_missed.append(tokens)
    assert not n_missed


def test_threads_and_shards_do_not_change_the_result(tmp_path):
    config = MineConfig(max_length=4, n_variables=2, n_constants=1, operators=FEW)
    one = Discovery(config, n_threads=1).run()
    two = Discovery(config, folder=tmp_path / "shards", n_threads=2).run()
    assert one.text() == two.text()
    assert one.rules


def test_an_interrupted_run_resumes_to_the_same_rules(tmp_path):
    config = MineConfig(max_length=4, n_variables=1, n_constants=1, operators=FEW)
    folder = tmp_path / "shards"
    whole = Discovery(config, folder=folder).run()
    shards = sorted(folder.glob("length4-*.json"))
    assert shards
    shards[-1].unlink()  # as if the run had ended before it
    again = Discovery(config, folder=folder, resume=True).run()
    assert again.text() == whole.text()
    with pytest.raises(SimplipyError, match="other options"):
        Discovery(MineConfig(max_length=3, operators=FEW), folder=folder, resume=True)


def test_a_run_stopped_in_pruning_keeps_all_its_rules(monkeypatch):
    config = MineConfig(max_length=4, n_variables=1, n_constants=1, operators=FEW)
    whole = Discovery(config).run()

    def interrupted(rules):
        raise KeyboardInterrupt

    monkeypatch.setattr(discovery, "without_covered", interrupted)
    stopped = Discovery(config).run()
    assert stopped.stopped == "interrupted"
    assert sorted(map(Rule.line, stopped.rules)) == sorted(map(Rule.line, whole.rules + whole.pruned))


def test_a_run_stopped_in_verification_keeps_its_findings_and_resumes_to_the_same_rules(tmp_path, monkeypatch):
    config = MineConfig(max_length=4, n_variables=1, n_constants=1, operators=FEW)
    whole = Discovery(config).run()
    monkeypatch.setattr(verifier, "_BATCH", 4)
    calls = []

    def interrupted(*job):
        calls.append(job)
        if len(calls) > 10:
            raise KeyboardInterrupt
        return verify_rule(*job)

    folder = tmp_path / "shards"
    with monkeypatch.context() as patch:
        patch.setattr(verifier, "verify_rule", interrupted)
        stopped = Discovery(config, folder=folder, n_threads=1).run()
    assert stopped.stopped == "interrupted"
    assert not stopped.lengths[-1].complete
    assert stopped.lengths[-1].n_open
    assert {rule.pattern for rule in stopped.rules} < {rule.pattern for rule in whole.rules + whole.pruned}
    assert len(calls) == 11
    known = set(Shards(folder, config, resume=True).findings())
    assert 1 < len(known) < 10  # the batch that was cut is lost
    again = []
    with monkeypatch.context() as patch:
        patch.setattr(
            verifier, "verify_rule", lambda rule, seed: again.append(rule_key(rule)) or verify_rule(rule, seed)
        )
        resumed = Discovery(config, folder=folder, resume=True, n_threads=1).run()
    assert resumed.text() == whole.text()
    assert again
    assert not known & set(again)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_a_damaged_shard_is_named(tmp_path, suffix, damage):
    config = MineConfig(max_length=3, n_variables=1, n_constants=0, operators=FEW)
    folder = tmp_path / "shards"
    Discovery(config, folder=folder).run()
    path = min(folder.glob(f"length2-*{suffix}"))
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2 if damage == "cut" else 0])
    if damage == "gone" and suffix == ".json":
        assert Discovery(config, folder=folder, resume=True).run().rules  # a shard without its header is not there
        return
    with pytest.raises(SimplipyError, match=f"{path.stem}.*is damaged.*remove {path.stem}"):
        Discovery(config, folder=folder, resume=True).run()


def test_damaged_findings_and_options_are_named(tmp_path):
    config = MineConfig(max_length=3, n_variables=1, n_constants=0, operators=FEW)
    folder = tmp_path / "shards"
    Discovery(config, folder=folder).run()
    (folder / "verified000000.json").write_text('[["x"')
    with pytest.raises(SimplipyError, match="verified000000"):
        Discovery(config, folder=folder, resume=True).run()
    (folder / "config.json").write_text("{")
    with pytest.raises(SimplipyError, match=r"config\.json is damaged"):
        Discovery(config, folder=folder, resume=True)


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    folder = tmp_path / "rules.shards"
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(SimplipyError, match=r"thesis\.txt"):
        Discovery(MineConfig(max_length=3, operators=FEW), folder=folder)
    assert (folder / "thesis.txt").read_text() == "precious"


def test_terms_are_counted_by_their_metavariables():
    """Against all terms of three tokens, counted by hand: f(g(a)) and a op b over two operators of each kind."""
    config = MineConfig(max_length=3, n_variables=2, n_constants=0, literals=False, operators=("+", "/", "sin", "exp"))
    report = Discovery(config).run().lengths[-1]
    # sin sin a, sin exp a, exp sin a, exp exp a; a + a, a / a; a + b once, as + has no order, a / b
    assert report.existing_by_variables[:3] == [0, 6, 2]
    assert report.tested_by_variables == report.existing_by_variables


def test_memory_is_bounded():
    config = MineConfig(max_length=4, n_variables=2, n_constants=1, operators=FEW)
    mined = Discovery(config, memory_limit=30_000).run()
    assert mined.stopped.startswith("memory: terms of 3 tokens")
    assert [report.length for report in mined.lengths] == [2, 3]
    assert mined.rules
    assert not Discovery(config, memory_limit=10**9).run().stopped


def test_a_proposal_around_a_rejected_one_is_rejected_unseen():
    wrong = [read_line("x: tanh(5*cosh(a)) -> 1"), read_line("x: acosh(sin(a)) -> nan [a >= 0]")]
    refuted = Refuted(wrong, options_with(rule_set([])))
    for text, implied in [
        ("exp(tanh(5*cosh(a))) -> e", True),
        ("b^tanh(5*cosh(a)) -> b", True),
        ("a*tanh(5*cosh(b)) -> a", True),
        ("tanh(5*cosh(a)) -> 1", False),  # itself
        ("exp(tanh(5*cosh(a))) -> 2", False),  # does not follow
        ("exp(tanh(4*cosh(a))) -> e", False),
        ("exp(acosh(sin(a))) -> nan", False),  # with a condition
    ]:
        assert refuted.imply(read_line(f"x: {text}")) == implied, text


def test_a_time_limit_ends_the_search_and_says_so():
    mined = Discovery(MineConfig(max_length=4, operators=FEW), time_limit=1e-9).run()
    assert mined.stopped == "time limit"
    assert not mined.lengths[-1].complete


def test_free_constants_are_absorbed_by_the_family_through_a_point():
    """The canonicaliser absorbs nearly all; what is proposed beyond that has to be a family of the pattern's values."""
    mined = Discovery(MineConfig(max_length=4, n_variables=1, n_constants=1, operators=("pow", "inv", "mult2"))).run()
    found = {(" ".join(rule.pattern), " ".join(rule.replacement)) for rule in mined.unused}
    assert ("inv pow <constant> a", "pow <constant> a") in found


def test_the_file_is_json_with_a_rule_on_each_line(inverses):
    row = json.loads(inverses.text())
    assert row["n_rules"] == len(row["rules"]) == len(inverses.rules)
    assert [Rule.from_row(r).line() for r in row["rules"]] == [r.line() for r in inverses.rules]
    provenance = inverses.provenance("simplipy mine")
    assert provenance["lengths"][-1]["counts"]["tested"] == inverses.lengths[-1].existing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_length", 1),
        ("max_replacement", 9),
        ("n_variables", 0),
        ("operators", ("nosuch",)),
        ("operators", ()),
        ("operators", ("sin", "sin")),
    ],
)
def test_bad_options_are_refused_by_name(name, value):
    with pytest.raises(SimplipyError, match=name):
        MineConfig(**{name: value})
