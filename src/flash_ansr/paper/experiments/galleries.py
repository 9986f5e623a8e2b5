"""Examples to look at: curves, surfaces, and the several laws of a noisy oscillation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

import simplipy
from flash_ansr.bench.numeric import fvu, is_perfect
from flash_ansr.bench.report.figures import COLOURS
from flash_ansr.catalogues import FloatArray
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import panels
from flash_ansr.paper.experiment import Exhibit, experiment, printed
from flash_ansr.regressor import FlashANSR


class Example(NamedTuple):
    """A law, and the range of every variable."""

    law: str
    low: float
    high: float

    def draw(self, seed: int, *sizes: int) -> list[FloatArray]:
        """Rows of these numbers, uniform in the range."""
        n_variables = len(simplipy.parse(self.law).variables)
        rng = np.random.default_rng(seed)
        return [rng.uniform(self.low, self.high, (n, n_variables)) for n in sizes]


# a candidate fits as well as the best where its error is at most this many times the least of the first ones
_AS_WELL = 1.5
_FIRST = 20
# relative difference of values below which two laws are one on the rows: exp(-abs(t)) is exp(-t) where t > 0
_EQUAL = 1e-6
OSCILLATION = "1.5*exp(-0.3*x1)*cos(2.5*x1)"


def _examples(table: str, n: int) -> list[Example]:
    return [Example(*row) for row in printed(table)[:n]]


def _search(context: Context, X: FloatArray, y: FloatArray, seconds: float) -> FlashANSR:
    model = FlashANSR(time_limit=seconds, random_state=context.seed, checkpoint=context.checkpoint)
    return model.fit(X, y)


def _find_laws(context: Context, examples: list[Example], n_rows: int, seconds: float) -> list[Facts]:
    """The law found for each, on rows drawn uniformly, judged on rows of their own."""

    def work(example: Example) -> Facts:
        truth = simplipy.parse(example.law)
        X, X_new = example.draw(context.seed, n_rows, 512)
        model = _search(context, X, _values(example.law, X), seconds)
        return {
            "law": model.expression_.infix(),
            "fvu": min(1e300, fvu(truth(X_new), model.expression_(X_new))),
            "same": simplipy.equivalent(model.expression_, truth, rtol=1e-6).equivalent,
            "seconds": float(model.report_["seconds"]),
        }

    return context.each({f"{e.law}|{n_rows}|{seconds:g}|{context.weights}": e for e in examples}, work, "laws")


def _counted(examples: list[Example], rows: list[Facts]) -> tuple[list[str], list[dict[str, str]]]:
    """How many laws were found, and the table of all."""
    recovered = sum(is_perfect(row["fvu"]) for row in rows)
    findings = [
        f"{recovered} of {len(rows)} recovered on new rows, {sum(row['same'] for row in rows)} of them the law itself",
        f"mean search {np.mean([row['seconds'] for row in rows]):.2f} s",
    ]
    lines = [
        {
            "truth": f"`{example.law}`",
            "found": f"`{_short(row['law'])}`",
            "FVU on new rows": f"{row['fvu']:.1e}",
            "equivalent": "yes" if row["same"] else "no",
        }
        for example, row in zip(examples, rows, strict=True)
    ]
    return findings, lines


def _draw_curve(axes: Axes, law: str, grid: FloatArray, X: FloatArray, y: FloatArray, title: str) -> None:
    axes.plot(grid, _values(law, grid.reshape(-1, 1)), color=COLOURS[1], lw=1.4)
    axes.plot(X[:, 0], y, ".", color="0.2", ms=3)
    axes.set_title(title, fontsize=7, loc="left")
    axes.set(xlabel="x1", ylabel="y")


@experiment(minutes=0.2)
def gallery_1d(context: Context) -> Exhibit:
    """Curves through 64 points.

    Paper: Figure 'Fits on several 1D expressions' (Appendix Examples)

    Claim: Many expressions are recovered exactly, others in another form ((x + 1)^2 for x^2 + 2x + 1); 100 s.

    Small: 12 curves, 64 points, 2 s each

    Full: the same, 100 s each
    """
    examples = _examples("curves", context.pick(4, 12, 12))
    rows = _find_laws(context, examples, 64, context.pick(0.3, 2.0, 100.0))
    figure, drawn = panels(len(examples) // 4, 4, 3.0, 2.5)
    for axes, example, row in zip(drawn, examples, rows, strict=True):
        (X,) = example.draw(context.seed, 64)
        title = f"{example.law}\n{_short(row['law'], 32)}, FVU {row['fvu']:.0e}"
        _draw_curve(axes, row["law"], np.linspace(example.low, example.high, 400), X, _values(example.law, X), title)
    return Exhibit(figure, *_counted(examples, rows))


@experiment(minutes=0.2)
def gallery_2d(context: Context) -> Exhibit:
    """Surfaces through 100 points: truth, law, difference.

    Paper: Figure 'Fits on several 2D expressions' (Appendix Examples)

    Claim: Many expressions from Biggio et al. are recovered exactly, a few have terms that do not affect the error; 100
    points, 100 s.

    Small: 6 surfaces, 100 points, 3 s each

    Full: the same, 100 s each
    """
    examples = _examples("surfaces", context.pick(1, 6, 6))
    rows = _find_laws(context, examples, 100, context.pick(0.3, 3.0, 100.0))
    figure, drawn = panels(len(examples), 3, 3.2, 2.3)
    for k, (example, row) in enumerate(zip(examples, rows, strict=True)):
        x = np.linspace(example.low, example.high, 80)
        grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
        wanted, found = (_values(law, grid).reshape(80, 80) for law in (example.law, row["law"]))
        (X,) = example.draw(context.seed, 100)
        shades: dict[str, Any] = {"vmin": np.nanmin(wanted), "vmax": np.nanmax(wanted), "cmap": "viridis"}
        bound = max(float(np.nanmax(np.abs(found - wanted))), 1e-12)
        differences: dict[str, Any] = {"vmin": -bound, "vmax": bound, "cmap": "RdBu_r"}
        titles = (example.law, _short(row["law"], 40), f"difference, FVU {row['fvu']:.0e}")
        surfaces = ((wanted, shades), (found, shades), (found - wanted, differences))
        row_of_panels = drawn[3 * k : 3 * k + 3]
        for axes, title, (values, style) in zip(row_of_panels, titles, surfaces, strict=True):
            mesh = axes.pcolormesh(x, x, values, rasterized=True, **style)
            if values is wanted:
                axes.plot(X[:, 0], X[:, 1], ".", color="k", ms=2)
            else:
                figure.colorbar(mesh, ax=axes)
            axes.set_title(title, fontsize=8)
            axes.grid(False)
            axes.set(xlabel="x1", ylabel="x2")
    return Exhibit(figure, *_counted(examples, rows))


@experiment(minutes=0.3)
def oscillator(context: Context) -> Exhibit:
    """A damped oscillation with noise: the truth, the law, and other forms that fit as well.

    Paper: Figure 'Diverse solutions for a damped harmonic oscillator' (Appendix Examples)

    Claim: Several distinct expressions fit the noisy data equally well, the truth among them; 100 s.

    Small: 150 points, 4 % noise, 15 s

    Full: the same, 100 s
    """
    X, y, clean = oscillation(context.seed)

    def work(seconds: float) -> Facts:
        found = _search(context, X, y, seconds).candidates_[["expression", "fvu", "length"]]
        rows = ({"law": e.infix(), "fvu": error, "length": n} for e, error, n in found.itertuples(index=False))
        return {"candidates": list(rows)}

    seconds = context.pick(0.5, 15.0, 100.0)
    (row,) = context.each({f"{seconds:g} s {context.weights}": seconds}, work, "searching")
    chosen = distinct_laws(row["candidates"], X, 3)
    figure, drawn = panels(2, 2, 4.4, 3.0, sharex=True, sharey=True)
    titles = {f"truth: {OSCILLATION}": OSCILLATION}
    titles |= {f"found: {_short(c['law'], 58)}\nFVU {c['fvu']:.4f}": c["law"] for c in chosen}
    for axes, (title, law) in zip(drawn, titles.items(), strict=False):
        _draw_curve(axes, law, np.linspace(0, 8, 500), X, y, title)
        axes.set_ylim(1.3 * y.min(), 1.2 * y.max())
    for axes in drawn[len(titles) :]:
        axes.set_axis_off()
    noise = float(np.mean((y - clean) ** 2))
    form = simplipy.parse(OSCILLATION).skeleton()
    is_found = any(simplipy.equivalent(simplipy.parse(c["law"]).skeleton(), form).equivalent for c in chosen)
    away = [float(np.sqrt(np.mean((_values(c["law"], X) - clean) ** 2))) for c in chosen]
    findings = [
        f"noise leaves an FVU of {noise / np.var(y):.4f}; "
        + "; ".join(f"{_rounded(c['law'])}: {c['fvu']:.4f}" for c in chosen),
        f"the form of the truth is {'among them' if is_found else 'not among them'}",
        f"root mean square distance from the truth: {', '.join(f'{d:.2g}' for d in away)}, where the noise has "
        f"{np.sqrt(noise):.2g}",
    ]
    lines = [{"law": f"`{_rounded(c['law'])}`", "length": c["length"], "FVU": f"{c['fvu']:.4g}"} for c in chosen]
    notes = [
        f"{OSCILLATION} at 150 times, noise of 4 % of the deviation; {seconds:g} s",
        f"shown: the law, and the best of other forms and values with at most {_AS_WELL:g} times the least error of "
        f"the first {_FIRST} candidates",
    ]
    return Exhibit(figure, findings, lines, notes)


def oscillation(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (150, 1), noisy and clean values (150,)."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 8, 150)).reshape(-1, 1)
    clean = _values(OSCILLATION, X)
    return X, clean + rng.normal(0, 0.04 * clean.std(), len(clean)), clean


def distinct_laws(candidates: list[Facts], X: FloatArray, n: int) -> list[Facts]:
    """The law, and the best candidates of other forms and values on X that fit about as well as the first ones."""
    chosen: list[Facts] = []
    seen: list[tuple[bytes, FloatArray]] = []
    lowest = min(c["fvu"] for c in candidates[:_FIRST])
    for candidate in candidates:
        form = simplipy.canonical_key(simplipy.parse(candidate["law"]).skeleton())
        values = _values(candidate["law"], X)
        if any(form == other or np.allclose(values, those, rtol=_EQUAL) for other, those in seen):
            continue
        if not chosen or candidate["fvu"] <= _AS_WELL * lowest:
            chosen.append(candidate)
            seen.append((form, values))
        if len(chosen) == n:
            break
    return chosen


def _values(law: str, X: FloatArray) -> FloatArray:
    """Values of a law in x1, ...; a constant one too."""
    found = np.asarray(simplipy.parse(law)(X), dtype=np.float64)
    return np.broadcast_to(found, len(X)).copy()


def _rounded(law: str) -> str:
    return simplipy.parse(law).infix(precision=4)


def _short(law: str, width: int = 60) -> str:
    text = _rounded(law)
    return text if len(text) <= width else text[: width - 1] + "…"
