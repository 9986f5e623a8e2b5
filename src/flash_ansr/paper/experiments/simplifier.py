"""The simplifier beside SymPy: time, length, memory, throughput; and how the paper's algorithm converges."""

from __future__ import annotations

import subprocess
import sys
import time
import timeit
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sympy.core.cache import clear_cache

import simplipy
from flash_ansr.bench.report.figures import COLOURS, MARKERS
from flash_ansr.data import Generator
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import compared_with_paper, draw_ecdf, panels
from flash_ansr.paper.experiment import Exhibit, experiment
from flash_ansr.paper.sympy.simplify import simplified
from simplipy import Engine, TokenBatch
from simplipy.paper.engine import PaperEngine
from simplipy.paper.rules import load_rules

_CHUNK = 32
_PASSES = 3
_SYMPY_SECONDS = 1.0
_DEFAULT_RATIO = 1.7
# of 100M expressions on eight threads, for a second each
_HOURS = 1e8 / 8 / 3600
# the paper's cap, and a number of rounds that nothing here needs
_CAP, _MAX_ROUNDS = 5, 12
_REFERENCE = "the paper's algorithm in Python"

# seconds and the length of the result of tokens; None where it ran out of time or left the real numbers
TimedCall = Callable[[list[str], int], tuple[float, int | None]]


@dataclass(frozen=True, slots=True)
class TimedEngine:
    """An engine in the figure: how it simplifies the tokens of a row, and how it is drawn."""

    label: str
    colour: str
    line: str
    simplify: TimedCall
    is_slow: bool = False


def corpus(n: int, seed: int) -> list[list[str]]:
    """Skeletons of the paper's prior as they are drawn, before any simplification."""
    drawn = Generator("paper", holdouts=()).skeletons(seed, range(n), simplified=False)
    return [tokens for tokens in drawn if tokens is not None]


@experiment(minutes=0.9)
def simplifier_ecdf(context: Context) -> Exhibit:
    """Times and length ratios on draws of the paper's prior.

    Paper: Figure 'ECDFs of simplification time and ratio' (Symbolic Simplification Efficiency)

    Claim: 100-fold speed-up over SymPy at comparable quality: SymPy takes about 100 ms in the median, L_max 4 about a
    millisecond; never longer, while SymPy lengthens 38 to 52 % and times out on 9 % at 1 s.

    Small: 640 draws of the paper's prior, SymPy with and without ratio=1 on 48 of them

    Full: 65,536 draws for every engine
    """
    drawn = corpus(context.pick(6, 640, 2**16), context.seed)
    n_slow = context.pick(2, 48, len(drawn))
    engines, results = _engines(), {}
    for name, engine in engines.items():
        n = n_slow if engine.is_slow else len(drawn)
        chunks = {f"{name} {start}": range(start, min(n, start + _CHUNK)) for start in range(0, n, _CHUNK)}

        def work(chunk: range, engine: TimedEngine = engine) -> Facts:
            return {"rows": [[len(drawn[i]), *engine.simplify(drawn[i], i)] for i in chunk]}

        rows = [row for facts in context.each(chunks, work, engine.label) for row in facts["rows"]]
        results[name] = pd.DataFrame(rows, columns=["before", "seconds", "after"], dtype=float)
    figure, (left, right) = panels(1, 2, 5.4, 4.2)
    tail = right.inset_axes((0.1, 0.5, 0.4, 0.42))
    lines = []
    for name, found in results.items():
        engine, done = engines[name], found["after"].notna()
        # without a result the expression stays as long as it was
        ratios = found["after"].fillna(found["before"]) / found["before"]
        style: dict[str, Any] = {"color": engine.colour, "linestyle": engine.line, "linewidth": 1.5}
        label = f"{engine.label} (n = {len(found)})"
        draw_ecdf(left, 1e3 * found["seconds"][done], len(found), label=label, **style)
        for axes in (right, tail):
            draw_ecdf(axes, ratios, **style)
        lines.append(_line(engine.label, found, ratios, n_slow, float(results["sympy"]["seconds"][:n_slow].median())))
    left.set(xscale="log", xlabel="CPU time of one simplification [ms]", ylabel="share of expressions", ylim=(0, 1.01))
    right.set(xlabel="length after / length before", ylabel="share of expressions", xlim=(0, 1.7), ylim=(0, 1.01))
    tail.set(xlim=(0.95, 2.0), ylim=(0.5, 1.005))
    tail.tick_params(labelsize=7)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    speed_up = {line["engine"]: line["× SymPy (median)"] for line in lines}
    findings = [
        f"median time of SymPy over ours at L_max 4: {speed_up[engines['ours_L4'].label]}; over the paper's algorithm "
        f"in Python: {speed_up[engines['paper_L4'].label]}",
        *(
            f"{line['engine']}: mean length ratio {line['length ratio']} ({line['on common rows']} on the rows of "
            f"SymPy), longer in {line['longer, of those done %']} % of those done, timed out in "
            f"{line['timed out %']} %, left the real numbers in {line['not real %']} %"
            for line in lines
        ),
    ]
    notes = [
        f"{len(drawn)} draws of the paper's prior; SymPy on the first {n_slow}, on which ratios of medians are taken",
        f"every engine simplifies each row once; SymPy's cache is emptied before each, its limit is {_SYMPY_SECONDS:g} "
        "s of CPU time; longer: of the rows that it finished; a row without a result counts as long as it was",
    ]
    return Exhibit(figure, findings, lines, notes)


