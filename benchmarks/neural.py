"""Does the network earn its place? Recovery against the number of distinct fitted candidates, `neural` and `prior`.

    python benchmarks/neural.py [--checkpoint RUN] [--sets wide nguyen keijzer feynman] [--problems 200]
                                [--neural 4096] [--prior 40960] [--out results/neural]

Both proposers feed the same pipeline on the same rows without noise, each alone. A problem counts as recovered after so
many fits as had been made at the end of the round that first had a candidate with an FVU below 1e-12 on the fit rows
that holds on fresh ones; searches for 1, 4, 16, 64 and 256 formulas come before the long one of eight rounds. Rows are
appended to `rows.jsonl` and not computed again.
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
from flash_ansr.infer.search.pipeline import Progress
from simplipy.files.output_files import write_whole

EXACT = 1e-12
N_ROWS = 64
WIDE_SEED = 4321
SHORT = (1, 4, 16, 64, 256)
PROPOSERS = ("neural", "prior")
TITLES = {"neural": "network", "prior": "prior"}
STYLES = {
    "neural": {"color": "#0072B2", "marker": "o", "markersize": 3},
    "prior": {"color": "#D55E00", "marker": "s", "markersize": 3},
}


def problems_of(name: str, n: int) -> list[Problem]:
    """Fresh draws of the prior that the network is trained on, or a catalogue."""
    drawn = drawn_problems(load_prior("wide"), WIDE_SEED, n, N_ROWS)
    found = list(drawn if name == "wide" else catalogue_problems(name, N_ROWS))
    return [p for p in found if np.isfinite(p.fit[1]).all() and np.isfinite(p.fresh[1]).all()]


def fits_to_recovery(
    problem: Problem, proposer: str, n_samples: int, checkpoint: Path | None
) -> tuple[int | None, int]:
    """Distinct fits of the first search that found the law, None where none did, and all fits of the last one."""
    for n in (*SHORT, n_samples):
        holds, n_fitted = search(problem, proposer, n, checkpoint)
        if holds:
            break
    return (n_fitted if holds else None), n_fitted


def search(problem: Problem, proposer: str, n_samples: int, checkpoint: Path | None) -> tuple[bool, int]:
    """Whether one of so many formulas is the law, and how many distinct ones were fitted."""

    def is_exact(progress: Progress) -> bool:
        return any(candidate.fvu <= EXACT for candidate in progress.front)

    model = FlashANSR(
        time_limit=None,
        n_samples=n_samples,
        proposers=[proposer],
        checkpoint=checkpoint,
        callback=is_exact,
        random_state=0,
    )
    model.fit(*problem.fit)
    best = model.candidates_.sort_values("fvu").iloc[0]
    return best["fvu"] <= EXACT and fvu(best["expression"], *problem.fresh) < RECOVERED, model.report_["fitted"]


def recovery(rows: list[dict], count: int) -> float:
    return float(np.mean([row["after"] is not None and row["after"] <= count for row in rows]))


def reached_after(rows: list[dict]) -> tuple[float, int]:
    """Recovery at the end, and the fits that the last problem to be recovered took."""
    return recovery(rows, 10**9), max((row["after"] for row in rows if row["after"] is not None), default=0)


def fits_for(rows: list[dict], share: float) -> int | None:
    """Fits after which this share is recovered, None where it never is."""
    steps = sorted(row["after"] for row in rows if row["after"] is not None)
    needed = round(share * len(rows))
    return steps[needed - 1] if 0 < needed <= len(steps) else None


def by_set(rows: list[dict]) -> dict[str, dict[str, list[dict]]]:
    """Rows by set and proposer; the catalogues together are a set too."""
    sets = {name: [r for r in rows if r["set"] == name] for name in dict.fromkeys(row["set"] for row in rows)}
    sets["all catalogues"] = [r for r in rows if r["set"] != "wide"]
    return {s: {p: [r for r in own if r["proposer"] == p] for p in PROPOSERS} for s, own in sets.items() if own}


def summary(rows: list[dict]) -> list[str]:
    """A Markdown table: how far each comes, and how many fits the network needs to come as far as the prior."""
    lines = [
        "| problems | | network | after fits | prior | after fits | network as far after | times fewer |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, chosen in by_set(rows).items():
        (neural, its_fits), (prior, all_fits) = (reached_after(chosen[p]) for p in PROPOSERS)
        needed = fits_for(chosen["neural"], prior)
        fewer = f"{needed} | {all_fits / needed:.0f}" if needed is not None else "- | behind"
        n = len(chosen["neural"])
        lines.append(f"| {name} | {n} | {neural:.1%} | {its_fits} | {prior:.1%} | {all_fits} | {fewer} |")
    return lines


def draw(rows: list[dict], path: Path) -> None:
    sets = by_set(rows)
    figure, axes = plt.subplots(1, len(sets), figsize=(3.0 * len(sets), 2.9), sharey=True, squeeze=False)
    for (name, chosen), ax in zip(sets.items(), axes[0], strict=True):
        for proposer, own in chosen.items():
            most = max(r["fitted"] for r in own)
            shown = [*(2**k for k in range(most.bit_length())), most]
            ax.plot(shown, [100 * recovery(own, c) for c in shown], label=TITLES[proposer], **STYLES[proposer])
        ax.set(xscale="log", title=f"{name} ({len(chosen['neural'])})", xlabel="distinct candidates fitted")
        ax.grid(alpha=0.3)
    axes[0, 0].set(ylabel="recovered [%]", ylim=(0, None))
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


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
    lines = summary(rows)
    print("\n".join(lines))
    command = f"python benchmarks/neural.py --neural {options.neural} --prior {options.prior}"
    write_whole(options.out / "summary.md", f"`{command}`\n\n" + "\n".join(lines) + "\n")
    draw(rows, options.out / "recovery.png")


if __name__ == "__main__":
    main()
