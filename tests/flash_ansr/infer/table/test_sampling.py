"""Some of very many rows: they follow the distribution of y whatever the order of the table, and have its ends."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.table.sampling import sampled
from flash_ansr.infer.table.table import Table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20_000, 3))
Y = np.exp(X[:, 0])
TABLE = Table(X, Y, RNG.uniform(1, 2, len(Y)))


def test_few_rows_stay_as_they_are() -> None:
    assert sampled(TABLE, None, 0) is TABLE
    assert sampled(TABLE, 20_000, 0) is TABLE


def test_the_ends_of_all_columns_are_there() -> None:
    some = sampled(TABLE, 500, 0)
    assert some.n_rows == 500
    np.testing.assert_array_equal(some.ranges, TABLE.ranges)
    assert (some.y.min(), some.y.max()) == (Y.min(), Y.max())


def test_rows_keep_together_and_in_order() -> None:
    some = sampled(TABLE, 500, 0)
    rows = np.searchsorted(np.sort(Y), some.y)
    places = np.argsort(Y)[rows]
    assert (np.diff(places) > 0).all()
    np.testing.assert_array_equal(some.X, X[places])
    np.testing.assert_array_equal(some.sample_weight, TABLE.sample_weight[places])


def test_every_part_of_y_has_its_share() -> None:
    some = sampled(TABLE, 1000, 0)
    shares = np.histogram(some.y, np.quantile(Y, np.linspace(0, 1, 11)))[0] / 1000
    assert np.abs(shares - 0.1).max() < 0.015


def test_a_grid_keeps_all_of_its_lines() -> None:
    """Evenly spread rows of a grid would have few values of its second column."""
    grid = np.stack(np.meshgrid(np.arange(200.0), np.arange(100.0), indexing="ij"), axis=-1).reshape(-1, 2)
    some = sampled(Table(grid, grid.sum(axis=1)), 1000, 0)
    assert len(np.unique(some.X[:, 1])) > 95


def test_the_seed_alone_decides() -> None:
    a, b, c = (sampled(TABLE, 500, seed).y for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_rows_that_are_asked_for_come_first() -> None:
    wanted = np.array([17, 4, 9_999, *range(5_000, 5_100)])
    some = sampled(TABLE, 500, 0, wanted)
    assert np.isin(Y[wanted[:50]], some.y).all()
    assert some.n_rows == 500


def test_many_columns_do_not_take_all_rows() -> None:
    wide = Table(RNG.normal(size=(400, 300)), RNG.normal(size=400))
    some = sampled(wide, 200, 0)
    assert some.n_rows == 200
    assert (np.abs(some.X) == np.abs(wide.ranges).max(axis=1)).any(axis=0).mean() < 0.9
