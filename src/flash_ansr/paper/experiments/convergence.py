"""How many rounds the paper's algorithm takes, and how the time of a simplification grows with the input."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np

import simplipy
from flash_ansr.bench.figures import COLOURS, MARKERS
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import panels
from flash_ansr.paper.experiment import Experiment, Outcome
from flash_ansr.paper.experiments.simplifier import corpus
from simplipy.paper.engine import PaperEngine
from simplipy.paper.rules import load_rules

# the paper's cap, and a number of rounds that nothing here needs
_CAP, _MAX_ROUNDS = 5, 12
_PASSES = 3


def convergence(context: Context) -> Outcome:
    """Rounds on draws of the prior, and times on sums of growing length, whose operands are all to be compared."""
    n = context.pick(10, 400, 2**14)
    lengths = context.pick([8, 16], [16, 32, 64, 128], [16, 32, 64, 128, 192])
    rules = load_rules()
    limited = [PaperEngine(rules, 4, max_iterations=k) for k in range(_MAX_ROUNDS)]

    def rounds(_: str) -> Facts:
        counts = Counter(_rounds(tokens, limited) for tokens in corpus(n, context.seed))
        return {"counts": {str(k): counts[k] for k in range(1, _MAX_ROUNDS + 1)}}

    engines: dict[str, Callable[[list[str]], object]] = {
        "ours": simplipy.simplify,
        "the paper's algorithm in Python": limited[_CAP].simplify,
    }

    def seconds(key: str) -> Facts:
        name, n_terms = key.rsplit("|", 1)
        tokens = _chain(int(n_terms), context.seed)
        passes = []
        for _ in range(_PASSES):
            start = time.thread_time()
            engines[name](tokens)
            passes.append(time.thread_time() - start)
        return {"seconds": min(passes), "length": len(tokens)}

    (found,) = context.each([f"rounds of {_MAX_ROUNDS} {n}"], rounds, "rounds")
    figure, (left, right) = panels(1, 2, 4.6, 3.4)
    most = max(_CAP, *(int(k) for k, count in found["counts"].items() if count))
    shares = [100 * found["counts"][str(k)] / sum(found["counts"].values()) for k in range(1, most + 1)]
    bars = left.bar(range(1, most + 1), shares, color=COLOURS[0])
    left.bar_label(bars, fmt="%.1f", fontsize=8)
    left.set(xlabel="rounds, the last of which changes nothing", ylabel="share of expressions [%]")
    findings = [
        f"{sum(shares[:3]):.1f} % of the expressions converge in 1 to 3 rounds, {shares[0]:.1f} % in one; "
        f"{sum(shares[_CAP + 1 :]):.2f} % are not finished by the {_CAP} rounds of the cap"
    ]
    for k, name in enumerate(engines):
        rows = context.each([f"{name}|{length}" for length in lengths], seconds, name)
        x, y = np.array([row["length"] for row in rows]), np.array([row["seconds"] for row in rows])
        exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
        right.loglog(x, 1e3 * y, marker=MARKERS[k], color=COLOURS[k], label=f"{name}: $n^{{{exponent:.1f}}}$")
        findings.append(f"{name}: time on a sum of n tokens grows as n^{exponent:.2f}")
    right.set(xlabel="tokens of a sum", ylabel="CPU time [ms]")
    right.legend(fontsize=8)
    return Outcome({"convergence": figure}, findings)


def _rounds(tokens: list[str], limited: list[PaperEngine]) -> int:
    """The rounds of the paper's loop: those that change something, and the one that finds nothing left to do."""
    final = limited[-1].simplify(tokens)
    return 1 + next(k for k, engine in enumerate(limited) if engine.simplify(tokens) == final)


def _chain(n_terms: int, seed: int) -> list[str]:
    """A chain of + over variables in random order, each of which occurs once: nothing cancels, everything is sorted."""
    order = np.random.default_rng(seed).permutation(n_terms) + 1
    terms = [f"x{k}" for k in order]
    return [token for term in terms[:-1] for token in ("+", term)] + terms[-1:]


EXPERIMENTS = (
    Experiment(
        "convergence",
        "Appendix Complexity Analysis",
        "Most expressions converge in 1 to 3 rounds, below the cap of 5; the worst case grows as K n^2 R P + "
        "n^2 log n, the second term being tight on sums.",
        convergence,
        "400 draws of the paper's prior; sums of 16 to 128 variables",
        "16,384 draws; sums of up to 192 variables",
        0.2,
    ),
)
