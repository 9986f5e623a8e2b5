"""From a row to its scores: the data are drawn again by seed, and every metric follows from the stored formula."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import simplipy
from flash_ansr.bench.datasets import DataSet, deviation, make_data_set
from flash_ansr.bench.numeric import EPSILON_32, fvu, is_perfect, log10_imperfect
from flash_ansr.bench.rows import BenchError, Row
from flash_ansr.bench.structure import (
    CONSTANT,
    has_same_skeleton,
    is_recovered_symbolically,
    simplified_skeleton,
    token_f1,
    total_nestedness,
    variable_recall,
)
from flash_ansr.bench.tree_distance import tree_distance
from flash_ansr.catalogues import Catalogue, Problem, load
from simplipy import Expression

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Scores:
    """The metrics of one row. Truth values are 0 or 1; NaN where a metric has no value, as after a failed fit."""

    fit_success: float
    fit_seconds: float
    fvu_fit: float
    fvu_validation: float
    fvu_widened: float
    fnrr: float
    vnrr: float
    xnrr: float
    log10_fvu: float
    srr: float = 0.0
    symbolic_recovery: float = 0.0
    f1: float = NAN
    tree_distance: float = NAN
    variable_recall: float = NAN
    log_prob: float = NAN
    excess_constants: float = NAN
    length_ratio: float = NAN
    length_ratio_simplified: float = NAN
    length_ratio_recovered: float = NAN
    length_ratio_simplified_recovered: float = NAN
    nestedness: float = NAN
    rewrite_fraction: float = NAN
    bloat: float = NAN


def score(row: Row) -> Scores:
    """All metrics of a row."""
    task = row.task
    problem = _catalogue(task.catalogue)[task.problem]
    if row.expression is None:
        return Scores(0.0, NAN, math.inf, math.inf, math.inf, 0.0, 0.0, 0.0, NAN)
    data = _data_set(task.catalogue, task.problem, task.dataset, task.points, task.noise)
    for name, digest in data.digests.items():
        if row.digests.get(name, digest) != digest:
            what = "law and ranges" if name == "problem" else f"{name} rows"
            raise BenchError(
                f"{task.catalogue} {task.problem}, data set {task.dataset}: the {what} of now ({digest}) are not those "
                f"of the stored row ({row.digests[name]}); the catalogue has changed since: run it again"
            )
    return score_expression(simplipy.parse(row.expression), problem, data, row)


def score_expression(prediction: Expression, problem: Problem, data: DataSet, row: Row) -> Scores:
    """All metrics of a prediction; the row gives what is not in the formula."""
    fit, validation, widened = (
        fvu(sample.y, prediction(sample.X)) for sample in (data.fit, data.validation, data.widened)
    )
    recovered = is_perfect(validation)
    truth = simplified_skeleton(problem.expression)
    skeleton = prediction.skeleton().tokens
    ratio = len(skeleton) / len(truth)
    ratio_simplified = len(simplified_skeleton(prediction)) / len(truth)
    return Scores(
        fit_success=1.0,
        fit_seconds=row.fit_seconds,
        fvu_fit=fit,
        fvu_validation=validation,
        fvu_widened=widened,
        fnrr=float(is_perfect(fit)),
        vnrr=float(recovered),
        xnrr=float(recovered and is_perfect(widened)),
        log10_fvu=log10_imperfect(validation),
        srr=float(has_same_skeleton(prediction, problem.expression)),
        # what misses the values is not the law, whatever a tolerance in its numbers may excuse
        symbolic_recovery=float(
            recovered
            and is_recovered_symbolically(
                prediction,
                problem.expression,
                _units(problem),
                offset=math.sqrt(EPSILON_32) * deviation(data.validation.y),
            )
        ),
        f1=token_f1(skeleton, truth.tokens),
        tree_distance=float(tree_distance(skeleton, truth.tokens)),
        variable_recall=variable_recall(prediction, problem.expression),
        log_prob=_or_nan(row.log_prob),
        excess_constants=float(skeleton.count(CONSTANT) - truth.n_constants),
        length_ratio=ratio,
        length_ratio_simplified=ratio_simplified,
        length_ratio_recovered=ratio if recovered else NAN,
        length_ratio_simplified_recovered=ratio_simplified if recovered else NAN,
        nestedness=float(total_nestedness(skeleton)),
        rewrite_fraction=_or_nan(row.rewrite_fraction),
        bloat=_or_nan(row.bloat),
    )


def _units(problem: Problem) -> dict[str, float]:
    """The largest magnitude of each variable."""
    ranges = [v.range for v in problem.variables]
    return {f"x{k}": max(abs(r.low), abs(r.high)) or 1.0 for k, r in enumerate(ranges, start=1)}


@functools.lru_cache(maxsize=512)
def _data_set(catalogue: str, problem: str, dataset: int, points: int, noise: float) -> DataSet:
    return make_data_set(_catalogue(catalogue)[problem], dataset, points, noise)


@functools.lru_cache(maxsize=16)
def _catalogue(name_or_path: str) -> Catalogue:
    return load(name_or_path)


def _or_nan(value: float | None) -> float:
    return NAN if value is None else value
