"""Examples to look at: curves, surfaces, and the several laws of a noisy oscillation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import simplipy
from flash_ansr.bench.figures import COLOURS
from flash_ansr.bench.numeric import fvu, is_perfect
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import markdown, panels
from flash_ansr.paper.experiment import Experiment, Outcome
from flash_ansr.regressor import FlashANSR

FloatArray = npt.NDArray[np.float64]

# law, and the range of every variable
CURVES = (
    ("x1^2 + 2*x1 + 1", -5.0, 5.0),
    ("x1^3 - x1", -2.0, 2.0),
    ("sin(x1) + sin(3*x1)/3", -6.0, 6.0),
    ("exp(-x1^2/2)", -4.0, 4.0),
    ("x1*sin(x1)", -10.0, 10.0),
    ("log(x1 + 1) + log(x1^2 + 1)", 0.0, 4.0),
    ("sqrt(x1)*cos(2*x1)", 0.0, 8.0),
    ("1/(1 + 25*x1^2)", -1.0, 1.0),
    ("tanh(2*x1) + 0.5*x1", -3.0, 3.0),
    ("x1/(1 + x1^2)", -5.0, 5.0),
    ("abs(x1 - 1) + x1/2", -4.0, 4.0),
    ("exp(-x1/3)*cos(2*x1)", 0.0, 10.0),
)
SURFACES = (
    ("sin(x1) + sin(x2^2)", -3.0, 3.0),
    ("2*sin(x1)*cos(x2)", -3.0, 3.0),
    ("x1^4 - x1^3 + x2^2/2 - x2", -2.0, 2.0),
    ("exp(-(x1^2 + x2^2)/4)", -4.0, 4.0),
    ("x1*x2/(1 + x1^2)", -3.0, 3.0),
    ("sqrt(x1^2 + x2^2)", -3.0, 3.0),
)
# what fits as well as the best, in errors of this
_AS_WELL = 1.5
_FIRST = 20
# relative difference of values below which two laws are one on the rows: exp(-abs(t)) is exp(-t) where t > 0
_EQUAL = 1e-6
OSCILLATION = "1.5*exp(-0.3*x1)*cos(2.5*x1)"


def _search(context: Context, X: FloatArray, y: FloatArray, seconds: float) -> FlashANSR:
    model = FlashANSR(time_limit=seconds, random_state=context.seed, checkpoint=context.checkpoint)
    return model.fit(X, y)


def _gallery(context: Context, laws: tuple[tuple[str, float, float], ...], n_rows: int, seconds: float) -> list[Facts]:
    """The law found for each, on rows drawn uniformly, judged on rows of their own."""
    ranges = {text: (low, high) for text, low, high in laws}

    def work(key: str) -> Facts:
        text = key.split("|")[0]
        truth = simplipy.parse(text)
        low, high = ranges[text]
        rng = np.random.default_rng(context.seed)
        X, X_new = (rng.uniform(low, high, (n, len(truth.variables))) for n in (n_rows, 512))
        model = _search(context, X, np.asarray(truth(X), dtype=np.float64), seconds)
        return {
            "law": model.expression_.infix(),
            "fvu": min(1e300, fvu(truth(X_new), model.predict(X_new))),
            "same": simplipy.equivalent(model.expression_, truth, rtol=1e-6).equivalent,
            "seconds": float(model.report_["seconds"]),
        }

    return context.each([f"{text}|{n_rows}|{seconds:g}|{context.weights}" for text, _, _ in laws], work, "laws")


def _counted(laws: tuple[tuple[str, float, float], ...], rows: list[Facts]) -> tuple[list[str], str]:
    recovered = sum(is_perfect(row["fvu"]) for row in rows)
    findings = [
        f"{recovered} of {len(rows)} recovered on new rows, {sum(row['same'] for row in rows)} of them the law itself",
        f"mean search {np.mean([row['seconds'] for row in rows]):.2f} s",
    ]
    lines = [
        [f"`{text}`", f"`{_short(row['law'])}`", f"{row['fvu']:.1e}", "yes" if row["same"] else "no"]
        for (text, _, _), row in zip(laws, rows, strict=True)
    ]
    return findings, markdown(["truth", "found", "FVU on new rows", "equivalent"], lines)


def gallery_1d(context: Context) -> Outcome:
    """Curves through 64 points."""
    laws = CURVES[: context.pick(2, 12, 12)]
    rows = _gallery(context, laws, 64, context.pick(0.3, 2.0, 100.0))
    figure, drawn = panels(int(np.ceil(len(laws) / 4)), 4, 3.0, 2.5)
    for axes, (text, low, high), row in zip(drawn, laws, rows, strict=False):
        truth = simplipy.parse(text)
        X = np.random.default_rng(context.seed).uniform(low, high, (64, 1))
        grid = np.linspace(low, high, 400).reshape(-1, 1)
        axes.plot(grid[:, 0], _values(row["law"], grid), color=COLOURS[1], lw=1.4)
        axes.plot(X[:, 0], truth(X), ".", color="0.15", ms=3)
        axes.set_title(f"{text}\n{_short(row['law'], 32)}, FVU {row['fvu']:.0e}", fontsize=7, loc="left")
        axes.set(xlabel="x1", ylabel="y")
    for axes in drawn[len(laws) :]:
        axes.set_axis_off()
    findings, table = _counted(laws, rows)
    return Outcome({"gallery_1d": figure}, findings, table)


def gallery_2d(context: Context) -> Outcome:
    """Surfaces through 100 points: truth, law, difference."""
    laws = SURFACES[: context.pick(1, 6, 6)]
    rows = _gallery(context, laws, 100, context.pick(0.3, 3.0, 100.0))
    figure, drawn = panels(len(laws), 3, 3.2, 2.3)
    for k, ((text, low, high), row) in enumerate(zip(laws, rows, strict=True)):
        truth = simplipy.parse(text)
        x = np.linspace(low, high, 80)
        grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
        wanted, found = truth(grid).reshape(80, 80), _values(row["law"], grid).reshape(80, 80)
        X = np.random.default_rng(context.seed).uniform(low, high, (100, 2))
        shades: dict[str, Any] = {"vmin": np.nanmin(wanted), "vmax": np.nanmax(wanted), "cmap": "viridis"}
        left, middle, right = drawn[3 * k : 3 * k + 3]
        left.pcolormesh(x, x, wanted, rasterized=True, **shades)
        left.plot(X[:, 0], X[:, 1], ".", color="k", ms=2)
        figure.colorbar(middle.pcolormesh(x, x, found, rasterized=True, **shades), ax=middle)
        bound = max(float(np.nanmax(np.abs(found - wanted))), 1e-12)
        error = right.pcolormesh(x, x, found - wanted, cmap="RdBu_r", vmin=-bound, vmax=bound, rasterized=True)
        figure.colorbar(error, ax=right)
        left.set_title(text, fontsize=8)
        middle.set_title(_short(row["law"], 40), fontsize=7)
        right.set_title(f"difference, FVU {row['fvu']:.0e}", fontsize=8)
        for axes in (left, middle, right):
            axes.grid(False)
            axes.set(xlabel="x1", ylabel="x2")
    findings, table = _counted(laws, rows)
    return Outcome({"gallery_2d": figure}, findings, table)


def oscillator(context: Context) -> Outcome:
    """A damped oscillation with noise: the truth, the law, and other forms that fit as well."""
    seconds = context.pick(0.5, 15.0, 100.0)
    X, y, clean = oscillation(context.seed)

    def work(_: str) -> Facts:
        model = _search(context, X, y, seconds)
        table = model.candidates_
        kept = [
            {"law": e.infix(), "fvu": float(f), "length": int(n)}
            for e, f, n in zip(table["expression"], table["fvu"], table["length"], strict=True)
        ]
        return {"candidates": kept}

    (row,) = context.each([f"{seconds:g} s {context.weights}"], work, "searching")
    chosen = distinct_laws(row["candidates"], X, 3)
    figure, drawn = panels(2, 2, 4.4, 3.0, sharex=True, sharey=True)
    grid = np.linspace(0, 8, 500).reshape(-1, 1)
    shown = [("truth", OSCILLATION, None), *(("found", c["law"], c["fvu"]) for c in chosen)]
    for axes, (title, law, error) in zip(drawn, shown, strict=False):
        axes.plot(X[:, 0], y, ".", color="0.3", ms=3)
        axes.plot(grid[:, 0], _values(law, grid), color=COLOURS[1], lw=1.4)
        axes.set(xlabel="x1", ylabel="y", ylim=(1.3 * y.min(), 1.2 * y.max()))
        axes.set_title(
            f"{title}: {_short(_rounded(law), 58)}" + (f"\nFVU {error:.4f}" if error else ""), fontsize=7, loc="left"
        )
    for axes in drawn[len(shown) :]:
        axes.set_axis_off()
    noise = float(np.mean((y - clean) ** 2) / np.var(y))
    same = [
        bool(
            simplipy.equivalent(simplipy.parse(c["law"]).skeleton(), simplipy.parse(OSCILLATION).skeleton()).equivalent
        )
        for c in chosen
    ]
    away = [float(np.sqrt(np.mean((_values(c["law"], X) - clean) ** 2))) for c in chosen]
    findings = [
        f"noise leaves an FVU of {noise:.4f}; " + "; ".join(f"{_rounded(c['law'])}: {c['fvu']:.4f}" for c in chosen),
        f"the form of the truth is {'among them' if any(same) else 'not among them'}",
        f"root mean square distance from the truth: {', '.join(f'{d:.2g}' for d in away)}, where the noise has "
        f"{np.sqrt(np.mean((y - clean) ** 2)):.2g}",
    ]
    lines = [[f"`{_rounded(c['law'])}`", c["length"], f"{c['fvu']:.4g}"] for c in chosen]
    notes = [
        f"{OSCILLATION} at 150 times, noise of 4 % of the deviation; {seconds:g} s",
        f"shown: the law, and the best of other forms and values with at most {_AS_WELL:g} times the least error of "
        f"the first {_FIRST} candidates",
    ]
    return Outcome({"oscillator": figure}, findings, markdown(["law", "length", "FVU"], lines), notes)


def oscillation(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times (150, 1), noisy and clean values (150,)."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 8, 150)).reshape(-1, 1)
    clean = np.asarray(simplipy.parse(OSCILLATION)(X), dtype=np.float64)
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


EXPERIMENTS = (
    Experiment(
        "gallery_1d",
        "Figure 'Fits on several 1D expressions' (Appendix Examples)",
        "Many expressions are recovered exactly, others in another form ((x + 1)^2 for x^2 + 2x + 1); 100 s.",
        gallery_1d,
        "12 curves, 64 points, 2 s each",
        "the same, 100 s each",
        0.2,
    ),
    Experiment(
        "gallery_2d",
        "Figure 'Fits on several 2D expressions' (Appendix Examples)",
        "Many expressions from Biggio et al. are recovered exactly, a few have terms that do not affect the error; 100 "
        "points, 100 s.",
        gallery_2d,
        "6 surfaces, 100 points, 3 s each",
        "the same, 100 s each",
        0.2,
    ),
    Experiment(
        "oscillator",
        "Figure 'Diverse solutions for a damped harmonic oscillator' (Appendix Examples)",
        "Several distinct expressions fit the noisy data equally well, the truth among them; 100 s.",
        oscillator,
        "150 points, 4 % noise, 15 s",
        "the same, 100 s",
        0.3,
    ),
)
