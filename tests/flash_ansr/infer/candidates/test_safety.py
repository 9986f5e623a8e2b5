"""Safety of formulas: on the box of the rows, and between neighbouring rows."""

import numpy as np
import pytest

from flash_ansr.infer.candidates.safety import neighbouring_rows, safety_of
from flash_ansr.infer.table.table import Table
from simplipy import parse

RNG = np.random.default_rng(5)
LINE = np.linspace(1.0, 7.0, 31)[:, None]
PLANE = RNG.uniform(0.5, 4.0, (300, 2))


def table_of(X):
    return Table(X, np.zeros(len(X)))


def safety(text, X):
    (found,) = safety_of([parse(text)], table_of(X))
    return found


def test_a_law_without_failures_is_proved():
    found = safety("2.1*exp(-4.5/x1)", LINE)
    assert (found.safe, found.breaks_between_rows) == ("proved", False)
    assert found.box is found.between
    assert 2.1 * np.exp(-4.5 / LINE.max()) <= found.box.high <= 2.1 * np.exp(-4.5 / LINE.max()) * (1 + 1e-14)


@pytest.mark.parametrize("text", ["1/(x1 - 3.27)", "x1 + 1e-9/(x1 - 3.27)^2", "log(abs(x1 - 3.27))", "tan(0.48*x1)"])
def test_a_pole_between_two_rows(text):
    assert np.isfinite(parse(text)(LINE)).all()
    found = safety(text, LINE)
    assert (found.safe, found.breaks_between_rows) == ("disproved", True)
    assert found.between.point == pytest.approx({"x1": 3.27 if "tan" not in text else np.pi / 0.96}, rel=1e-9)


def test_a_pole_that_no_row_comes_near():
    """The law 1/(x1 - x2) of rows with x1 > x2: the box holds its pole, the rows do not surround it."""
    X = np.sort(PLANE, axis=1)[:, ::-1] + [[0.01, 0.0]]
    found = safety("1/(x1 - x2)", X)
    assert (found.safe, found.box.failure) == ("disproved", "pole")
    assert (found.between.status, found.breaks_between_rows) == ("proved", False)


def test_a_pole_between_rows_of_a_plane():
    found = safety("x2 + 1/(x1 + 2*x2 - 7.03)", PLANE)
    assert found.breaks_between_rows
    point = found.between.point
    assert point["x1"] + 2 * point["x2"] == pytest.approx(7.03, rel=1e-12)
    gaps = np.linalg.norm(PLANE - [[point["x1"], point["x2"]]], axis=1)
    assert np.sort(gaps)[1] < 0.6


def test_an_island_where_a_formula_is_undefined():
    """Rows around it, none on it."""
    X = PLANE[np.hypot(PLANE[:, 0] - 2, PLANE[:, 1] - 2) > 0.5]
    text = "sqrt((x1 - 2)^2 + (x2 - 2)^2 - 0.24)"
    assert np.isfinite(parse(text)(X)).all()
    found = safety(text, X)
    assert (found.safe, found.box.failure) == ("disproved", "undefined")
    # the lines are short beside the island: some of them may cut its edge
    assert found.between.status != "unknown"


def test_columns_that_a_formula_does_not_use_play_no_part():
    wide = np.column_stack([PLANE, RNG.normal(size=(300, 3))])
    text = "x2 + 1/(x1 + 2*x2 - 7.03)"
    assert safety(text, wide) == safety(text, PLANE)


def test_heavy_tails():
    """Neighbours are near in ranks: a far row does not squeeze the others together."""
    X = np.exp(4 * RNG.normal(size=(200, 2)))
    assert safety("1/(x1*x2 - 0.731)", X).breaks_between_rows
    assert safety("1/(x1 + x2)", X).safe == "proved"


def test_neighbours_are_near():
    starts, ends = neighbouring_rows(table_of(PLANE), [0, 1])
    assert 300 <= len(starts) <= 512
    assert np.median(np.abs(starts - ends)) < 0.2
    rows = {tuple(row) for row in PLANE}
    assert all(tuple(row) in rows for row in (*starts, *ends))
    # of the columns used, each row but the last has a neighbour above it: in one column the lines leave no gap
    starts, ends = neighbouring_rows(table_of(PLANE[:100]), [0])
    np.testing.assert_array_equal(np.sort(PLANE[:100, 0])[1:], np.sort(np.maximum(starts, ends)[:, 0]))


def test_lines_bridge_a_gap():
    """Two clusters, between which the pole lies."""
    X = np.concatenate([PLANE[:40] / 10, PLANE[40:80] / 10 + [2.0, 0.0]])
    assert safety("x2 + 1/(x1 - 1.2 + x2/100)", X).breaks_between_rows


def test_neighbours_on_a_grid_lie_in_all_directions():
    X = np.stack(np.meshgrid(np.arange(12.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    starts, ends = neighbouring_rows(table_of(X), [0, 1])
    moved = np.abs(starts - ends).sum(axis=0)
    assert (np.abs(starts - ends).sum(axis=1) == 1).mean() > 0.9
    assert moved.min() > 0.25 * moved.sum()


def test_rows_that_are_equal_have_no_line():
    X = np.repeat(PLANE[:20], 5, axis=0)
    starts, ends = neighbouring_rows(table_of(X), [0, 1])
    assert (np.abs(starts - ends).sum(axis=1) > 0).all()
    assert len(neighbouring_rows(table_of(np.ones((5, 2))), [0, 1])[0]) == 0
    assert safety("x1*x2", np.ones((5, 2))).safe == "proved"


def test_many_rows_give_few_lines():
    X = np.random.default_rng(0).normal(size=(50_000, 3))
    starts, ends = neighbouring_rows(table_of(X), [0, 2])
    assert 200 <= len(starts) <= 512
    assert np.median(np.abs(starts - ends)[:, [0, 2]]) < 0.1
    assert safety("x2 + 1/(x1 + 2*x3 - 0.1)", X).breaks_between_rows


def test_many_formulas_at_once_on_any_number_of_threads():
    formulas = [parse(f"1/(x1 + {c}*x2 - {d})") for c in (0.5, 1.5) for d in (-1.0, 3.0, 4.1)]
    table = table_of(PLANE)
    alone = [safety_of([formula], table)[0] for formula in formulas]
    assert safety_of(formulas, table, n_threads=1) == safety_of(formulas, table, n_threads=3) == alone
    assert [found.breaks_between_rows for found in alone] == [False, True, True] * 2
    assert safety_of([], table) == []
