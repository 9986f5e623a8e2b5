"""Priors: the bundled ones, one's own, and errors that name the key and the remedy."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from flash_ansr.data import ExhaustedPriorError, Generator, PriorError, load_prior, prior_names
from flash_ansr.data.vocabulary import Vocabulary
from simplipy.expression.operators import DEFAULT_OPERATORS, OPERATORS
from tests.strategies import OFF_BY_DEFAULT


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_bundled_priors() -> None:
    assert prior_names() == ["constants_u15", "mixed", "paper", "science", "sympy_simplified", "unsimplified", "wide"]
    for name in prior_names():
        assert load_prior(name).name == name


def test_every_number_of_the_appendix() -> None:
    prior = load_prior("paper")
    skeletons = prior.skeletons
    assert (skeletons.min_operators, skeletons.max_operators, skeletons.alpha, skeletons.lambda_) == (0, 17, 0.7, 1.0)
    assert (skeletons.max_length, skeletons.n_variables, skeletons.p_constant) == (35, 17, None)
    weights = {token: skeletons.operator_weights[token] for token in DEFAULT_OPERATORS}
    assert {t: w for t, w in weights.items() if w != 1} == dict.fromkeys("+-*/", 10)
    assert (prior.simplifier, prior.max_pattern_length) == ("simplipy", 4)
    assert dataclasses.astuple(prior.rows) == (1, 1024, "uniform")
    bounds = prior.columns[0].bounds[0]
    assert (len(prior.columns), prior.columns[0].kind, len(prior.columns[0].bounds)) == (1, "uniform", 1)
    assert (bounds.kind, bounds.mean, bounds.scale, bounds.low, bounds.high) == ("normal", 0, 10, -30, 30)
    (constants,) = prior.constants
    assert (constants.kind, constants.mean, constants.scale) == ("normal", 0, 5)
    assert (prior.retries, prior.noise.probability, prior.holdouts) == (4, 0, ("fastsrb",))


def test_operators_that_are_off_are_never_drawn() -> None:
    off = OPERATORS.keys() - set(DEFAULT_OPERATORS)
    assert off == set(OFF_BY_DEFAULT)
    for name in ("paper", "wide"):
        weights = load_prior(name).skeletons.operator_weights
        assert all(weights[token] == 0 for token in off)
    assert not off & set(Vocabulary(3).tokens)


def test_ablations_differ_in_one_thing() -> None:
    paper = dataclasses.asdict(load_prior("paper"))

    def changed(name: str) -> set[str]:
        return {key for key, value in dataclasses.asdict(load_prior(name)).items() if value != paper[key]} - {"name"}

    assert changed("constants_u15") == {"constants"}
    assert changed("unsimplified") == {"simplifier"}
    assert changed("sympy_simplified") == {"simplifier", "corpus"}
    (constants,) = load_prior("constants_u15").constants
    assert (constants.kind, constants.low, constants.high) == ("uniform", 1, 5)


def test_unsimplified_is_what_was_drawn() -> None:
    batch = Generator("unsimplified").batch(seed=0, indices=range(50), detailed=True)
    assert batch.details is not None
    assert [batch.tokens(i) for i in range(50)] == batch.details.drawn


def test_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path, "base: paper\nrows: {low: 5, high: 5}\nskeletons: {n_variables: 2}\nholdouts: [x1*x2]\n")
    prior = load_prior(path)
    assert prior.name == "mine"
    assert prior.skeletons.max_operators == 17
    assert prior.rows.kind == "uniform"
    batch = Generator(path).batch(seed=0, indices=range(10))
    assert batch.X.shape == (10, 5, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rowz: {low: 1, high: 2}", r"prior 'mine': unknown key 'rowz'; did you mean 'rows'\?"),
        ("rows: {low: 1, hihg: 2}", r"prior 'mine': unknown key 'rows.hihg'; did you mean 'rows.high'\?"),
        ("skeletons: {qqq: 1}", "known here: min_operators, max_operators"),
        ("rows: {low: 5, high: 2}", "rows: 1 <= low <= high must hold, got low 5 and high 2"),
        ("rows: {low: 0, high: 2}", "1 <= low"),
        ("rows: 3", "rows must be a section"),
        ("rows: {low: 1.5, high: 2}", "rows.low must be of type int, got 1.5"),
        ("rows: {low: true, high: 2}", "must be of type int, got True"),
        (
            "constants: {kind: uniform, low: 5, high: 1}",
            r"constants\[0\]: low must be <= high, got low 5.0 and",
        ),
        ("constants: {kind: uniform, low: 5}", "uniform needs finite low and high"),
        ("constants: {kind: log_uniform, low: -5, high: 1}", "low of log_uniform must be > 0, got -5.0; use negative"),
        ("constants: {kind: normal, scale: 0}", "scale must be > 0"),
        ("constants: {kind: normal, scale: 1, low: 50, high: 60}", "within 4 scales of the mean"),
        ("constants: {kind: gauss}", "kind must be one of 'uniform', 'normal'"),
        ("constants: {kind: integers, low: 0.5, high: 3}", "whole numbers"),
        ("constants: {kind: normal, scale: big}", "scale must be a number, got 'big'"),
        ("constants: []", "constants is empty"),
        ("columns: []", "columns is empty"),
        ("columns: {kind: uniform}", "a column of kind uniform takes bounds"),
        ("columns: {kind: uniform, bounds: {kind: normal}, decades: {kind: normal}}", "takes bounds, not decades"),
        ("skeletons: {operators: {}}", "operators is empty: give at least one operator a weight > 0"),
        ("skeletons: {operators: {other: 0}}", "operators is empty"),
        ("skeletons: {operators: {sine: 1}}", r"unknown operator 'sine'; did you mean 'sin'\?"),
        ("skeletons: {operators: {sin: -1}}", "weight of operator 'sin' must be >= 0, got -1"),
        ("skeletons: {min_operators: 9, max_operators: 3}", "got 9 and 3"),
        ("skeletons: {max_length: 0}", "max_length must be >= 1"),
        ("skeletons: {p_constant: 2}", "p_constant must be a probability"),
        ("noise: {probability: 0.5, low: 0.2, high: 0.1}", "0 < low <= high"),
        ("simplifier: simplify", r"must be one of 'simplipy', 'none', got 'simplify'; did you mean 'simplipy'\?"),
        ("p_irrelevant: 0.5", "needs placement: leading"),
        ("retries: -1", "retries must be between 0 and 1000"),
        ("max_pattern_length: -4", "max_pattern_length must be >= 0"),
        ("min_effect: 3", "min_effect must be >= 0 and < 1"),
        ("sources: {trees: 0}", "sources is empty: give trees, laws or grammar a share"),
        ("sources: {laws: -1}", "shares of sources must be >= 0"),
        ("corpus: a.jsonl\nsources: {grammar: 1}", "corpus replaces all sources"),
        ("recombination: {p_edit: 1}", "p_edit must be >= 0 and < 1, or edits never end, got 1.0"),
        ("recombination: {swap: 1}", "unknown key 'recombination.swap'"),
        ("recombination: {exchange: 0, join: 0, merge: 0, fix: 0, free: 0}", "not all 0"),
        ("recombination: {unit_decades: 9}", "unit_decades must be between 0 and 6, got 9"),
        ("in_scale: {decades: 4}", "decades must be between 0 and 3, got 4"),
        ("in_scale: {rounded: 2}", "rounded must be a probability"),
        ("noise: {p_outliers: -1}", "p_outliers must be a probability"),
        ("mixed_with: {prior: wide, share: 0.5}", "'wide' has other variables or operators than prior 'mine'"),
        ("mixed_with: {prior: paper, share: 1}", "share must be between 0 and 1, got 1.0"),
        ("mixed_with: [{prior: paper, share: 0.5}, {prior: paper, share: 0.6}]", "less than 1, got 1.1"),
        ("mixed_with: {prior: mixed, share: 0.5}", "'mixed' is mixed with others itself"),
        ("mixed_with: {prior: wild, share: 0.5}", r"no prior 'wild'; did you mean 'wide'"),
        ("base: mine.yml", "no prior file 'mine.yml'"),
        ("- 1\n- 2", "must be a mapping"),
        ("rows: {low: [", "is no YAML"),
    ],
)
def test_bad_priors(text: str, message: str, tmp_path: Path) -> None:
    # a list or broken text is no mapping that could have a base
    whole = text if text.startswith("-") or "base" in text else f"base: paper\n{text}\n"
    if "operators: {}" in text or "operators: {other" in text or "operators: {s" in text:
        whole = (
            "columns: {kind: uniform, bounds: {kind: normal}}\nconstants: {kind: normal}\n"
            f"rows: {{low: 1, high: 2}}\n{text}\n"
        )
    with pytest.raises(PriorError, match=message):
        load_prior(write(tmp_path, whole))


@pytest.mark.parametrize("holdout", ["fastsbr", "nosuch.yaml", "x1 +", "velocity"])
def test_unknown_holdout(holdout: str) -> None:
    with pytest.raises(ValueError, match=r"catalogue"):
        Generator("paper", holdouts=[holdout])


def test_a_misspelt_name_has_a_remedy() -> None:
    with pytest.raises(PriorError, match=r"no prior 'papper'; did you mean 'paper'\?"):
        load_prior("papper")


def test_a_prior_that_accepts_nothing() -> None:
    """There is only one skeleton up to names, and it is held out."""
    prior = load_prior("paper")
    one = dataclasses.replace(prior.skeletons, min_operators=2, max_operators=2, operators={"abs": 1.0}, p_constant=0.0)
    held_out = dataclasses.replace(prior, skeletons=one, simplifier="none").with_rows(2)
    generator = Generator(held_out, holdouts=["abs(abs(x1))"])
    with pytest.raises(ExhaustedPriorError, match=r"none of 20000 .*held_out_symbolic: .*hold out less"):
        generator.batch(seed=0, indices=[0])