def _line(label: str, found: pd.DataFrame, ratios: pd.Series, n_common: int, sympy_median: float) -> dict[str, str]:
    """An engine's line of the table; rows that not every engine has had do not count where engines are compared."""
    seconds, done = found["seconds"], found["after"].notna()
    late = ~done & (seconds >= _SYMPY_SECONDS)
    return {
        "engine": label,
        "rows": str(len(found)),
        "median µs": f"{1e6 * seconds.median():.1f}",
        "mean µs": f"{1e6 * seconds.mean():.1f}",
        "× SymPy (median)": f"{sympy_median / seconds[:n_common].median():.0f}",
        "length ratio": f"{ratios.mean():.3f}",
        "on common rows": f"{ratios[:n_common].mean():.3f}",
        "longer, of those done %": f"{100 * (ratios[done] > 1).mean():.1f}",
        "timed out %": f"{100 * late.mean():.1f}",
        "not real %": f"{100 * (~done & ~late).mean():.1f}",
    }


def _engines() -> dict[str, TimedEngine]:
    paper = partial(Engine(method="paper").simplify, max_pattern_length=4)
    styles = {0: ("#56B4E9", ":"), 4: ("#0072B2", "-"), 5: ("#003C60", "--"), 7: ("#000000", "-.")}
    return {
        "sympy": TimedEngine("SymPy", COLOURS[1], "-", partial(by_sympy, ratio=_DEFAULT_RATIO), True),
        "sympy_ratio1": TimedEngine("SymPy, ratio 1", COLOURS[4], "--", partial(by_sympy, ratio=1.0), True),
        "paper_L4": TimedEngine(f"{_REFERENCE}, L_max 4", COLOURS[2], "-.", _timed(paper)),
        **{
            f"ours_L{n}": TimedEngine(
                f"ours, L_max {n}", *style, _timed(partial(simplipy.simplify, max_pattern_length=n))
            )
            for n, style in styles.items()
        },
    }


def _timed(simplify: Callable[[list[str]], Sequence[str]]) -> TimedCall:
    def call(tokens: list[str], _: int) -> tuple[float, int | None]:
        start = time.thread_time()
        result = simplify(tokens)
        return time.thread_time() - start, len(result)

    return call


def by_sympy(tokens: list[str], index: int, ratio: float) -> tuple[float, int | None]:
    """As in the paper, only ``simplify`` is timed, for a CPU second at most."""
    clear_cache()  # rows of a corpus share no work
    answer = simplified(simplipy.parse(tokens), index, _SYMPY_SECONDS, ratio=ratio)
    return answer.seconds, None if answer.skeleton is None else len(answer.skeleton)


