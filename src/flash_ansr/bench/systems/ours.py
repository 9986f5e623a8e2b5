"""Our own regressor; every argument of it is a setting."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from flash_ansr.bench.candidates import CandidateSummary
from flash_ansr.bench.rows import BenchError
from flash_ansr.bench.systems.base import Found, Request, SystemMissingError
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.infer.search.set_up import bundled_checkpoint, why_not_neural
from flash_ansr.infer.settings import FullPipeline, PaperPipeline, pipeline_from
from flash_ansr.versions import versions
from simplipy import Expression

if TYPE_CHECKING:
    import pandas as pd


# what a fit is given by the benchmark, and the option that says so
_OF_THE_BENCHMARK = {
    "time_limit": "--budget",
    "n_jobs": "--threads",
    "random_state": "the number of the data set, --datasets",
}


class Ours:
    """`flash_ansr.FlashANSR` with these arguments; seconds, seed and cores are the benchmark's.

    The switches of a pipeline come as a mapping: ``{"decoding": "beam"}`` are the paper's, ``{"name": "full",
    "temperature": 1.5}`` those of the full one.
    """

    def __init__(self, **settings: Any) -> None:
        switches = settings.get("pipeline")
        if isinstance(switches, dict):
            settings = settings | {"pipeline": _pipeline(switches)}
        self._settings = settings
        self._versions: dict[str, str] | None = None
        self._check()

    def versions(self) -> dict[str, str]:
        """Of the package, of what it runs on, and of the weights of the network; loads what fits need."""
        if self._versions is None:  # asked for every row, and weights are megabytes to hash
            self._versions = self._found_versions()
        return self._versions

    def _found_versions(self) -> dict[str, str]:
        self._regressor()
        found = {name: text for name, text in versions().items() if name not in ("python", "machine")}
        if why_not_neural() is None:
            import flash_ansr.infer.proposers.neural.proposer  # noqa: F401 - loading torch is no part of a fit's time

            found["weights"] = weights_hash(self._settings.get("checkpoint") or bundled_checkpoint())
        return found

    def fit(self, request: Request) -> Found:
        """The best law of a fit."""
        model = self._regressor()(
            time_limit=request.seconds, n_jobs=request.n_threads, random_state=request.seed, **self._settings
        )
        # linear algebra takes all cores otherwise
        with threadpool_limits(request.n_threads):
            model.fit(request.X, request.y)
        # the estimator keeps what it has, a row has all or nothing
        if model.report_["stop"] == "interrupted":
            raise KeyboardInterrupt
        best = _row_of(model.expression_, model.candidates_)
        return Found(
            model.expression_,
            log_prob=_known(best.get("log_prob")),
            candidates=_candidates(model.report_),
            report={"proposer": str(best.get("proposer")), "fit": _plain(model.report_)},
        )

    def _check(self) -> None:
        """Refuse settings that every fit would refuse."""
        regressor = self._regressor()
        known = [name for name in regressor().get_params() if name not in _OF_THE_BENCHMARK]
        for name in self._settings:
            if name in _OF_THE_BENCHMARK:
                raise BenchError(f"{name!r} is no setting: the benchmark sets it by {_OF_THE_BENCHMARK[name]}")
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}"
                raise BenchError(f"the system 'ours' has no setting {name!r}; {hint}")
        try:
            regressor(**self._settings).check_parameters()
        except ValueError as error:
            raise BenchError(f"a setting of the system 'ours': {error}") from None

    def close(self) -> None:
        """Nothing to end."""

    @staticmethod
    def _regressor() -> Any:
        try:
            from flash_ansr import FlashANSR  # type: ignore[attr-defined,unused-ignore]
        except ImportError as error:
            raise SystemMissingError(f"the system 'ours' needs flash_ansr.FlashANSR: {error}") from error
        return FlashANSR


def _pipeline(switches: dict[str, Any]) -> FullPipeline | PaperPipeline:
    try:
        return pipeline_from(switches)
    except ValueError as error:
        raise BenchError(f"a setting of the system 'ours': {error}") from None


def _row_of(expression: Expression, candidates: pd.DataFrame) -> dict[str, Any]:
    """What the table of candidates says about a law; nothing where it is not in it."""
    rows = candidates[candidates["expression"].map(str) == str(expression)].to_dict("records")
    return {str(name): value for name, value in rows[0].items()} if rows else {}


def _candidates(report: dict[str, Any]) -> CandidateSummary | None:
    """Of the paper's pipeline, which draws formulas one by one."""
    if report.get("bloat") is None:
        return None
    return CandidateSummary(report["drawn"], 1 - report["unique"] / report["drawn"], report["bloat"])


def _known(value: Any) -> float | None:
    """A number, or None for NaN and what is not there."""
    return float(value) if isinstance(value, float) and not math.isnan(value) else None


def _plain(report: Any) -> dict[str, Any]:
    """A report as JSON holds it; what JSON cannot hold becomes text."""
    is_record = dataclasses.is_dataclass(report) and not isinstance(report, type)
    facts = dataclasses.asdict(report) if is_record else dict(report)
    plain: dict[str, Any] = json.loads(json.dumps(facts, default=str))
    return plain
