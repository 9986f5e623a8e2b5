"""A law of nature as an expression: parse Kepler's third law, evaluate it over the planets, print it, draw it.

Run by ``make demo``; writes build/demo/kepler.png.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import simplipy

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
FIGURE = Path("build/demo/kepler.png")
LAW = "<constant>*distance_au^1.5"


def fitted_law(planets: pd.DataFrame) -> simplipy.Expression:
    """The law with its one constant, which enters linearly, from least squares on the logarithms."""
    law = simplipy.parse(LAW)
    shape = law(planets, constants=[1.0])
    return law.with_constants([np.exp(np.mean(np.log(planets["period_days"] / shape)))])


def print_table(console: Console, law: simplipy.Expression, planets: pd.DataFrame) -> None:
    """Observed and predicted periods, planet by planet."""
    table = Table("planet", title="Kepler's third law")
    for header in ("distance (au)", "period (days)", law.infix(precision=5), "error"):
        table.add_column(header, justify="right")
    predicted = law(planets)
    for row, value in zip(planets.itertuples(), predicted, strict=True):
        error = value / row.period_days - 1
        table.add_row(row.planet, f"{row.distance_au:g}", f"{row.period_days:g}", f"{value:.1f}", f"{error:+.2%}")
    console.print(table)


def draw(law: simplipy.Expression, planets: pd.DataFrame) -> None:
    """Periods against distances on logarithmic axes, with the law as a line."""
    distances = np.geomspace(0.3, 60, 200)
    label = law.rename({"distance_au": "a"}).latex(precision=5)
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.loglog(distances, law({"distance_au": distances}), color="#0072b2", label=f"$T = {label}$")
    axes.loglog(planets["distance_au"], planets["period_days"], "o", color="#d55e00", label="planets")
    for row in planets.itertuples():
        place = (row.distance_au, row.period_days)
        axes.annotate(row.planet, place, xytext=(6, -10), textcoords="offset points", fontsize=8)
    axes.set_xlabel("distance from the Sun, $a$ (au)")
    axes.set_ylabel("orbital period, $T$ (days)")
    axes.legend()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=120)
    plt.close(figure)


def main() -> None:
    """Everything in the order a reader wants to see it."""
    console = Console()
    planets = pd.read_csv(HERE / "data" / "planets.csv")
    law = fitted_law(planets)
    print_table(console, law, planets)
    console.print(f"law        period_days = {law.infix(precision=5)}")
    console.print(f"tokens     {' '.join(law.tokens)}", markup=False)
    console.print(f"LaTeX      {law.latex(precision=5)}", markup=False)
    console.print(f"derivative {law.diff('distance_au').infix(precision=5)}")
    many = np.random.default_rng(0).uniform(0.3, 40, (1_000_000, 1))
    law_of_x1 = law.rename({"distance_au": "x1"})
    start = time.perf_counter()
    law_of_x1(many)
    console.print(f"speed      1,000,000 rows in {1e3 * (time.perf_counter() - start):.1f} ms")
    draw(law, planets)
    console.print(f"figure     {FIGURE}")


if __name__ == "__main__":
    main()
