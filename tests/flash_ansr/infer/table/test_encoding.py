"""Columns of every kind become numbers, the same ones in a fit, in predictions and after saving."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flash_ansr.infer.table.column_kinds import learn_encoding
from flash_ansr.infer.table.encoding import Encoding

N = np.nan
Y = np.arange(6.0)
COLOURS = ["red", "green", "red", None, "blue", "blue"]


def learn(**columns: Any) -> tuple[Encoding, tuple[str, ...]]:
    learned = learn_encoding(pd.DataFrame(columns), Y)
    return learned.encoding, learned.notes


# cells of six rows, names of the variables, their values in the first five rows
KINDS: dict[str, tuple[Any, list[str], list[list[float]]]] = {
    "integers": ([1, 2, 3, 4, 5, 6], ["c"], [[1, 2, 3, 4, 5]]),
    "truth values": ([True, False, True, True, False, True], ["c"], [[1, 0, 1, 1, 0]]),
    "truth values with a gap": ([True, None, True, True, False, True], ["c"], [[1, N, 1, 1, 0]]),
    "nullable integers": (pd.array([1, None, 3, 4, 5, 6], dtype="Int64"), ["c"], [[1, N, 3, 4, 5]]),
    "numbers as texts": (["1", "2.5", "", "1e3", "-4", "0"], ["c"], [[1, 2.5, N, 1000, -4]]),
    "thousands": (["1,000", "12", "1,234.5", "7", "8", "9"], ["c"], [[1000, 12, 1234.5, 7, 8]]),
    "ordered": (
        pd.Categorical(["S", "L", None, "M", "S", "S"], categories=["S", "M", "L"], ordered=True),
        ["c"],
        [[0, 2, N, 1, 0]],
    ),
    "texts": (
        ["red", "green", "red ", None, "blue", "green"],
        ['(c == "green")', '(c == "red")'],
        [[0, 1, 0, N, 0], [1, 0, 1, N, 0]],
    ),
    "two texts": (["b", "a", "b", None, "a", "a"], ['(c == "a")'], [[0, 1, 0, N, 1]]),
    "categories of numbers": (
        pd.Categorical([4, 6, 4, 8, 6, 8]),
        ['(c == "4")', '(c == "6")', '(c == "8")'],
        [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0]],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    cells, names, values = KINDS[kind]
    encoding, _ = learn(c=cells)
    assert encoding.names == names
    frame = pd.DataFrame({"c": cells})
    np.testing.assert_array_equal(encoding.numbers(frame)[:5].T, values)
    again = Encoding.from_json(json.loads(json.dumps(encoding.to_json())))
    assert again == encoding
    np.testing.assert_array_equal(again.numbers(frame.iloc[:2]), np.array(values)[:, :2].T)


def test_arrays_are_columns_of_numbers() -> None:
    X = np.arange(12.0).reshape(6, 2)
    encoding = learn_encoding(X, Y).encoding
    assert encoding.names == ["x1", "x2"]
    np.testing.assert_array_equal(encoding.numbers(X), X)
    np.testing.assert_array_equal(encoding.without({"x1": "why"}).numbers(X), X[:, 1:])


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["a"] * 6, "the same in every row"),
        (["a", "a", None, "a", "a", "a"], "the same in every row"),
        (["a", "a", "b", "a", "a", "a"], "the same in every row but 1"),
        (list("abcdef"), "its texts all differ"),
        ([f"2020-01-0{k}" for k in (1, 2, 3, 3, 1, 2)], "its values are dates; convert them to a number such as"),
        ([f"{k}.1.2020 12:30" for k in range(1, 7)], "its values are dates"),
        (pd.Categorical([None] * 6), "no value in any row"),
    ],
)
def test_columns_without_variables(cells: Any, why: str) -> None:
    encoding, _ = learn(c=cells, x=Y)
    assert encoding.names == ["x"]
    assert encoding.left_out["c"].startswith(why)
    np.testing.assert_array_equal(encoding.numbers(pd.DataFrame({"c": cells, "x": Y}))[:, 0], Y)


def test_of_two_levels_the_one_with_more_of_y_has_the_indicator() -> None:
    for y, level in ((Y, "late"), (-Y, "early")):
        frame = pd.DataFrame({"c": ["early", "early", "late", "late", "early", "late"]})
        assert learn_encoding(frame, y).encoding.names == [f'(c == "{level}")']


def test_many_levels() -> None:
    cells = [f"L{k % 30:02}" for k in range(90)] + ["L29", "once"]
    learned = learn_encoding(pd.DataFrame({"c": cells}), np.arange(92.0))
    names = learned.encoding.names
    assert len(names) == 20
    assert names[:2] == ['(c == "L29")', '(c == "L00")']  # the most frequent first, then by name
    assert learned.notes == (
        "column 'c' has 31 levels: the 20 most frequent have indicators; the others, in 31 rows, have none",
    )
    values = learned.encoding.numbers(pd.DataFrame({"c": ["once", "L28"]}))
    assert not values.any()
    assert learned.encoding.unseen(pd.DataFrame({"c": ["once", "L28"]}), set(names)) == {}


def test_labels_that_come_twice_here_and_there_are_labels() -> None:
    cells = [f"id{k}" for k in range(50)] + ["id1", "id2"]
    learned = learn_encoding(pd.DataFrame({"c": cells, "x": np.arange(52.0)}), np.arange(52.0))
    assert learned.encoding.left_out == {"c": "most of its texts differ"}


def test_fills_are_medians_and_the_most_frequent_level() -> None:
    frame = pd.DataFrame({"x": [1.0, 2, N, 10, 3, 2], "c": ["a", "a", None, "b", "c", "a"]})
    encoding, _ = learn(x=frame["x"], c=frame["c"])
    filled = encoding.filled(encoding.numbers(frame))
    assert filled[2].tolist() == [2.0, 1.0]  # of texts that are in one row only, there is no indicator
    assert encoding.names == ["x", '(c == "a")']


def test_levels_that_the_fit_has_not_seen() -> None:
    encoding, _ = learn(c=COLOURS, s=pd.Categorical([*"SMSMSM"], categories=["S", "M"], ordered=True), x=Y)
    new = pd.DataFrame({"c": ["pink", "red", None], "s": ["S", "XL", "M"], "x": [1.0, 2.0, 3.0]})
    assert encoding.unseen(new, {'(c == "red")', "s"}) == {"c": ["pink"], "s": ["XL"]}
    assert encoding.unseen(new, {"s"}) == {"s": ["XL"]}
    values = dict(zip(encoding.names, encoding.numbers(new).T, strict=True))
    np.testing.assert_array_equal(values['(c == "red")'], [0, 1, N])
    np.testing.assert_array_equal(values["s"], [0, N, 1])


def test_columns_that_are_not_needed_may_hold_anything() -> None:
    encoding, _ = learn(c=COLOURS, x=Y)
    new = pd.DataFrame({"c": [[1], None], "x": [1.0, 2.0]})
    numbers = encoding.numbers(new, used={"x"})
    assert np.isnan(numbers[:, :-1]).all()
    assert numbers[:, -1].tolist() == [1.0, 2.0]
    assert encoding.columns_of({'(c == "red")', '(c == "blue")'}) == ["c"]
    with pytest.raises(ValueError, match="column 'x' of X is not numeric: 'late' in row 2 is no number"):
        encoding.numbers(pd.DataFrame({"c": ["red"] * 2, "x": [1, "late"]}), used={"x"})


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            [1, 2, "late", 4, 5, 6],
            "column 'c' of X mixes numbers and texts: 'late' in row 3 is no number, and 1 in",
        ),
        (["a", "b", "3", "a", "b", "a"], "mixes numbers and texts: 'a' in row 1 is no number, and '3' in row 3 is one"),
        (["12 %", "0.5", "1", "2", "3", "4"], "'12 %' in row 1 is in per cent and others are not"),
        (
            [[1], [2], [3], [4], [5], [6]],
            r"column 'c' of X is not numeric: row 1 has a list, \[1\]; convert or drop",
        ),
        (pd.date_range("2020", periods=6), "column 'c' of X is not numeric: its values are dates; convert them"),
        (np.arange(6) * 1j, "column 'c' of X is not numeric: its values are complex numbers"),
    ],
)
def test_columns_that_are_neither(cells: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn(c=cells)


def test_names_that_meet_are_refused() -> None:
    with pytest.raises(ValueError, match="two columns of X become the variable"):
        learn(**{"c": COLOURS, '(c == "red")': Y})
