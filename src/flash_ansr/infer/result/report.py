"""What a search tells afterwards: tables for people and programs."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.score import score
from flash_ansr.infer.result.law import Law
from flash_ansr.infer.search.budget import Budget, Stop
from flash_ansr.infer.search.pipeline import Pipeline
from simplipy import Expression, TokenBatch
from simplipy._version import __version__


def candidate_table(candidates: Sequence[Candidate], named: Sequence[Expression]) -> pd.DataFrame:
    """One row a candidate, best first; ``named`` are their formulas in the user's names."""
    return pd.DataFrame(
        {
            "expression": pd.Series(list(named), dtype=object),
            "length": [c.length for c in candidates],
            "fvu": [c.fvu for c in candidates],
            "score": [c.score for c in candidates],
            "log_prob": [c.log_prob for c in candidates],
            "n_constants": [c.n_constants for c in candidates],
            "proposer": [c.proposer for c in candidates],
            "pareto": _on_front(candidates),
        }
    )


def _on_front(candidates: Sequence[Candidate]) -> list[bool]:
    """Whether no shorter or equally long candidate fits as well; of equals, up to rounding, the first counts.

    The law, which comes first, is always on the front: simple numbers may cost it some of the variance.
    """
    keys = [(c.length, score(c.fvu, 0, 0.0), i) for i, c in enumerate(candidates)]
    flags = [False] * len(candidates)
    lowest = math.inf
    for _, decades, i in sorted(keys):
        if decades < lowest:
            lowest, flags[i] = decades, True
    flags[:1] = [True] * len(flags[:1])
    return flags


def posterior_table(log_evidence: Mapping[bytes, float], names: Sequence[str], n: int = 1000) -> pd.DataFrame:
    """Probability of canonical forms among all that were drawn, most probable first."""
    ranked = sorted(log_evidence.items(), key=lambda item: -item[1])[:n]
    if not ranked:
        return pd.DataFrame({"form": pd.Series(dtype=str), "probability": pd.Series(dtype=float)})
    total = np.logaddexp.reduce(list(log_evidence.values()))
    ids = [np.frombuffer(key, dtype=np.int16) for key, _ in ranked]
    batch = TokenBatch(np.concatenate(ids), np.concatenate([[0], np.cumsum([len(i) for i in ids])]))
    forms = [Law(e, names).named.infix() for e in batch.expressions()]
    return pd.DataFrame({"form": forms, "probability": [float(np.exp(p - total)) for _, p in ranked]})


def run_report(pipeline: Pipeline, budget: Budget, stop: Stop, set_up: float, winner: str) -> dict[str, Any]:
    """Budget, counts, reasons and versions; ``winner`` is the proposer of the law."""
    tallies = pipeline.tallies
    return {
        "stop": stop.name.lower(),
        "stop_reason": stop.value,
        "seconds": budget.elapsed,
        "set_up_seconds": set_up,
        "time_limit": budget.time_limit,
        "n_samples": budget.n_samples,
        "drawn": sum(t.drawn for t in tallies.values()),
        "unique": sum(t.unique for t in tallies.values()),
        "fitted": sum(t.fitted for t in tallies.values()),
        "screened": sum(t.screened for t in tallies.values()),
        "bloat": _bloat(pipeline),
        "gamma": pipeline.settings.gamma,
        "exact_fvu": pipeline.exact_fvu,
        "scaled": not pipeline.scaling.is_identity,
        "proposers": {
            name: {
                "drawn": t.drawn,
                "unique": t.unique,
                "fitted": t.fitted,
                "screened": t.screened,
                "statuses": dict(t.statuses),
                "rounds": t.rounds,
                "seconds": t.seconds,
                "front_gain": t.gain,
                "won": name == winner,
                "failure": pipeline.failures.get(name),
            }
            for name, t in tallies.items()
        },
        "random_state": pipeline.settings.random_state,
        "versions": {"flash-ansr": __version__, "python": platform.python_version(), "numpy": np.__version__},
    }


def _bloat(pipeline: Pipeline) -> float | None:
    """Mean of length over simplified length of what the paper's pipeline drew, minus 1; None for other pipelines."""
    paper, (tally, *_) = pipeline.settings.paper, pipeline.tallies.values()
    if paper is None or paper.simplifier != "simplipy" or not tally.drawn:
        return None
    return tally.inflation / tally.drawn - 1