def _least_seconds(work: Callable[[], object]) -> float:
    """CPU time of the fastest of several passes."""
    return min(timeit.repeat(work, timer=time.thread_time, number=1, repeat=_PASSES))


@experiment(minutes=0.3)
def throughput_claim(context: Context) -> Exhibit:
    """Hours for a hundred million expressions on eight threads, as the paper reckons.

    Paper: Appendix Memory Requirements, second paragraph

    Claim: 100M expressions on 8 threads: about 6 hours at 1.7 ms each, against 30 days at 210 ms with SymPy.

    Small: 20,000 draws in one call, SymPy on 48

    Full: a million draws, SymPy on 4,096
    """
    n, n_sympy = context.pick(200, 20_000, 1_000_000), context.pick(2, 48, 4096)

    def sympy_seconds() -> float:
        drawn = enumerate(corpus(n_sympy, context.seed))
        return float(np.mean([by_sympy(tokens, i, _DEFAULT_RATIO)[0] for i, tokens in drawn]))

    def our_seconds() -> float:
        batch = TokenBatch.from_tokens(corpus(n, context.seed))
        simplify = partial(simplipy.simplify_many, n_threads=1, max_pattern_length=4, mask_numbers=True)
        return _least_seconds(lambda: simplify(batch)) / n

    timed = {f"sympy {n_sympy}": sympy_seconds, f"ours {n}": our_seconds}
    rows = context.each(timed, lambda measure: {"mean_seconds": measure()}, "simplifying")
    seconds = dict(zip(("SymPy", "ours"), (row["mean_seconds"] for row in rows), strict=True))
    hours = {name: value * _HOURS for name, value in seconds.items()}
    published = {"SymPy": 210e-3 * _HOURS, "ours": 1.7e-3 * _HOURS}
    findings = [
        f"one expression: SymPy {1e3 * seconds['SymPy']:.0f} ms in the mean, ours {1e6 * seconds['ours']:.1f} µs, "
        f"{seconds['SymPy'] / seconds['ours']:,.0f} times faster",
        f"100M expressions on 8 threads: SymPy {hours['SymPy'] / 24:.1f} days, ours {60 * hours['ours']:.1f} minutes",
    ]
    notes = [
        f"ours: {n} draws in one call on one thread, the fastest of {_PASSES} passes; SymPy: {n_sympy}; CPU time",
        "eight threads are reckoned from one, as the paper does",
    ]
    figure = compared_with_paper("100M expressions on 8 threads", "hours", hours, published)
    return Exhibit(figure, findings, notes=notes)


_PRINT_MEMORY = "import os; print(int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE'))"
_LOADS = {
    "interpreter alone": "",
    "ours": "import simplipy; simplipy.simplify('x1 + x1')",
    _REFERENCE: "import simplipy; simplipy.Engine(method='paper').simplify('x1 + x1')",
    "SymPy": "import sympy; sympy.simplify(sympy.Symbol('x') + 1)",
}


@experiment(minutes=0.1)
def memory(context: Context) -> Exhibit:
    """Resident memory of a fresh interpreter that has loaded an engine.

    Paper: Appendix Memory Requirements

    Claim: 412 MB resident with the rule table up to length 7, 58 MB for SymPy.

    Small: four fresh interpreters

    Full: the same
    """

    def work(code: str) -> Facts:
        command = [sys.executable, "-c", f"{code}\n{_PRINT_MEMORY}"]
        return {"megabytes": int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1e6}

    rows = context.each(_LOADS, work, "measuring")
    values = {name: row["megabytes"] for name, row in zip(_LOADS, rows, strict=True)}
    figure = compared_with_paper("resident memory", "MB", values, {_REFERENCE: 412.0, "SymPy": 58.0})
    notes = ["the paper's 412 MB hold the mined rules up to length 7; the rules of its algorithm here are a stand-in"]
    return Exhibit(figure, [f"{name}: {value:.0f} MB" for name, value in values.items()], notes=notes)


