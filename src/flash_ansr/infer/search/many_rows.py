"""Tables of very many rows: when a search on some of them must go on with more."""

from __future__ import annotations

import numpy as np

from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.table.sampling import sampled
from flash_ansr.infer.table.table import Table
from simplipy.fit.score import exact_fvu, is_exact
from simplipy.fit.unexplained import fvu

_GROWTH = 4


def grown(pipeline: Pipeline, rows: Table, most_rows: int | None) -> Table | None:
    """More rows for a search of which the law is exact on its own rows and not on all; None where it may end.

    Parameters
    ----------
    pipeline : Pipeline
        After its run.
    rows : Table
        All rows.
    most_rows : int, optional
        Rows that a search may work on.
    """
    law, n_rows, n_all = pipeline.archive.best, pipeline.table.n_rows, rows.n_rows
    if law is None or not is_exact(law.fvu, pipeline.exact_fvu):
        return None
    if n_rows >= min(n_all, n_all if most_rows is None else most_rows):
        return None
    values = np.asarray(law.expression(rows.X), dtype=np.float64)
    if is_exact(fvu(rows.y, values, rows.sample_weight), exact_fvu(rows.y)):
        return None
    # a law that is undefined on a row fails most there
    errors = np.nan_to_num(np.abs(values - rows.y), nan=np.inf)
    n = min(_GROWTH * n_rows, n_all if most_rows is None else most_rows)
    worst = np.argpartition(-errors, min(n, n_all - 1))[:n]
    return sampled(rows, n, pipeline.settings.random_state, worst[np.argsort(-errors[worst], kind="stable")])
