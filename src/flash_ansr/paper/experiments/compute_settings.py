"""The paper's tables of test-time compute, beside what the plans of this package ask for."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flash_ansr.bench.execute import machine
from flash_ansr.bench.plan import Plan
from flash_ansr.infer.candidates.normal_forms import MAX_PATTERN_LENGTH
from flash_ansr.infer.settings import PaperPipeline, Settings
from flash_ansr.paper.context import Context
from flash_ansr.paper.drawing import table_figure
from flash_ansr.paper.experiment import Exhibit, Scale, experiment, markdown, printed
from flash_ansr.paper.experiments.recovery import fixed_plans, time_plans
from flash_ansr.versions import versions

_NO_PLAN = "-"


@experiment(minutes=0.05)
def settings(context: Context) -> Exhibit:
    """The three tables: sweeps, fixed settings, machine.

    Paper: Tables 'Ranges for characteristic inference-time scaling parameters', 'Fixed test time compute settings',
    'System specifications'

    Claim: NeSymReS and E2E by beam width, PySR by iterations, Flash-ANSR by samples, from milliseconds to 1,000 s;
    about 10 s for points and noise.

    Small: read from the plans of recovery_time, points and noise, at full scale and at this one

    Full: the same
    """
    # whether a network or a peer is here does not matter to what is planned
    scales = {"full": replace(context, scale=Scale.FULL, notes=[]), context.scale.value: context}
    swept = {name: time_plans(at, True) for name, at in scales.items()}
    fixed = {name: fixed_plans(at, {}, True) for name, at in scales.items()}
    published, asked = printed("machine"), printed("test_time_compute")
    machine_here = [{"component": name, "the paper": published[name], "here": text} for name, text in _here().items()]
    tables = [
        [_line(row, swept, context.scale) for row in asked["swept"]],
        [_line(row, fixed, context.scale) for row in asked["fixed"]],
        _inference(),
        machine_here,
    ]
    lines = [*tables[0], *tables[1]]
    # 20M and 120M are one plan
    planned = {(line["method"].split()[0], *list(line.values())[1:4]) for line in lines if _is_planned(line)}
    same = sum(published == here for *_, published, here in planned)
    equal = sum(line["the paper"] == line["here"] for line in tables[2])
    findings = [
        f"{same} of {len(planned)} settings that have a plan are the paper's at full scale",
        f"{equal} of {len(tables[2])} settings of inference are the paper's",
        f"without a plan: {' and '.join(line['method'] for line in tables[0] if not _is_planned(line))}, which need "
        "code and weights of their authors and run by `bench run --system`; and the fixed samples of the networks 3M "
        "and 1B, since full scale takes those of 20M and 120M",
        f"our own search is limited by seconds: {_seconds(swept['full'])} at full scale, "
        f"{_seconds(swept[context.scale.value])} here; {_seconds(fixed['full'])} and "
        f"{_seconds(fixed[context.scale.value])} for points and noise",
    ]
    notes = [
        "full scale has 10 data sets at every budget, the paper 5 from 64k samples, 4,096 iterations or width 128 on"
    ]
    return Exhibit(table_figure(lines), findings, "\n\n".join(map(markdown, tables)), notes)


def _line(row: list[Any], plans: dict[str, list[Plan]], scale: Scale) -> dict[str, str]:
    """A line of the table of a parameter: its values in the paper, and those of the plan of this label."""
    label, method, parameter, published = row
    values = {
        name: [value for plan in at if plan.label == label for value in plan.sweep[parameter]]
        for name, at in plans.items()
    }
    line = {"method": method, "parameter": parameter, "the paper": _spoken(published)}
    return line | {"here, full": _spoken(values["full"]), f"here, {scale.value}": _spoken(values[scale.value])}


def _is_planned(line: dict[str, str]) -> bool:
    return line["here, full"] != _NO_PLAN


def _spoken(values: Sequence[int]) -> str:
    """Numbers as text; powers of 2 in a row by their ends."""
    if not values:
        return _NO_PLAN
    n = next((k for k in range(1, len(values)) if values[k] != 2 * values[k - 1]), len(values))
    texts = [f"{value:,}" for value in values]
    return ", ".join([f"{texts[0]} ... {texts[n - 1]}", *texts[n:]] if n > 2 else texts)


def _seconds(plans: Sequence[Plan]) -> str:
    (plan,) = [plan for plan in plans if plan.label == "ours"]
    first, last = plan.budget[0], plan.budget[-1]
    return f"{first:g} s" if first == last else f"{first:g} to {last:g} s"


def _inference() -> list[dict[str, str]]:
    """Settings of inference itself, in the paper's text and in the paper's pipeline here."""
    treatment, own = Settings(), PaperPipeline()
    values = {
        "restarts of a fit": (8, treatment.n_restarts),
        "gamma": (0.05, treatment.gamma),
        "longest pattern of the simplifier": (4, MAX_PATTERN_LENGTH),
        "temperature": (1, own.temperature),
    }
    return [
        {"setting of inference": name, "the paper": f"{published:g}", "here": f"{here:g}"}
        for name, (published, here) in values.items()
    ]


def _here() -> dict[str, str]:
    """The machine here, by the components that the paper names of its own."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "CPU": machine(),
        "GPU": "see PyTorch: +cpu has none" if "+cpu" in versions().get("torch", "+cpu") else "as torch finds",
        "RAM": f"{memory:.0f} GB",
        "OS": platform.platform(terse=True),
        "Python": platform.python_version(),
        "PyTorch": versions().get("torch", "not installed"),
    }
