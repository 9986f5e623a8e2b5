"""The prior of the laws of science: its file of laws, realistic data, mixtures with other priors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import yaml

from flash_ansr.data import Generator, Holdout, Prior, ProblemStream, load_prior
from flash_ansr.data.sources.laws import law_forms
from flash_ansr.data.sources.settings import Recombination, Sources
from flash_ansr.train.config import load_config
from flash_ansr.train.problems import Problems
from simplipy import Expression, parse

Floats = npt.NDArray[np.float64]


def science(**changes: object) -> Prior:
    return dataclasses.replace(load_prior("science"), **changes)


def numbered(expression: Expression) -> str:
    """The formula with its variables numbered as they occur."""
    names = dict.fromkeys(token for token in expression.tokens if token in expression.variables)
    return str(expression.rename({name: f"x{k}" for k, name in enumerate(names, 1)}))


def distance(a: Floats, b: Floats) -> float:
    """Largest difference of two empirical distribution functions."""
    at = np.sort(np.concatenate([a, b]))
    shares = [np.searchsorted(np.sort(values), at, side="right") / len(values) for values in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def test_without_edits_only_laws_are_drawn() -> None:
    prior = science(sources=Sources(0, 1, 0), recombination=Recombination(p_edit=0))
    drawn = Generator(prior, holdouts=()).skeletons(3, range(500), simplified=False)
    laws = {numbered(law.skeleton) for law in law_forms()}
    found = {numbered(parse(tokens)) for tokens in drawn if tokens is not None}
    assert len(found) > 200
    assert found <= laws


def test_edits_make_new_forms_and_problems_of_many_columns() -> None:
    batch = Generator(science(sources=Sources(0, 1, 0))).batch(3, range(1500))
    formulas = [parse(batch.tokens(i)) for i in range(len(batch))]
    laws = {numbered(law.skeleton) for law in law_forms()}
    new = {numbered(formula) for formula in formulas} - laws
    assert len(new) > 500
    assert {len(formula.variables) for formula in formulas} >= {1, 2, 3, 4, 5, 6, 7}
    assert max(batch.lengths) <= load_prior("science").longest_target


@pytest.mark.parametrize("prior", ["science", "mixed"])
def test_batches_depend_on_seed_and_index_only(prior: str) -> None:
    generator = Generator(prior)
    whole = generator.flat(5, range(300))
    for name, array in generator.flat(5, range(300), n_threads=3).items():
        assert np.array_equal(whole[name], array), name
    tail = Generator(prior).flat(5, range(250, 300))
    assert np.array_equal(tail["y"], whole["y"][-len(tail["y"]) :])
    assert not np.array_equal(generator.flat(6, range(300))["y"][:100], whole["y"][:100])


def test_data_are_as_it_says() -> None:
    prior = science()
    batch = Generator(prior).batch(3, range(1000))
    assert batch.n_rows.min() == 3
    assert 400 < batch.n_rows.max() <= 512
    assert 0.55 < np.mean(batch.noise > 0) < 0.65
    assert 0.15 < batch.noise.max() <= 0.2
    columns = [batch.X[i, : batch.n_rows[i], k] for i in range(1000) for k in range(batch.n_columns[i])]
    long = [column for column in columns if len(column) > 20]
    assert 0.85 < np.mean([(column >= 0).all() for column in long]) < 0.99
    assert 0.03 < np.mean([(column == np.round(column)).all() for column in long]) < 0.2


def test_columns_of_the_prior_are_as_those_of_laws() -> None:
    """The numbers in the file of the prior are rounded from the laws' own ranges: they must not be far from them."""
    rng = np.random.default_rng(0)
    ranges = [variable.range for law in law_forms() for variable in law.variables]
    theirs = [np.abs(usual.values(rng.random(64), rng.random(64))) for usual in ranges]
    prior = science(sources=Sources(0, 0, 1), rows=dataclasses.replace(science().rows, low=64, high=64))
    batch = Generator(prior).batch(3, range(1500))
    ours = [np.abs(batch.X[i, :, k]) for i in range(1500) for k in range(batch.n_columns[i])]

    def sizes(columns: list[Floats]) -> Floats:
        return np.log10([max(float(np.median(column)), 1e-30) for column in columns])

    def widths(columns: list[Floats]) -> Floats:
        low, high = np.quantile(np.maximum(np.stack(columns), 1e-30), [0.1, 0.9], axis=1)
        return np.asarray(np.log10(high / low))

    assert distance(sizes(ours), sizes(theirs)) < 0.12
    assert distance(widths(ours), widths(theirs)) < 0.12


def test_outliers() -> None:
    noise = dataclasses.replace(science().noise, probability=1, low=0.01, high=0.01, p_outliers=1, max_outliers=0.2)
    generator = Generator(science(noise=noise).with_rows(512))
    batch = generator.batch(5, range(100), detailed=True)
    shares = []
    for i in range(100):
        clean = batch.expression(i)(batch.X[i].astype(np.float64))
        shares.append(np.mean(np.abs(batch.y[i] - clean) > 0.04 * np.std(clean)))
    # two of three outliers are beyond four times the usual noise
    assert 0.04 < np.mean(shares) < 0.1
    assert max(shares) < 0.2


def test_a_mixed_prior_draws_each_problem_from_one_of_its_priors() -> None:
    streams = {
        name: ProblemStream(name, seed=7, batch_size=400, rows=8).batch(0) for name in ("mixed", "science", "wide")
    }
    mixed = streams.pop("mixed")
    own = {name: [batch.tokens(i) == mixed.tokens(i) for i in range(400)] for name, batch in streams.items()}
    assert all(a or b for a, b in zip(own["science"], own["wide"], strict=True))
    assert 0.4 < np.mean(own["wide"]) < 0.6


def test_holdouts_hold_for_all_parts_of_a_mixed_prior() -> None:
    batch = Generator("mixed", holdouts=iter(["x1*x2"])).batch(7, range(500))
    assert Holdout(["x1*x2"]).find_many(batch.tokens(i) for i in range(500)) == [None] * 500


def test_a_copy_of_a_mixed_prior_is_whole(tmp_path: Path) -> None:
    mixed = load_prior("mixed")
    path = tmp_path / "prior.yaml"
    path.write_text(yaml.safe_dump(json.loads(json.dumps(dataclasses.asdict(mixed)))), encoding="utf-8")
    assert load_prior(path) == mixed
    assert mixed.with_rows(5).mixed_with[0].prior.rows.high == 5


@pytest.mark.parametrize("prior", ["science", "mixed"])
def test_nano_can_be_trained_on_it(prior: str) -> None:
    problems = Problems(load_config("nano", [f"data.prior={prior}"]), seed=0, batch_size=16)
    assert problems.batch(0).X.shape[::2] == (16, 9)


def test_laws_with_operators_or_variables_that_are_off_are_left_out() -> None:
    skeletons = dataclasses.replace(science().skeletons, operators=dict.fromkeys("+-*/", 1.0), n_variables=2)
    drawn = Generator(science(skeletons=skeletons, sources=Sources(0, 1, 0)), holdouts=()).skeletons(
        3, range(500), simplified=False
    )
    tokens = {token for skeleton in drawn if skeleton is not None for token in skeleton}
    assert tokens == {"+", "-", "*", "/", "<constant>", "x1", "x2"}
