"""The simplifier beside SymPy: time, length, memory, throughput; and the rules of the paper's engine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy
from sympy.core.cache import clear_cache

import simplipy
from flash_ansr.bench.figures import COLOURS
from flash_ansr.data import Generator
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import bar_figure, draw_ecdf, markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome
from flash_ansr.paper.sympy.cpu_limit import TimeOver, cpu_limit
from flash_ansr.paper.sympy.simplify import with_numbers, without_numbers
from simplipy import Engine, TokenBatch

_CHUNK = 32
_PASSES = 3
_SYMPY_SECONDS = 1.0
# of 100M expressions on eight threads, for a second each
_HOURS = 1e8 / 8 / 3600
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """An engine in the figure: how it simplifies tokens, and how it is drawn.

    ``simplify`` gives seconds and the length of the result; None where it ran out of time or left the real numbers.
    """

    label: str
    colour: str
    line: str
    simplify: Callable[[list[str], int], tuple[float, int | None]]
    is_slow: bool = False


def simplifier_ecdf(context: Context) -> Outcome:
    """Times and length ratios on draws of the paper's prior."""
    drawn = corpus(context.pick(6, 640, 2**16), context.seed)
    n_slow = context.pick(2, 48, len(drawn))
    results = {}
    for name, curve in _curves().items():
        rows = drawn[:n_slow] if curve.is_slow else drawn
        keys = [f"{name} {start}" for start in range(0, len(rows), _CHUNK)]

        def work(key: str, curve: Curve = curve, rows: Sequence[list[str]] = rows) -> Facts:
            start = int(key.split()[1])
            found = [curve.simplify(tokens, start + i) for i, tokens in enumerate(rows[start : start + _CHUNK])]
            return {
                "seconds": [seconds for seconds, _ in found],
                "lengths": [[len(t), n] for t, (_, n) in zip(rows[start:], found, strict=False)],
            }

        results[name] = context.each(keys, work, curve.label)
    notes = [
        f"{len(drawn)} draws of the paper's prior; SymPy on the first {n_slow}, on which ratios of medians are taken",
        f"every engine simplifies each row once; SymPy's cache is emptied before each, its limit is {_SYMPY_SECONDS:g} "
        "s of CPU time; longer: of the rows that it finished; a row without a result counts as long as it was",
    ]
    return _ecdf_outcome(results, n_slow, notes)


def _ecdf_outcome(results: dict[str, list[Facts]], n_common: int, notes: list[str]) -> Outcome:
    figure, (left, right) = panels(1, 2, 5.4, 4.2)
    tail = right.inset_axes((0.1, 0.5, 0.4, 0.42))
    lines, medians, means = [], {}, {}
    for name, curve in _curves().items():
        seconds = np.array([s for facts in results[name] for s in facts["seconds"]])
        lengths = [pair for facts in results[name] for pair in facts["lengths"]]
        # without a result the expression stays as long as it was
        ratios = np.array([(n_out or n_in) / n_in for n_in, n_out in lengths])
        done = np.array([n_out is not None for _, n_out in lengths])
        late = ~done & (seconds >= _SYMPY_SECONDS)
        style: dict[str, Any] = {"color": curve.colour, "linestyle": curve.line, "linewidth": 1.5}
        draw_ecdf(left, 1e3 * seconds[done], len(seconds), label=f"{curve.label} (n = {len(seconds)})", **style)
        for axes in (right, tail):
            draw_ecdf(axes, ratios, **style)
        # rows that every engine has had: those beyond are others
        medians[name], means[name] = float(np.median(seconds[:n_common])), float(seconds.mean())
        longer = (ratios[done] > 1).mean() if done.any() else np.nan
        lines.append(
            [
                *(curve.label, len(seconds), f"{1e6 * np.median(seconds):.1f}", f"{1e6 * means[name]:.1f}"),
                *(f"{medians.get('sympy', np.nan) / medians[name]:.0f}", f"{ratios.mean():.3f}"),
                f"{ratios[:n_common].mean():.3f}",
                *(f"{100 * share:.1f}" for share in (longer, late.mean(), (~done & ~late).mean())),
            ]
        )
    left.set(xscale="log", xlabel="CPU time of one simplification [ms]", ylabel="share of expressions", ylim=(0, 1.01))
    right.set(xlabel="length after / length before", ylabel="share of expressions", xlim=(0, 1.7), ylim=(0, 1.01))
    tail.set(xlim=(0.95, 2.0), ylim=(0.5, 1.005))
    tail.tick_params(labelsize=7)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    header = [
        "engine",
        "rows",
        "median µs",
        "mean µs",
        "× SymPy (median)",
        "length ratio",
        "on common rows",
        "longer, of those done %",
        "timed out %",
        "not real %",
    ]
    # SymPy first, since the others are compared with it
    findings = [
        f"median time of SymPy over ours at L_max 4: {medians['sympy'] / medians['ours_L4']:.0f}; "
        f"over the paper's algorithm in Python: {medians['sympy'] / medians['paper_L4']:.0f}",
        *(
            f"{line[0]}: mean length ratio {line[5]} ({line[6]} on the rows of SymPy), longer in {line[7]} % of those "
            f"done, timed out in {line[8]} %, left the real numbers in {line[9]} %"
            for line in lines
        ),
    ]
    return Outcome({"simplifier_ecdf": figure}, findings, markdown(header, lines), notes)


