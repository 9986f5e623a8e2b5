"""The spelling that is printed: candidates as people write them.

Prices of forms do not tell spellings apart, since 840*0.93^x and 840*exp(-x/13.7) are one form to them. So textbooks
decide: the rules of this package say which of two equal spellings is the usual one. It is printed where it is about as
long as the shortest spelling, keeps to the grammar, and has the same values on the rows. Scores stay as they are: they
count the tokens of the shortest spelling, so that the choice of the law does not depend on how it is printed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.selection.spelling.reading import formula_of
from flash_ansr.infer.selection.spelling.rewriting import respelled
from flash_ansr.infer.selection.spelling.rows import Rows
from flash_ansr.infer.selection.spelling.terms import OutOfRangeError
from flash_ansr.infer.selection.spelling.writing import text_of
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import FloatArray, Table
from simplipy import Expression, TokenBatch, parse

AnyFloats: TypeAlias = npt.NDArray[np.floating[Any]]

# so many tokens more than the shortest spelling, or this part of its tokens, count as equally long
_MORE_TOKENS = 3
_MORE_SHARE = 1 / 3
# in which the numbers of one law agree
_DIGITS = 6
# candidates that are rewritten, beside those on the front; of the others only roots with strange names are
_N_REWRITTEN = 30
_STRANGE = frozenset(("pow1_4", "pow1_5"))
# nobody reads longer formulas: they are put in order
_MOST_TOKENS = 60
_MOST_LEVELS = 60
# relative differences that are rounding; of the largest value, where terms cancel
_CLOSE = 1e-12
_CLOSE_TO_ZERO = 1e-14


def spelled(candidates: Sequence[Candidate], table: Table, grammar: Grammar) -> list[Candidate]:
    """The candidates in the spelling that is printed, each once; all but their expressions, and so lengths, stays.

    Parameters
    ----------
    candidates : sequence of Candidate
        The law first: it is checked on all rows, the others on some of many.
    table : Table
        Rewritings hold on its rows: sqrt(x^2) becomes x where no x is negative.
    grammar : Grammar
        What is printed keeps to it.
    """
    rows = Rows(table.X, table.ranges[:, 0])
    rewritten = sorted({*range(min(len(candidates), _N_REWRITTEN)), *_front(candidates)})
    batch = TokenBatch.from_expressions([candidates[i].expression for i in rewritten])
    shortest = dict(zip(rewritten, map(len, simplipy.simplify_many(batch).expressions()), strict=True))
    first: dict[str, Candidate] = {}
    for i, candidate in enumerate(candidates):
        form = candidate.expression
        if i in shortest or not _STRANGE.isdisjoint(form.tokens):
            spellings = spellings_of(form, rows, is_rewritten=i in shortest)
            most = longest_spelling(shortest.get(i, candidate.length))
            form = _first_printable(form, spellings, grammar, rows.some if i else table.X, most)
        first.setdefault(form.infix(_DIGITS), dataclasses.replace(candidate, expression=form))
    return list(first.values())


def length_to_read(expression: Expression) -> int:
    """Tokens of an expression, without minus signs.

    Examples
    --------
    >>> length_to_read(parse("840*exp(-x/13.7)")), length_to_read(parse("840*exp(-0.073*x)"))
    (6, 6)
    """
    return len(expression) - expression.tokens.count("neg")


def longest_spelling(n_tokens: int) -> int:
    """Tokens without minus signs that a spelling may have where the shortest one has so many tokens.

    Examples
    --------
    >>> longest_spelling(5), longest_spelling(12)
    (8, 16)
    """
    return n_tokens + max(_MORE_TOKENS, int(_MORE_SHARE * n_tokens))


def spellings_of(expression: Expression, rows: Rows, is_rewritten: bool = True) -> Iterator[Expression]:
    """Spellings of an expression on these rows, the usual one first; the last one is in order, and not rewritten.

    Examples
    --------
    >>> for form in spellings_of(parse("log(59874.14*x1^6.2)^pow1_4(x1)"), Rows(np.array([[1.0], [2.0]]))):
    ...     print(form.infix(4))
    (6.2*log(x1) + 11)^x1^0.25
    log(59870*x1^6.2)^x1^0.25
    """
    if expression.depth > _MOST_LEVELS:
        return
    with contextlib.suppress(OutOfRangeError):
        formula = formula_of(expression)
        if is_rewritten and len(expression) <= _MOST_TOKENS:
            yield parse(text_of(respelled(formula, rows)))
        yield parse(text_of(formula))


def _front(candidates: Sequence[Candidate]) -> Iterator[int]:
    """Places of the candidates that no shorter one fits as well as."""
    lowest = math.inf
    for _, fvu, i in sorted((candidate.length, candidate.fvu, i) for i, candidate in enumerate(candidates)):
        if fvu < lowest:
            lowest = fvu
            yield i


def _first_printable(
    expression: Expression, spellings: Iterator[Expression], grammar: Grammar, X: FloatArray, most: int
) -> Expression:
    """The first spelling with at most so many tokens that is allowed and has the same values; or the expression."""
    values: AnyFloats | None = None
    for form in spellings:
        if form == expression:
            break
        if length_to_read(form) <= most and grammar.allows(form):
            values = expression(X) if values is None else values
            if _are_equal(values, form(X)):
                return form
    return expression


def _are_equal(values: AnyFloats, others: AnyFloats) -> bool:
    """Whether the other values are the same, up to rounding, and defined wherever these are."""
    known = np.isfinite(values)
    values, others = values[known], others[known]
    largest = float(np.abs(values).max(initial=0.0))
    return bool((np.abs(values - others) <= _CLOSE * np.abs(values) + _CLOSE_TO_ZERO * largest).all())
