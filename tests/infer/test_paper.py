"""The paper's pipeline with a tiny seeded network: the same candidates as in the golden file, and every switch."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from flash_ansr import FlashANSR
from flash_ansr.data import Vocabulary
from flash_ansr.infer.settings import PaperPipeline
from flash_ansr.model import Network
from flash_ansr.model.checkpoint import Checkpoint, save_checkpoint
from tests.networks import NANO

GOLDEN = Path(__file__).parents[1] / "golden" / "paper_pipeline.json"
X = np.random.default_rng(0).uniform(0.5, 3.0, (40, 2))
Y = 1.5 * X[:, 0] + X[:, 1]


def write_checkpoint(folder: Path) -> Path:
    vocabulary = Vocabulary(3)
    config = dataclasses.replace(NANO, n_tokens=len(vocabulary))
    save_checkpoint(folder, Checkpoint(config, vocabulary.tokens), Network(config, seed=1).state_dict())
    return folder


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


def test_the_report_tells_what_the_network_did(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(checkpoint, 48).report_["neural"] == "took part"
    quick = {"pipeline": "full", "proposers": ["closed_form"]}
    assert fitted(checkpoint, 48, **quick).report_["neural"] == "was not asked for"
    started = threading.Event()
    monkeypatch.setattr("flash_ansr.infer.search._neural_maker", lambda *_: started.wait)
    model = FlashANSR(time_limit=5.0, proposers=["closed_form", "neural"], checkpoint=checkpoint, target_fvu=1.0)
    model.fit(X, Y)
    started.set()
    assert model.report_["neural"] == "was still being loaded when the search ended"


def test_a_run_folder_stands_for_its_newest_checkpoint(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "run" / "checkpoints" / "00000009")
    newest = write_checkpoint(tmp_path / "run" / "checkpoints" / "00000010")
    by_run, by_folder = fitted(tmp_path / "run", 64), fitted(newest, 64)
    assert by_run.report_["neural"] == "took part"
    assert by_run.expression_ == by_folder.expression_


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
        FlashANSR(time_limit=None, n_samples=600, random_state=0, checkpoint=checkpoint, target_fvu=0.0, n_jobs=n)
        .fit(X, np.sin(Y) * X[:, 0])
        .candidates_
        for n in (1, 2)
    ]
    assert tables[0]["expression"].tolist() == tables[1]["expression"].tolist()
    assert "neural" in set(tables[0]["proposer"])


def test_too_many_columns_for_the_network(checkpoint: Path) -> None:
    wide = np.random.default_rng(0).random((30, 4))
    with pytest.raises(ValueError, match="the network sees 3 columns, the table has 4: select some"):
        FlashANSR(pipeline="paper", n_samples=10, time_limit=None, checkpoint=checkpoint).fit(wide, wide[:, 0])


def test_a_bad_device(checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="device must be 'auto' or a device that torch knows, got 'gpu7'"):
        fitted(checkpoint, 10, device="gpu7")
