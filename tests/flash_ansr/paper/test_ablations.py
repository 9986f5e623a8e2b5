"""The ablations: equal corpora, runs that can be compared, and what counts as a difference."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flash_ansr.bench.bootstrap import Estimate
from flash_ansr.data import Generator, load_prior
from flash_ansr.data.sources.skeleton_file import read_skeletons
from flash_ansr.paper.ablations.networks import ABLATIONS, checkpoint_of, paces, train_ablation, train_or_continue
from flash_ansr.paper.ablations.static_corpora import static_prior
from flash_ansr.paper.ablations.trained_runs import Trained, comparable
from flash_ansr.paper.context import Context
from flash_ansr.paper.experiment import MissingError, PaperError, Scale, markdown
from flash_ansr.paper.experiments.ablations import against_b0, beside_b0, own_sizes, spread
from flash_ansr.paper.experiments.decoding import Sizes
from flash_ansr.paper.experiments.training import by_kind, given_runs
from flash_ansr.paper.registry import EXPERIMENTS
from flash_ansr.paper.run import run_experiment
from flash_ansr.train import loop
from flash_ansr.train.config import changed_config, load_config
from flash_ansr.train.learning_curves import LearningCurve
from flash_ansr.train.run_folder import RunFolder
from tests.command_line import run_flash_ansr
from tests.needs import need

SMALL = ("model.encoder.dim=16", "model.decoder.dim=16", "run.n_validation=32", "optimizer.batch_size=8")


def test_every_ablation_is_a_config() -> None:
    base = load_config("micro")
    for run in ABLATIONS.values():
        config = load_config(run.config, run.assignments)
        assert (config == base) == (run.name in ("b0", "a_s", "a_p")), run.name
        assert config.optimizer == base.optimizer
        assert run.has_own_prior == (config.data != base.data or run.name in ("a_s", "a_p"))


def test_ablations_say_how_to_train_them(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="flash-ansr paper train NAME --runs RUNS"):
        run_experiment(EXPERIMENTS["ablations"], tmp_path, Scale.TINY)


def write_draws(path: Path, n: int) -> dict[int, list[str] | None]:
    """What SymPy would have left: every third draw given up, one result too long, one held out; in any order."""
    drawn: dict[int, list[str] | None] = dict(enumerate(Generator("paper").skeletons(0, range(n), simplified=True)))
    drawn |= dict.fromkeys(range(0, n, 3))
    drawn |= {1: ["neg"] * 40 + ["x1"], 2: ["*", "x1", "x2"]}
    lines = [json.dumps({"index": i, "tokens": tokens, "reason": None}) for i, tokens in drawn.items()]
    random.Random(0).shuffle(lines)
    path.write_text("".join(f"{line}\n" for line in lines))
    return drawn


def test_static_corpora_hold_the_same_draws(tmp_path: Path) -> None:
    draws = write_draws(tmp_path / "sympy_draws.jsonl", 64)
    priors = [static_prior(name, tmp_path, 20) for name in ("sympy", "simplipy")]
    paths = [Path(load_prior(prior).corpus or "") for prior in priors]
    rows = [[json.loads(line) for line in path.read_text().splitlines()] for path in paths]
    indices = [row["index"] for row in rows[0]]
    assert indices == [row["index"] for row in rows[1]] == sorted(indices)
    assert len(indices) == 20
    assert not {0, 1, 2, 3} & set(indices)  # given up, too long, held out, given up
    assert [row["tokens"] for row in rows[0]] == [draws[i] for i in indices]
    assert all(path.is_absolute() for path in paths)
    # nothing of a corpus is rejected whenever it is drawn
    for prior in priors:
        generator = Generator(prior)
        outcomes = generator.batch(seed=0, indices=range(60)).outcomes.sum(0)
        assert not outcomes[[1, 2, 7, 8, 9]].any()  # not finite, too long, held out
    before = paths[0].read_bytes()
    (tmp_path / "sympy_draws.jsonl").unlink()
    assert static_prior("sympy", tmp_path, 20) == priors[0]  # a corpus that is there is not made again
    assert paths[0].read_bytes() == before


def test_the_order_of_a_corpus_is_that_of_its_indices(tmp_path: Path) -> None:
    path = tmp_path / "skeletons.jsonl"
    path.write_text('{"index": 2, "tokens": ["x3"]}\n{"index": 0, "tokens": ["x1"]}\n{"index": 1, "tokens": null}\n')
    assert read_skeletons(path) == [["x1"], ["x3"]]
    path.write_text('["x2"]\n["x1"]\n')
    assert read_skeletons(path) == [["x2"], ["x1"]]


@pytest.mark.slow
def test_static_corpora_by_sympy_do_not_depend_on_workers(tmp_path: Path) -> None:
    found = [static_prior("sympy", tmp_path / str(n), 8, n).with_suffix(".jsonl").read_text() for n in (1, 2)]
    indices = [[json.loads(line)["index"] for line in text.splitlines()] for text in found]
    # a draw at the limit of a second may end on either side of it
    assert len(set(indices[0]) & set(indices[1])) >= 6
    assert all(one == sorted(one) for one in indices)


def begun(path: Path, *assignments: str) -> RunFolder:
    """A run that passes for one with a checkpoint."""
    folder = RunFolder(path)
    config = load_config("micro", assignments)
    folder.create(config, load_prior(config.data.prior))
    folder.checkpoint(2).mkdir()
    return folder


def test_a_run_is_not_continued_with_other_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path / "b1", "optimizer.steps=50", "model.decoder.norm_position=post")
    resumed: list[bool] = []
    monkeypatch.setattr(loop, "train", lambda *_, resume=False: resumed.append(resume) or True)
    with pytest.raises(
        PaperError, match=r"b1 was begun with optimizer\.steps=50, not 2000; leave optimizer\.steps out"
    ):
        train_ablation(ABLATIONS["b1"], tmp_path, steps=2000)
    with pytest.raises(PaperError, match=r"begun with optimizer\.batch_size=128, not 8"):
        train_ablation(ABLATIONS["b1"], tmp_path, assignments=("optimizer.batch_size=8",))
    with pytest.raises(PaperError, match="is no network of the config 3M"):
        train_ablation(ABLATIONS["b1"], tmp_path, config="3M")
    assert resumed == []
    assert train_ablation(ABLATIONS["b1"], tmp_path, steps=50, assignments=("seed=0",))
    assert train_ablation(ABLATIONS["b1"], tmp_path)
    assert resumed == [True, True]
    begun(tmp_path / "a_p", "data.prior=paper")
    with pytest.raises(PaperError, match="a_p was begun with the corpus paper, not with 20 skeletons"):
        train_ablation(ABLATIONS["a_p"], tmp_path, n_skeletons=20)
    with pytest.raises(PaperError, match="nesymres is the config nesymres: it cannot be trained as 120M"):
        train_ablation(ABLATIONS["nesymres"], tmp_path, config="120M")


def test_a_run_that_was_killed_early_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begun(tmp_path / "b0")
    folder.checkpoint(2).rmdir()
    seen: list[bool] = []
    monkeypatch.setattr(loop, "train", lambda *_, resume=False: seen.append(folder.path.exists()) or not resume)
    assert train_or_continue(folder, load_config("micro"))
    assert seen == [False]
    folder.path.mkdir()
    (folder.path / "notes.txt").write_text("mine")
    train_or_continue(folder, load_config("micro"))
    assert (folder.path / "notes.txt").read_text() == "mine"


def test_short_runs_are_validated_and_saved_often() -> None:
    config = load_config("micro", paces(2000)).run
    assert (config.validate_every, config.checkpoint_every, config.log_every) == (100, 200, 20)
    assert load_config("micro", paces(3)).run.checkpoint_every == 1


def trained(name: str, step: int = 100, *assignments: str, loss: float | None = 2.0) -> Trained:
    run = ABLATIONS[name]
    config = load_config(run.config, [*run.assignments, "optimizer.steps=100", *assignments])
    one = np.ones(1)
    curve = None if loss is None else LearningCurve(name, 1, False, one, one, one, np.array([loss]), one, one)
    return Trained(run, Path(f"runs/{name}/checkpoints/{step:08d}"), step, config, curve)


def test_only_runs_of_equal_work_are_compared() -> None:
    found = [
        trained("b0"),
        trained("b1", 60),
        trained("b2", 200, "optimizer.steps=200"),
        trained("b3", 100, "optimizer.learning_rate=1e-4"),
        trained("c1", 100, loss=None),
    ]
    kept, reasons = comparable(found)
    assert [t.run.name for t in kept] == ["b0", "c1"]
    assert kept[0].n_seen == 12_800
    assert reasons == [
        "b1 is left out: it is at step 60 of 100; go on by `flash-ansr paper train b1 --runs runs`",
        "b2 is left out: it saw 25,600 problems, b0 saw 12,800; train it as b0 in another folder of --runs",
        "b3 is left out: its optimizer.learning_rate is 0.0001, but b0 with the change that it is named for has 0.001",
    ]
    with pytest.raises(MissingError, match="need a finished b0, but it is at step 60 of 100"):
        comparable([trained("b0", 60)])


def test_only_the_change_that_a_run_is_named_for_is_compared() -> None:
    names = ("b0", "b1", "b2", "b3", "a_u", "c1", "nesymres")
    assert comparable([trained(name) for name in names])[1] == []
    sizes = [trained("a_s", 100, "data.prior=s_20.yaml"), trained("a_p", 100, "data.prior=p_30.yaml")]
    found = [trained("b0"), trained("b2", 100, "model.decoder.dim=64"), trained("b3", 100, "data.max_rows=8"), *sizes]
    kept, reasons = comparable(found)
    assert [t.run.name for t in kept] == ["b0"]
    assert reasons == [
        "b2 is left out: its model.decoder.dim is 64, but b0 with the change that it is named for has 128",
        "b3 is left out: its data.max_rows is 8, but b0 with the change that it is named for has 64",
        "a_s is left out: static corpora must have equal numbers of skeletons, got a_s 20, a_p 30",
        "a_p is left out: static corpora must have equal numbers of skeletons, got a_s 20, a_p 30",
    ]


def group_of(name: str, vnrr: float, length: float, n_samples: int = 256) -> Any:
    estimates = {"vnrr": Estimate(vnrr, vnrr - 0.1, vnrr + 0.1, 40), "length_ratio": Estimate(length, 0.9, 1.6, 40)}
    estimates["fit_seconds"] = Estimate(1.0, 1.0, 1.0, 40)
    return SimpleNamespace(label=ABLATIONS[name].title, estimates=estimates, settings={"n_samples": n_samples})


def compare(*rows: tuple[str, float, float, float | None]) -> tuple[list[str], list[str]]:
    """Lines of the table and findings, from name, recovery, length ratio and loss of each run."""
    prints = {ABLATIONS[name].title: {"distinct": 0.7, "rewrites": 0.1, "bloat": 0.2} for name, *_ in rows}
    runs = [trained(name, loss=loss) for name, _, _, loss in rows]
    table, found = against_b0(runs, [group_of(name, v, length) for name, v, length, _ in rows], prints)
    return markdown(table).splitlines()[2:], found


def test_the_spread_is_that_of_one_more_seed() -> None:
    """By Student's distribution: 4.303 deviations for three seeds, 12.706 for two, times sqrt(1 + 1/n)."""
    seeds = [
        {"vnrr": 50.0, "length_ratio": 1.3, "distinct": 70.0, "bloat": 0.0, "loss": loss} for loss in (2.0, 2.1, 2.2)
    ]
    three = spread(seeds, 40)
    assert three["loss"] == pytest.approx((2.1, 4.302653 * 0.1 * math.sqrt(4 / 3)), rel=1e-6)
    assert three["vnrr"] == pytest.approx((50.0, 4.302653 * 2.5 * math.sqrt(4 / 3)), rel=1e-6)  # a problem of 40
    assert spread(seeds[:2], 40)["loss"][1] == pytest.approx(12.7062 * 0.1 / math.sqrt(2) * math.sqrt(1.5), rel=1e-5)
    assert spread(seeds[:1], 40) == {}
    assert "loss" not in spread([*seeds, seeds[0] | {"loss": None}], 40)


