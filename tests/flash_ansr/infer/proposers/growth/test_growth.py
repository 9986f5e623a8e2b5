"""Growth on tables whose law is known: formulas that approximate it, and the rules that it keeps to."""

from __future__ import annotations

import numpy as np
import pytest

import simplipy
from flash_ansr.infer.candidates.proposals import Lesson
from flash_ansr.infer.candidates.safety import safety_of
from flash_ansr.infer.proposers.base import ProposerContext
from flash_ansr.infer.proposers.growth.growth import Growth
from flash_ansr.infer.proposers.growth.members import left_out_error
from flash_ansr.infer.proposers.growth.proposer import GrowthProposer
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy.expression.operators import DEFAULT_OPERATORS


def friedman(n_rows: int, n_columns: int = 8, seed: int = 0) -> Table:
    """Friedman's function with noise of a deviation of 1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, n_columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return Table(X, y + rng.normal(size=n_rows))


def proposed(proposer: GrowthProposer, rounds: int, n: int = 128) -> list[tuple[simplipy.Expression, np.ndarray]]:
    found = []
    for _ in range(rounds):
        proposals = proposer.propose(n, 0)
        if proposals is None:
            break
        assert proposals.n_drawn is not None
        assert proposals.n_drawn <= n
        proposals.check(proposer.context.table.n_columns)
        found += list(zip(proposals.batch.expressions(), proposals.starts or [], strict=True))
    return found


def test_friedmans_function_is_found_among_irrelevant_columns() -> None:
    table, fresh = friedman(400), friedman(1000, seed=1)
    found = proposed(GrowthProposer(ProposerContext(table, n_threads=1)), 12)
    errors = [np.mean((fresh.y - law(fresh.X, constants=constants)) ** 2) for law, constants in found]
    assert min(errors) < 1.35  # 1 is the noise
    best, _ = found[int(np.argmin(errors))]
    assert set(best.variables) >= {"x1", "x2", "x3", "x4", "x5"}


def test_the_same_on_any_number_of_threads_and_for_the_same_seed() -> None:
    table = friedman(150)
    runs = [proposed(GrowthProposer(ProposerContext(table, n_threads=n, seed=3)), 4) for n in (1, 2, 1)]
    assert runs[0]
    for other in runs[1:]:
        assert [law for law, _ in other] == [law for law, _ in runs[0]]
        for (_, a), (_, b) in zip(runs[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_formulas_keep_to_the_grammar_and_hold_around_the_rows() -> None:
    table = friedman(150)
    grammar = Grammar(frozenset({"+", "*", "/", "log", "pow2"}), max_length=25)
    found = proposed(GrowthProposer(ProposerContext(table, grammar, n_threads=1)), 6)
    assert found
    assert all(grammar.allows(law) for law, _ in found)
    laws = [law.with_constants(constants) for law, constants in found]
    assert all(safety.holds_around for safety in safety_of(laws, table))


def test_without_sums_there_is_no_growth() -> None:
    grammar = Grammar(frozenset(DEFAULT_OPERATORS) - {"+"})
    assert GrowthProposer(ProposerContext(friedman(50), grammar)).propose(64, 0) is None


def test_an_exact_law_grows_from_a_part_that_another_proposer_found() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(1, 3, (120, 2))
    table = Table(X, 2.5 * np.exp(-0.7 * X[:, 0]) + 0.3 * X[:, 1] ** 2)
    proposer = GrowthProposer(ProposerContext(table, n_threads=1))
    proposer.learn([Lesson(simplipy.parse("<constant>*exp(<constant>*x1)"), np.array([2.0, -0.5]))])
    found = proposed(proposer, 3)
    fvus = [np.mean((law(X, constants=c) - table.y) ** 2) / table.y.var() for law, c in found]
    assert min(fvus) < 1e-12


def test_rows_of_weight_zero_do_not_count() -> None:
    table = friedman(200)
    y, weights = table.y.copy(), np.ones(200)
    y[:40], weights[:40] = 1e6, 0.0
    growth = Growth(ProposerContext(Table(table.X, y, weights), n_threads=1))
    for _ in range(3):
        growth.grow(128)
    best = growth.members.records()[-1]
    errors = (table.y - best.expression(table.X, constants=best.constants))[40:]
    assert np.mean(errors**2) < 0.6 * table.y[40:].var()


@pytest.mark.parametrize("formula", ["<constant>*x1 + <constant>*x2 + <constant>", "<constant>*x1^2"])
def test_the_error_of_left_out_rows_is_that_of_fits_without_them(formula: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 3, (25, 2))
    y, law = X[:, 0] ** 2 + rng.normal(size=25), simplipy.parse(formula)
    fit = simplipy.fit_constants(law, X, y)
    errors = []
    for i in range(25):
        kept = np.delete(np.arange(25), i)
        part = simplipy.fit_constants(law, X[kept], y[kept])
        errors.append(float(y[i] - part.expression(X[i : i + 1])[0]))
    assert left_out_error(law, fit.constants, X, y, np.ones(25)) == pytest.approx(np.mean(np.square(errors)), rel=1e-6)


def test_records_improve_with_length() -> None:
    growth = Growth(ProposerContext(friedman(200), n_threads=1))
    for _ in range(4):
        growth.grow(128)
    records = growth.members.records()
    assert len(records) > 4
    lengths, errors = [len(m.expression) for m in records], [m.error for m in records]
    assert lengths == sorted(set(lengths))
    assert errors == sorted(errors, reverse=True)
