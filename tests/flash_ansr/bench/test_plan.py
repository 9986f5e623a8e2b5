"""Plans: what they expand to, and what mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from flash_ansr.bench.plan import Plan, read_plans
from flash_ansr.bench.rows import BenchError
from flash_ansr.catalogues import load


def test_every_combination() -> None:
    plan = Plan(
        "nguyen",
        system="ours",
        settings={"pipeline": "paper"},
        sweep={"n_samples": [1, 4], "gamma": [0.05]},
        budget=[None],
        points=[8, 16],
        noise=[0, 0.1],
        datasets=3,
        problems=["Nguyen-1", "Nguyen-8"],
    )
    tasks = list(plan.tasks(n_threads=2))
    assert len(tasks) == len({t.key for t in tasks}) == 2 * 2 * 2 * 3 * 2
    assert {t.settings["n_samples"] for t in tasks} == {1, 4}
    assert {t.label for t in tasks} == {"ours pipeline=paper"}
    assert {t.n_threads for t in tasks} == {2}
    assert [t.problem for t in tasks[:4]] == ["Nguyen-1", "Nguyen-8"] * 2


def test_excluded_problems_are_left_out_unless_named() -> None:
    assert len(list(Plan("fastsrb").tasks(1))) == 115
    assert [t.problem for t in Plan("fastsrb", problems=["B4"]).tasks(1)] == ["B4"]


def test_a_limit_is_spread_over_the_catalogue() -> None:
    fastsrb = load("fastsrb")
    difficulty = [fastsrb[t.problem].difficulty for t in Plan("fastsrb", limit=23).tasks(1)]
    assert (difficulty.count("easy"), difficulty.count("medium"), difficulty.count("hard")) == (6, 8, 9)
    assert len(list(Plan("nguyen", limit=100).tasks(1))) == 12


def test_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text("""
catalogue: nguyen
datasets: 2
runs:
  - {system: linear, budget: 1}
  - {system: ours, label: mine, budget: null, sweep: {n_samples: [1, 2]}}
""")
    first, second = read_plans(path)
    assert (first.system, first.budget, first.datasets) == ("linear", [1], 2)
    assert (second.label, second.budget, len(list(second.tasks(1)))) == ("mine", [None], 2 * 2 * 12)
    path.write_text("catalogue: nguyen\nbudget: [0.5, 1]\n")
    assert read_plans(path)[0].budget == [0.5, 1]


@pytest.mark.parametrize(
    ("name", "n_tasks"),
    [
        ("time", 115 * (2 + 6 + 6)),
        ("paper", 115 * 7 * 2),
        ("noise", 115 * 4 * 3),
        ("noise_5s", 115 * 2),
        ("points", 40 * 12 * 3),
        ("proposers", 40 * 2 * (10 * 2 + 3)),
        ("refiner", 40 * 3 * 2),
        ("inference_simplifier", 40 * 3 * 2),
    ],
)
def test_the_sweeps_of_the_repository(name: str, n_tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)  # one names its catalogue by a path
    path = root / "benchmarks" / "sweeps" / f"{name}.yaml"
    tasks = [task for plan in read_plans(path) for task in plan.tasks(2)]
    assert len({task.key for task in tasks}) == len(tasks) == n_tasks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("catalog: nguyen", r"sweep.yaml: unknown key 'catalog'; did you mean 'catalogue'\?"),
        ("system: ours", "sweep.yaml: the key 'catalogue' is missing"),
        ("catalogue: nguyen\nbudget: 0", "sweep.yaml: budget must be seconds > 0, or null, got 0"),
        ("catalogue: nguyen\nbudget: []", "budget must be seconds > 0, or null, got an empty list"),
        ("catalogue: nguyen\npoints: [1.5]", "points must be whole numbers >= 1, got 1.5"),
        ("catalogue: nguyen\nnoise: -1", "noise must be numbers >= 0, got -1"),
        ("catalogue: nguyen\ndatasets: many", "datasets must be a whole number >= 1, got 'many'"),
        ("catalogue: nguyen\nsweep: {n_samples: 3}", "sweep: n_samples must be a list of values, got 3"),
        ("catalogue: nguyen\nsettings: 3", "settings must be a mapping of the system's settings, got 3"),
        ("catalogue: nguyen\nruns: 3", "runs must be a list of mappings, got 3"),
        ("[]", "a sweep must be a mapping"),
        ("a: [", "cannot read the sweep"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    with pytest.raises(BenchError, match=message):
        read_plans(path)


def test_data_sets_begin_at_any_number() -> None:
    tasks = list(Plan("nguyen", problems=["Nguyen-1"], datasets=2, first_dataset=3).tasks(1))
    assert [t.dataset for t in tasks] == [3, 4]
    assert [t.dataset for t in Plan("nguyen", problems=["Nguyen-1"], datasets=2).tasks(1)] == [0, 1]
    with pytest.raises(BenchError, match="first_dataset must be a whole number >= 0, got -1"):
        Plan("nguyen", first_dataset=-1)
