"""Closed forms as a proposer: stage after stage, until the time is over or a law leaves no residual."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flash_ansr.infer.proposers.batch import BatchProposer
from flash_ansr.infer.proposers.closed_form.monomials import number_text
from flash_ansr.infer.proposers.closed_form.order import Stage, all_stages
from flash_ansr.infer.proposers.data import Data, DeadlineError
from flash_ansr.infer.proposers.drafts import Draft, Ranking, until_exact
from simplipy import Expression


class ClosedFormProposer(BatchProposer):
    """Proposes laws in closed form, the cheapest kinds first."""

    name = "closed_form"
    most_columns = 9
    round_size = 256
    opens = True
    weight = 0.3
    share_of_time = 0.5

    def batches(self, rows: Data) -> Iterator[list[Expression]]:
        """See ``closed_forms``."""
        return closed_forms(rows)


def closed_forms(data: Data) -> Iterator[list[Expression]]:
    """Propose laws in closed form, batch by batch, the cheapest kinds first.

    Yields
    ------
    list of Expression
        The proposals of one stage, best first, with their numbers, defined on all rows of the search. The last batch is
        the first that holds a law without residual, where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from flash_ansr import ProposerContext
    >>> from flash_ansr.infer.table.table import Table
    >>> X = np.random.default_rng(0).uniform(1, 5, (50, 2))
    >>> context = ProposerContext(Table(X, 3 * X[:, 0] / X[:, 1] ** 2))
    >>> next(closed_forms(Data.of(context)))[0].infix(6)
    '3*x1/x2^2'
    """
    if data.n_rows == 0:
        return
    ranking = Ranking(data)
    if np.ptp(data.y) == 0 or not data.active:
        yield ranking.ranked([Draft(number_text(float(np.mean(data.y))))])
        return
    yield from until_exact(_ranked(all_stages(data, ranking), ranking), data.clock, [ranking])


def _ranked(stages: Iterator[Stage], ranking: Ranking) -> Iterator[list[Expression]]:
    """The proposals of each stage, as far as time allows."""
    for stage in stages:
        drafts: list[Draft] = []
        try:
            for draft in stage():
                drafts.append(draft)  # noqa: PERF402 - what was found before the time was over counts
        except DeadlineError:
            yield ranking.ranked(drafts, n_refined=2)
            return
        except np.linalg.LinAlgError:  # numbers that no decomposition copes with: the next stage has others
            pass
        yield ranking.ranked(drafts)
