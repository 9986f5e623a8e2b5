"""The paper's tables of test-time compute, beside what the plans of this package ask for."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import replace

from flash_ansr.bench.execute import machine
from flash_ansr.bench.plan import Plan
from flash_ansr.infer.candidates.normal_forms import MAX_PATTERN_LENGTH
from flash_ansr.infer.settings import PaperPipeline, Settings
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome, Scale
from flash_ansr.paper.experiments.recovery import fixed_plans, time_plans
from flash_ansr.versions import versions

# label of our plan, method and parameter in the paper, its short and medium ranges
_SWEEP: tuple[tuple[str, str, str, list[int], list[int]], ...] = (
    ("", "NeSymReS", "beam width", [2**k for k in range(6)], [128, 512]),
    ("", "E2E", "beam width", [2**k for k in range(10)], []),
    ("PySR", "PySR", "niterations", [2**k for k in range(11)], [2**12, 2**14]),
    ("the paper's pipeline", "Flash-ANSR", "n_samples", [2**k for k in range(15)], [2**16, 2**18]),
)
_FIXED = (
    ("", "NeSymReS", "beam width", 4),
    ("", "E2E", "beam width", 256),
    ("PySR", "PySR", "niterations", 128),
    ("", "Flash-ANSR 3M", "n_samples", 4096),
    ("the paper's pipeline", "Flash-ANSR 20M", "n_samples", 2048),
    ("the paper's pipeline", "Flash-ANSR 120M", "n_samples", 2048),
    ("", "Flash-ANSR 1B", "n_samples", 512),
)
_SYSTEM = {
    "CPU": "AMD Ryzen 9 9950X (16C, 32T)",
    "GPU": "NVIDIA RTX 4090 (24 GB)",
    "RAM": "64 GB DDR5 6000MT/s",
    "OS": "Ubuntu 24.04.3 LTS",
    "Python": "3.13.7",
    "PyTorch": "2.9.1 + CUDA 13.0",
}
# of inference itself, in the paper's text
_INFERENCE = {"restarts of a fit": 8, "gamma": 0.05, "longest pattern of the simplifier": 4, "temperature": 1}
_NO_PLAN = "-"


def settings(context: Context) -> Outcome:
    """The three tables: sweeps, fixed settings, machine."""
    at_full = replace(context, scale=Scale.FULL, notes=[])
    # whether a network or a peer is here does not matter to what is planned
    swept, fixed = time_plans(at_full, True), fixed_plans(at_full, {}, True)
    own = {"swept": (swept, time_plans(context, True)), "fixed": (fixed, fixed_plans(context, {}, True))}

    def work(key: str) -> Facts:
        if key.startswith("inference"):
            own_values = _inference()
            return {"table": [[name, f"{value:g}", f"{own_values[name]:g}"] for name, value in _INFERENCE.items()]}
        if key.startswith("machine"):
            return {"table": [[name, text, _here()[name]] for name, text in _SYSTEM.items()]}
        full, here = own[key.split()[0]]
        return {"table": _sweep_lines(full, here) if key.startswith("swept") else _fixed_lines(full, here)}

    keys = [f"{name} {context.scale.value}" for name in ("swept", "fixed", "inference", "machine")]
    tables = [row["table"] for row in context.each(keys, work, "tables", again=True)]
    header = ["method", "parameter", "the paper", "here, full", f"here, {context.scale.value}"]
    headers = [header, header, ["setting of inference", "the paper", "here"], ["component", "the paper", "here"]]
    lines = [*tables[0], *tables[1]]
    figure, drawn = panels(2, 1, 11.0, 0.13 * len(lines) + 0.4)
    widths = [0.16, 0.12, 0.24, 0.24, 0.24]
    titles = ("swept, for figures against time", "fixed, for points and noise")
    for axes, title, cells in zip(drawn, titles, tables, strict=False):
        axes.set_axis_off()
        axes.set_title(title, loc="left", fontsize=8)
        shown = axes.table(cellText=cells, colLabels=header, loc="upper center", cellLoc="left", colWidths=widths)
        shown.auto_set_font_size(False)
        shown.set_fontsize(7)
    # 20M and 120M are one plan
    known = {(*line[1:], line[0].split()[0]) for line in lines if line[3] != _NO_PLAN}
    same = sum(published == planned for _, published, planned, *_ in known)
    absent = " and ".join(line[0] for line in tables[0] if line[3] == _NO_PLAN)
    equal = sum(published == ours for _, published, ours in tables[2])
    findings = [
        f"{same} of {len(known)} settings that have a plan are the paper's at full scale",
        f"{equal} of {len(tables[2])} settings of inference are the paper's",
        f"without a plan: {absent}, which need code and weights of their authors and run by `bench run --system`; and "
        "the fixed samples of the networks 3M and 1B, since full scale takes those of 20M and 120M",
        f"our own search is limited by seconds: {_seconds(swept)} at full scale, {_seconds(own['swept'][1])} here; "
        f"{_seconds(fixed)} and {_seconds(own['fixed'][1])} for points and noise",
    ]
    text = "\n\n".join(markdown(names, table) for names, table in zip(headers, tables, strict=True))
    notes = [
        "full scale has 10 data sets at every budget, the paper 5 from 64k samples, 4,096 iterations or width 128 on"
    ]
    return Outcome({"settings": figure}, findings, text, notes)


def _sweep_lines(full: Sequence[Plan], here: Sequence[Plan]) -> list[list[str]]:
    lines = []
    for label, method, parameter, short, medium in _SWEEP:
        found = [_spoken(_swept(plans, label, parameter)) for plans in (full, here)]
        lines.append([method, parameter, _spoken([*short, *medium]), *found])
    return lines


def _fixed_lines(full: Sequence[Plan], here: Sequence[Plan]) -> list[list[str]]:
    lines = []
    for label, method, parameter, value in _FIXED:
        found = [_spoken([p.settings[parameter] for p in plans if p.label == label]) for plans in (full, here)]
        lines.append([method, parameter, f"{value:,}", *found])
    return lines


def _swept(plans: Sequence[Plan], label: str, parameter: str) -> list[int]:
    return [value for plan in plans if plan.label == label for value in plan.sweep[parameter]]


def _spoken(values: Sequence[int]) -> str:
    """Numbers as text; powers of 2 in a row by their ends."""
    if not values:
        return _NO_PLAN
    kept = list(values)
    n = next((k for k in range(1, len(kept)) if kept[k] != 2 * kept[k - 1]), len(kept))
    first = f"{kept[0]:,} ... {kept[n - 1]:,}" if n > 2 else ", ".join(f"{v:,}" for v in kept[:n])
    return ", ".join([first, *(f"{v:,}" for v in kept[n:])])


def _seconds(plans: Sequence[Plan]) -> str:
    (plan,) = [plan for plan in plans if plan.label == "ours"]
    first, last = plan.budget[0], plan.budget[-1]
    return f"{first:g} s" if first == last else f"{first:g} to {last:g} s"


def _inference() -> dict[str, float]:
    """What the paper's pipeline does here."""
    treatment, own = Settings(), PaperPipeline()
    values = (treatment.n_restarts, treatment.gamma, MAX_PATTERN_LENGTH, own.temperature)
    return dict(zip(_INFERENCE, values, strict=True))


def _here() -> dict[str, str]:
    """The machine here, as the paper tells of its own."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "CPU": machine(),
        "GPU": "see PyTorch: +cpu has none" if "+cpu" in versions().get("torch", "+cpu") else "as torch finds",
        "RAM": f"{memory:.0f} GB",
        "OS": platform.platform(terse=True),
        "Python": platform.python_version(),
        "PyTorch": versions().get("torch", "not installed"),
    }


EXPERIMENTS = (
    Experiment(
        "settings",
        "Tables 'Ranges for characteristic inference-time scaling parameters', 'Fixed test time compute settings', "
        "'System specifications'",
        "NeSymReS and E2E by beam width, PySR by iterations, Flash-ANSR by samples, from milliseconds to 1,000 s; "
        "about 10 s for points and noise.",
        settings,
        "read from the plans of recovery_time, points and noise, at full scale and at this one",
        "the same",
        0.05,
    ),
)