def test_differences_count_outside_the_spread_of_seeds() -> None:
    seeds = (("b0", 0.50, 1.30, 2.00), ("b0_seed1", 0.50, 1.31, 2.01), ("b0_seed2", 0.50, 1.29, 1.99))
    _, said = compare(
        *seeds,
        ("b1", 0.40, 1.33, 2.04),  # within 4.97 deviations
        ("b2", 0.35, 1.20, 2.25),
        ("a_u", 0.50, 1.50, 3.00),  # losses on other problems
    )
    assert said == [
        "B2: 16-bit input: outside the spread of B0's seeds: vnrr, length_ratio, loss",
        "A-U: unsimplified targets: outside the spread of B0's seeds: length_ratio",
        "14 comparisons, of which one in twenty would be outside by chance",
    ]
    assert compare(*seeds, ("b1", 0.5, 1.3, 2.0))[1] == [
        "no run lies outside the spread of B0's seeds",
        "5 comparisons, of which one in twenty would be outside by chance",
    ]


def test_fewer_candidates_are_not_judged_by_more() -> None:
    shares = {"b0": 0.7, "b0_seed1": 0.701, "nesymres": 0.1}
    prints = {ABLATIONS[n].title: {"distinct": x, "rewrites": 0.1, "bloat": 0.2} for n, x in shares.items()}
    runs = [trained(name) for name in shares]
    largest = [group_of("b0", 0.5, 1.3), group_of("b0_seed1", 0.5, 1.3), group_of("nesymres", 0.0, 9.0, 64)]
    _, said = against_b0(runs, largest, prints)
    assert said == [
        "NeSymReS stand-in: outside the spread of B0's seeds: distinct",
        "2 comparisons, of which one in twenty would be outside by chance",
    ]
    few = group_of("b0", 0.3, 1.3, 64)
    expected = "NeSymReS stand-in: vNRR 0 % with 64 candidates, where B0 has 30 %"
    assert beside_b0(largest[2], [*largest, few]) == expected
    sizes = Sizes(40, 256, (16, 64, 256), 1)
    assert [own_sizes(t, sizes).most for t in runs] == [256, 256, 64]


