"""Numbers in formulas: integer multipliers become free constants, and free constants get their values."""

from __future__ import annotations

import math

import numpy as np

from simplipy import Expression, TokenBatch
from simplipy.expression.operators import CONSTANT, FACTORS
from simplipy.expression.token_batch import SYMBOL_TOKENS

_IS_FREED = np.array([token in FACTORS for token in SYMBOL_TOKENS])
_TIMES = SYMBOL_TOKENS.index("*")
_SYMBOLS = {"pi": math.pi, "e": math.e}
_CONSTANT = SYMBOL_TOKENS.index(CONSTANT)


def free_multipliers(batch: TokenBatch) -> TokenBatch:
    """The batch with every mult_k and div_k as a product with a free constant: 3*x becomes c*x.

    Examples
    --------
    >>> from simplipy import TokenBatch
    >>> free_multipliers(TokenBatch.from_tokens([["mult3", "x1"]]))[0]
    ['*', '<constant>', 'x1']
    """
    freed = np.zeros(len(batch.ids), dtype=bool)
    symbols = (batch.ids >= 0) & (batch.ids < len(SYMBOL_TOKENS))
    freed[symbols] = _IS_FREED[batch.ids[symbols]]
    if not freed.any():
        return batch
    width = 1 + freed.astype(np.int64)
    ids = np.repeat(batch.ids, width)
    places = (np.cumsum(width) - width)[freed]
    ids[places] = _TIMES
    ids[places + 1] = _CONSTANT
    ends = np.concatenate([[0], np.cumsum(width)])
    return TokenBatch(ids, ends[batch.offsets], batch.extras)


def numbers_of(expression: Expression) -> list[float]:
    """The numbers that ``skeleton()`` frees, in prefix order.

    Examples
    --------
    >>> from simplipy import parse
    >>> numbers_of(parse("2.5*x1 + pi"))
    [2.5, 3.141592653589793]
    """
    pairs = zip(expression.tokens, expression.skeleton().tokens, strict=True)
    return [_SYMBOLS[t] if t in _SYMBOLS else float(t) for t, s in pairs if t != s]
