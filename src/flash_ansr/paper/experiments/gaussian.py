"""The Gaussian family: where in the plane of mean and width a law is found."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from flash_ansr.bench.figures import COLOURS
from flash_ansr.bench.numeric import fvu, is_perfect
from flash_ansr.checkpoint.folder import weights_hash
from flash_ansr.paper.ablations.trained_runs import comparable, trained_runs
from flash_ansr.paper.context import Context, Facts
from flash_ansr.paper.drawing import panels
from flash_ansr.paper.experiment import Experiment, MissingError, Outcome
from flash_ansr.regressor import FlashANSR
from simplipy.errors import SimplipyError

FloatArray = npt.NDArray[np.float64]
_HALF_WIDTH = 20.0
_N_NEW_ROWS = 512
_FLOOR, _CEILING = -16.0, 0.5
_PRIORS = {"b0": "N(0, 5) prior", "c1": "U(1, 5) prior"}


def gaussian_map(context: Context) -> Outcome:
    """log10 FVU over (mean, log width), for our search and for the networks that are there."""
    n, n_rows = context.pick((3, 64), (48, 512), (2048, 512))
    budgets = context.pick([32], [512], [512, 8192])
    # our search does more for a candidate than the paper's: it gets seconds
    seconds = dict(zip(budgets, context.pick([0.2], [0.5], [2.0, 30.0]), strict=True))
    means, widths = draws(n, context.seed)
    searches: dict[str, dict[str, Any]] = {"ours": {"checkpoint": context.checkpoint}} | _networks(context)
    marks = {
        name: context.weights if name == "ours" else weights_hash(settings["checkpoint"])
        for name, settings in searches.items()
    }

    def work(key: str) -> Facts:
        name, budget, index, _ = key.split("|")
        k = int(index)
        X, y = instance(means[k], widths[k], (context.seed, k), n_rows)
        X_new, y_new = instance(means[k], widths[k], (context.seed, n + k), _N_NEW_ROWS)
        if np.ptp(y) == 0 or np.ptp(y_new) == 0:  # the law 0 would count as found
            return {"fvu": None, "error": "no row lies near the peak"}
        limits = (
            {"time_limit": seconds[int(budget)]} if name == "ours" else {"n_samples": int(budget), "time_limit": None}
        )
        model = FlashANSR(random_state=context.seed, **limits, **searches[name])
        try:
            model.fit(X, y)
        except SimplipyError as error:  # a search that finds nothing is an outcome
            return {"fvu": None, "error": str(error)}
        return {"fvu": min(fvu(y_new, model.predict(X_new)), 1e3), "law": model.expression_.infix(precision=6)}

    figure, drawn = panels(len(budgets), len(searches), 4.6, 3.8)
    findings = []
    for row, budget in enumerate(budgets):
        for column, name in enumerate(searches):
            title = f"ours, {seconds[budget]:g} s" if name == "ours" else f"{name}, {budget} candidates"
            rows = context.each([f"{name}|{budget}|{k}|{marks[name]}" for k in range(n)], work, title)
            values = np.array([r["fvu"] if r["fvu"] is not None else 1e3 for r in rows])
            axes = drawn[row * len(searches) + column]
            _draw(axes, means, widths, values, title)
            negative, positive = (_recovered(values[side]) for side in (means < 0, means >= 0))
            n_failed = sum("error" in r for r in rows)
            findings.append(
                f"{title}: recovered on new rows {_recovered(values)}, with a negative mean {negative}, with a "
                f"positive one {positive}; {n_failed} searches failed"
            )
    notes = [
        *(f"weights of {name}: {marks[name]}" for name in searches if name != "ours"),
        f"{n} draws of the mean from U(-15, 15) and the width from log-U(1e-3, 100); x from U(-{_HALF_WIDTH:g}, "
        f"{_HALF_WIDTH:g}), {n_rows} rows; FVU on {_N_NEW_ROWS} rows of their own",
        "background: mean of a Gaussian process with a Matérn kernel; dots: the single fits",
    ]
    return Outcome({"gaussian_map": figure}, findings, notes=notes)


def _recovered(values: FloatArray) -> str:
    return f"{sum(map(is_perfect, values))} of {len(values)}"


def _networks(context: Context) -> dict[str, dict[str, Any]]:
    """The paper's pipeline with the network trained on each prior of constants, where both can be compared."""
    if context.runs is None or not context.has_network:
        context.notes.append("no networks of the ablations B0 and C1: they need torch, and their folder by --runs")
        return {}
    try:
        trained, left_out = comparable(trained_runs(context))
    except MissingError as error:
        context.notes.append(f"no networks of the ablations B0 and C1: {error}")
        return {}
    found = {t.run.name: {"pipeline": "paper", "checkpoint": str(t.checkpoint)} for t in trained}
    context.notes.extend(reason for reason in left_out if reason.startswith("c1 "))
    if "c1" not in found:
        context.notes.append("without C1 there is no second prior to compare with")
    return {label: found[name] for name, label in _PRIORS.items() if name in found}


