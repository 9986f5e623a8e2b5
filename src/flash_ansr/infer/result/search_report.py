"""A search that is over, as tables and a report for people and programs."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from flash_ansr.infer.candidates.archive import Candidate
from flash_ansr.infer.candidates.description import form_prices
from flash_ansr.infer.candidates.safety import Safety
from flash_ansr.infer.proposers.background import Loading
from flash_ansr.infer.result.law import Law
from flash_ansr.infer.search.budget import Budget
from flash_ansr.infer.search.pipeline import Pipeline
from flash_ansr.infer.search.progress import Tally
from flash_ansr.infer.search.set_up import LEAST_SECONDS, SearchOptions, why_not_neural
from flash_ansr.infer.selection.final_choice import SearchResult
from simplipy import Expression, TokenBatch
from simplipy._version import __version__
from simplipy.fit.score import score

_COUNTS = ("drawn", "unique", "fitted", "screened")
_FAILURES = {"pole": ("has a pole", "near"), "undefined": ("is undefined", "at"), "overflow": ("overflows", "at")}


def candidate_table(
    candidates: Sequence[Candidate], named: Sequence[Expression], n_columns: int, safeties: Sequence[Safety] = ()
) -> pd.DataFrame:
    """One row a candidate, best first; ``named`` are their formulas in the user's names.

    The price is that of the form, in nats, where variables are chosen from so many columns. There is a column ``safe``
    at the end of a search, with a safety for each.
    """
    columns = ("length", "fvu", "r2_cv", "score", "log_prob", "n_constants", "proposer")
    facts = {name: [getattr(c, name) for c in candidates] for name in columns}
    prices = form_prices([c.expression for c in candidates], n_columns).min(axis=1).round(2)
    table = pd.DataFrame({"expression": pd.Series(list(named), dtype=object), **facts})
    table = table.assign(price=prices, pareto=_on_front(candidates))
    return table.assign(safe=[found.safe for found in safeties]) if safeties else table


def chosen_row(table: pd.DataFrame, max_length: int | None, min_r2: float | None, index: int | None) -> int:
    """The row that is asked for, see ``FlashANSR.choose``."""
    if (index is None) == (max_length is None and min_r2 is None):
        raise ValueError("choose by max_length and min_r2, or by index; give one of the two")
    if index is not None:
        if not 0 <= index < len(table):
            raise IndexError(f"index must be a row of candidates_, 0 to {len(table) - 1}, got {index}")
        return index
    tried = table["r2_cv"] if table["r2_cv"].notna().any() else 1 - table["fvu"]
    lengths, r2 = table["length"].to_numpy(), tried.fillna(-math.inf).to_numpy()
    rows = np.flatnonzero(lengths <= (math.inf if max_length is None else max_length))
    if not len(rows):
        raise ValueError(f"no candidate has max_length {max_length} or less; the shortest has {lengths.min()}")
    if min_r2 is None:
        return int(rows[np.argmax(r2[rows])])
    good = rows[r2[rows] >= min_r2]
    if not len(good):
        raise ValueError(f"no candidate has an r2_cv of {min_r2} or more; the best has {r2[rows].max():.4g}")
    return int(good[np.argmin(lengths[good])])


def _on_front(candidates: Sequence[Candidate]) -> list[bool]:
    """Whether no shorter or equally long candidate fits as well; of equals, up to rounding, the first counts.

    The law, which comes first, is always on the front: simple numbers may cost it some of the variance.
    """
    keys = [(c.length, score(c.fvu, 0), i) for i, c in enumerate(candidates)]
    flags = [i == 0 for i in range(len(candidates))]
    lowest = math.inf
    for _, decades, i in sorted(keys):
        if decades < lowest:
            lowest, flags[i] = decades, True
    return flags


def posterior_table(log_probs: Mapping[bytes, float], names: Sequence[str], n: int = 1000) -> pd.DataFrame:
    """Probability of canonical forms among all that were drawn, most probable first."""
    ranked = sorted(log_probs.items(), key=lambda item: -item[1])[:n]
    if not ranked:
        return pd.DataFrame({"form": pd.Series(dtype=str), "probability": pd.Series(dtype=float)})
    total = np.logaddexp.reduce(list(log_probs.values()))
    ids = [np.frombuffer(key, dtype=np.int16) for key, _ in ranked]
    batch = TokenBatch(np.concatenate(ids), np.concatenate([[0], np.cumsum([len(i) for i in ids])]))
    forms = [Law(e, names).named.infix() for e in batch.expressions()]
    return pd.DataFrame({"form": forms, "probability": [float(np.exp(p - total)) for _, p in ranked]})


def search_report(
    pipeline: Pipeline,
    options: SearchOptions,
    budget: Budget,
    result: SearchResult,
    safety: Safety,
    names: Sequence[str],
    set_up: float,
    input_facts: Mapping[str, Any],
    said_of_law: Mapping[str, Any],
) -> dict[str, Any]:
    """Budget, counts, reasons and versions.

    Parameters
    ----------
    safety : Safety
        Of the law.
    names : sequence of str
        Of the variables.
    set_up : float
        Seconds before the search.
    input_facts : mapping
        Rows and columns of the table; the search may have seen some of the rows.
    said_of_law : mapping
        What it leaves, and its rivals.
    """
    tallies = pipeline.tallies
    return {
        "stop": result.stop.name.lower(),
        "stop_reason": result.stop.value,
        "seconds": budget.elapsed,
        "set_up_seconds": set_up,
        "time_limit": budget.time_limit,
        "n_samples": budget.n_samples,
        **{name: sum(getattr(t, name) for t in tallies.values()) for name in _COUNTS},
        "bloat": _bloat(pipeline),
        "gamma": pipeline.price,
        "exact_fvu": pipeline.exact_fvu,
        "scaled": not pipeline.scaling.is_identity,
        "proposers": {
            name: {**_counts(t), "won": name == result.law.proposer, "failure": pipeline.team.failures.get(name)}
            for name, t in tallies.items()
        },
        "random_state": pipeline.settings.random_state,
        "versions": {"flash-ansr": __version__, "python": platform.python_version(), "numpy": np.__version__},
        "network_load_seconds": sum(proposer.seconds for proposer in pipeline.team.loading),
        "noise": result.noise,
        "noise_kind": result.noise_kind,
        **said_of_law,
        **input_facts,
        "searched_rows": pipeline.table.n_rows,
        "law_is_baseline": result.law.is_linear_baseline,
        **_safety_part(safety, names),
        "neural": _network_part(pipeline, options),
    }


def _safety_part(safety: Safety, names: Sequence[str]) -> dict[str, Any]:
    """Whether the law is safe; where it is not, how it fails and at which point, in the names of the columns."""
    point, fails = safety.box.point, None
    if point is not None:
        at = {names[int(x.removeprefix("x")) - 1]: value for x, value in point.items()}
        fails = {"how": safety.box.failure, "at": at}
    return {"safe": safety.safe, "fails": fails}


def unsafe_text(report: Mapping[str, Any]) -> str:
    """A sentence about a law that is not proved to be safe; "" for one that is.

    Examples
    --------
    >>> unsafe_text({"safe": "disproved", "fails": {"how": "pole", "at": {"distance": 3.2}}})
    'the law has a pole inside the range of the data, near distance = 3.2'
    """
    if report["safe"] == "proved":
        return ""
    if report["safe"] == "unknown":
        return "the law could not be shown to be defined everywhere in the range of the data"
    if report["fails"] is None:
        return "the law fails at a point inside the range of the data"
    fails, near = _FAILURES[report["fails"]["how"]]
    point = ", ".join(f"{name} = {value:.4g}" for name, value in report["fails"]["at"].items())
    return f"the law {fails} inside the range of the data, {near} {point}"


def _counts(tally: Tally) -> dict[str, Any]:
    return {
        **{name: getattr(tally, name) for name in _COUNTS},
        "rounds": tally.rounds,
        "seconds": tally.seconds,
        "statuses": dict(tally.statuses),
        "front_gain": tally.gain,
    }


def _bloat(pipeline: Pipeline) -> float | None:
    """Mean of length over simplified length of what was drawn, minus 1; None where the pipeline does not measure it."""
    (tally, *_) = pipeline.tallies.values()
    return tally.inflation / tally.drawn - 1 if pipeline.settings.pipeline.measures_bloat and tally.drawn else None


def _network_part(pipeline: Pipeline, options: SearchOptions) -> str:
    """The part of the network in the search."""
    if not options.wants_network:
        return "was not asked for"
    missing = why_not_neural()
    if missing is not None:
        return missing
    if "neural" not in pipeline.tallies:
        return (
            f"was left out: below {LEAST_SECONDS:g} s the others find more without it; name it in proposers to have it"
        )
    failure = pipeline.team.failures.get("neural")
    if pipeline.tallies["neural"].drawn:
        return "took part" if failure is None else f"took part, then failed: {failure}"
    if failure is not None:
        return f"failed: {failure}"
    outcomes = [proposer.outcome for proposer in pipeline.team.loading]
    return outcomes[0] if outcomes else Loading.READY.value
