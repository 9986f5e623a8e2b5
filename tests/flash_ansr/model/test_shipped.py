"""The network that comes with the package: small, whole, trained on what this simplifier writes, and of use."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import simplipy
from flash_ansr import FlashANSR
from flash_ansr.checkpoint.weights import load_network
from flash_ansr.infer.search.set_up import bundled_checkpoint
from flash_ansr.train.config import load_config
from flash_ansr.versions import rule_set_hash

X = np.random.default_rng(0).uniform(0.5, 3.0, (64, 2))


def test_it_is_small_and_of_the_published_shape() -> None:
    network, about = load_network(bundled_checkpoint())
    assert about.config == load_config("nano").model
    assert sum(network.n_parameters().values()) == sum(p.numel() for p in network.parameters())
    assert sum(file.stat().st_size for file in bundled_checkpoint().iterdir()) < 10e6


def test_its_targets_are_what_this_simplifier_writes() -> None:
    _, about = load_network(bundled_checkpoint())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        about.check_rules(rule_set_hash())


def test_ten_million_problems_were_seen() -> None:
    _, about = load_network(bundled_checkpoint())
    assert about.position["prior"] == "wide"
    assert about.position["next_index"] >= 10_000_000


@pytest.mark.parametrize("law", ["x1*x2", "x1/x2", "sin(x1) + x2", "x1^2 + 2.5*x2", "exp(-x1)*x2", "x1 + sqrt(x2)"])
def test_it_finds_short_laws_alone(law: str) -> None:
    model = FlashANSR(time_limit=None, n_samples=1024, proposers=["neural"], random_state=0)
    model.fit(X, simplipy.parse(law)(X))
    assert simplipy.equivalent(model.expression_, law, rtol=1e-6).equivalent, model.expression_
    assert model.report_["neural"] == "took part"
    assert not model.posterior_.empty
