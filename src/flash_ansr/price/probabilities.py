"""Probabilities from counts: rare contexts lean on what is known of their more general ones.

p(answer | f1, ..., fk) = (count + s*p(answer | f1, ..., f(k-1))) / (total + s), where s is the strength times the
number of different answers in the context: a context that was met with many answers has not yet shown all. Below all
contexts lies the uniform distribution.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flash_ansr.price.counts import Counts, FloatArray, Question, n_cells, questions

# found by leaving out one field after the other, see ``estimate.py``
STRENGTHS: Mapping[str, float] = {
    "n_terms": 2.0,
    "shape": 8.0,
    "number": 2.0,
    "atom": 16.0,
    "variable": 2.0,
    "exponent": 16.0,
}
# questions about operators, for which forms count that count for nothing else
_OF_OPERATORS = ("atom", "exponent")


def log_probabilities(counts: Counts, strengths: Mapping[str, float] = STRENGTHS) -> FloatArray:
    """Logarithms of the probabilities of all answers, (n_cells,)."""
    table = np.empty(n_cells())
    for question in questions():
        question.part_of(table)[...] = np.log(smoothed(question, counts, strengths[question.name]))
    return table


def smoothed(question: Question, counts: Counts, strength: float) -> FloatArray:
    """The probabilities of the answers to a question, (*features, answers)."""
    usual = question.part_of(counts.usual)
    n_features = len(question.features)
    probabilities = np.full(len(question.answers), 1 / len(question.answers))
    for n_known in range(n_features + 1):
        seen = usual.sum(axis=tuple(range(n_known, n_features)))
        if n_known == 0 and question.name in _OF_OPERATORS:
            only = question.part_of(counts.operators_only)
            seen = seen + only.sum(axis=tuple(range(n_features)))
        weight = strength * np.maximum((seen > 0).sum(axis=-1, keepdims=True), 1)
        general = probabilities if n_known == 0 else probabilities[..., None, :]
        probabilities = (seen + weight * general) / (seen.sum(axis=-1, keepdims=True) + weight)
    return np.asarray(probabilities)
