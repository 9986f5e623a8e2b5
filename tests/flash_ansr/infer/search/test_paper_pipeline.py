"""The paper's pipeline with a tiny seeded network: the same candidates as in the golden file, and every switch."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from flash_ansr import FlashANSR
from flash_ansr.bench.candidates import summarize_candidates
from flash_ansr.checkpoint.facts import TrainingLimits
from flash_ansr.checkpoint.weights import load_tensors, read_checkpoint, save_checkpoint
from flash_ansr.data import Generator, load_prior
from flash_ansr.infer.candidates.proposals import Proposals
from flash_ansr.infer.proposers.base import ProposerContext, ProposerError
from flash_ansr.infer.proposers.neural.proposer import NeuralProposer
from flash_ansr.infer.settings import FullPipeline, PaperPipeline, pipeline_from, pipeline_mapping
from flash_ansr.infer.table.grammar import Grammar
from flash_ansr.infer.table.table import Table
from flash_ansr.model import Network
from tests.networks import write_checkpoint

GOLDEN = Path(__file__).parents[3] / "golden" / "paper_pipeline.json"
X = np.random.default_rng(0).uniform(0.5, 3.0, (40, 2))
Y = 1.5 * X[:, 0] + X[:, 1]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("network") / "tiny")


def fitted(checkpoint: Path, n_samples: int = 256, **options: object) -> FlashANSR:
    settings = {"pipeline": "paper", "time_limit": None, "n_samples": n_samples, "random_state": 0, **options}
    return FlashANSR(checkpoint=checkpoint, **settings).fit(X, Y)


def facts(model: FlashANSR) -> list[list[object]]:
    table = model.candidates_.head(20)
    return [
        [" ".join(e.skeleton().tokens), float(f"{fvu:.3g}"), round(log_prob, 3)]
        for e, fvu, log_prob in zip(table["expression"], table["fvu"], table["log_prob"], strict=True)
    ]


def test_golden(checkpoint: Path) -> None:
    """tests/golden/make_paper_pipeline.py writes the file."""
    wanted = json.loads(GOLDEN.read_text())
    found = facts(fitted(checkpoint))
    assert [row[0] for row in found] == [row[0] for row in wanted]
    np.testing.assert_allclose([row[1] for row in found], [row[1] for row in wanted], rtol=1e-2)
    np.testing.assert_allclose([row[2] for row in found], [row[2] for row in wanted], atol=5e-3)


def test_neural_alone_without_early_stop(checkpoint: Path) -> None:
    model = fitted(checkpoint, 300, target_fvu=1.0)
    assert model.report_["stop"] == "samples"
    assert set(model.report_["proposers"]) == {"neural"}
    assert model.report_["drawn"] == 300
    assert set(model.candidates_["proposer"]) == {"neural"}
    assert not model.report_["scaled"]
    assert model.report_["exact_fvu"] == 0


def test_the_prior_may_stand_in_for_the_network(checkpoint: Path) -> None:
    model = fitted(checkpoint, 300, proposers=["prior"])
    assert model.report_["drawn"] == 300
    assert set(model.candidates_["proposer"]) == {"prior"}
    assert model.report_["neural"] == "was not asked for"
    assert model.report_["bloat"] is not None
    assert str(model.expression_) != str(fitted(checkpoint, 300).expression_)


def test_the_report_tells_what_the_network_did(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(checkpoint, 48).report_["neural"] == "took part"
    quick = {"pipeline": "full", "proposers": ["closed_form"]}
    assert fitted(checkpoint, 48, **quick).report_["neural"] == "was not asked for"
    started = threading.Event()
    monkeypatch.setattr(NeuralProposer, "start", lambda *_: started.wait())
    monkeypatch.setattr("flash_ansr.infer.search.pipeline._TOO_SOON", 0.0)
    model = FlashANSR(time_limit=8.0, proposers=["closed_form", "neural"], checkpoint=checkpoint, target_fvu=1.0)
    model.fit(X, Y)
    started.set()
    assert model.report_["neural"] == "was still being loaded when the search ended"


def test_a_run_folder_stands_for_its_newest_checkpoint(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "run" / "checkpoints" / "00000009")
    newest = write_checkpoint(tmp_path / "run" / "checkpoints" / "00000010")
    by_run, by_folder = fitted(tmp_path / "run", 64), fitted(newest, 64)
    assert by_run.report_["neural"] == "took part"
    assert by_run.expression_ == by_folder.expression_


def test_rewrites_and_bloat_are_those_of_all_draws(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly: the pipeline simplifies by rules up to length 4, the benchmark's summary by all."""
    drawn: list[list[str]] = []
    propose = NeuralProposer.propose

    def listened(self: NeuralProposer, *arguments: object) -> Proposals | None:
        found = propose(self, *arguments)
        for i, count in enumerate(found.counts):
            drawn.extend([found.batch[i]] * int(count))
        return found

    monkeypatch.setattr(NeuralProposer, "propose", listened)
    report = fitted(checkpoint, 400).report_
    wanted = summarize_candidates(drawn)
    assert wanted.n_candidates == report["drawn"] == 400
    assert 1 - report["unique"] / report["drawn"] == pytest.approx(wanted.rewrite_fraction, abs=0.01)
    assert report["bloat"] == pytest.approx(wanted.bloat)
    assert wanted.rewrite_fraction > 0.1
    assert wanted.bloat > 0.01
    assert fitted(checkpoint, 64, pipeline=PaperPipeline(simplifier="none")).report_["bloat"] is None


