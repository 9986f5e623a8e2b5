"""Indicators: variables that are 1 where a column has a level, such as a text, and 0 elsewhere.

The name of such a variable is its formula, ``(colour == "red")``; it is written so in infix text and as a token.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from simplipy import _core
from simplipy.files.number_texts import is_missing


def indicator_name(column: str, level: str) -> str:
    """Name of the variable that is 1 where the column has the level.

    Examples
    --------
    >>> indicator_name("my colour", "red")
    '(`my colour` == "red")'
    """
    return _core.indicator_name(column, level)


def indicator_parts(name: str) -> tuple[str, str] | None:
    """Column and level of an indicator with this name; None for other variables.

    Examples
    --------
    >>> indicator_parts('(colour == "red")')
    ('colour', 'red')
    """
    return _core.indicator_parts(name)


def source_column(name: str) -> str:
    """Column that a variable is computed from: that of an indicator, otherwise the one of its name."""
    indicator = indicator_parts(name)
    return name if indicator is None else indicator[0]


def level_of(value: object) -> str | None:
    """The level of a cell: its text without blanks around it, None where there is no value."""
    return None if is_missing(value) else str(value).strip()


def indicator_values(column: Iterable[object], level: str) -> npt.NDArray[np.float64]:
    """1 where the cells have the level, 0 where they have another, NaN where they have none.

    Examples
    --------
    >>> indicator_values(["red", "blue", None], "red")
    array([ 1.,  0., nan])
    """
    levels = map(level_of, column)
    return np.array([math.nan if found is None else float(found == level) for found in levels])