def _curves() -> dict[str, Curve]:
    paper = Engine(method="paper")

    def by_paper(tokens: list[str], _: int) -> tuple[float, int | None]:
        start = time.thread_time()
        result = paper.simplify(tokens, max_pattern_length=4)
        return time.thread_time() - start, len(result)

    return {
        "sympy": Curve("SymPy", COLOURS[1], "-", lambda tokens, i: by_sympy(tokens, i, 1.7), True),
        "sympy_ratio1": Curve("SymPy, ratio 1", COLOURS[4], "--", lambda tokens, i: by_sympy(tokens, i, 1.0), True),
        "paper_L4": Curve("the paper's algorithm in Python, L_max 4", COLOURS[2], "-.", by_paper),
        **{
            f"ours_L{n}": Curve(f"ours, L_max {n}", colour, line, partial(_by_ours, max_pattern_length=n))
            for n, colour, line in (
                (0, "#56B4E9", ":"),
                (4, "#0072B2", "-"),
                (5, "#003C60", "--"),
                (7, "#000000", "-."),
            )
        },
    }


def _by_ours(tokens: list[str], _: int, max_pattern_length: int) -> tuple[float, int | None]:
    start = time.thread_time()
    length = len(simplipy.simplify(tokens, max_pattern_length=max_pattern_length))
    return time.thread_time() - start, length


def by_sympy(tokens: list[str], index: int, ratio: float) -> tuple[float, int | None]:
    """As in the paper, only ``simplify`` is timed, for a CPU second at most."""
    clear_cache()  # rows of a corpus share no work
    start = time.thread_time()
    try:
        with cpu_limit(_SYMPY_SECONDS):
            given = with_numbers(simplipy.parse(tokens), index)
        start = time.thread_time()
        with cpu_limit(_SYMPY_SECONDS):
            result = sympy.simplify(given, ratio=ratio)
        seconds = time.thread_time() - start
        return seconds, len(without_numbers(result))
    except TimeOver:
        return _SYMPY_SECONDS, None
    except Exception:  # SymPy raises all sorts of errors of its own on odd input
        return time.thread_time() - start, None


