"""From rows to scores and to estimates: laws that are right, nearly right, wrong, and not there."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest

import simplipy
from flash_ansr.bench.datasets import make_data_set
from flash_ansr.bench.groups import group_rows
from flash_ansr.bench.metrics import METRICS
from flash_ansr.bench.rows import BenchError, Row, Task
from flash_ansr.bench.scoring import Scored
from flash_ansr.catalogues import Problem, load


def row(expression: str | None, problem: str = "I.12.1", dataset: int = 0, **more: object) -> Row:
    task = Task("fastsrb", problem, dataset, points=64, noise=0.0, system="hand", budget=1.0)
    facts = {"error": None, "fit_seconds": 2.0, "cpu_seconds": 1.0, "seed": 0} | more
    return Row(task=task, expression=expression, **facts)


def score(found: Row, reference_seconds: float = math.nan) -> SimpleNamespace:
    """Every metric of a row, and its FVUs."""
    scored = Scored(found, reference_seconds)
    fvus = {f"fvu_{kind}": value for kind, value in scored.fvus.items()}
    return SimpleNamespace(**{name: metric.of(scored) for name, metric in METRICS.items()}, **fvus)


def test_the_law_itself() -> None:
    s = score(row("x1*x2", log_prob=-3.5, rewrite_fraction=0.25, bloat=0.5))
    assert (s.fnrr, s.vnrr, s.xnrr, s.srr, s.symbolic_recovery, s.fit_success) == (1, 1, 1, 1, 1, 1)
    assert (s.fvu_fit, s.fvu_validation, s.fvu_widened) == (0, 0, 0)
    assert (s.length_ratio, s.length_ratio_recovered, s.f1, s.tree_distance, s.variable_recall) == (1, 1, 1, 0, 1)
    assert (s.excess_constants, s.nestedness) == (0, 0)
    assert (s.log_prob, s.rewrite_fraction, s.bloat, s.fit_seconds) == (-3.5, 0.25, 0.5, 2.0)
    assert math.isnan(s.log10_fvu)


def test_a_longer_spelling_of_the_law() -> None:
    """x1*x2 has 3 tokens, 1.0*x1*x2 + 0.0 has 7 with two numbers."""
    s = score(row("1.0*x1*x2 + 0.0"))
    assert (s.vnrr, s.symbolic_recovery) == (1, 1)
    assert s.length_ratio == pytest.approx(7 / 3)
    assert s.length_ratio_recovered == pytest.approx(7 / 3)
    assert s.excess_constants == 2
    assert s.f1 == pytest.approx(2 * 3 / (7 + 3))
    assert s.tree_distance == 4


def test_the_wrong_law() -> None:
    s = score(row("sin(exp(x1))"))
    assert (s.fnrr, s.vnrr, s.xnrr, s.srr, s.symbolic_recovery, s.fit_success) == (0, 0, 0, 0, 0, 1)
    assert s.log10_fvu == pytest.approx(math.log10(s.fvu_validation))
    assert s.variable_recall == 0.5
    assert s.nestedness == 1
    assert s.length_ratio == 1
    assert math.isnan(s.length_ratio_recovered)


def test_right_inside_the_ranges_only() -> None:
    """I.29.4 is omega/c for omega up to 1e11: a term that wakes up beyond is xNRR's to see."""
    s = score(row("x1/299792458 + exp(x1/3e9 - 50)", problem="I.29.4"))
    assert (s.fnrr, s.vnrr, s.xnrr) == (1, 1, 0)


@pytest.mark.parametrize(
    ("problem", "limit"),
    [
        ("I.10.7", "x1"),
        ("I.15.1", "x1*x2"),
        ("I.34.1", "x1"),
        ("I.16.6", "x1 + x2"),
        ("III.4.33", "1.380649e-23*x2"),
        ("II.35.18", "x1/2"),
    ],
)
def test_a_limiting_law_is_not_the_law(problem: str, limit: str) -> None:
    """Laws with a term that only large or small values wake up."""
    assert score(row(limit, problem=problem)).symbolic_recovery == 0


@pytest.mark.parametrize("law", load("fastsrb").included, ids=lambda law: law.name)
def test_every_law_is_its_own_recovery(law: Problem) -> None:
    """With its numbers rounded to doubles, as a fit would leave them."""
    fitted = simplipy.simplify(law.expression, fold_numbers=True)
    found = score(row(fitted.infix(), problem=law.name))
    assert (found.vnrr, found.xnrr, found.symbolic_recovery) == (1, 1, 1)