def draws(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Means and widths (n,) as the paper draws them."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-15, 15, n), 10.0 ** rng.uniform(-3, 2, n)


def instance(mean: float, width: float, seed: tuple[int, int], n_rows: int) -> tuple[FloatArray, FloatArray]:
    """Rows X (n_rows, 1) and y (n_rows,) of a member of the family."""
    x = np.random.default_rng(seed).uniform(-_HALF_WIDTH, _HALF_WIDTH, n_rows)
    with np.errstate(under="ignore"):
        return x.reshape(-1, 1), np.exp(-0.5 * ((x - mean) / width) ** 2)


def _draw(axes: Axes, means: FloatArray, widths: FloatArray, values: FloatArray, title: str) -> None:
    logs = np.clip(np.log10(np.maximum(values, 1e-300)), _FLOOR, _CEILING)
    style: dict[str, Any] = {"vmin": _FLOOR, "vmax": _CEILING, "cmap": "cividis"}
    x, y = np.linspace(-15, 15, 61), np.linspace(-3, 2, 51)
    axes.pcolormesh(x, y, _smoothed(means, np.log10(widths), logs, x, y), rasterized=True, alpha=0.6, **style)
    dots = axes.scatter(means, np.log10(widths), c=logs, s=14, edgecolors="0.2", linewidths=0.3, **style)
    axes.axvline(0, color=COLOURS[1], lw=0.6, ls=":")
    axes.figure.colorbar(dots, ax=axes, label="log10 FVU")
    axes.set(xlabel="mean", ylabel="log10 of the width")
    axes.set_title(title, fontsize=9)
    axes.grid(False)


def _smoothed(means: FloatArray, logs: FloatArray, values: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Mean (len(y), len(x)) of a Gaussian process through the values."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern, WhiteKernel

    points = np.column_stack([means / 15, logs / 2.5])
    process = GaussianProcessRegressor(Matern(0.5, (0.1, 10.0), nu=1.5) + WhiteKernel(0.1), normalize_y=True)
    with warnings.catch_warnings():
        # a length at its bound is a flat map, which is what there is to show
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(points, values)
    grid = np.stack(np.meshgrid(x / 15, y / 2.5), axis=-1).reshape(-1, 2)
    return np.asarray(process.predict(grid), dtype=np.float64).reshape(len(y), len(x))


EXPERIMENTS = (
    Experiment(
        "gaussian_map",
        "Figure 'Constants-prior comparison on the Gaussian family'",
        "At 512 candidates both priors fail for narrow peaks far from 0, U(1, 5) more for negative means; at 8,192 "
        "both converge over most of the plane.",
        gaussian_map,
        "48 Gaussians, our search for 0.5 s; the networks B0 and C1 with 512 candidates, with --runs",
        "2,048 Gaussians, 512 and 8,192 candidates, ours 2 and 30 s",
        0.5,
    ),
)
