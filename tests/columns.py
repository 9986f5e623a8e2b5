"""How the tests bind rows of values to the variables that the strategy can produce."""

from __future__ import annotations

import numpy as np

from tests.strategies import NAMES, X_TOKENS

ALL_NAMES = (*X_TOKENS, *NAMES.values())


def environment(row: list[float]) -> dict[str, float]:
    """Plain name -> value, for a row of len(ALL_NAMES) values."""
    return dict(zip(ALL_NAMES, row, strict=True))


def bind(rows: list[list[float]]) -> dict[str, np.ndarray]:
    """Columns for every variable that the strategy can produce."""
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), len(ALL_NAMES))
    return {name: table[:, k].copy() for k, name in enumerate(ALL_NAMES)}
