"""Weights of the tokens in new parts of children: the usual ones, shifted towards those that a model draws."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray
from simplipy import TokenBatch
from simplipy.expression.operators import by_id
from simplipy.expression.token_batch import FIRST_VARIABLE

_USUAL = {
    "+": 10.0, "-": 8.0, "*": 14.0, "/": 10.0, "pow": 1.0, "inv": 1.5, "neg": 0.5,
    "pow2": 4.0, "pow3": 1.5, "pow4": 0.4, "pow1_2": 2.0, "pow1_3": 0.4,
    "sin": 2.0, "cos": 2.0, "exp": 2.5, "log": 2.0, "tanh": 0.7,
}  # fmt: skip
_OTHER = 0.2
# integer factors are free constants in a skeleton
_NEVER = {f"{kind}{k}" for kind in ("mult", "div") for k in (2, 3, 4, 5)}
# how much of a draw is the model's, once it has drawn
_MODEL_SHARE = 0.5


class TokenWeights:
    """Weights of operators and variables in new parts of formulas.

    Parameters
    ----------
    grammar : Grammar
        Operators outside it have no weight, whatever a model says.
    n_columns : int
    """

    def __init__(self, grammar: Grammar, n_columns: int) -> None:
        self._operators = np.array(by_id({t: _USUAL.get(t, _OTHER) for t in grammar.operators - _NEVER}, 0.0))
        self._variables = np.ones(n_columns)
        self._counts = np.zeros(FIRST_VARIABLE + n_columns)

    def count(self, batch: TokenBatch, counts: npt.NDArray[np.int64]) -> None:
        """Count the tokens of formulas that a model drew for the table, each as often as it was drawn."""
        weights = np.repeat(counts, np.diff(batch.offsets))
        known = (batch.ids >= 0) & (batch.ids < len(self._counts))
        self._counts += np.bincount(batch.ids[known], weights[known], minlength=len(self._counts))

    @property
    def operators(self) -> list[float]:
        """By the operator's id."""
        return _leaning(self._operators, self._counts[:FIRST_VARIABLE]).tolist()

    @property
    def variables(self) -> list[float]:
        """By column."""
        return _leaning(self._variables, self._counts[FIRST_VARIABLE:]).tolist()


def _leaning(usual: FloatArray, counts: FloatArray) -> FloatArray:
    """The usual weights, a share of their sum given to what a model drew."""
    counts = np.where(usual > 0, counts, 0.0)
    if not counts.any():
        return usual
    return (1 - _MODEL_SHARE) * usual + _MODEL_SHARE * usual.sum() * counts / counts.sum()