def test_posterior_sums_to_one(checkpoint: Path) -> None:
    model = fitted(checkpoint)
    posterior = model.posterior_
    assert posterior["probability"].sum() == pytest.approx(1.0)
    assert posterior["probability"].is_monotonic_decreasing
    assert posterior["form"].is_unique
    assert len(posterior) == model.report_["unique"]


@pytest.mark.parametrize(
    "switches", [{"decoding": "beam"}, {"refiner": "bfgs"}, {"refiner": "scipy"}, {"simplifier": "none"}]
)
def test_switches(checkpoint: Path, switches: dict[str, str]) -> None:
    model = fitted(checkpoint, 48, pipeline=PaperPipeline(**switches))
    usual = fitted(checkpoint, 48)
    assert len(model.candidates_) > 3
    assert model.candidates_["expression"].tolist() != usual.candidates_["expression"].tolist()
    if "decoding" in switches:
        assert model.report_["stop"] in ("samples", "exhausted")
        assert model.candidates_["log_prob"].max() >= usual.candidates_["log_prob"].max() - 1e-9
    if "simplifier" in switches:
        assert model.report_["unique"] >= usual.report_["unique"]


def test_sympy_as_the_simplifier(checkpoint: Path) -> None:
    model = fitted(checkpoint, 12, pipeline=PaperPipeline(simplifier="sympy"), max_length=5)
    assert model.report_["fitted"] > 0


def test_the_network_in_the_full_pipeline(checkpoint: Path) -> None:
    """With formulas as the budget it takes part from the start; with a clock it may join later."""
    tables = [
        FlashANSR(time_limit=None, n_samples=300, random_state=0, checkpoint=checkpoint, target_fvu=0.0, n_jobs=n)
        .fit(X, np.sin(Y) * X[:, 0])
        .candidates_
        for n in (1, 2)
    ]
    assert tables[0]["expression"].tolist() == tables[1]["expression"].tolist()
    assert "neural" in set(tables[0]["proposer"])


def test_a_beam_is_as_wide_as_the_budget(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NeuralProposer, "round_size", 16)
    model = fitted(checkpoint, 48, pipeline=PaperPipeline(decoding="beam"))
    assert model.report_["drawn"] == 48
    assert model.report_["stop"] == "samples"
    assert 16 < len(model.posterior_) <= 48


