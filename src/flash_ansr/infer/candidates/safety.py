"""Whether formulas are safe: defined, and within the range of doubles, where their rows lie.

Three questions, all answered by intervals: on the whole box of the rows, which is what users are told; on a somewhat
larger box, where the next rows will lie; and on the straight lines between neighbouring rows, where a failure means
that the formula bends around the data. Refuses nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flash_ansr.infer.table.ranks import ranks
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Enclosure, Expression, enclose_many
from simplipy.expression.intervals import MAX_BOXES, Status, enclose_between

# boxes for each formula at first, and for all together that these do not settle
_FIRST_BOXES = 50
_ALL_BOXES = 100_000
# of the range of a column, on each side
_MARGIN = 0.1
_LARGEST = np.finfo(float).max
# rows among which neighbours are sought, and lines between neighbours
_MAX_ROWS = 2048
_N_LINES = 512
# in squares of distances: a neighbour on a side of a column may be twice as far in it
_ALONG = 0.25


@dataclass(frozen=True, slots=True)
class Safety:
    """The safety of a formula on a table.

    Attributes
    ----------
    box : Enclosure
        On the box of the rows: the ranges of all columns.
    between : Enclosure
        On the lines between neighbouring rows. For a formula of one column this is the box.
    around : Enclosure
        On a box with a margin on each side.
    """

    box: Enclosure
    between: Enclosure
    around: Enclosure

    @property
    def holds_around(self) -> bool:
        """Whether the formula surely has a value in the box of the rows and a little beyond it."""
        return self.around.status == "proved"

    @property
    def safe(self) -> Status:
        """Whether the formula has a value everywhere in the box of the rows."""
        return self.box.status

    @property
    def breaks_between_rows(self) -> bool:
        """Whether there is a point between neighbouring rows, ``between.point``, where the formula fails."""
        return self.between.status == "disproved"


def safety_of(expressions: Sequence[Expression], table: Table, n_threads: int | None = None) -> list[Safety]:
    """The safety of each formula of x1, x2, ... on the rows of a table.

    Parameters
    ----------
    expressions : sequence of Expression
        With their numbers.
    table : Table
    n_threads : int, optional
        None takes what pays off; the result does not depend on it.
    """
    ranges = table.ranges
    boxes = enclose_many(expressions, ranges, max_boxes=_FIRST_BOXES, n_threads=n_threads)
    unsettled = [i for i, box in enumerate(boxes) if box.status == "unknown"]
    limit = _share(len(unsettled))
    again = enclose_many([expressions[i] for i in unsettled], ranges, max_boxes=limit, n_threads=n_threads)
    for i, box in zip(unsettled, again, strict=True):
        boxes[i] = box
    margins = enclose_many(expressions, _with_margin(ranges), max_boxes=_FIRST_BOXES, n_threads=n_threads)
    found = [Safety(box, box, margin) for box, margin in zip(boxes, margins, strict=True)]
    unsafe = defaultdict(list)
    for i, (expression, box) in enumerate(zip(expressions, boxes, strict=True)):
        if box.status != "proved" and len(expression.variables) > 1:
            unsafe[expression.variables].append(i)
    limit = _share(sum(map(len, unsafe.values())))
    for variables, places in unsafe.items():
        starts, ends = neighbouring_rows(table, [int(name.removeprefix("x")) - 1 for name in variables])
        formulas = [expressions[i] for i in places]
        lines = enclose_between(formulas, starts, ends, max_boxes=limit, n_threads=n_threads)
        for i, between in zip(places, lines, strict=True):
            found[i] = replace(found[i], between=between)
    return found


def _with_margin(ranges: FloatArray) -> FloatArray:
    """Ranges with a margin on each side, at most half of the way to 0: positive columns stay positive."""
    low, high = ranges.T
    with np.errstate(over="ignore"):  # columns near the largest double have no room
        margin = _MARGIN * high - _MARGIN * low
        lower = np.where(low > 0, np.maximum(low - margin, low / 2), low - margin)
        upper = np.where(high < 0, np.minimum(high + margin, high / 2), high + margin)
    return np.stack([np.maximum(lower, -_LARGEST), np.minimum(upper, _LARGEST)], axis=1)


def _share(n_formulas: int) -> int:
    """Boxes for each of so many formulas."""
    return min(MAX_BOXES, max(_FIRST_BOXES, _ALL_BOXES // max(1, n_formulas)))


def neighbouring_rows(table: Table, columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Rows of X, and for each a row near it in the ranks of these columns, both (n_pairs, n_columns).

    A row gets a neighbour on each side of each column, so that no direction of a grid is left out and no gap between
    clusters. Of many rows some get neighbours, evenly spread; rows that agree in all of these columns count once.
    """
    rows = table.thinned(_MAX_ROWS).X
    rows = rows[np.unique(rows[:, columns], axis=0, return_index=True)[1]]
    places = [ranks(rows[:, k]) / len(rows) for k in columns]
    n_centres = min(len(rows), max(1, _N_LINES // (2 * len(columns))))
    centres = np.linspace(0, len(rows) - 1, n_centres).astype(np.int64)
    distances = sum(np.subtract.outer(place[centres], place) ** 2 for place in places)
    pairs = []
    for place in places:
        along = np.subtract.outer(place[centres], place)
        nearness = distances - (1 - _ALONG) * along**2
        for side in (along < 0, along > 0):
            near = np.argmin(np.where(side, nearness, np.inf), axis=1)
            pairs.append(np.stack([centres, near], axis=1)[side.any(axis=1)])
    starts, ends = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0).T
    return rows[starts], rows[ends]
