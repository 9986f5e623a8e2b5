"""Our own regressor; every argument of it is a setting."""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import Any

from threadpoolctl import threadpool_limits

import flash_ansr
from flash_ansr.bench.candidates import CandidateSummary
from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems.base import Answer, Request, System
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.infer.search.set_up import bundled_checkpoint, why_not_neural
from flash_ansr.infer.settings import pipeline_from
from flash_ansr.versions import versions
from simplipy.errors import did_you_mean

# arguments that the benchmark gives to every fit, and the option that sets each
_SET_BY_OPTIONS = {
    "time_limit": "--budget",
    "n_jobs": "--threads",
    "random_state": "the number of the data set, --datasets",
}


class Ours(System, name="ours"):
    """`flash_ansr.FlashANSR` with these arguments; seconds, seed and cores are the benchmark's.

    The switches of a pipeline come as a mapping: ``{"decoding": "beam"}`` are the paper's, ``{"name": "full",
    "temperature": 1.5}`` those of the full one.
    """

    def __init__(self, **settings: Any) -> None:
        known = [name for name in flash_ansr.FlashANSR().get_params() if name not in _SET_BY_OPTIONS]
        for name in settings:
            if name in _SET_BY_OPTIONS:
                raise BenchError(f"{name!r} is no setting: the benchmark sets it by {_SET_BY_OPTIONS[name]}")
            if name not in known:
                hint = did_you_mean(name, known, f"known are: {', '.join(known)}")
                raise BenchError(f"the system 'ours' has no setting {name!r}; {hint}")
        try:
            if isinstance(switches := settings.get("pipeline"), dict):
                settings = settings | {"pipeline": pipeline_from(switches)}
            flash_ansr.FlashANSR(**settings).check_parameters()
        except ValueError as error:
            raise BenchError(f"a setting of the system 'ours': {error}") from None
        self._settings = settings

    def versions(self) -> dict[str, str]:
        """Of the package, of the packages below it, and of the network's weights; loads the modules that fits need."""
        return self._versions

    @cached_property  # asked for every row, and weights are megabytes to hash
    def _versions(self) -> dict[str, str]:
        found = {name: text for name, text in versions().items() if name not in ("python", "machine")}
        if why_not_neural() is None:
            import flash_ansr.infer.proposers.neural.proposer  # noqa: F401 - loading torch is no part of a fit's time

            found["weights"] = weights_hash(self._settings.get("checkpoint") or bundled_checkpoint())
        return found

    def fit(self, request: Request) -> Answer:
        """The best law of a fit."""
        model = flash_ansr.FlashANSR(
            time_limit=request.seconds, n_jobs=request.n_threads, random_state=request.seed, **self._settings
        )
        # linear algebra takes all cores otherwise
        with threadpool_limits(request.n_threads):
            model.fit(request.X, request.y)
        # an interrupted estimator keeps its best law so far, but a row stands for a whole fit
        if model.report_["stop"] == "interrupted":
            raise KeyboardInterrupt
        table = model.candidates_
        rows = table[table["expression"].map(str) == str(model.expression_)].to_dict("records")
        best = rows[0] if rows else {}  # a baseline is no candidate
        report = json.loads(json.dumps(model.report_, default=str))
        return Answer(
            model.expression_,
            log_prob=_known(best.get("log_prob")),
            candidates=_summary(model.report_),
            report={"proposer": str(best.get("proposer")), "r2_cv": _known(best.get("r2_cv")), "fit": report},
        )


def _known(value: object) -> float | None:
    """A number of the table of candidates, which has NaN where there is none."""
    return float(value) if isinstance(value, float) and not math.isnan(value) else None


def _summary(report: dict[str, Any]) -> CandidateSummary | None:
    """Of the paper's pipeline, which draws formulas one by one."""
    if report.get("bloat") is None:
        return None
    return CandidateSummary(report["drawn"], 1 - report["unique"] / report["drawn"], report["bloat"])
