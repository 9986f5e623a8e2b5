"""The experiments at the scale `tiny`: what they write, and what must hold whatever the scale."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import simplipy
from flash_ansr.bench.numeric import fvu
from flash_ansr.catalogues import load
from flash_ansr.checkpoint.weights import Checkpoint, save_checkpoint
from flash_ansr.data import Generator, Vocabulary
from flash_ansr.data.statistics import collect
from flash_ansr.model import Network
from flash_ansr.paper.context import Context
from flash_ansr.paper.experiment import Scale
from flash_ansr.paper.experiments.data import facts_of, joined, plain_forms, renamed_forms
from flash_ansr.paper.experiments.decoding import Sizes, Source, fingerprints
from flash_ansr.paper.experiments.galleries import OSCILLATION, distinct_laws, oscillation
from flash_ansr.paper.experiments.gaussian import draws, gaussian_map, instance
from flash_ansr.paper.experiments.recovery import _law
from flash_ansr.paper.experiments.simplifier import by_sympy, n_rounds
from flash_ansr.paper.registry import EXPERIMENTS
from flash_ansr.paper.run import run_experiment
from simplipy.paper.engine import PaperEngine
from simplipy.paper.rules import load_rules
from tests.networks import LEAN

QUICK = ["hyperparameters", "vocabulary", "architecture", "rule_table", "worked_examples"]
QUICK += ["excluded_equations", "data_statistics", "gaussian_map", "gallery_1d", "convergence", "settings"]
QUICK += ["data_hyperparameters"]
QUICK += ["decontamination"]
NEEDS_NETWORK = ["decoding", "token_embeddings"]
# nothing is measured: they have a table and no rows
READ_OFF_THE_CODE = {"hyperparameters", "vocabulary", "architecture", "rule_table", "worked_examples", "settings"}
THE_REST = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in EXPERIMENTS
    if name not in {*QUICK, *NEEDS_NETWORK, "ablations"}
]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all, as experiments share rows."""
    return tmp_path_factory.mktemp("paper")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of random weights with the nine variables that FastSRB needs."""
    folder = tmp_path_factory.mktemp("network") / "tiny"
    vocabulary = Vocabulary(9)
    config = dataclasses.replace(LEAN, n_tokens=len(vocabulary), n_variables=9)
    save_checkpoint(folder, Checkpoint(config, vocabulary.tokens), Network(config, seed=1).state_dict())
    return folder


def findings(out: Path, name: str, **options: object) -> list[str]:
    """Run an experiment, check what it leaves behind, and return what it says."""
    written = run_experiment(EXPERIMENTS[name], out, Scale.TINY, **options)
    folder = out / f"{name}-tiny"
    assert (folder / f"{name}.png").stat().st_size > 5000
    assert name in READ_OFF_THE_CODE or (folder / "rows.jsonl").stat().st_size > 0
    assert written[-1] == folder / "caption.txt"
    said: list[str] = json.loads((folder / "summary.json").read_text())["findings"]
    assert said
    return said


@pytest.mark.parametrize("name", [*QUICK, *THE_REST])
def test_without_a_network(name: str, out: Path, network: Path) -> None:
    options = {"checkpoint": network} if "network" in EXPERIMENTS[name].needs else {}
    findings(out, name, **options)


@pytest.mark.parametrize("name", NEEDS_NETWORK)
def test_with_a_network(name: str, out: Path, network: Path) -> None:
    findings(out, name, checkpoint=network)


def test_parameter_counts_are_those_of_the_paper(out: Path) -> None:
    said = findings(out, "hyperparameters")
    assert said[-2] == "84 of 84 other values are the paper's; others: none"
    assert said[3].endswith("the paper's parts add up to 953M, its total is 955M")
    worst = float(said[-1].removeprefix("the largest difference of a part is ").removesuffix(" %"))
    assert worst < 1.0


def test_the_vocabulary_is_that_of_the_paper(out: Path) -> None:
    said = findings(out, "vocabulary")
    assert "38 operators" in said[0]
    assert "missing here: none; added: none" in said[0]
    assert said[1] == "weight 10: + - * /; weight 1: 34 others"


def test_the_worked_examples_come_out(out: Path) -> None:
    assert findings(out, "worked_examples") == [
        "ours: at least as short as the paper's form in 6 of 6, of the same canonical form in 6",
        "the paper's algorithm: at least as short as the paper's form in 6 of 6, of the same canonical form in 6",
    ]


def test_the_printed_rules_come_out(out: Path) -> None:
    said = findings(out, "rule_table")
    assert said[-2] == "16 of the 20 rules that the paper prints are what our simplifier does too"
    assert said[-1].count("becomes nan") == 4
    table = (out / "rule_table-tiny" / "table.md").read_text()
    assert "c_" not in table  # free constants of the two sides are not the same


def test_the_same_five_equations_are_left_out(out: Path) -> None:
    said = findings(out, "excluded_equations")
    assert sorted(line.split(":")[0] for line in said[:-1]) == ["B17", "B4", "B7", "II.24.17", "III.14.14"]
    assert said[-1] == "120 equations, 115 used"


def test_no_held_out_equation_is_accepted(out: Path) -> None:
    said = findings(out, "decontamination")
    assert said[1].startswith("leaks among 500 accepted problems: 0 by the holdout with all rules, 0 by equal")


def test_an_equation_is_found_whatever_its_variables_are_called() -> None:
    law = next(p.expression for p in load("fastsrb") if len(p.variables) == 2)
    renamed = law.rename({"x1": "x7", "x2": "x3"})
    assert plain_forms([renamed.skeleton().tokens])[0] in renamed_forms(law.skeleton())
    # the order of x3*x5 is not that of x1*x2 after its names
    (drawn,) = plain_forms([simplipy.parse("x5 + sin(x5*x3)*exp(x3)").tokens])
    assert drawn in renamed_forms(simplipy.parse("x1 + sin(x1*x2)*exp(x2)"))
    assert drawn not in renamed_forms(simplipy.parse("x1 + sin(x1*x2)*exp(x1)"))
    assert not renamed_forms(simplipy.parse("sin(x1)")) & renamed_forms(simplipy.parse("cos(x1)"))


def test_the_settings_of_the_data_are_the_paper_s(out: Path) -> None:
    said = findings(out, "data_hyperparameters")
    assert said[0] == "12 of 12 settings are the paper's; others: none"


def test_statistics_in_parts_are_those_of_the_whole() -> None:
    generator = Generator("paper")
    whole = collect(generator, 90, 3)
    parts = [facts_of(collect(generator, 30, 3, first=first), 66_666) for first in (0, 30, 60)]
    found = joined(json.loads(json.dumps(parts)))
    assert found.outcomes == whole.outcomes
    assert found.summary()["medians"] == whole.summary()["medians"]
    np.testing.assert_array_equal(found.n_rows, whole.n_rows)
    np.testing.assert_array_equal(found.accepted.lengths, whole.accepted.lengths)
    assert np.median(found.log10_y) == pytest.approx(np.median(whole.log10_y), abs=0.3)


def test_the_paper_s_settings(out: Path) -> None:
    said = findings(out, "settings")
    assert said[0] == "4 of 4 settings that have a plan are the paper's at full scale"
    assert said[1] == "4 of 4 settings of inference are the paper's"
    table = (out / "settings-tiny" / "table.md").read_text()
    assert "| Flash-ANSR | n_samples | 1 ... 16,384, 65,536, 262,144 | 1 ... 16,384, 65,536, 262,144 | 4, 8 |" in table
    assert "| NeSymReS | beam width | 4 | - | - |" in table


def test_sympy_is_timed_and_limited() -> None:
    seconds, length = by_sympy(["+", "x1", "x1"], 0, 1.7)
    assert length == 2
    assert 0 < seconds < 1


def test_what_sympy_fails_at_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    class OddError(Exception):
        pass

    def fails(*_: object, **__: object) -> None:
        raise OddError

    monkeypatch.setattr("sympy.simplify", fails)
    assert by_sympy(["sin", "x1"], 0, 1.7)[1] is None
    monkeypatch.setattr(simplipy.Expression, "to_sympy", fails)
    assert by_sympy(["sin", "x1"], 0, 1.7)[1] is None


def test_rounds_are_counted_as_in_the_paper() -> None:
    engines = [PaperEngine(load_rules(), 4, max_iterations=k) for k in range(6)]
    assert n_rounds(["sin", "x1"], engines) == 1  # one round, which changes nothing
    assert n_rounds(["+", "x1", "-", "x1", "x1"], engines) >= 2


def test_shares_of_rounds_are_those_of_all_expressions(out: Path) -> None:
    said = findings(out, "convergence")[0]
    early, first, late = (float(share) for share in re.findall(r"([\d.]+) %", said))
    assert 0 < first <= early <= 100
    assert late <= 100 - early


def test_a_peak_between_the_rows_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flash_ansr.paper.experiments.gaussian.draws", lambda n, _: (np.full(n, 3.0), np.full(n, 1e-9)))
    context = Context(tmp_path, tmp_path, Scale.TINY)
    said = gaussian_map.make(context).findings
    assert said == [
        "ours, 0.2 s: recovered on new rows 0 of 3, with a negative mean 0 of 0, with a positive one 0 of 3; "
        "3 searches failed"
    ]
    assert any("no networks of the ablations B0 and C1" in note for note in context.notes)


def test_no_valid_candidate_is_no_distinct_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = SimpleNamespace(batch=simplipy.TokenBatch.from_expressions([]))
    proposer = SimpleNamespace(propose=lambda *_: nothing)
    monkeypatch.setattr("flash_ansr.infer.proposers.neural.proposer.NeuralProposer", lambda *_, **__: proposer)
    monkeypatch.setattr("flash_ansr.paper.experiments.decoding.weights_hash", lambda _: "0")
    context = Context(tmp_path, tmp_path, Scale.TINY)
    assert fingerprints(context, Sizes(1, 16, (4,), 1), {"a": Source(tmp_path)})["a"]["distinct"] == 0.0


def test_the_law_of_a_curve_does_not_interpolate(tmp_path: Path) -> None:
    t = np.array([1.6, 2.0, 2.4, 2.8, 3.2])
    y = 30 * t + np.array([0.9, -0.8, 0.6, -1.0, 0.7])  # within half of a problem of 40
    found = _law(Context(tmp_path, tmp_path, Scale.TINY), "ours", t, y, 2.5, 0.5)
    law = simplipy.parse(found["law"])
    assert len(law) <= 3
    np.testing.assert_allclose(np.broadcast_to(law({"t": t}), 5), 30 * t, rtol=0.05)


def test_gaussians() -> None:
    means, widths = draws(2000, 0)
    assert -15 <= means.min() < -14.5
    assert widths.max() < 100
    assert np.median(np.log10(widths)) == pytest.approx(-0.5, abs=0.15)
    X, y = instance(1.0, 2.0, 0, 50)
    np.testing.assert_allclose(-2 * np.log(y), ((X[:, 0] - 1) / 2) ** 2, rtol=1e-9)


def test_the_noise_of_the_oscillation_is_the_paper_s() -> None:
    _, y, clean = oscillation(0)
    assert fvu(clean, y) == pytest.approx(0.04**2, rel=0.3)


def test_alternatives_differ_in_form_and_values() -> None:
    as_good = "1.5*exp(-0.3*abs(x1))*cos(2.5*x1)"  # on times > 0 the same
    laws = [OSCILLATION, as_good, "1.6*exp(-0.31*x1)*cos(2.4*x1)", "sin(x1)", "x1 + 1.5"]
    errors = (0.01, 0.01, 0.011, 0.0149, 0.016)
    candidates = [{"law": law, "fvu": error} for law, error in zip(laws, errors, strict=True)]
    assert [c["law"] for c in distinct_laws(candidates, oscillation(0)[0], 3)] == [OSCILLATION, "sin(x1)"]