def test_static_corpora_are_compared_with_each_other() -> None:
    prints = {ABLATIONS[n].title: {"distinct": 0.7, "rewrites": 0.1, "bloat": 0.2} for n in ("b0", "a_s", "a_p")}
    runs = [trained("b0"), trained("a_s", 100, "data.prior=s_20.yaml"), trained("a_p", 100, "data.prior=p_20.yaml")]
    groups = [group_of("b0", 0.5, 1.3), group_of("a_s", 0.4, 1.5), group_of("a_p", 0.45, 1.2)]
    said = against_b0(runs, groups, prints)[1][-1]
    assert said.startswith("static corpora by SymPy and by SimpliPy: vnrr 40 and 45, length_ratio 1.5 and 1.2, ")


@pytest.mark.parametrize(
    ("name", "assignment"), [("b0_seed1", "seed=7"), ("c1", "data.prior=wide"), ("a_s", "data.prior=wide")]
)
def test_what_a_run_is_named_for_cannot_be_changed(name: str, assignment: str, tmp_path: Path) -> None:
    need("torch")
    key = assignment.partition("=")[0]
    with pytest.raises(PaperError, match=rf"{name} is what it is by its {key}: it cannot be trained with {assignment}"):
        train_ablation(ABLATIONS[name], tmp_path, assignments=(assignment,))
    other = trained(name, 100, assignment)
    if name != "a_s":
        assert comparable([trained("b0"), other])[1][0].startswith(f"{name} is left out: its {key} is ")


