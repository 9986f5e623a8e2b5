"""Noise in closed forms: how much there may be is bounded from above, and laws are found through it."""

from __future__ import annotations

import numpy as np
import pytest

from flash_ansr.infer.proposers.closed_form.noise import NoiseGuess, noise_level
from flash_ansr.infer.proposers.closed_form.proposer import closed_forms
from flash_ansr.infer.proposers.closed_form.targets import targets
from tests.flash_ansr.infer.proposers.rows import bind

RNG = np.random.default_rng(0)
X = np.exp(RNG.uniform(-1.5, 1.5, (400, 3)))
x1, x2, x3 = X.T
NOISE = RNG.normal(size=400)
LAWS = {
    "power": x1 * x2**2 / x3,
    "root": np.sqrt(x1**2 + x2**2 * x3),
    "wave": np.sin(x1) * x2,
    "sum": 5 + x1 - 2 * x2 * x3,
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_the_bound_is_above_the_noise(name: str, noise: float) -> None:
    law = LAWS[name]
    bound, seen = noise_level(bind(X, law + noise * law.std() * NOISE))
    assert bound > 0.6 * noise * law.std()
    assert seen is not NoiseGuess.NONE


def test_values_that_keep_their_sign_over_decades_have_no_noise() -> None:
    bound, seen = noise_level(bind(X, np.exp(3 * np.log(x1 * x2 / x3))))
    assert seen is NoiseGuess.NONE
    assert bound < 1e-3 * np.std((x1 * x2 / x3) ** 3)


def test_noise_around_zero_is_seen() -> None:
    law = LAWS["power"]
    assert noise_level(bind(X, law + 0.05 * law.std() * NOISE))[1] is NoiseGuess.SEEN


def test_targets_of_noisy_values_are_finite_and_weigh_absolute_errors() -> None:
    law = LAWS["power"]
    data = bind(X, law + 0.02 * law.std() * NOISE).with_noise(0.02 * law.std())
    found = {t.name: t for t in targets(data)}
    assert {"y", "1/y", "log y", "sqrt y"} <= set(found)
    for target in found.values():
        assert target.weight is not None
        assert np.isfinite(target.values).all()
        assert np.isfinite(target.weight).all()
        assert (target.weight >= 0).all()
    log = found["log y"]
    assert log.weight is not None
    large, small = np.argmax(data.y), np.argmin(np.abs(data.y))
    assert log.weight[large] == 1.0
    assert log.weight[small] == 0.0


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_laws_are_found_through_noise(name: str, noise: float) -> None:
    law = LAWS[name]
    y = law + noise * law.std() * NOISE
    least = np.inf
    for batch in closed_forms(bind(X, y)):
        least = min(least, *(float(np.mean((e(X) - law) ** 2) / law.var()) for e in batch))
        if least < 0.05 * noise**2:
            break
    assert least < 0.05 * noise**2


def test_noise_of_a_quotient_is_larger_where_the_factor_is_small() -> None:
    X = np.random.default_rng(0).uniform(1, 5, (200, 2))
    data = bind(X, X[:, 0] * np.sin(X[:, 1])).with_noise(0.1)
    inner = data.divided(X[:, 0], (1,))
    typical = np.sqrt(np.mean(X[:, 0] ** 2))
    assert inner.active == (1,)
    assert inner.noise == pytest.approx(0.1 / typical)
    assert inner.root_weight == pytest.approx(X[:, 0] / typical)
    assert data.replaced(data.y - 1, (0,)).noise == 0.1
    assert data.with_noise(0.0).divided(X[:, 0], (1,)).root_weight == pytest.approx(np.ones(200))
