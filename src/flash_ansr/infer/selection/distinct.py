"""Each law once: candidates in their simplified form, equal ones merged, best first."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.selection.readable import readable
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from simplipy import Expression, TokenBatch

# digits in which the numbers of one law agree
_DIGITS = 6
# rows that a formula is looked at on
_MAX_ROWS = 1024


def distinct(candidates: Sequence[Candidate], table: Table, grammar: Grammar, price: float) -> list[Candidate]:
    """Candidates as people write them, each formula once.

    Parameters
    ----------
    candidates : sequence of Candidate
    table : Table
        A simplified formula must be defined on its rows, some of them where they are many: 1e200 times itself is not,
        in doubles.
    grammar : Grammar
        The grammar that simplified formulas must keep to.
    price : float
        The gain in score for a token less.
    """
    if not candidates:
        return []
    batch = simplipy.simplify_many(TokenBatch.from_expressions([c.expression for c in candidates]))
    forms = [_readable(form, grammar) for form in batch.expressions()]
    changed = [i for i, c in enumerate(candidates) if forms[i] != c.expression and grammar.allows(forms[i])]
    written = list(candidates)
    X = table.X[np.linspace(0, table.n_rows - 1, min(table.n_rows, _MAX_ROWS)).astype(np.int64)]
    for i in changed:
        if np.isfinite(forms[i](X)).all():
            value = round(candidates[i].score + price * (len(forms[i]) - candidates[i].length), 6)
            written[i] = dataclasses.replace(candidates[i], expression=forms[i], score=value)
    first: dict[str, Candidate] = {}
    for candidate in sorted(written, key=lambda c: c.rank):
        first.setdefault(candidate.expression.infix(_DIGITS), candidate)
    return list(first.values())


def _readable(form: Expression, grammar: Grammar) -> Expression:
    written = readable(form)
    return written if grammar.allows(written) else form
