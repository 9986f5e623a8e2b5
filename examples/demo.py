"""What this project does, in under half a minute: short formulas, and laws from tables. Run by ``make demo``.

Every figure that is printed is measured while it runs; a law that is not found is shown as not found.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import sympy
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import simplipy
from flash_ansr import FlashANSR
from flash_ansr.infer.result.progress_display import fvu_text

FIGURE = Path("build/demo/laws.png")
FORMULAS = (
    "x1*x2/x1 + 0*sin(x3)",
    "(x1 + x2)*x3 - x1*x3",
    "exp(2*log(x1)) + x1^2",
    "sin(x1)^2/tan(x1)^2 + sin(x1)^2",
    "1/(1/x1 + 1/x2)*(x1 + x2)",
)
# semi-major axes in astronomical units and periods in days
PLANETS = pd.read_csv(Path(__file__).parent / "data" / "planets.csv")
OSCILLATOR = "1.5*exp(-0.3*t)*cos(2.5*t)"
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"


def show_simplifications(console: Console) -> None:
    """Each formula, its shortest form, and the time of both simplifiers."""
    table = Table(title="1. Shorter formulas")
    for header in ("formula", "SimpliPy", "SymPy"):
        table.add_column(header, overflow="fold")
    for header in ("µs", "µs, SymPy", "faster"):
        table.add_column(header, justify="right")
    for text in FORMULAS:
        ours, our_time = timed(lambda text=text: simplipy.simplify(text), 20)
        theirs, their_time = timed(lambda text=text: sympy_simplified(text), 2)
        times = (f"{1e6 * our_time:,.0f}", f"{1e6 * their_time:,.0f}", f"{their_time / our_time:,.0f}x")
        table.add_row(text, ours, str(theirs), *times)
    console.print(table)


def sympy_simplified(text: str) -> sympy.Expr:
    """The same by SymPy, which would otherwise remember what it did before."""
    sympy.core.cache.clear_cache()
    return sympy.simplify(simplipy.parse(text).to_sympy().doit())


def timed(work, n: int):
    """What the work gives, and the seconds of its fastest run."""
    fastest = np.inf
    for _ in range(n):
        start = time.perf_counter()
        result = work()
        fastest = min(fastest, time.perf_counter() - start)
    return result, fastest


def find_kepler(console: Console, seconds: float) -> FlashANSR:
    """Kepler's third law from eight planets."""
    model = FlashANSR(time_limit=seconds, random_state=0)
    model.fit(PLANETS[["distance_au"]], PLANETS["period_days"])
    show_search(console, "2. Kepler's third law from the planets", model, "period_days")
    exponent = np.polyfit(np.log(PLANETS["distance_au"]), np.log(model.predict(PLANETS[["distance_au"]])), 1)[0]
    found = abs(exponent - 1.5) < 1e-3 and len(model.expression_) <= 7
    console.print(
        f"   the period grows with distance^1.5: {'found' if found else 'NOT found'} (slope {exponent:.4f})\n"
    )
    return model


def oscillator() -> tuple[pd.DataFrame, np.ndarray]:
    """A damped oscillation at 150 times, with noise of 4 % of its deviation."""
    rng = np.random.default_rng(0)
    times = pd.DataFrame({"t": np.sort(rng.uniform(0, 8, 150))})
    clean = simplipy.parse(OSCILLATOR)(times)
    return times, clean + rng.normal(0, 0.04 * clean.std(), len(clean))


def find_oscillation(console: Console, seconds: float) -> FlashANSR:
    """The damped oscillator of the paper, and what else fits it."""
    times, y = oscillator()
    model = FlashANSR(time_limit=seconds, random_state=0).fit(times, y)
    show_search(console, "3. A noisy damped oscillator and its alternatives", model, "y")
    truth = simplipy.parse(OSCILLATOR)(times)
    fvu = float(np.mean((model.predict(times) - truth) ** 2) / truth.var())
    console.print(f"   the truth is {OSCILLATOR}; its curve is {'met' if fvu < 1e-3 else 'NOT met'} within the noise")
    console.print(
        f"   of the variance of the true curve, {fvu_text(fvu)} is unexplained; of the noisy data, noise is 1.6e-03\n"
    )
    return model


def show_search(console: Console, title: str, model: FlashANSR, target: str) -> None:
    """The candidates that trade length against error, the law, and what the search took."""
    table = Table("", "length", "FVU", "score", "proposer", title=title)
    table.add_column("formula", overflow="fold")
    front = model.candidates_[model.candidates_["pareto"]].nsmallest(6, "score").sort_values("length")
    for row in front.to_dict("records"):
        mark = "→" if row["expression"] == model.expression_ else ""
        cells = (str(row["length"]), fvu_text(row["fvu"]), f"{row['score']:.2f}", row["proposer"])
        table.add_row(mark, *cells, row["expression"].infix(precision=5))
    console.print(table)
    report = model.report_
    winner = model.candidates_["proposer"][0]
    console.print(f"   law    {target} = {model.expression_.infix(precision=5)}", markup=False, soft_wrap=True)
    console.print(f"   LaTeX  {model.latex(precision=5)}", markup=False, soft_wrap=True)
    console.print(
        f"   {report['fitted']:,} candidates fitted in {report['seconds']:.1f} s, "
        f"{report['fitted'] / report['seconds']:,.0f} a second; the law is of '{winner}'; {report['stop_reason']}"
    )


def draw(kepler: FlashANSR, oscillation: FlashANSR) -> None:
    """Both laws over their data."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    distances = pd.DataFrame({"distance_au": np.geomspace(0.3, 40, 200)})
    label = kepler.expression_.rename({"distance_au": "a"}).latex(precision=5)
    left.loglog(distances, kepler.expression_(distances), color=BLUE, label=f"$T = {label}$")
    left.loglog(PLANETS["distance_au"], PLANETS["period_days"], "o", color=ORANGE, label="planets")
    left.set_xlabel("distance from the Sun, $a$ (au)")
    left.set_ylabel("orbital period, $T$ (days)")
    left.set_title("Kepler's third law")
    left.legend()
    times, y = oscillator()
    right.plot(times["t"], y, ".", color=GREY, label="noisy data")
    grid = pd.DataFrame({"t": np.linspace(0, 8, 600)})
    right.plot(
        grid["t"], oscillation.expression_(grid), color=BLUE, linewidth=4, alpha=0.5, label="the law that was found"
    )
    found = oscillation.candidates_
    others = found[found["pareto"]].query("index > 0").nsmallest(2, "score")
    for row, style, colour in zip(others.to_dict("records"), ("--", ":"), (ORANGE, "black"), strict=False):
        label = f"alternative of {row['length']} tokens, FVU {fvu_text(row['fvu'])}"
        right.plot(grid["t"], row["expression"](grid), style, color=colour, linewidth=1.5, label=label)
    right.set_ylim(1.3 * y.min(), 1.2 * y.max())
    right.set_xlabel("time, $t$")
    right.set_ylabel("displacement, $y$")
    right.set_title("A damped oscillator")
    right.legend()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=120)


def main(seconds: float = 12.0) -> None:
    """Everything in the order a reader wants to see it; ``seconds`` are for both searches."""
    console = Console(highlight=False)
    show_simplifications(console)
    kepler = find_kepler(console, seconds / 4)
    oscillation = find_oscillation(console, 3 * seconds / 4)
    draw(kepler, oscillation)
    console.print(f"figure {FIGURE}")


if __name__ == "__main__":
    main()