@pytest.mark.parametrize(
    "options", [{"pipeline": "paper"}, {"proposers": ["neural"]}, {"proposers": ["prior", "neural"]}]
)
def test_the_network_works_on_as_many_columns_as_it_can(checkpoint: Path, options: dict) -> None:
    wide = np.random.default_rng(0).random((30, 4))
    model = FlashANSR(n_samples=400, time_limit=None, checkpoint=checkpoint, random_state=0, **options)
    model.fit(wide, wide[:, 0] + wide[:, 3])
    assert model.report_["proposers"]["neural"]["drawn"] > 0


def test_a_vocabulary_is_mapped_by_token(tmp_path: Path) -> None:
    """Tokens may stand anywhere; an operator that the network or this version does not know is never drawn."""
    checkpoint = write_checkpoint(tmp_path / "other")
    content = json.loads((checkpoint / "checkpoint.json").read_text())
    names = content["vocabulary"]
    names[names.index("sin")] = "airy"
    i, j = names.index("+"), names.index("x2")
    names[i], names[j] = names[j], names[i]
    (checkpoint / "checkpoint.json").write_text(json.dumps(content))
    table = Table(X, Y)
    drawn = NeuralProposer(ProposerContext(table, checkpoint=checkpoint, device="cpu")).propose(512, seed=0)
    seen = {token for tokens in drawn.batch for token in tokens}
    assert seen <= {*Grammar().operators, "<constant>", *(f"x{k + 1}" for k in range(X.shape[1]))}
    assert {"+", "cos"} <= seen
    assert "sin" not in seen


def test_no_vocabulary_is_told_before_the_search(tmp_path: Path) -> None:
    about = write_checkpoint(tmp_path / "old") / "checkpoint.json"
    about.write_text(about.read_text().replace('"<constant>"', '"c"'))
    with pytest.raises(ValueError, match="no vocabulary: '<constant>' is missing; train it again"):
        FlashANSR(time_limit=60.0, proposers=["prior", "neural"], checkpoint=tmp_path / "old").fit(X, Y)


def test_damaged_weights_end_only_the_network(tmp_path: Path) -> None:
    weights = write_checkpoint(tmp_path / "damaged") / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    noisy = Y + np.random.default_rng(0).normal(0, 0.1, len(Y))
    options = {"checkpoint": weights.parent, "random_state": 0, "target_fvu": 0.0}
    model = FlashANSR(time_limit=60.0, proposers=["enumerate", "neural"], **options)
    with pytest.warns(RuntimeWarning, match="the proposer 'neural' is left out: .*is damaged"):
        model.fit(X, noisy)
    assert model.report_["stop"] == "exhausted"
    assert model.report_["neural"].startswith("failed: CheckpointError")
    assert model.score(X, Y) > 0.99
    with pytest.raises(ValueError, match="is damaged"):
        FlashANSR(time_limit=60.0, proposers=["neural"], checkpoint=weights.parent).fit(X, noisy)


def test_a_network_without_memory_leaves_the_others(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory(*_: object, **__: object) -> None:
        raise RuntimeError("can't allocate memory")

    monkeypatch.setattr("flash_ansr.infer.proposers.neural.proposer.sample", out_of_memory)
    with pytest.warns(RuntimeWarning, match="'neural' is left out: the network failed: can't allocate memory"):
        model = fitted(checkpoint, 200, pipeline="full", proposers=["neural", "prior"], target_fvu=0.0)
    assert model.report_["neural"] == "failed: the network failed: can't allocate memory"
    assert model.report_["drawn"] == 200
    with pytest.raises(ProposerError, match="can't allocate memory"):
        fitted(checkpoint, 200)


@pytest.mark.parametrize(("training", "n_seen"), [({}, 1024), ({"prior": "wide"}, 512), ({"max_rows": 64}, 64)])
def test_the_network_sees_as_many_rows_as_in_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, training: dict[str, object], n_seen: int
) -> None:
    seen = []
    encode = Network.encode
    monkeypatch.setattr(Network, "encode", lambda self, X, y, mask: seen.append(X.shape[1]) or encode(self, X, y, mask))
    checkpoint = write_checkpoint(tmp_path / "tiny", **training)
    for n_rows in (1500, 40):
        NeuralProposer(ProposerContext(Table(np.ones((n_rows, 2)), np.ones(n_rows)), checkpoint=checkpoint))
    assert seen == [n_seen, 40]


