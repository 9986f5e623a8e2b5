"""The report: groups, tables in three formats, figures that show what varies."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from flash_ansr.bench.groups import Group, group_rows
from flash_ansr.bench.metrics import METRICS, Metric
from flash_ansr.bench.report import figures, read_groups, write_report
from flash_ansr.bench.report.figures import AXES, COLOURS, curves, data_figure, metric_figure, problem_figure
from flash_ansr.bench.report.tables import table
from flash_ansr.bench.rows import Row, RowFile, Task
from flash_ansr.catalogues import load

TIME, POINTS, NOISE = AXES
RIGHT, WRONG = {"I.12.1": "x1*x2", "I.29.4": "x1/299792458"}, {"I.12.1": "x1", "I.29.4": "exp(x1/1e11)"}


def rows(
    label: str, laws: dict[str, str | None], seconds: float, points: int = 64, noise: float = 0.0, **more
) -> list[Row]:
    return [
        Row(
            task=Task("fastsrb", name, 0, points, noise, label.split()[0], more.get("budget", seconds), label=label),
            expression=law,
            error=None if law else "failed",
            fit_seconds=seconds,
            cpu_seconds=None,
            seed=0,
        )
        for name, law in laws.items()
    ]


HALF = RIGHT | {"I.29.4": "exp(x1/1e11)"}
ALL = [
    *rows("hand", WRONG, 0.5),
    *rows("hand", HALF, 1.0),
    *rows("hand", RIGHT, 2.0),
    *rows("hand", HALF, 1.25, points=8, budget=1.0),
    *rows("hand", HALF, 1.0, noise=0.1),
    *rows("foot slow_50%", {"I.12.1": None, "I.29.4": None}, 1.0),
]


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    return group_rows(ALL)


def test_groups(groups: list[Group]) -> None:
    assert [(g.label, g.budget, g.points, g.noise) for g in groups] == [
        ("hand", 1.0, 8, 0.0),
        ("foot slow_50%", 1.0, 64, 0.0),
        ("hand", 0.5, 64, 0.0),
        ("hand", 1.0, 64, 0.0),
        ("hand", 2.0, 64, 0.0),
        ("hand", 1.0, 64, 0.1),
    ]
    assert [g.estimates["vnrr"].value for g in groups] == [0.5, 0, 0, 0.5, 1, 0.5]
    assert groups[0].estimates["relative_fit_time"].value == pytest.approx(1.25)
    assert groups[3].recovery_by_difficulty() == {"easy": 1.0, "medium": 0.0}


def with_task(found: list[Row], **changes: object) -> list[Row]:
    return [dataclasses.replace(row, task=dataclasses.replace(row.task, **changes)) for row in found]


def test_systems_of_one_label_are_apart() -> None:
    one, other = (with_task(rows("x", laws, 1.0), system=name) for name, laws in (("a", RIGHT), ("b", WRONG)))
    found = group_rows(one + other)
    assert [(g.system, g.curve, g.estimates["vnrr"].value) for g in found] == [("a", "x, a", 1.0), ("b", "x, b", 0.0)]


def test_curves_are_of_equal_cores_and_settings() -> None:
    found = [
        row
        for cores in (1, 2)
        for seconds in (1.0, 2.0)
        for row in with_task(rows("x", RIGHT, seconds), n_threads=cores)
    ]
    assert {name: len(gs) for name, gs in curves(group_rows(found), TIME).items()} == {"x, 1 cores": 2, "x, 2 cores": 2}
    found = [
        row
        for gamma in (0.1, 0.2)
        for seconds in (1.0, 2.0)
        for row in with_task(rows("x", RIGHT, seconds), settings={"gamma": gamma, "loss": "square"})
    ]
    swept = group_rows(found)
    assert sorted(g.effort for g in swept) == ["1 s gamma=0.1", "1 s gamma=0.2", "2 s gamma=0.1", "2 s gamma=0.2"]
    assert set(curves(swept, TIME)) == {"x, gamma=0.1", "x, gamma=0.2"}
    found = [row for n in (4, 16) for row in with_task(rows("x", RIGHT, n), budget=None, settings={"n_samples": n})]
    swept = group_rows(found)
    assert [g.effort for g in swept] == ["n_samples=4", "n_samples=16"]
    assert {name: len(gs) for name, gs in curves(swept, TIME).items()} == {"x": 2}


def test_an_unfinished_group_is_in_no_figure() -> None:
    unfinished = rows("hand", {"I.12.1": "x1*x2"}, 4.0)
    found = curves(group_rows([*ALL, *unfinished]), TIME)["hand"]
    assert [g.budget for g in found] == [0.5, 1.0, 2.0]


def test_text(groups: list[Group]) -> None:
    header, rule, *lines = table(groups).splitlines()
    assert len(lines) == 6
    assert len({len(line) for line in (header, rule, *lines)}) == 1
    assert "vNRR [%] ↑" in header
    assert "50.0 (0.0–100.0)" in lines[0]
    assert " - " in lines[1]


def test_text_of_a_narrow_screen(groups: list[Group]) -> None:
    whole = table(groups).splitlines()
    parts = [part.splitlines() for part in table(groups, width=80).split("\n\n")]
    assert len(parts) > 1
    assert max(len(line) for part in parts for line in part) <= 80 < len(whole[0])
    keys = [[line.split()[0] for line in part[2:]] for part in parts]
    assert keys == [keys[0]] * len(parts)
    shown = {word for part in parts for line in (part[0], *part[2:]) for word in line.split()}
    assert shown == {word for line in (whole[0], *whole[2:]) for word in line.split()}
    assert table(groups, width=500).splitlines() == whole


def test_markdown(groups: list[Group]) -> None:
    lines = table(groups, "markdown").splitlines()
    assert len(lines) == 8
    assert len({line.count("|") for line in lines}) == 1


def test_latex(groups: list[Group]) -> None:
    text = table(groups, "latex")
    assert text.startswith("\\begin{tabular}{lr")
    body = text.split("\\midrule")[1]
    assert body.count(r"\\") == 6
    assert r"foot slow\_50\%" in body
    assert not set("↑↓–∞_%") & set(body.replace(r"\_", "").replace(r"\%", ""))


def test_every_metric(groups: list[Group]) -> None:
    lines = table(groups, "markdown", every_metric=True).splitlines()
    assert len(lines) == 2 + len(METRICS)


def test_a_metric_is_added_by_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in both tables and in the figure of all metrics, with its title, arrow and unit."""
    new = Metric("uses_x2", "uses x2 [%]", "up", lambda s: "x2" in s.prediction.variables, "rate", "summary")
    monkeypatch.setitem(METRICS, new.name, new)
    groups = group_rows(ALL)
    header, _, *lines = table(groups, "markdown").splitlines()
    column = header.split(" | ").index("uses x2 [%] ↑")
    assert [line.split(" | ")[column].split(" ")[0] for line in lines] == ["50.0", "0.0", "0.0", "50.0", "50.0", "50.0"]
    assert "| uses x2 [%] ↑ | 50.0 (0.0–100.0) |" in table(groups, "markdown", every_metric=True)
    figure = metric_figure(groups, TIME, list(METRICS))
    assert figure is not None
    assert "uses x2 [%] ↑" in [panel.get_title(loc="left") for panel in figure.axes]