@experiment(minutes=0.2)
def convergence(context: Context) -> Exhibit:
    """Rounds on draws of the prior, and times on sums of growing length, whose operands are all to be compared.

    Paper: Appendix Complexity Analysis

    Claim: Most expressions converge in 1 to 3 rounds, below the cap of 5; the worst case grows as K n^2 R P + n^2 log
    n, the second term being tight on sums.

    Small: 400 draws of the paper's prior; sums of 16 to 128 variables

    Full: 16,384 draws; sums of up to 192 variables
    """
    n = context.pick(10, 400, 2**14)
    sizes = context.pick([8, 16], [16, 32, 64, 128], [16, 32, 64, 128, 192])
    rules = load_rules()
    limited = [PaperEngine(rules, 4, max_iterations=k) for k in range(_MAX_ROUNDS)]

    def count(n: int) -> Facts:
        counts = Counter(n_rounds(tokens, limited) for tokens in corpus(n, context.seed))
        return {"counts": [counts[k] for k in range(1, _MAX_ROUNDS + 1)]}

    (found,) = context.each({f"rounds of {_MAX_ROUNDS} {n}": n}, count, "rounds")
    figure, (left, right) = panels(1, 2, 4.6, 3.4)
    counts = np.trim_zeros(np.array(found["counts"]), "b")
    shares = 100 * np.pad(counts, (0, max(0, _CAP - len(counts)))) / counts.sum()
    bars = left.bar(range(1, len(shares) + 1), shares, color=COLOURS[0])
    left.bar_label(bars, fmt="%.1f", fontsize=8)
    left.set(xlabel="rounds, the last of which changes nothing", ylabel="share of expressions [%]")
    findings = [
        f"{sum(shares[:3]):.1f} % of the expressions converge in 1 to 3 rounds, {shares[0]:.1f} % in one; "
        f"{sum(shares[_CAP + 1 :]):.2f} % are not finished by the {_CAP} rounds of the cap"
    ]
    engines: dict[str, Callable[[list[str]], object]] = {"ours": simplipy.simplify, _REFERENCE: limited[_CAP].simplify}
    chains = {size: _chain(size, context.seed) for size in sizes}
    for k, (name, simplify) in enumerate(engines.items()):

        def measure(tokens: list[str], simplify: Callable[[list[str]], object] = simplify) -> Facts:
            return {"seconds": _least_seconds(lambda: simplify(tokens)), "length": len(tokens)}

        rows = pd.DataFrame(context.each({f"{name}|{size}": chain for size, chain in chains.items()}, measure, name))
        exponent = float(np.polyfit(np.log(rows["length"]), np.log(rows["seconds"]), 1)[0])
        label = f"{name}: $n^{{{exponent:.1f}}}$"
        right.loglog(rows["length"], 1e3 * rows["seconds"], marker=MARKERS[k], color=COLOURS[k], label=label)
        findings.append(f"{name}: time on a sum of n tokens grows as n^{exponent:.2f}")
    right.set(xlabel="tokens of a sum", ylabel="CPU time [ms]")
    right.legend(fontsize=8)
    return Exhibit(figure, findings)


def n_rounds(tokens: list[str], limited: list[PaperEngine]) -> int:
    """The rounds of the paper's loop: those that change something, and the one that finds nothing left to do."""
    final = limited[-1].simplify(tokens)
    return 1 + next(k for k, engine in enumerate(limited) if engine.simplify(tokens) == final)


def _chain(n_terms: int, seed: int) -> list[str]:
    """A chain of + over variables in random order, each of which occurs once: nothing cancels, everything is sorted."""
    terms = [f"x{k}" for k in np.random.default_rng(seed).permutation(n_terms) + 1]
    return [token for term in terms[:-1] for token in ("+", term)] + terms[-1:]