def test_the_table_says_what_was_evaluated() -> None:
    lines, said = compare(("b0", 0.5, 1.3, 2.0), ("b2", 0.4, 1.2, None))
    assert lines == [
        "| B0: as published | 0 | 12,800 | 256 | 40 | 50 (40 to 60) | 1.3 | 1 | 70 | 10 | 20 | 2 |  |",
        "| B2: 16-bit input | 0 | 12,800 | 256 | 40 | 40 (30 to 50) | 1.2 | 1 | 70 | 10 | 20 | - |  |",
    ]
    assert said == ["without a second seed of B0 (b0_seed1) no spread is known: small differences mean nothing"]


def test_training_curves_leave_ablations_to_their_own_figure(tmp_path: Path) -> None:
    for name in ("b0", "a_u", "3M"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").touch()
    context = Context(tmp_path / "out", tmp_path / "rows", Scale.TINY, runs=tmp_path)
    assert [path.name for path in given_runs(context)] == ["3M"]
    (tmp_path / "3M" / "config.yaml").unlink()
    assert given_runs(context) == []
    assert given_runs(dataclasses.replace(context, runs=None)) == []
    with pytest.raises(MissingError, match="holds no training runs"):
        given_runs(dataclasses.replace(context, runs=tmp_path / "3M"))


def test_similarity_between_kinds() -> None:
    tokens = "x1 x2 + - * / sin cos tan pow2 pow3 mult2 div2 exp sinh cosh tanh".split()
    similarity = np.eye(len(tokens))
    similarity[:2, :2] = 1.0  # variables are alike
    similarity[9:11, 11:13] = similarity[11:13, 9:11] = 0.5  # powers are half like multipliers
    said = by_kind(tokens, similarity)
    assert "within variables: 1.00" in said
    assert "within powers: 0.00" in said
    assert said[-1] == (
        "between kinds: 0.03 in the mean, 0.50 at most (powers and multipliers); operators and variables 0.00"
    )


def test_interrupted_corpora_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("flash_ansr.paper.ablations.networks.static_prior", stopped)
    done = run_flash_ansr("paper", "train", "a_p", "--runs", str(tmp_path))
    assert done.returncode == 130
    assert "a_p: static corpus, SimpliPy, stopped and saved" in done.stdout


@pytest.mark.slow
def test_ablations_from_runs(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_draws((runs.mkdir(), runs / "sympy_draws.jsonl")[1], 32)
    for name in ("b0", "b0_seed1", "b2", "a_p"):
        assert train_ablation(ABLATIONS[name], runs, steps=2, assignments=SMALL, n_skeletons=8)
        assert train_ablation(ABLATIONS[name], runs, steps=2)  # finished: nothing to do
    assert not train_ablation_for(1, "b3", runs)
    assert checkpoint_of(runs, "b0") == runs / "b0" / "checkpoints" / "00000002"
    run_experiment(EXPERIMENTS["ablations"], out, Scale.TINY, runs=runs)
    folder = out / "ablations-tiny"
    for stem in ("ablations", "ablations_metrics", "ablations_bars", "ablations_training"):
        assert (folder / f"{stem}.png").stat().st_size > 5000
    said = json.loads((folder / "summary.json").read_text())["findings"]
    assert any(line.startswith("B2: 16-bit input: ") for line in said)
    table = (folder / "table.md").read_text()
    assert "| static corpus, SimpliPy | 0 | 16 | 6 | 2 |" in table
    assert "| B0, second seed | 1 | 16 | 6 | 2 |" in table
    caption = (folder / "caption.txt").read_text()
    assert "not trained yet: b0_seed2, b1, a_u" in caption
    assert "b3 is left out: it is at step 1 of 2" in caption
    assert "one seed of each network, 2 of B0" in caption
    # curves and embeddings of the same runs
    said = run_experiment(EXPERIMENTS["token_embeddings"], out, Scale.TINY, runs=runs)[-1].read_text()
    assert "b0: between kinds" in said
    assert "b2: within variables" in said


def train_ablation_for(n_steps: int, name: str, runs: Path) -> bool:
    """Train only so many steps of two."""
    config = load_config("micro", [*ABLATIONS[name].assignments, *SMALL, "optimizer.steps=2", *paces(2)])
    folder = RunFolder(runs / name)
    assert loop.train(changed_config(config, [f"optimizer.steps={n_steps}"]), folder)
    folder.change(config)
    return False
