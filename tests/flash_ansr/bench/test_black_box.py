"""Tables without a known law: splits, rows, failures, continued runs, standings and the Pareto picture."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from flash_ansr.bench.black_box import SETTINGS, TableFolder
from flash_ansr.bench.execute import law_digest, run_task
from flash_ansr.bench.plan import Plan
from flash_ansr.bench.report import figures, read_groups, write_report
from flash_ansr.bench.report.standings import Standing, is_dominated, standings
from flash_ansr.bench.report.tables import table
from flash_ansr.bench.rows import BenchError, Row, RowFile, Task, read_rows
from flash_ansr.bench.runner import Summary, run
from flash_ansr.bench.systems import SYSTEMS, Answer, System
from simplipy import parse
from tests.command_line import run_flash_ansr

N_ROWS = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A gzipped table with the target in its middle, and one with the target last."""
    made = tmp_path / "tables"
    made.mkdir()
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N_ROWS))
    y = 3 * a - b + 0.1 * rng.normal(size=N_ROWS)
    lines = [f"{p}\t{q}\t{r}" for p, q, r in zip(a, y, b, strict=True)]
    with gzip.open(made / "plane.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["a\ttarget\tb", *lines]) + "\n")
    lines = [f"{p},{q}" for p, q in zip(a, a**2, strict=True)]
    (made / "bowl.csv").write_text("\n".join(["a,height", *lines]) + "\n", encoding="utf-8")
    return made


def run_quietly(plan: Plan, path: Path) -> Summary:
    tables = plan.tables
    assert tables is not None
    return run(plan.tasks(1), path, show_progress=False, execute=tables.run_task, digest=tables.digest)


def rows_of(folder: Path, path: Path, system: str, **options: object) -> dict[tuple[str, int], Row]:
    run_quietly(Plan("pmlb", str(folder), system, **options), path)
    return {(row.task.problem, row.task.dataset): row for row in read_rows([path])}


def test_tables_are_read(folder: Path) -> None:
    tables = TableFolder(folder)
    assert tables.names() == ["bowl", "plane"]
    plane, bowl = tables.read("plane"), tables.read("bowl")
    assert plane.X.shape == (N_ROWS, 2)
    assert np.corrcoef(plane.y, 3 * plane.X[:, 0] - plane.X[:, 1])[0, 1] > 0.99
    assert np.array_equal(bowl.y, bowl.X[:, 0] ** 2)


def test_a_split_is_that_of_srbench(folder: Path) -> None:
    plane = TableFolder(folder).read("plane")
    fitted, tested = plane.split(7, most_rows=10_000)
    X_train, X_test, y_train, y_test = train_test_split(
        plane.X, plane.y, train_size=0.75, test_size=0.25, random_state=7
    )
    assert np.array_equal(fitted.X, X_train)
    assert np.array_equal(fitted.y, y_train)
    assert np.array_equal(tested.X, X_test)
    assert np.array_equal(tested.y, y_test)
    few, same = plane.split(7, most_rows=20)
    assert np.array_equal(few.y, y_train[:20])
    assert np.array_equal(same.y, y_test)


def test_rows_hold_r2_of_both_parts(folder: Path, tmp_path: Path) -> None:
    rows = rows_of(folder, tmp_path / "rows.jsonl", "linear", datasets=2)
    assert set(rows) == set(itertools.product(["plane", "bowl"], [0, 1]))
    row, plane = rows["plane", 1], TableFolder(folder).read("plane")
    fitted, tested = plane.split(1, 10_000)
    model = LinearRegression().fit(fitted.X, fitted.y)
    assert row.report["r2_test"] == pytest.approx(r2_score(tested.y, model.predict(tested.X)), rel=1e-9)
    assert row.report["r2_fit"] == pytest.approx(r2_score(fitted.y, model.predict(fitted.X)), rel=1e-9)
    assert (row.report["n_rows"], row.report["n_test_rows"], row.report["n_columns"]) == (90, 30, 2)
    assert row.expression is not None
    assert row.report["size"] == len(parse(row.expression))
    assert row.report["r2_test"] != rows["plane", 0].report["r2_test"]
    assert row.task.points == 10_000


def test_stepwise_leaves_out_a_column_that_says_nothing(folder: Path, tmp_path: Path) -> None:
    path = folder / "plane.tsv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    noise = np.random.default_rng(1).normal(size=N_ROWS)
    wider = [f"{line}\t{extra}" for line, extra in zip(lines, ["noise", *noise], strict=True)]
    path.write_bytes(gzip.compress("\n".join(wider).encode()))
    row = rows_of(folder, tmp_path / "rows.jsonl", "stepwise", problems=["plane"])["plane", 0]
    assert row.expression is not None
    assert parse(row.expression).variables == ("x1", "x2")
    assert row.report["r2_test"] > 0.99


@pytest.mark.parametrize("system", ["boosting", "forest"])
def test_trees_have_nodes_and_no_formula(system: str, folder: Path, tmp_path: Path) -> None:
    settings = {"boosting": {"max_iter": 3, "max_leaf_nodes": 4}, "forest": {"n_estimators": 3, "max_leaf_nodes": 4}}
    row = rows_of(folder, tmp_path / "rows.jsonl", system, problems=["bowl"], settings=settings[system])["bowl", 0]
    assert (row.expression, row.error) == (None, None)
    # three binary trees of four leaves
    assert row.report["size"] == 21
    assert 0 < row.report["r2_test"] < 1
    assert "scikit-learn" in row.versions


def test_trees_cannot_run_on_laws() -> None:
    row = run_task(Task("nguyen", "Nguyen-1", 0, 32, 0.0, "forest", None, {"n_estimators": 1}))
    assert row.error == "BenchError: forest has no formula, and runs on tables only: bench run pmlb"


def test_ours_tells_what_it_expects_of_new_rows(folder: Path, tmp_path: Path) -> None:
    options = {"budget": [None], "settings": {"n_samples": 256, "proposers": ["enumerate"]}}
    row = rows_of(folder, tmp_path / "rows.jsonl", "ours", problems=["plane"], **options)["plane", 0]
    assert row.error is None
    assert row.expression is not None
    assert row.report["size"] == len(parse(row.expression))
    assert row.report["r2_cv"] is None or row.report["r2_cv"] <= 1
    assert row.report["r2_test"] > 0.9


def test_a_finished_run_is_not_run_again(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows_of(folder, path, "linear", limit=1)
    before = path.read_text()
    summary = run_quietly(Plan("pmlb", str(folder), "linear"), path)
    assert (summary.n_before, summary.n_added, summary.n_failed) == (1, 1, 0)
    assert path.read_text().startswith(before)
    moved = folder.rename(tmp_path / "elsewhere")
    summary = run_quietly(Plan("pmlb", str(moved), "linear"), path)
    assert (summary.n_before, summary.n_added) == (2, 0)
    assert str(tmp_path) not in path.read_text()


def test_rows_of_another_table_are_not_continued(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows_of(folder, path, "linear", datasets=1)
    other = tmp_path / "other"
    other.mkdir()
    (other / "bowl.csv").write_text("a,target\n1,2\n2,3\n3,5\n4,4\n")
    with pytest.raises(BenchError, match="has a row of another bowl: pmlb has changed since"):
        run_quietly(Plan("pmlb", str(other), "linear", datasets=2), path)


def test_a_failure_is_a_row_and_counts_as_zero(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(System):
        def fit(self, request: object) -> Answer:
            raise RuntimeError("no memory left")

    class Undefined(System):
        def fit(self, request: object) -> Answer:
            return Answer(parse("log(0 - 1 - abs(x1))"))

    class Absent(System):
        def fit(self, request: object) -> Answer:
            return Answer(parse("x9"))

    for name, system in {"failing": Failing, "undefined": Undefined, "absent": Absent}.items():
        monkeypatch.setitem(SYSTEMS, name, system)
        rows_of(folder, tmp_path / f"{name}.jsonl", name)
    rows = {row.task.system: row for row in read_rows([tmp_path]) if row.task.problem == "bowl"}
    assert rows["failing"].error == "RuntimeError: no memory left"
    assert rows["failing"].report["n_rows"] == 90
    assert (rows["undefined"].error, rows["undefined"].report["r2_test"]) == (None, None)
    assert rows["absent"].expression is None
    assert "x9" in (rows["absent"].error or "")
    found = {s.group.label: s for s in standings(read_groups([tmp_path], show_progress=False))}
    assert [found[name].mean_r2.value for name in ("failing", "undefined", "absent")] == [0.0, 0.0, 0.0]
    assert [found[name].n_failed for name in ("failing", "undefined", "absent")] == [2, 0, 2]
    assert found["failing"].size.n == 0


def test_the_size_is_that_of_the_system(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that saw standardised columns counts its formula in these."""

    class Standardising(System):
        def fit(self, request: object) -> Answer:
            return Answer(parse("0.5*(x1 - 3)"), report={"size": 3})

    monkeypatch.setitem(SYSTEMS, "standardising", Standardising)
    rows = rows_of(folder, tmp_path / "rows.jsonl", "standardising", problems=["bowl"])
    assert rows["bowl", 0].report["size"] == 3


def made_rows(system: str, r2: dict[str, list[float | None]], size: int, **facts: object) -> list[Row]:
    return [
        Row(
            task=Task("pmlb", name, split, 10_000, 0.0, system, 1.0),
            expression="x1",
            error=None,
            fit_seconds=1.0,
            cpu_seconds=None,
            seed=0,
            report={"r2_test": value, "size": size, "n_test_rows": 100} | facts,
        )
        for name, values in r2.items()
        for split, value in enumerate(values)
    ]


def standings_of(tmp_path: Path, *rows: Row) -> dict[str, Standing]:
    with RowFile(tmp_path / "made.jsonl") as file:
        for row in rows:
            file.add(row)
    return {s.group.label: s for s in standings(read_groups([tmp_path], show_progress=False))}


def test_standings(tmp_path: Path) -> None:
    """Two tables, two splits; a third table that one system does not have takes no part in the ranks."""
    found = standings_of(
        tmp_path,
        *made_rows("short", {"a": [0.5, 0.7], "b": [-3.0, 0.2], "c": [0.9, 0.9]}, 5, r2_cv=0.6),
        *made_rows("long", {"a": [0.8, 0.8], "b": [None, 0.1]}, 500),
    )
    short, long = found["short"], found["long"]
    assert short.mean_r2.value == pytest.approx((0.6 + 0.1 + 0.9) / 3)
    assert short.median_r2.value == pytest.approx(0.6)
    assert long.mean_r2.value == pytest.approx((0.8 + 0.05) / 2)
    assert (short.rank.value, long.rank.value, short.rank.n) == (1.5, 1.5, 2)
    assert short.gap.value == pytest.approx((0.1 + (3.6 + 0.4) / 2 + 0.3) / 3)
    assert long.gap.n == 0
    assert (short.size.value, long.size.value) == (5, 500)
    assert short.mean_r2.low < short.mean_r2.value < short.mean_r2.high


def test_few_test_rows_say_nothing_about_the_gap(tmp_path: Path) -> None:
    found = standings_of(tmp_path, *made_rows("short", {"a": [0.5]}, 5, r2_cv=0.9, n_test_rows=99))
    assert found["short"].gap.n == 0


def test_domination(tmp_path: Path) -> None:
    rows = [
        *made_rows("short", {"a": [0.5]}, 5),
        *made_rows("long", {"a": [0.8]}, 50),
        *made_rows("worse", {"a": [0.7]}, 51),
        *made_rows("same", {"a": [0.5]}, 5),
    ]
    found = standings_of(tmp_path, *rows)
    assert [name for name, s in found.items() if is_dominated(s, list(found.values()))] == ["worse"]


def test_the_picture_joins_what_is_not_dominated(tmp_path: Path) -> None:
    rows = [
        *made_rows("short", {"a": [0.5], "b": [0.3]}, 5),
        *made_rows("long", {"a": [0.8], "b": [0.6]}, 50),
        *made_rows("worse", {"a": [0.6], "b": [0.4]}, 500),
        *made_rows("unfinished", {"a": [0.9]}, 2),
    ]
    found = standings_of(tmp_path, *rows)
    figure = figures.pareto_figure([s.group for s in found.values()])
    assert figure is not None
    front, *points = figure.axes[0].get_lines()
    assert front.get_xydata() == pytest.approx(np.array([[5, 0.4], [50, 0.7]]))
    assert {line.get_label() for line in points} == {"short, 1 s", "long, 1 s", "worse, 1 s"}


def test_report(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of laws and tables has both tables, and the Pareto picture beside the figures of laws."""
    monkeypatch.setitem(figures.STYLE, "figure.dpi", 30)
    results = tmp_path / "results"
    rows_of(folder, results / "pmlb-linear.jsonl", "linear")
    rows_of(folder, results / "pmlb-stepwise.jsonl", "stepwise")
    run(Plan("nguyen", system="linear", limit=1).tasks(1), results / "nguyen-linear.jsonl", show_progress=False)
    groups = read_groups([results], show_progress=False)
    laws, tables = table(groups).split("\n\n")
    assert "vNRR [%]" in laws
    header, _, *lines = tables.splitlines()
    assert "mean R2" in header
    assert [line.split()[0] for line in lines] == ["linear", "stepwise"]
    assert "plane" in table(groups, "markdown", every_metric=True)
    names = {path.name for path in write_report(groups, tmp_path / "report")}
    assert {"pmlb-pareto.png", "nguyen-problems-linear.png", "summary.txt", "metrics.md"} <= names
    assert not [name for name in names if name.startswith("pmlb-problems")]


def test_command_line(folder: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "results")
    options = ("run", "pmlb", "--data", str(folder), "--system", "linear", "--datasets", "2", "--out", out)
    done = run_flash_ansr("bench", *options)
    assert done.returncode == 0
    assert "4 rows added, 0 were there, 0 failures" in " ".join(done.stdout.split())
    assert "0 rows added, 4 were there" in " ".join(run_flash_ansr("bench", *options).stdout.split())
    assert [path.name for path in Path(out).iterdir()] == ["pmlb-linear.jsonl"]
    report = run_flash_ansr("bench", "report", out)
    assert report.returncode == 0
    assert "mean rank" in report.stdout


def test_operon_has_the_settings_of_its_authors(folder: Path) -> None:
    plan = Plan("pmlb", str(folder), "operon", settings={"population_size": 9})
    task = next(plan.tasks(1))
    assert task.settings == SETTINGS["operon"] | {"population_size": 9}
    assert task.label == "operon population_size=9"
    assert next(Plan("nguyen", system="operon").tasks(1)).settings == {}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"catalogue": "pmlb"}, "tables run as the catalogue pmlb with a folder, --data FOLDER"),
        ({"catalogue": "nguyen", "data": "."}, "got the catalogue nguyen and the folder ."),
        ({"catalogue": "pmlb", "data": ".", "noise": [0.1]}, "noise must be 0 on tables"),
    ],
)
def test_plans_that_make_no_sense(facts: dict[str, object], message: str) -> None:
    with pytest.raises(BenchError, match=message):
        Plan(**facts)


def test_tables_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"no tables in .*nowhere"):
        TableFolder(tmp_path / "nowhere").names()
    with pytest.raises(BenchError, match="has no table 'plain'; did you mean 'plane'"):
        next(Plan("pmlb", str(folder), problems=["plain"]).tasks(1))
    (folder / "words.csv").write_text("a,target\n1,2\nmany,3\n")
    with pytest.raises(BenchError, match="must be finite numbers, got 'many' in the column 'a'"):
        TableFolder(folder).read("words")
    (folder / "thin.csv").write_text("target\n1\n2\n")
    with pytest.raises(BenchError, match="must have two columns and two rows at least, got 1 and 2"):
        TableFolder(folder).read("thin")
    (folder / "plane.csv").write_text("a,target\n1,2\n")
    with pytest.raises(BenchError, match="have the same name"):
        TableFolder(folder).names()


def test_the_digest_of_laws_is_as_before() -> None:
    task = Task("nguyen", "Nguyen-1", 0, 32, 0.0, "linear", None)
    assert law_digest(task) == run_task(task).digests["problem"]
    assert json.loads(run_task(task).to_json())["catalogue"] == "nguyen"