def test_not_finite_beyond_the_ranges() -> None:
    s = score(row("x1/299792458 + 0*sqrt(100000000001 - x1)", problem="I.29.4"))
    assert (s.vnrr, s.xnrr) == (1, 0)
    assert s.fvu_widened == math.inf


def test_no_law_at_all() -> None:
    s = score(row(None, error="no luck"))
    assert (s.fnrr, s.vnrr, s.xnrr, s.srr, s.symbolic_recovery, s.fit_success) == (0, 0, 0, 0, 0, 0)
    assert math.isnan(s.length_ratio)
    assert math.isnan(s.log10_fvu)


def test_rows_of_another_catalogue_are_refused() -> None:
    digests = {"fit": make_data_set(load("fastsrb")["I.12.1"], 0, 64, 0.0).fit.digest}
    assert score(row("x1*x2", digests=digests)).vnrr == 1
    with pytest.raises(BenchError, match=r"fastsrb I\.12\.1, data set 0: the fit rows of now .*run it again"):
        score(row("x1*x2", digests={"fit": "0" * 16}))
    with pytest.raises(BenchError, match=r"the law and ranges of now .*run it again"):
        score(row("x1*x2", digests={"problem": "0" * 16}))


def test_a_digest_of_law_and_ranges() -> None:
    """The draws are the same numbers between 0 and 1 whatever the law and the ranges are."""
    law = load("fastsrb")["I.12.1"]
    wider = dataclasses.replace(law.variables[0], range=law.variables[0].range.widened())
    others = [
        dataclasses.replace(law, expression=simplipy.parse("x1*x2^2")),
        dataclasses.replace(law, variables=(wider, *law.variables[1:])),
    ]
    for other in others:
        assert other.sample(16, 0).digest == law.sample(16, 0).digest
    assert len({problem.digest for problem in (law, *others)}) == 3


def test_noise_is_on_the_fitted_targets_only() -> None:
    law = load("fastsrb")["I.12.1"]
    noisy, clean = make_data_set(law, 0, 2048, 0.1), make_data_set(law, 0, 2048, 0.0)
    assert (clean.y_fit == clean.fit.y).all()
    assert (noisy.fit.y == clean.fit.y).all()
    assert (noisy.validation.y == clean.validation.y).all()
    noise = noisy.y_fit - noisy.fit.y
    assert noise.std() / clean.fit.y.std() == pytest.approx(0.1, rel=0.05)
    assert abs(noise.mean()) < 3 * noise.std() / np.sqrt(2048)
    assert (make_data_set(law, 1, 2048, 0.1).y_fit != noisy.y_fit).all()
    few = make_data_set(law, 0, 4, 0.1)
    golden = [0.05462500467833004, 0.5131622230990035, 0.009961396862491558, 0.019737608550183267]
    assert few.y_fit == pytest.approx(golden, rel=1e-12)
    assert few.digests["noise"] == "55d53f905e9ce1d4"
    assert "noise" not in clean.digests
    assert noisy.digests["noise"] == make_data_set(law, 0, 2048, 0.01).digests["noise"]
    assert noisy.digests["noise"] != make_data_set(law, 1, 2048, 0.1).digests["noise"]


def test_few_points_are_still_validated_on_many() -> None:
    data = make_data_set(load("fastsrb")["I.12.1"], 0, 1, 0.1)
    assert (len(data.y_fit), len(data.validation.y), len(data.widened.y)) == (1, 256, 256)
    assert np.isfinite(data.y_fit).all()


def test_estimates_average_over_problems() -> None:
    """Two data sets of one problem, one of another: 1/2 and 1 give 3/4, not 2/3."""
    rows = [row("x1*x2"), row("x1", dataset=1), row("x1/299792458", problem="I.29.4")]
    (group,) = group_rows(rows)
    found = group.estimates["vnrr"]
    assert (found.value, found.n) == (0.75, 2)
    assert group.estimates["length_ratio_recovered"].n == 2
    assert group.estimates["relative_fit_time"].value == 1.0


def test_fit_times_are_compared_with_a_reference() -> None:
    assert score(row("x1*x2"), reference_seconds=4.0).relative_fit_time == 0.5
    assert math.isnan(score(row("x1*x2")).relative_fit_time)
