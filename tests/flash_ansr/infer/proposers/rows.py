"""Rows for tests of what works them out."""

from __future__ import annotations

from typing import Any

import numpy as np

from flash_ansr import ProposerContext
from flash_ansr.infer.proposers.data import Data
from flash_ansr.infer.table.table import Table


def bind(X: Any, y: Any, sample_weight: Any = None, deadline: float | None = None, **context: Any) -> Data:
    """The data of a search."""
    table = Table(np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64), sample_weight)
    return Data.of(ProposerContext(table, **context), deadline)