def test_limits_of_a_training() -> None:
    assert TrainingLimits.of({}) == TrainingLimits(1024, None)
    assert TrainingLimits.of({"config": {"data": {"prior": "paper", "max_rows": None}}}) == TrainingLimits(1024, 35)
    assert TrainingLimits.of({"config": {"data": {"prior": "gone.yaml", "max_rows": 8}}}) == TrainingLimits(8, None)
    wide, limits = load_prior("wide"), TrainingLimits.of({"config": {"data": {"prior": "wide", "max_rows": 64}}})
    drawn = Generator(wide, holdouts=()).skeletons(0, np.arange(3000), simplified=True)
    assert limits.n_rows == 64
    assert max(len(tokens) for tokens in drawn if tokens is not None) <= limits.length


def test_proposals_are_no_longer_than_targets(tmp_path: Path) -> None:
    """By the prior that the config names, or by the copy of it that the run keeps."""
    short = "base: paper\nskeletons: {max_operators: 2, max_length: 4}\n"
    (tmp_path / "short.yaml").write_text(short)
    named = write_checkpoint(tmp_path / "tiny", prior=str(tmp_path / "short.yaml"))
    in_run = write_checkpoint(tmp_path / "run" / "checkpoints" / "00000001", prior="paper")
    (tmp_path / "run" / "prior.yaml").write_text(short)
    for checkpoint in (named, in_run):
        proposals = NeuralProposer(ProposerContext(Table(X, Y), checkpoint=checkpoint)).propose(300, 0)
        assert max(map(len, proposals.batch.to_tokens())) == 4


def test_sampling_can_be_tuned(checkpoint: Path) -> None:
    for pipeline in (PaperPipeline(top_k=1), FullPipeline(top_k=1), FullPipeline(temperature=1e-6)):
        greedy = fitted(checkpoint, 64, pipeline=pipeline, proposers=["neural"], target_fvu=0.0)
        assert greedy.report_["unique"] == 1
    usual, narrow = (
        fitted(checkpoint, 128, pipeline=FullPipeline(top_p=p), proposers=["neural"], target_fvu=0.0)
        for p in (1.0, 0.5)
    )
    assert set(narrow.posterior_["form"]) != set(usual.posterior_["form"])


@pytest.mark.parametrize("pipeline", [PaperPipeline(decoding="beam", top_k=3), FullPipeline(temperature=0.5)])
def test_switches_are_saved(checkpoint: Path, tmp_path: Path, pipeline: FullPipeline | PaperPipeline) -> None:
    fitted(checkpoint, 16, pipeline=pipeline, proposers=["neural"]).save(tmp_path / "run")
    assert FlashANSR.load(tmp_path / "run").pipeline == pipeline
    assert pipeline_from(pipeline_mapping(pipeline)) == pipeline


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"temperature": 0.0}, "temperature must be > 0, got 0.0"),
        ({"name": "full", "top_p": 2.0}, r"top_p must be in \(0, 1\], got 2.0"),
        ({"name": "full", "refiner": "lm"}, "the full pipeline: unknown key 'refiner'; known here: temperature"),
        ({"name": "best"}, "name must be one of 'full', 'paper', got 'best'"),
    ],
)
def test_bad_switches(switches: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pipeline_from(switches)


def test_a_bad_device(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="device must be 'auto' or a device that torch knows, got 'gpu7'"):
        fitted(checkpoint, 10, device="gpu7")


def test_a_network_of_another_simplifier_is_told(checkpoint: Path, tmp_path: Path) -> None:
    about = dataclasses.replace(read_checkpoint(checkpoint), rules="0123456789abcdef")
    save_checkpoint(tmp_path / "older", about, load_tensors(checkpoint, "weights"))
    with pytest.warns(UserWarning, match="targets that the simplifier 0123456789ab made, this version has") as told:
        NeuralProposer(ProposerContext(Table(X, Y), checkpoint=tmp_path / "older"))
    assert len(told) == 1