def throughput_claim(context: Context) -> Outcome:
    """Hours for a hundred million expressions on eight threads, as the paper reckons."""
    n, n_sympy = context.pick(200, 20_000, 1_000_000), context.pick(2, 48, 4096)

    def work(key: str) -> Facts:
        if key.startswith("sympy"):
            times = [by_sympy(tokens, i, 1.7)[0] for i, tokens in enumerate(corpus(n_sympy, context.seed))]
            return {"mean_seconds": float(np.mean(times))}
        batch = TokenBatch.from_tokens(corpus(n, context.seed))
        passes = []
        for _ in range(_PASSES):
            start = time.thread_time()
            simplipy.simplify_many(batch, n_threads=1, max_pattern_length=4, mask_numbers=True)
            passes.append((time.thread_time() - start) / n)
        return {"mean_seconds": min(passes)}

    rows = context.each([f"sympy {n_sympy}", f"ours {n}"], work, "simplifying")
    seconds = dict(zip(("SymPy", "ours"), (row["mean_seconds"] for row in rows), strict=True))
    hours = {name: value * _HOURS for name, value in seconds.items()}
    published = {"SymPy": 210e-3 * _HOURS, "ours": 1.7e-3 * _HOURS}
    figure = bar_figure("100M expressions on 8 threads", "hours", hours, published)
    findings = [
        f"one expression: SymPy {1e3 * seconds['SymPy']:.0f} ms in the mean, ours {1e6 * seconds['ours']:.1f} µs, "
        f"{seconds['SymPy'] / seconds['ours']:,.0f} times faster",
        f"100M expressions on 8 threads: SymPy {hours['SymPy'] / 24:.1f} days, ours {60 * hours['ours']:.1f} minutes",
    ]
    notes = [
        f"ours: {n} draws in one call on one thread, the fastest of {_PASSES} passes; SymPy: {n_sympy}; CPU time",
        "eight threads are reckoned from one, as the paper does",
    ]
    return Outcome({"throughput_claim": figure}, findings, notes=notes)


_RESIDENT = "import os; print(int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE'))"
_LOADS = {
    "interpreter alone": "",
    "ours": "import simplipy; simplipy.simplify('x1 + x1')",
    "the paper's algorithm in Python": "import simplipy; simplipy.Engine(method='paper').simplify('x1 + x1')",
    "SymPy": "import sympy; sympy.simplify(sympy.Symbol('x') + 1)",
}


def memory(context: Context) -> Outcome:
    """Resident memory of a fresh interpreter that has loaded an engine."""

    def work(key: str) -> Facts:
        code = f"{_LOADS[key]}\n{_RESIDENT}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return {"megabytes": int(done.stdout) / 1e6}

    rows = dict(zip(_LOADS, context.each(list(_LOADS), work, "measuring"), strict=True))
    values = {name: facts["megabytes"] for name, facts in rows.items()}
    figure = bar_figure("resident memory", "MB", values, {"the paper's algorithm in Python": 412.0, "SymPy": 58.0})
    findings = [f"{name}: {value:.0f} MB" for name, value in values.items()]
    notes = ["the paper's 412 MB hold the mined rules up to length 7; the rules of its algorithm here are a stand-in"]
    return Outcome({"memory": figure}, findings, notes=notes)


def corpus(n: int, seed: int) -> list[list[str]]:
    """Skeletons of the paper's prior as they are drawn, before any simplification."""
    drawn = Generator("paper", holdouts=()).skeletons(seed, range(n), simplified=False)
    return [tokens for tokens in drawn if tokens is not None]


EXPERIMENTS = (
    Experiment(
        "simplifier_ecdf",
        "Figure 'ECDFs of simplification time and ratio' (Symbolic Simplification Efficiency)",
        "100-fold speed-up over SymPy at comparable quality: SymPy takes about 100 ms in the median, L_max 4 about a "
        "millisecond; never longer, while SymPy lengthens 38 to 52 % and times out on 9 % at 1 s.",
        simplifier_ecdf,
        "640 draws of the paper's prior, SymPy with and without ratio=1 on 48 of them",
        "65,536 draws for every engine",
        0.9,
    ),
    Experiment(
        "throughput_claim",
        "Appendix Memory Requirements, second paragraph",
        "100M expressions on 8 threads: about 6 hours at 1.7 ms each, against 30 days at 210 ms with SymPy.",
        throughput_claim,
        "20,000 draws in one call, SymPy on 48",
        "a million draws, SymPy on 4,096",
        0.3,
    ),
    Experiment(
        "memory",
        "Appendix Memory Requirements",
        "412 MB resident with the rule table up to length 7, 58 MB for SymPy.",
        memory,
        "four fresh interpreters",
        "the same",
        0.1,
    ),
)