def test_what_a_figure_shows(groups: list[Group]) -> None:
    """What the axis does not show is held fixed: the eight-point group is no part of the curve over time."""
    over_time = curves(groups, TIME)
    assert [g.budget for g in over_time["hand"]] == [0.5, 1.0, 2.0]
    assert {g.points for gs in over_time.values() for g in gs} == {64}
    assert set(over_time) == {"hand", "foot slow_50%"}
    assert [(g.points, g.budget) for g in curves(groups, POINTS)["hand"]] == [(8, 1.0), (64, 1.0)]
    assert [(g.noise, g.budget) for g in curves(groups, NOISE)["hand"]] == [(0.0, 1.0), (0.1, 1.0)]
    assert curves([g for g in groups if g.points == 64], POINTS) == {}


def test_the_curve_is_the_data(groups: list[Group]) -> None:
    figure = metric_figure(groups, TIME, ["vnrr", "f1"])
    assert figure is not None
    panel = figure.axes[0]
    line = next(line for line in panel.lines if line.get_label() == "hand")
    assert np.column_stack(line.get_data()).tolist() == [[0.5, 0], [1.0, 50], [2.0, 100]]
    assert panel.get_xlabel() == "mean fit time [s]"
    assert panel.get_title(loc="left").startswith("vNRR")
    assert panel.collections, "a confidence band"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["foot slow_50%", "hand"]


