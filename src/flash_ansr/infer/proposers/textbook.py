"""Forms of the laws of science, the most plausible ones first: those of known laws, then others drawn like them.

The columns take the places of a form's variables in all ways; where there are many columns, those that say most about y
do. All is blind to the data otherwise: fits find the numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from flash_ansr.infer.candidates.normal_forms import rows_of
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers.base import Proposer, ProposerContext
from flash_ansr.price.known_forms import known_forms
from flash_ansr.price.prices import usual_prices
from simplipy import TokenBatch
from simplipy.expression.token_batch import FIRST_EXTRA, FIRST_VARIABLE

# ways in which columns take the places of a form's variables
_MOST_WAYS = 240
# columns at most that drawn forms have
_MOST_DRAWN_COLUMNS = 9
# draws of a batch, from which the new forms are taken in the order of their price
_N_DRAWN = 4096
_MAX_LENGTH = 24


class TextbookProposer(Proposer):
    """Proposes forms by how plausible they are before any data."""

    name = "textbook"
    round_size = 128

    def start(self, context: ProposerContext) -> None:
        """Nothing is priced before the first formulas are asked for."""
        super().start(context)
        self._batches: Iterator[TokenBatch] = itertools.chain([known_batch(context)], drawn_batches(context))
        self._batch, self._next = TokenBatch.from_expressions(()), 0

    def propose(self, n: int, seed: int, seconds: float | None = None) -> Proposals | None:
        """The next n forms."""
        del seed, seconds
        while self._next >= len(self._batch):
            self._batch, self._next = next(self._batches), 0
        rows = list(range(self._next, min(self._next + n, len(self._batch))))
        self._next += len(rows)
        return Proposals(rows_of(self._batch, rows))


def known_batch(context: ProposerContext) -> TokenBatch:
    """The forms of known laws with the columns in the places of their variables, by their price."""
    table = context.table
    batch = TokenBatch.from_expressions(known.form for known in known_forms())
    sizes = [len(known.form.variables) for known in known_forms()]
    ways_of = {n: _ways(n, context) for n in set(sizes)}
    # a form costs the same with any columns
    prices = usual_prices().of(batch, table.n_columns)
    ids, lengths = [], []
    for row, n_variables in enumerate(sizes):
        form, ways = batch.ids[batch.offsets[row] : batch.offsets[row + 1]], ways_of[n_variables]
        places = (form >= FIRST_VARIABLE) & (form < FIRST_VARIABLE + n_variables)
        filled = np.repeat(form[None], len(ways), axis=0)
        filled[:, places] = FIRST_VARIABLE + ways[:, form[places] - FIRST_VARIABLE]
        ids.append(filled.ravel())
        lengths += [len(form)] * len(ways)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    prices = np.repeat(prices, [len(ways_of[n]) for n in sizes])
    return _in_order(TokenBatch(np.concatenate(ids), offsets, batch.extras), prices)


def drawn_batches(context: ProposerContext) -> Iterator[TokenBatch]:
    """Forms drawn in the proportion of their probability, each once."""
    prices, n_columns = usual_prices().within(context.grammar.operators), context.table.n_columns
    columns = context.relevance.best(_MOST_DRAWN_COLUMNS).astype(np.int16)
    seen: set[bytes] = set()
    numbers: dict[str, int] = {}
    for first in itertools.count(0, _N_DRAWN):
        draws = prices.draw(context.seed, np.arange(first, first + _N_DRAWN), len(columns), _MAX_LENGTH)
        # a batch has ids of its own for numbers
        places = np.array([numbers.setdefault(number, len(numbers)) for number in draws.extras], dtype=np.int16)
        is_number, lasting = draws.ids >= FIRST_EXTRA, draws.ids.copy()
        lasting[is_number] = FIRST_EXTRA + places[draws.ids[is_number] - FIRST_EXTRA]
        new = []
        for row in range(len(draws)):
            key = lasting[draws.offsets[row] : draws.offsets[row + 1]].tobytes()
            if key not in seen:
                seen.add(key)
                new.append(row)
        batch = rows_of(draws, new)
        is_variable = (batch.ids >= FIRST_VARIABLE) & (batch.ids < FIRST_VARIABLE + len(columns))
        ids = batch.ids.copy()
        ids[is_variable] = FIRST_VARIABLE + columns[ids[is_variable] - FIRST_VARIABLE]
        batch = TokenBatch(ids, batch.offsets, batch.extras)
        yield _in_order(batch, usual_prices().of(batch, n_columns))


def _ways(n_variables: int, context: ProposerContext) -> npt.NDArray[np.int16]:
    """Columns in the places of variables, (n_ways, n_variables)."""
    n = min(context.table.n_columns, _MOST_WAYS)
    while math.perm(n, n_variables) > _MOST_WAYS:
        n -= 1
    columns = context.relevance.best(n) if n < context.table.n_columns else np.arange(n)
    ways = list(itertools.permutations(columns.tolist(), n_variables)) if n >= n_variables else []
    return np.array(ways, dtype=np.int16).reshape(len(ways), n_variables)


def _in_order(batch: TokenBatch, prices: npt.NDArray[np.float64]) -> TokenBatch:
    """The cheapest forms first."""
    return rows_of(batch, np.argsort(prices, kind="stable").tolist())
