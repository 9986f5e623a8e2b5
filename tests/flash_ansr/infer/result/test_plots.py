"""The picture of a result: names, a smooth curve, scales, rows, the law on the front, and titles of any length."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flash_ansr.infer.result.law import Law
from flash_ansr.infer.result.plots import ShownRows, plot_result
from flash_ansr.infer.table.table import Table
from simplipy import parse

CANDIDATES = pd.DataFrame({"length": [4, 1, 7], "fvu": [0.1, 1.0, 0.0], "pareto": [True, True, True]})


def drawn(
    formula: str, X: np.ndarray, y: np.ndarray, names: tuple[str, ...] = ("x",), target: str = "y", first: int = 1
) -> Figure:
    rows = ShownRows(Table(X, y), np.arange(len(y)) + first, target)
    figure = plot_result(rows, Law(parse(formula), names), CANDIDATES)
    figure.savefig(io.BytesIO(), dpi=30)
    return figure


LINE = np.linspace(-1, 2, 12)[:, None]


def test_one_column_has_a_smooth_curve_and_names() -> None:
    left, middle, right = drawn("2*x1", LINE, 2 * LINE[:, 0], ("mass",), "force", first=5).axes
    data, law = left.lines
    assert (len(data.get_xdata()), len(law.get_xdata())) == (12, 1000)
    np.testing.assert_allclose(law.get_ydata(), 2 * law.get_xdata())
    assert (left.get_xlabel(), left.get_ylabel()) == ("mass", "force")
    assert (middle.get_xlabel(), middle.get_ylabel()) == ("row", "residual of force")
    assert middle.lines[1].get_xdata().tolist() == list(range(5, 17))
    assert (left.get_xscale(), left.get_yscale()) == ("linear", "linear")
    assert right.get_yscale() == "log"


def test_several_columns_are_compared_by_value() -> None:
    X = np.random.default_rng(0).uniform(1, 3, (20, 2))
    left = drawn("x1*x2", X, X[:, 0] * X[:, 1], ("a", "b"), "power").axes[0]
    assert (left.get_xlabel(), left.get_ylabel()) == ("power", "power by the law")


def test_decades_have_logarithmic_axes() -> None:
    x = np.geomspace(0.01, 100, 30)[:, None]
    left, middle, _ = drawn("x1^2", x, 1.1 * x[:, 0] ** 2).axes
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    assert middle.get_ylabel() == "residual / y"
    np.testing.assert_allclose(middle.lines[1].get_ydata(), 0.1 / 1.1)
    left = drawn("x1^2", np.hstack([x, x]), x[:, 0] ** 2, ("a", "b")).axes[0]
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    left = drawn("x1 - 30", np.hstack([x, x]), x[:, 0] ** 2, ("a", "b")).axes[0]  # a law that is negative there
    assert (left.get_xscale(), left.get_yscale()) == ("linear", "linear")
    assert drawn("x1", x[:15], x[:15, 0]).axes[0].get_xscale() == "linear"  # two decades at most


def test_the_law_is_a_star_on_the_front() -> None:
    *_, right = drawn("x1", LINE, LINE[:, 0]).axes
    star = next(line for line in right.lines if line.get_label() == "law")
    assert (star.get_marker(), star.get_xdata().tolist(), star.get_ydata().tolist()) == ("*", [4], [0.1])
    assert all(line.get_ydata().min() > 0 for line in right.lines)  # an FVU of 0 is drawn too


def test_a_pole_does_not_stretch_the_axis() -> None:
    left = drawn("1/x1", LINE, np.clip(1 / LINE[:, 0], -3, 3)).axes[0]
    low, high = left.get_ylim()
    assert -4 < low < high < 4


def test_a_law_that_is_undefined_somewhere() -> None:
    left = drawn("log(x1)", LINE, np.maximum(LINE[:, 0], 0.0)).axes[0]
    assert np.isnan(left.lines[1].get_ydata()).any()


@pytest.mark.parametrize("n_terms", [1, 30])
def test_titles_stay_inside_the_figure(n_terms: int) -> None:
    formula = " + ".join(f"{1.234567 + k}*sin({k + 2}*x1)" for k in range(n_terms))
    figure = drawn(formula, LINE, LINE[:, 0], ("a $column$ with a very long name, as surveys have them",), "cost in $")
    title = figure.get_suptitle()
    assert len(title.splitlines()) <= 3
    assert title.endswith("…") == (n_terms == 30)
    FigureCanvasAgg(figure).draw()
    inside = figure.bbox.padded(1)
    texts = [figure._suptitle, *(label for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label))]
    for text in texts:
        box = text.get_window_extent()
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
        assert inside.y0 <= box.y0
        assert box.y1 <= inside.y1


def test_a_target_that_is_the_same_everywhere() -> None:
    drawn("3", LINE, np.full(12, 3.0))
    drawn("3", np.hstack([LINE, LINE**2]), np.full(12, 3.0), ("a", "b"))