def test_a_system_keeps_its_colour_beside_baselines() -> None:
    pairs = {name: [*rows(name, WRONG, 0.5), *rows(name, RIGHT, 1.0)] for name in ("linear", "operon", "ours")}

    def colours(*names: str) -> dict[str, object]:
        figure = metric_figure(group_rows([row for name in names for row in pairs[name]]), TIME, ["vnrr"])
        assert figure is not None
        return {str(line.get_label()): line.get_color() for line in figure.axes[0].lines}

    assert colours("linear", "operon", "ours") | colours("operon", "ours") == colours("linear", "operon", "ours")


def test_no_figure_without_data(groups: list[Group]) -> None:
    assert metric_figure(groups, TIME, ["log_prob"]) is None
    assert metric_figure(groups[:1], TIME, ["vnrr"]) is None


def test_problems(groups: list[Group]) -> None:
    figure = problem_figure(groups[3])
    assert [panel.get_title() for panel in figure.axes] == ["easy", "medium"]
    assert [t.get_text() for panel in figure.axes for t in panel.get_yticklabels()] == ["I.12.1", "I.29.4"]


def contrast(a: str, b: str) -> float:
    """Distance of two colours as seen with the commonest colour blindness, where red and green are one."""
    channels = [np.array([int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)]) for c in (a, b)]
    seen = np.array([[0.625, 0.375, 0.0], [0.7, 0.3, 0.0], [0.0, 0.3, 0.7]])
    return float(np.linalg.norm(seen @ channels[0] - seen @ channels[1]))


def test_colours_can_be_told_apart() -> None:
    pairs = [(a, b) for k, a in enumerate(COLOURS) for b in COLOURS[:k]]
    assert min(contrast(a, b) for a, b in pairs) > 0.1


@pytest.mark.parametrize("name", ["I.29.4", "B12", "I.9.18"])
def test_data(name: str) -> None:
    law = load("fastsrb")[name]
    sample = law.sample(64, 0)
    figure = data_figure(law, sample.X, sample.y)
    shown = [panel for panel in figure.axes if panel.axison]
    assert len(shown) == len(law.variables)
    assert shown[0].get_xlabel() == f"x1 = {law.variables[0].name}"
    assert law.formula in figure.get_suptitle()


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(figures.STYLE, "figure.dpi", 30)
    with RowFile(tmp_path / "rows.jsonl") as file:
        for row in ALL:
            file.add(row)
    groups = read_groups([tmp_path], show_progress=False)
    written = write_report(groups, tmp_path / "report")
    names = {path.name for path in written}
    assert {"summary.txt", "summary.md", "summary.tex", "metrics.txt"} <= names
    assert {"fastsrb-time.png", "fastsrb-points.png", "fastsrb-noise.png", "fastsrb-problems-hand.png"} <= names
    assert "fastsrb-time-metrics.png" in names
    assert all(path.stat().st_size > 0 for path in written)
    assert {path.name for path in (tmp_path / "report").iterdir()} == names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written if path.suffix == ".png")


def test_infinite_medians_are_shown() -> None:
    never = rows("hand", {"I.12.1": "1/(x1 - x1)", "I.29.4": "log(-x1)"}, 1.0)
    (group,) = group_rows(never)
    assert group.estimates["log10_fvu"].value == math.inf
    assert "∞" in table([group], every_metric=True)
    assert r"$\infty$" in table([group], "latex", every_metric=True)
