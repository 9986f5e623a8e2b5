"""Does the network earn its place? Recovery against the number of distinct fitted candidates, `neural` and `prior`.

    python benchmarks/neural.py [--checkpoint RUN] [--sets wide nguyen keijzer feynman] [--problems 200]
                                [--neural 4096] [--prior 40960] [--out results/neural]

Both proposers feed the same pipeline on the same rows without noise, each alone. A problem counts as recovered after so
many fits as had been made at the end of the round that first had a candidate with an FVU below 1e-12 on the fit rows
that holds on fresh ones; searches for 1, 4, 16 and 64 formulas come before the long one. Rows are appended to
`rows.jsonl` and not computed again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.progress import track
from search import RECOVERED, Problem, catalogue_problems, drawn_problems, fvu

from flash_ansr import FlashANSR
from flash_ansr.data import load_prior
from flash_ansr.infer.pipeline import Progress

EXACT = 1e-12
N_ROWS = 64
WIDE_SEED = 4321
COUNTS = [4**k for k in range(9)]
SHORT = (1, 4, 16, 64)


def problems_of(name: str, n: int) -> list[Problem]:
    """Fresh draws of the prior that the network is trained on, or a catalogue."""
    drawn = drawn_problems(load_prior("wide"), WIDE_SEED, n, N_ROWS)
    found = list(drawn if name == "wide" else catalogue_problems(name, N_ROWS))
    return [p for p in found if np.isfinite(p.fit[1]).all() and np.isfinite(p.fresh[1]).all()]


def fits_to_recovery(
    problem: Problem, proposer: str, n_samples: int, checkpoint: Path | None
) -> tuple[int | None, int]:
    """Distinct fits until the law was found, None where it was not, and all fits of the last search.

    Short searches of their own come first, as a round of the long one tells no more than its end.
    """
    for n in (*SHORT, n_samples):
        after, n_fitted = search(problem, proposer, n, checkpoint)
        if after is not None:
            return after, n_fitted
    return None, n_fitted


def search(problem: Problem, proposer: str, n_samples: int, checkpoint: Path | None) -> tuple[int | None, int]:
    found_after: list[int] = []

    def look(progress: Progress) -> bool:
        best = min(progress.front, key=lambda candidate: candidate.fvu, default=None)
        if best is None or best.fvu > EXACT:
            return False
        found_after.append(progress.n_fitted)
        return True

    model = FlashANSR(
        time_limit=None, n_samples=n_samples, proposers=[proposer], checkpoint=checkpoint, callback=look, random_state=0
    )
    model.fit(*problem.fit)
    best = model.candidates_.sort_values("fvu")["expression"].iloc[0]
    holds = bool(found_after) and fvu(best, *problem.fresh) < RECOVERED
    return (found_after[0] if holds else None), model.report_["fitted"]


def recovery(rows: list[dict], count: int) -> float:
    return float(np.mean([row["after"] is not None and row["after"] <= count for row in rows]))


def advantage(neural: list[dict], prior: list[dict]) -> tuple[float, float, float]:
    """The prior's recovery at its end, fits that it took to get there, and those that the network took as far."""
    reached = recovery(prior, 10**9)
    latest = max((row["after"] for row in prior if row["after"] is not None), default=0)
    steps = sorted(row["after"] for row in neural if row["after"] is not None)
    needed = int(np.ceil(reached * len(neural)))
    return reached, latest, steps[needed - 1] if 0 < needed <= len(steps) else np.nan


def report(rows: list[dict], out: Path) -> None:
    sets = sorted({row["set"] for row in rows})
    figure, axes = plt.subplots(1, len(sets), figsize=(3.2 * len(sets), 2.8), sharey=True, squeeze=False)
    for name, ax in zip(sets, axes[0], strict=True):
        chosen = {p: [r for r in rows if r["set"] == name and r["proposer"] == p] for p in ("neural", "prior")}
        for proposer, own in chosen.items():
            if own:
                ax.plot(COUNTS, [recovery(own, c) for c in COUNTS], marker="o", label=proposer)
                print(f"{name:9} {proposer:7}", *(f"{recovery(own, c):6.1%}" for c in COUNTS))
        if all(chosen.values()):
            reached, prior_fits, neural_fits = advantage(chosen["neural"], chosen["prior"])
            times = prior_fits / neural_fits
            print(f"{name:9} {reached:.1%}: prior {prior_fits} fits, neural {neural_fits}: {times:.0f}x")
        ax.set(xscale="log", title=f"{name} ({len(chosen['neural'])})", xlabel="distinct candidates fitted")
    axes[0, 0].set_ylabel("recovered")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(out / "recovery.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, help="without it the network that comes with the package")
    parser.add_argument("--sets", nargs="+", default=["wide", "nguyen", "keijzer", "feynman"])
    parser.add_argument("--problems", type=int, default=200, help="draws of the prior")
    parser.add_argument("--neural", type=int, default=4096, help="formulas to draw from the network")
    parser.add_argument("--prior", type=int, default=40960, help="formulas to draw from the prior")
    parser.add_argument("--out", type=Path, default=Path("results/neural"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    known = {(row["proposer"], row["problem"]) for row in rows}
    budgets = {"neural": options.neural, "prior": options.prior}
    todo = [(s, p, b) for s in options.sets for p in problems_of(s, options.problems) for b in budgets]
    with path.open("a", encoding="utf-8") as file:
        for name, problem, proposer in track([t for t in todo if (t[2], t[1].name) not in known]):
            after, n_fitted = fits_to_recovery(problem, proposer, budgets[proposer], options.checkpoint)
            rows.append(
                {"set": name, "problem": problem.name, "proposer": proposer, "after": after, "fitted": n_fitted}
            )
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    print("distinct fits     ", *(f"{c:6d}" for c in COUNTS))
    report(rows, options.out)


if __name__ == "__main__":
    main()
