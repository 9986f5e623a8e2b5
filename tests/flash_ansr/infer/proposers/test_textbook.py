"""Known laws first, by their price, then forms like them; all in the columns of the table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from flash_ansr import ProposerContext
from flash_ansr.infer.proposers.textbook import TextbookProposer, drawn_batches, known_batch
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from flash_ansr.price.known_forms import known_forms
from flash_ansr.price.prices import usual_prices
from simplipy import Expression
from simplipy.expression.token_batch import FIRST_VARIABLE

N_KNOWN = len(known_forms())


def context(n_columns: int, seed: int = 0, grammar: Grammar | None = None, of: int = 0) -> ProposerContext:
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 4, (200, n_columns))
    return ProposerContext(Table(X, X[:, of] ** 2), grammar or Grammar(), seed=seed)


def first_formulas(start: ProposerContext, n: int) -> list[Expression]:
    """The first n proposals, in rounds of an odd size."""
    proposer, found = TextbookProposer(start), []
    while len(found) < n:
        proposals = proposer.propose(97, 0)
        assert proposals is not None
        proposals.check(start.table.n_columns)
        found += proposals.batch.expressions()
    return found[:n]


def in_order(formula: Expression) -> Expression:
    """Variables named by their first place."""
    names = dict.fromkeys(token for token in formula.tokens if token in formula.variables)
    return formula.rename({name: f"x{k}" for k, name in enumerate(names, start=1)})


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_known_laws_come_first_in_all_ways_and_by_price(n_columns: int) -> None:
    n_known = sum(math.perm(n_columns, len(known.form.variables)) for known in known_forms())
    found = first_formulas(context(n_columns), n_known)
    known = {in_order(known.form) for known in known_forms()}
    assert all(in_order(formula) in known for formula in found)
    assert len(set(found)) == n_known
    prices = usual_prices().of(found, n_columns)
    assert (np.diff(prices) >= 0).all()


def test_other_forms_follow_by_price_each_once() -> None:
    (batch,) = itertools.islice(drawn_batches(context(3)), 1)
    found = batch.expressions()
    assert len(found) > 1000
    assert len(set(found)) == len(found)
    assert (np.diff(usual_prices().of(found, 3)) >= 0).all()
    assert all(len(formula) <= 24 for formula in found)


def test_batches_do_not_repeat_each_other() -> None:
    first, second = (batch.expressions() for batch in itertools.islice(drawn_batches(context(2)), 2))
    assert not set(first) & set(second)


def test_forms_are_drawn_with_the_operators_of_the_grammar() -> None:
    allowed = frozenset({"+", "-", "*", "/", "neg", "exp"})
    (batch,) = itertools.islice(drawn_batches(context(2, grammar=Grammar(operators=allowed))), 1)
    operators = {name for formula in batch.expressions() for name in formula.skeleton().tokens
                 if not name.startswith("x") and name != "<constant>"}  # fmt: skip
    assert "exp" in operators
    assert {name for name in operators if name.isalpha()} <= allowed | {"inv", "pi", "e"}
    assert not {name for name in operators if name.startswith("pow")}


def test_the_same_formulas_for_the_same_seed() -> None:
    n = 4 * N_KNOWN
    one, same, other = (first_formulas(context(2, seed), n) for seed in (5, 5, 6))
    assert one == same
    assert one != other
    # known laws are not drawn
    assert one[:N_KNOWN] == other[:N_KNOWN]


@pytest.mark.parametrize("n_columns", [40, 300])
def test_many_columns_give_a_bounded_number_of_formulas(n_columns: int) -> None:
    start = context(n_columns, of=n_columns - 1)
    batch = known_batch(start)
    assert len(batch) <= 240 * N_KNOWN
    # the column that y is made of takes part in forms of all sizes
    names = [batch.ids[a:b][batch.ids[a:b] >= FIRST_VARIABLE] for a, b in itertools.pairwise(batch.offsets)]
    columns = [set(own[own < FIRST_VARIABLE + n_columns] - FIRST_VARIABLE) for own in names]
    assert {len(own) for own in columns if n_columns - 1 in own} >= {1, 2, 3, 4}
    drawn = next(drawn_batches(start)).expressions()
    used = {name for formula in drawn for name in formula.variables}
    assert f"x{n_columns}" in used
    assert len(used) <= 9
